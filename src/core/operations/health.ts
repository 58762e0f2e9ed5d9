import type { DirectorySightings } from '../provisioning/index.ts'
import type { ServiceHealth } from '../resources/index.ts'
import { type ResourceKind, resourceKinds, type Settings } from '../shared/index.ts'
import type { WebhookEndpoint } from '../webhooks/index.ts'
import {
  fewestCalls,
  type HealthPart,
  type HealthReport,
  type HealthState,
  reportOf,
  stateBy,
  worst,
} from './health-report.ts'
import { type ClockFacts, judgeClock } from './installation.ts'
import type { CertificateFacts, OwnHealth, SeenProcess, ServiceTraffic, SignInFacts } from './ports.ts'
import type { EndedRequest } from './stats.ts'

export const dayMilliseconds = 86_400_000
/** A process that has not reported for this long, in seconds, has stopped unexpectedly or hangs. */
export const silentAfterSeconds = 30

/** A kind fails when its latest requests all failed: this many, within this many days. */
export const failingAfter = { requests: 5, days: 7 } as const

/** The facts of a health report. Facts from the database are null while it does not answer. */
export interface HealthFacts {
  readonly at: Date
  /** The present answer of each service. */
  readonly services: readonly ServiceHealth[]
  readonly traffic: readonly ServiceTraffic[]
  readonly signIn: SignInFacts
  /** Absent: the clocks were not compared. */
  readonly clock?: ClockFacts
  readonly certificate: CertificateFacts
  readonly botSecret: Settings['botSecret']
  readonly own: OwnHealth
  readonly deadLetters: number | null
  /** Absent: the list was not read. */
  readonly processes?: readonly SeenProcess[] | null
  /** Receivers that fail or are disabled. */
  readonly endpoints: readonly WebhookEndpoint[] | null
  /** The latest requests that have succeeded or failed. Absent or null: they were not read. */
  readonly ended?: readonly EndedRequest[] | null
  /** The delays of the directory within a day. */
  readonly directory: Awaited<ReturnType<DirectorySightings['delay']>> | null
}

/** Judges the facts by the thresholds. */
export function judgeHealth(facts: HealthFacts): HealthReport {
  const { own, at } = facts
  const about = { at, version: own.version, startedAt: own.startedAt }
  return reportOf([...ownParts(facts), ...microsoft365Parts(facts), ...credentialParts(facts)], about)
}

/** Returns the parts of the service itself. */
export function ownParts({
  own,
  deadLetters,
  processes,
  endpoints,
  directory,
  ended,
  at,
}: Pick<HealthFacts, 'own' | 'deadLetters' | 'processes' | 'endpoints' | 'directory' | 'ended' | 'at'>): HealthPart[] {
  const { databaseMilliseconds: milliseconds } = own
  if (milliseconds === null)
    return [{ name: 'database', state: 'red', says: 'silent', sinceAt: (own.databaseSeenAt ?? at).toISOString() }]
  const state = stateBy('database', 'milliseconds', milliseconds)
  return [
    { name: 'database', state, says: state === 'green' ? 'answers' : 'slow', milliseconds },
    ...processesParts(processes ?? []),
    queuePart(own.queue),
    watchdogPart(own.watchedAt, at),
    ...(deadLetters === null ? [] : [deadLettersPart(deadLetters)]),
    ...(ended ? [requestsPart(ended)] : []),
    ...(endpoints === null ? [] : [webhooksPart(endpoints)]),
    ...(directory === null ? [] : [directoryPart(directory)]),
  ]
}

function queuePart({ waiting, oldestSeconds }: OwnHealth['queue']): HealthPart {
  const state = stateBy('queue', 'oldestSeconds', oldestSeconds)
  const says = state !== 'green' ? 'late' : waiting === 0 ? 'idle' : 'onTime'
  return { name: 'queue', state, says, waiting, oldestSeconds: Math.round(oldestSeconds) }
}

function watchdogPart(watchedAt: Date | null, at: Date): HealthPart {
  if (watchedAt === null) return { name: 'watchdog', state: 'red', says: 'neverWatched' }
  const watchedSecondsAgo = Math.max(0, Math.round((at.getTime() - watchedAt.getTime()) / 1000))
  const state = stateBy('watchdog', 'watchedSecondsAgo', watchedSecondsAgo)
  return { name: 'watchdog', state, says: state === 'green' ? 'watched' : 'unwatched', watchedSecondsAgo }
}

function deadLettersPart(count: number): HealthPart {
  const state = stateBy('deadLetters', 'count', count)
  return { name: 'deadLetters', state, says: count === 0 ? 'noDeadLetters' : 'deadLetters', count }
}

/**
 * Returns the kinds whose latest requests all failed. Rates need many requests, so a small organisation would never see
 * that nothing works.
 */
export function failingKinds(ended: readonly EndedRequest[]): ResourceKind[] {
  return resourceKinds.filter((kind) => {
    const latest = ended
      .filter((one) => one.kind === kind)
      .toSorted((one, other) => other.at.getTime() - one.at.getTime())
      .slice(0, failingAfter.requests)
    return latest.length === failingAfter.requests && latest.every(({ status }) => status === 'failed')
  })
}

function requestsPart(ended: readonly EndedRequest[]): HealthPart {
  const kinds = failingKinds(ended)
  if (kinds.length === 0) return { name: 'requests', state: 'green', says: 'requestsGood' }
  return { name: 'requests', state: 'red', says: 'requestsFail', count: failingAfter.requests, kinds }
}

function webhooksPart(endpoints: readonly WebhookEndpoint[]): HealthPart {
  const isOwn = ({ templateId }: WebhookEndpoint) => templateId === null
  const others = endpoints.filter((one) => !isOwn(one))
  const switchedOff = others.filter(({ disabledAt }) => disabledAt !== null).length
  const counts = { failing: others.length - switchedOff, switchedOff }
  const ownFails = endpoints.some(isOwn)
  const state = worst([
    stateBy('webhooks', 'failing', counts.failing + Number(ownFails)),
    stateBy('webhooks', 'switchedOff', switchedOff),
  ])
  const says = ownFails ? 'webhooksOwnFails' : state === 'green' ? 'webhooksGood' : 'webhooksFail'
  return { name: 'webhooks', state, says, ...counts }
}

function directoryPart({ seen, p50Seconds, p95Seconds }: NonNullable<HealthFacts['directory']>): HealthPart {
  if (seen === 0) return { name: 'directory', state: 'green', says: 'directoryUnseen', seen }
  const state = stateBy('directory', 'p95Seconds', p95Seconds)
  const says = state === 'green' ? 'directoryUsual' : 'directorySlow'
  return { name: 'directory', state, says, seen, p50Seconds, p95Seconds }
}

/** Judges the processes of the service. Returns no part if no process has reported yet. */
export function processesParts(all: readonly SeenProcess[]): HealthPart[] {
  if (all.length === 0) return []
  const silent = all.filter(({ silentSeconds }) => silentSeconds > silentAfterSeconds)
  const there = all.filter((one) => !silent.includes(one))
  const working = there.filter(({ works }) => works)
  const name = 'processes'
  const [first] = working.map(({ startedAt }) => startedAt.toISOString()).sort()
  if (first === undefined) return [{ name, state: 'red', says: 'processesStill', count: 0 }]
  const count = working.length
  const silentAt = silent
    .map(({ seenAt }) => seenAt.toISOString())
    .sort()
    .at(-1)
  if (silentAt !== undefined) {
    const says = silent.length === 1 ? 'processSilent' : 'processesSilent'
    return [{ name, state: 'amber', says, count, silent: silent.length, silentAt }]
  }
  const idle = there.length - count
  if (idle > 0) return [{ name, state: 'amber', says: 'processesIdle', count, idle }]
  const versions = new Set(there.map(({ version }) => version))
  return [{ name, state: 'green', says: versions.size > 1 ? 'processesMixed' : 'processesWork', count, sinceAt: first }]
}

/** Returns the parts of Microsoft 365, of the sign-in and of the clock. */
export const microsoft365Parts = ({
  services,
  traffic,
  signIn,
  clock,
}: Pick<HealthFacts, 'services' | 'traffic' | 'signIn' | 'clock'>): HealthPart[] => [
  ...services.map((service) =>
    servicePart(
      service,
      traffic.find(({ name }) => name === service.name),
    ),
  ),
  signInPart(signIn),
  ...(clock ? judgeClock(clock) : []),
]

/** Returns the parts of the certificate and the bot's secret. */
export const credentialParts = ({
  at,
  certificate,
  botSecret,
}: Pick<HealthFacts, 'at' | 'certificate' | 'botSecret'>): HealthPart[] => [
  certificatePart(certificate, at),
  botSecretPart(botSecret, at),
]

/** The state and message for each kind of failure of a service. */
const troubles = {
  permissionMissing: { state: 'red', says: 'permissionMissing' },
  optionalPermissionMissing: { state: 'amber', says: 'permissionMissing' },
  refused: { state: 'red', says: 'refuses' },
  throttled: { state: 'amber', says: 'slowsDown' },
  timedOut: { state: 'red', says: 'timesOut' },
  unreachable: { state: 'red', says: 'unreachable' },
  failed: { state: 'red', says: 'fails' },
  noSignIn: { state: 'red', says: 'noSignIn' },
} as const satisfies Record<NonNullable<ServiceHealth['trouble']>, Pick<HealthPart, 'state' | 'says'>>

function servicePart(service: ServiceHealth, traffic: ServiceTraffic | undefined): HealthPart {
  const { name, milliseconds, trouble = 'failed', problem } = service
  const counted = traffic ? countsOf(traffic) : {}
  if (problem !== undefined) return { name, ...troubles[trouble], problem, ...counted }
  return { name, ...stateOfAnswers(service, counted), milliseconds, ...counted }
}

type Counts = Partial<Pick<HealthPart, 'calls' | 'errorRate' | 'throttled'>>

/** Judges a service that answers, by the worst of its present speed and its recent calls. */
function stateOfAnswers({ name, milliseconds }: ServiceHealth, { calls = 0, errorRate = 0, throttled = 0 }: Counts) {
  const measured: readonly (readonly [HealthState, HealthPart['says']])[] = [
    [calls < fewestCalls ? 'green' : stateBy(name, 'errorRate', errorRate), 'failedOften'],
    [stateBy(name, 'throttled', throttled), 'slowedOften'],
    [stateBy(name, 'milliseconds', milliseconds), 'slow'],
  ]
  const state = worst(measured.map(([one]) => one))
  const says = state === 'green' ? undefined : measured.find(([one]) => one === state)?.[1]
  return { state, says: says ?? 'answers' } as const
}

function countsOf({ calls, failed, throttled, timedOut, lastSuccessAt, lastFailureAt }: ServiceTraffic) {
  return {
    calls,
    failed,
    throttled,
    timedOut,
    errorRate: calls === 0 ? 0 : failed / calls,
    ...(lastSuccessAt && { lastSuccessAt: lastSuccessAt.toISOString() }),
    ...(lastFailureAt && { lastFailureAt: lastFailureAt.toISOString() }),
  }
}

/**
 * Judges the sign-in. A refusal that is not final is amber: each resource needs a token of its own, and a new attempt may
 * succeed. If the service has no usable token, the part of the resource is red.
 */
function signInPart({ tokens, refusal }: SignInFacts): HealthPart {
  const [first] = tokens.map(({ endsAt }) => endsAt.toISOString()).sort()
  const known = { tokens: tokens.length, ...(first !== undefined && { tokenEndsAt: first }) }
  if (refusal) {
    const state = refusal.isFinal ? 'red' : 'amber'
    return { name: 'signIn', state, says: 'signInFails', problem: refusal.problem, ...known }
  }
  return { name: 'signIn', state: 'green', says: first === undefined ? 'notSignedIn' : 'signedIn', ...known }
}

/** Whole days until a moment; negative after it. */
const daysUntil = (end: Date, at: Date): number => Math.floor((end.getTime() - at.getTime()) / dayMilliseconds)

function certificatePart({ startsAt, endsAt, problem }: CertificateFacts, at: Date): HealthPart {
  const name = 'certificate'
  if (endsAt === null) return { name, state: 'green', says: 'certificateNotNeeded' }
  const daysLeft = daysUntil(endsAt, at)
  const known = { daysLeft, endsAt: endsAt.toISOString() }
  if (startsAt && startsAt > at)
    return { name, state: 'red', says: 'certificateEarly', startsAt: startsAt.toISOString(), ...known }
  const state = stateBy(name, 'daysLeft', daysLeft)
  if (problem !== undefined) {
    const says = daysLeft < 0 ? 'certificateOverUnread' : 'certificateUnread'
    return { name, state: worst([state, 'amber']), says, problem, ...known }
  }
  const says = daysLeft < 0 ? 'certificateOver' : state === 'green' ? 'certificateGood' : 'certificateSoon'
  return { name, state, says, ...known }
}

/**
 * Judges the bot's secret: without it, chat and alerts stop. An unknown date is green, because the service cannot look
 * it up.
 */
function botSecretPart(secret: Settings['botSecret'], at: Date): HealthPart {
  const name = 'botSecret'
  if (secret === undefined) return { name, state: 'green', says: 'secretNotNeeded' }
  const { endsAt } = secret
  if (endsAt === null) return { name, state: 'green', says: 'secretUnknown' }
  const daysLeft = daysUntil(endsAt, at)
  const state = stateBy(name, 'daysLeft', daysLeft)
  const says = daysLeft < 0 ? 'secretOver' : state === 'green' ? 'secretGood' : 'secretSoon'
  return { name, state, says, daysLeft, endsAt: endsAt.toISOString() }
}
