import type { ServiceHealth } from '../resources/index.ts'
import type { Settings } from '../shared/index.ts'
import { type HealthPart, type HealthState, worst } from './health-report.ts'
import { fewestCalls, stateBy } from './health-thresholds.ts'
import type { CertificateFacts, ServiceTraffic, SignInFacts } from './ports.ts'

export interface Microsoft365Facts {
  readonly at: Date
  /** What each service answered just now. */
  readonly services: readonly ServiceHealth[]
  readonly traffic: readonly ServiceTraffic[]
  readonly signIn: SignInFacts
  readonly certificate: CertificateFacts
  readonly botSecret: Settings['botSecret']
}

/** How Microsoft 365 does, and our way into it. */
export const microsoft365Parts = ({
  at,
  services,
  traffic,
  signIn,
  certificate,
  botSecret,
}: Microsoft365Facts): HealthPart[] => [
  ...services.map((service) =>
    servicePart(
      service,
      traffic.find(({ name }) => name === service.name),
    ),
  ),
  signInPart(signIn),
  certificatePart(certificate, at),
  botSecretPart(botSecret, at),
]

/** What is told of a service that did not answer as it should. */
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
  return { name, ...howItAnswers(service, counted), milliseconds, ...counted }
}

type Counts = Partial<Pick<HealthPart, 'calls' | 'errorRate' | 'throttled'>>

/** It answers now: what is told of is the worst of how quick it is and of how it did lately. */
function howItAnswers({ name, milliseconds }: ServiceHealth, { calls = 0, errorRate = 0, throttled = 0 }: Counts) {
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
    ...{ calls, failed, throttled, timedOut, errorRate: calls === 0 ? 0 : failed / calls },
    ...(lastSuccessAt && { lastSuccessAt: lastSuccessAt.toISOString() }),
    ...(lastFailureAt && { lastFailureAt: lastFailureAt.toISOString() }),
  }
}

function signInPart({ tokens, refusal }: SignInFacts): HealthPart {
  const [first] = tokens.map(({ endsAt }) => endsAt.toISOString()).sort()
  const known = { tokens: tokens.length, ...(first !== undefined && { tokenEndsAt: first }) }
  if (refusal) return { name: 'signIn', state: 'red', says: 'signInFails', problem: refusal.problem, ...known }
  return { name: 'signIn', state: 'green', says: first === undefined ? 'notSignedIn' : 'signedIn', ...known }
}

const dayMilliseconds = 86_400_000

/** Whole days from one moment until another; below 0 when it has passed. */
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

/** The chat, which carries the alerts, stops with the secret. An unknown date is green: the service cannot find it out. */
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
