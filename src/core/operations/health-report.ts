import { z } from 'zod'
import { asWritten, reasonShape, resourceKind } from '../shared/index.ts'

/** The states of a part, from good to bad. */
export const healthStates = ['green', 'amber', 'red'] as const
export const healthState = z.enum(healthStates)
export type HealthState = z.output<typeof healthState>

/** The parts of the service and its dependencies, in the order of reports. */
export const healthParts = [
  'database',
  'processes',
  'queue',
  'watchdog',
  'deadLetters',
  'requests',
  'graph',
  'sharePoint',
  'exchange',
  'signIn',
  'certificate',
  'botSecret',
  'webhooks',
  'directory',
  'databaseServer',
  'permissions',
  'siteHosts',
  'adminHosts',
  'extension',
  'cmdlets',
  'botToken',
  'endpoint',
  'admins',
  'templates',
  'catalogueApp',
  'auditKey',
  'clock',
] as const
export const healthPartName = z.enum(healthParts)
export type HealthPartName = z.output<typeof healthPartName>

/** The messages about a part. The catalogue has a text for each, with the measures of the part. */
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
  'requestsGood',
  'requestsFail',
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
  'notChecked',
  'serverGood',
  'serverEmbedded',
  'serverNew',
  'serverInUse',
  'serverAway',
  'serverOld',
  'serverPlain',
  'serverReadOnly',
  'serverRights',
  'permissionsGood',
  'permissionsRefused',
  'hostsGood',
  'hostsRefuse',
  'extensionGood',
  'extensionUnknown',
  'cmdletsGood',
  'cmdletsMissing',
  'botTokenGood',
  'botTokenRefused',
  'botTokenManaged',
  'botTokenNotNeeded',
  'endpointGood',
  'endpointSilent',
  'endpointOther',
  'adminsGood',
  'adminsSome',
  'adminsNone',
  'templatesGood',
  'templatesNone',
  'templatesPeople',
  'appGood',
  'appOlder',
  'appUnknown',
  'appUnseen',
  'appNotSet',
  'auditKeyGood',
  'auditKeyOther',
  'clockGood',
  'clockFast',
  'clockSlow',
  'clockUnseen',
] as const

const count = z.int().min(0)
const seconds = z.number().min(0)

/** The measures; each part has some of them. */
const measures = z
  .object({
    milliseconds: z.number().min(0),
    /** Jobs that wait, are scheduled or run; and how long the oldest due job has waited. */
    waiting: count,
    oldestSeconds: seconds,
    watchedSecondsAgo: seconds,
    count,
    /** Processes that stopped unexpectedly, when the last of them stopped, and processes that take no jobs. */
    silent: count,
    silentAt: z.iso.datetime(),
    idle: count,
    /** When the part entered this state. */
    sinceAt: z.iso.datetime(),
    /** Calls of the last 15 minutes: all, failed, throttled, and timed out. */
    calls: count,
    failed: count,
    throttled: count,
    timedOut: count,
    /** The share of those calls that failed, 0 to 1. */
    errorRate: z.number().min(0).max(1),
    lastSuccessAt: z.iso.datetime(),
    lastFailureAt: z.iso.datetime(),
    /** Valid tokens, and when the first of them expires. */
    tokens: count,
    tokenEndsAt: z.iso.datetime(),
    /**
     * Whole days until the certificate or the secret expires; below 0: it has expired. `startsAt`: when it becomes
     * valid.
     */
    daysLeft: z.int(),
    startsAt: z.iso.datetime(),
    endsAt: z.iso.datetime(),
    failing: count,
    switchedOff: count,
    /** New groups that appeared in the directory within a day, and the median and 95th percentile of their delays. */
    seen: count,
    p50Seconds: seconds,
    p95Seconds: seconds,
    /** When the part was last checked, for parts that are checked periodically. */
    checkedAt: z.iso.datetime(),
    /**
     * The version of the database server or of the app in the catalogue; `ownVersion`: the app version of this service.
     */
    version: z.string(),
    ownVersion: z.string(),
    /** The difference between our clock and Microsoft’s. */
    skewSeconds: seconds,
    /** The kinds of resource whose latest requests all failed. */
    kinds: z.array(resourceKind),
    /** The error as the service reported it, for admins. */
    problem: z.string(),
  })
  .partial()

export const healthPart = z.strictObject({
  name: healthPartName,
  state: healthState,
  /** The key of the message. */
  says: z.enum(healthSayings),
  ...measures.shape,
  /** Reports that an earlier version stored have a sentence. */
  problem: z.preprocess((value) => (typeof value === 'string' ? asWritten(value) : value), reasonShape.optional()),
})
/** A part as the API shows it: with sentences. */
export const shownHealthPart = healthPart
  .omit({ says: true })
  .extend({ detail: z.string(), problem: measures.shape.problem })
export type HealthPart = z.output<typeof healthPart>

export interface HealthReport {
  /** The state of the worst part. */
  readonly state: HealthState
  readonly at: Date
  readonly version: string
  /** When the process that wrote the report started. */
  readonly startedAt: Date
  /** The worst first. While the database does not answer, parts that need it are missing. */
  readonly parts: readonly HealthPart[]
}

export const worst = (states: readonly HealthState[]): HealthState =>
  healthStates.findLast((state) => states.includes(state)) ?? 'green'

/** Builds a report: the worst parts first, otherwise in the order of `healthParts`. */
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

/** The limits from which a measure of a part is amber or red. `below`: smaller is worse. */
export interface HealthThreshold {
  readonly part: HealthPartName
  readonly measure: string
  readonly amber: number
  /** null: this measure alone is never red. */
  readonly red: number | null
  readonly below?: true
}

/** All thresholds. A part that does not answer, refuses our calls or has expired is red, regardless of its measures. */
export const healthThresholds = [
  { part: 'database', measure: 'milliseconds', amber: 250, red: 2000 },
  { part: 'queue', measure: 'oldestSeconds', amber: 60, red: 600 },
  { part: 'watchdog', measure: 'watchedSecondsAgo', amber: 180, red: 300 },
  { part: 'deadLetters', measure: 'count', amber: 1, red: 20 },
  ...(['graph', 'sharePoint', 'exchange'] as const).flatMap((part) => [
    { part, measure: 'milliseconds', amber: 3000, red: null } as const,
    { part, measure: 'errorRate', amber: 0.1, red: null } as const,
    { part, measure: 'throttled', amber: 10, red: null } as const,
  ]),
  { part: 'certificate', measure: 'daysLeft', amber: 30, red: 7, below: true },
  { part: 'botSecret', measure: 'daysLeft', amber: 30, red: 7, below: true },
  { part: 'webhooks', measure: 'failing', amber: 1, red: null },
  { part: 'webhooks', measure: 'switchedOff', amber: 1, red: null },
  { part: 'directory', measure: 'p95Seconds', amber: 300, red: null },
  { part: 'clock', measure: 'skewSeconds', amber: 60, red: 300 },
] as const satisfies readonly HealthThreshold[]

/** With fewer calls the error rate is not judged. */
export const fewestCalls = 100

type MeasureOf<P extends HealthPartName> = Extract<(typeof healthThresholds)[number], { readonly part: P }>['measure']

/** Returns the state of a measure by the thresholds. */
export function stateBy<P extends (typeof healthThresholds)[number]['part']>(
  part: P,
  measure: MeasureOf<P>,
  value: number,
): HealthState {
  const rule: HealthThreshold | undefined = healthThresholds.find((one) => one.part === part && one.measure === measure)
  if (!rule) throw new Error(`the table has no threshold for ${measure} of ${part}`)
  const reaches = (bound: number | null) => bound !== null && (rule.below ? value < bound : value >= bound)
  if (reaches(rule.red)) return 'red'
  return reaches(rule.amber) ? 'amber' : 'green'
}
