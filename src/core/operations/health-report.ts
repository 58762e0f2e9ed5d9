import { z } from 'zod'

/** From good to bad. */
export const healthStates = ['green', 'amber', 'red'] as const
export const healthState = z.enum(healthStates)
export type HealthState = z.output<typeof healthState>

/** All that the service is made of and needs, in the order in which people read it. */
export const healthParts = [
  'database',
  'processes',
  'queue',
  'watchdog',
  'deadLetters',
  'graph',
  'sharePoint',
  'exchange',
  'signIn',
  'certificate',
  'botSecret',
  'webhooks',
  'directory',
] as const
export const healthPartName = z.enum(healthParts)
export type HealthPartName = z.output<typeof healthPartName>

/** What can be said of a part. The catalogue has a message for each, made of the measures of the part. */
export const healthSayings = [
  'answers',
  'slow',
  'silent',
  'processesWork',
  'processesMixed',
  'processSilent',
  'processesSilent',
  'processesIdle',
  'processesStill',
  'idle',
  'onTime',
  'late',
  'noDeadLetters',
  'deadLetters',
  'watched',
  'unwatched',
  'neverWatched',
  'refuses',
  'permissionMissing',
  'slowsDown',
  'timesOut',
  'unreachable',
  'fails',
  'noSignIn',
  'failedOften',
  'slowedOften',
  'signedIn',
  'notSignedIn',
  'signInFails',
  'certificateGood',
  'certificateSoon',
  'certificateEarly',
  'certificateOver',
  'certificateUnread',
  'certificateOverUnread',
  'certificateNotNeeded',
  'secretGood',
  'secretSoon',
  'secretOver',
  'secretUnknown',
  'secretNotNeeded',
  'webhooksGood',
  'webhooksFail',
  'webhooksOwnFails',
  'directoryUnseen',
  'directoryUsual',
  'directorySlow',
] as const
export type HealthSaying = (typeof healthSayings)[number]

const count = z.int().min(0)
const seconds = z.number().min(0)

/** What a part is told by: which of these there are depends on the part. */
const measures = z
  .object({
    /** How long an answer took. */
    milliseconds: z.number().min(0),
    /** Jobs that wait, also for their time, or are at work; and how long the oldest that is due has waited. */
    waiting: count,
    oldestSeconds: seconds,
    watchedSecondsAgo: seconds,
    count,
    /** Processes that ended without a goodbye, the last of them when; and those that take no jobs. */
    silent: count,
    silentAt: z.iso.datetime(),
    idle: count,
    /** Since when it has been so. */
    sinceAt: z.iso.datetime(),
    /** Calls of the last 15 minutes: all of them, those that failed, were told to slow down, and were not answered in time. */
    calls: count,
    failed: count,
    throttled: count,
    timedOut: count,
    /** Of those calls the share that failed, 0 to 1. */
    errorRate: z.number().min(0).max(1),
    lastSuccessAt: z.iso.datetime(),
    lastFailureAt: z.iso.datetime(),
    /** Tokens that are at hand, and when the first of them ends. */
    tokens: count,
    tokenEndsAt: z.iso.datetime(),
    /** Whole days until the certificate or the secret ends; below 0 it has ended. When it becomes valid, if it is not yet. */
    daysLeft: z.int(),
    startsAt: z.iso.datetime(),
    endsAt: z.iso.datetime(),
    failing: count,
    switchedOff: count,
    /** Groups that the directory showed within a day, and after how long it showed half of them, and 95 of 100. */
    seen: count,
    p50Seconds: seconds,
    p95Seconds: seconds,
    /** What a service said that is wrong, for admins. */
    problem: z.string(),
  })
  .partial()

export const healthPart = z.strictObject({
  name: healthPartName,
  state: healthState,
  /** Which message says it. */
  says: z.enum(healthSayings),
  ...measures.shape,
})
export type HealthPart = z.output<typeof healthPart>

export interface HealthReport {
  /** That of the worst part. */
  readonly state: HealthState
  readonly at: Date
  readonly version: string
  /** When the process that was asked began. */
  readonly startedAt: Date
  /** The worst first. Of what lies in the database nothing is told while it does not answer. */
  readonly parts: readonly HealthPart[]
}

export const worst = (states: readonly HealthState[]): HealthState =>
  healthStates.findLast((state) => states.includes(state)) ?? 'green'

/** A report of parts: the worst first, else in the order of people's reading. */
export function reportOf(
  parts: readonly HealthPart[],
  about: Pick<HealthReport, 'at' | 'version' | 'startedAt'>,
): HealthReport {
  const rank = ({ state, name }: HealthPart) =>
    (healthStates.length - healthStates.indexOf(state)) * healthParts.length + healthParts.indexOf(name)
  return {
    state: worst(parts.map(({ state }) => state)),
    ...about,
    parts: parts.toSorted((one, other) => rank(one) - rank(other)),
  }
}
