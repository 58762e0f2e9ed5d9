import { because, type Reason, sentenceOf } from './reason.ts'
import type { ReasonKey } from './reason-keys.ts'
import type { Person } from './resource.ts'

/** All codes of refusals. They are part of the contract: REST clients depend on them, and cards have a text for each. */
export const errorCodes = [
  'validation-failed',
  'name-taken',
  'not-found',
  'forbidden',
  'self-approval',
  'not-an-approver',
  'second-admin-needed',
  'already-decided',
  'already-ended',
  'illegal-transition',
  'comment-required',
  'nudged-already',
  'duplicate-request',
  'stale-version',
  'too-many-open-requests',
  'unavailable',
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** A fault of one field. `pointer`: a JSON pointer into the body (`/owners/0`). `suggestion`: a value that would be right. */
export interface Fault {
  readonly pointer: string
  readonly code: string
  readonly reason: Reason
  readonly suggestion?: string
}

/** For the notice on a card: who decided and when, or who has to decide. For REST: the existing request. */
export interface ErrorContext {
  readonly requestId?: string
  readonly by?: string
  readonly at?: string
  readonly people?: readonly Person[]
}

/** A refusal that people and clients see. Every other error is a defect, and its text stays hidden. */
export class ProvisioningError extends Error {
  readonly code: ErrorCode
  readonly reason: Reason
  readonly faults: readonly Fault[]
  readonly context: ErrorContext
  constructor(
    code: ErrorCode,
    reason: Reason,
    options: { faults?: readonly Fault[]; cause?: unknown; context?: ErrorContext } = {},
  ) {
    super(`${code}: ${reason.key} ${JSON.stringify(reason.facts ?? {})}`, { cause: options.cause })
    this.name = 'ProvisioningError'
    this.code = code
    this.reason = reason
    this.faults = options.faults ?? []
    this.context = options.context ?? {}
  }
}

/** Returns the first fault of each pointer: a client shows one text next to a field. */
export const onePerPointer = (faults: readonly Fault[]): readonly Fault[] =>
  faults.filter(({ pointer }, place) => faults.findIndex((one) => one.pointer === pointer) === place)

/** Throws one refusal with all faults of fields. */
export const refuseFields = (all: readonly Fault[], code: ErrorCode = 'validation-failed'): never => {
  const faults = onePerPointer(all)
  throw new ProvisioningError(code, because('faults', { faults: faults.map(({ reason }) => reason) }), { faults })
}

/**
 * An answer of Microsoft 365 that is not a success. The reader of the answer decides `retryable` by status and code, so no other
 * code interprets message text. The message is the sentence of the reason, for the log. `retryAfterSeconds` is the service's own value (RFC 9110 Retry-After).
 */
export class TenantError extends Error {
  readonly code: string
  readonly reason: Reason
  readonly retryable: boolean
  readonly retryAfterSeconds: number | undefined
  /** The HTTP status, if the answer had one. */
  readonly status: number | undefined
  constructor(
    code: string,
    reason: Reason,
    options: { retryable: boolean; retryAfterSeconds?: number | undefined; status?: number; cause?: unknown },
  ) {
    super(sentenceOf(reason), { cause: options.cause })
    this.name = 'TenantError'
    this.code = code
    this.reason = reason
    this.retryable = options.retryable
    this.status = options.status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Whether too many calls are waiting. The caller tries again after `retryAfterSeconds`. */
export const isBusy = (error: unknown): error is TenantError => error instanceof TenantError && error.code === 'busy'

/** Whether an admin of the organisation has to grant the service a permission. The message names it, for admins. */
export const isPermissionMissing = (error: unknown): error is TenantError =>
  error instanceof TenantError && ['permission-missing', 'exchange-role-missing'].includes(error.code)

/**
 * Our own problem codes with the reason for people who are not admins. `own` is the problem's own reason, which is about the
 * request alone. The others replace reasons that name a permission, a host, a setting or an answer of Microsoft.
 */
export const publicReasons = {
  'name-taken': 'own',
  'alias-taken': 'own',
  'reserved-name': 'own',
  'former-address': 'own',
  'naming-policy': 'own',
  'capacity-needs-licence': 'own',
  'people-unavailable': 'own',
  'owner-not-found': 'own',
  'person-not-found': 'own',
  'person-unknown-to-exchange': 'own',
  'ready-check': 'own',
  'not-ready': 'own',
  'not-there-yet': 'own',
  'half-made': 'own',
  'site-not-ready': 'own',
  'site-creation-failed': 'own',
  interrupted: 'own',
  unexpected: 'own',
  'permission-missing': 'stepLacksPermission',
  'exchange-role-missing': 'stepLacksPermission',
  'accounts-hidden': 'stepLacksPermission',
  'foreign-address': 'siteHostMissing',
  'extension-not-accepted': 'siteLinkRefused',
  'sign-in-refused': 'serviceRejected',
  'no-answer': 'stepUnanswered',
  busy: 'stepUnanswered',
  timeout: 'stepUnanswered',
  unreachable: 'stepUnanswered',
  unavailable: 'stepUnanswered',
  'unreadable-answer': 'stepUnanswered',
  'sign-in-unreachable': 'stepUnanswered',
  refused: 'stepRefused',
  'no-mail-domain': 'stepRefused',
  'foreign-page': 'stepFailed',
  'missing-progress': 'stepFailed',
} as const satisfies Readonly<Record<string, 'own' | ReasonKey>>
type ProblemCode = keyof typeof publicReasons
const isOwnCode = (code: string): code is ProblemCode => Object.hasOwn(publicReasons, code)

/** Codes and statuses of Graph and SharePoint for a service that is unavailable or overloaded. */
const serviceAway = /^(throttled|http-(408|429|5\d\d)|TooManyRequests|service(Not|Un)Available|activityLimitReached)$/i
/** Exceptions of Exchange, by the end of their names: unavailable or overloaded; name taken; object not visible (yet). */
const exchangeAway =
  /(CmdletProxyException|CmdletProxyNotAvailable\w*|ServerBusyException|TransientException|BackendCommunicationException|OverBudget\w*)$/
const exchangeHeld =
  /(MemberNameInUse|ManagedMemberExists|ProxyAddressExists|ObjectAlreadyExists|PropertyValueExists|NameNotAvailable)Exception$/
const exchangeMissing = /ObjectNotFoundException$/

/** Returns a problem's code for everybody: our own code unchanged, or the one with the meaning of Microsoft's code. */
export function publicCode(code: string): ProblemCode {
  if (isOwnCode(code)) return code
  if (exchangeHeld.test(code)) return 'name-taken'
  if (exchangeMissing.test(code)) return 'not-ready'
  return serviceAway.test(code) || exchangeAway.test(code) ? 'no-answer' : 'refused'
}

const reasonsOfMeanings: Readonly<Partial<Record<ProblemCode, ReasonKey>>> = {
  'name-taken': 'addressNowTaken',
  'not-ready': 'notReadyInTime',
}

/** Returns a problem with the reason for people who are not admins. */
export function problemForPeople<P extends { readonly code: string; readonly detail: string }>(problem: P): P {
  const code = publicCode(problem.code)
  const known = publicReasons[code]
  if (known === 'own' && code === problem.code) return problem
  const key = known === 'own' ? (reasonsOfMeanings[code] ?? 'stepRefused') : known
  const reason = because(key)
  return { ...problem, code, reason, detail: sentenceOf(reason) }
}

/** Returns the reason of `unavailable` if there is a text for it; undefined: no answer. */
export function whyUnavailable(error: unknown): 'busy' | 'accountUnreadable' | 'permissionMissing' | undefined {
  const cause = error instanceof ProvisioningError ? error.cause : error
  if (isBusy(cause)) return 'busy'
  if (isPermissionMissing(cause)) return 'permissionMissing'
  return cause instanceof TenantError && cause.code === 'account-unreadable' ? 'accountUnreadable' : undefined
}

/** Whether the store does not answer or accepts no writes. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof ProvisioningError &&
  error.code === 'unavailable' &&
  error.cause !== undefined &&
  !(error.cause instanceof TenantError)

/** Whether Microsoft 365 does not answer, or refuses the service itself and not the caller. */
export const isDirectoryAway = (error: unknown): boolean =>
  error instanceof TenantError || (error instanceof ProvisioningError && error.cause instanceof TenantError)

/**
 * Postpones a job that cannot run yet, for example while another job holds its request. The job is due again after
 * `putOffMilliseconds`. The postponement does not count as an attempt.
 */
export class PutOff extends Error {
  override readonly name = 'PutOff'
  readonly putOffMilliseconds: number
  constructor(why: string, milliseconds: number, cause?: unknown) {
    super(`${why}, again in ${Math.ceil(milliseconds)} ms`, { cause })
    this.putOffMilliseconds = milliseconds
  }
}
