import { because, type Reason } from './reason.ts'
import type { Person } from './resource.ts'

/** Every code of a refusal. The codes are part of the contract: REST clients branch on them, and cards have a text for each. */
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

/** What is wrong with one field: a JSON pointer into the body (`/owners/0`), a code, a reason, perhaps a value to try. */
export interface Fault {
  readonly pointer: string
  readonly code: string
  readonly reason: Reason
  readonly suggestion?: string
}

/** For the notice on a card: who decided, and when; or who has to decide. For REST: the request that exists already. */
export interface ErrorContext {
  readonly requestId?: string
  readonly by?: string
  readonly at?: string
  readonly people?: readonly Person[]
}

/** A refusal that people and clients see. Anything else that is thrown is a defect and stays opaque. */
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

/** The first fault of each pointer: a client shows one text next to a field. */
export const onePerPointer = (faults: readonly Fault[]): readonly Fault[] =>
  faults.filter(({ pointer }, place) => faults.findIndex((one) => one.pointer === pointer) === place)

/** Refuses what is wrong with fields, all of it at once. */
export const refuseFields = (all: readonly Fault[], code: ErrorCode = 'validation-failed'): never => {
  const faults = onePerPointer(all)
  throw new ProvisioningError(code, because('faults', { faults: faults.map(({ reason }) => reason) }), { faults })
}

/**
 * An answer of Microsoft 365 that is not a success. `retryable` is decided by status and code where the answer is read,
 * so nobody downstream reads message text; `retryAfterSeconds` is the service's own wish (RFC 9110 Retry-After).
 */
export class TenantError extends Error {
  readonly code: string
  readonly retryable: boolean
  readonly retryAfterSeconds: number | undefined
  /** The HTTP status, where the answer had one. */
  readonly status: number | undefined
  constructor(
    code: string,
    message: string,
    options: { retryable: boolean; retryAfterSeconds?: number | undefined; status?: number; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.name = 'TenantError'
    this.code = code
    this.retryable = options.retryable
    this.status = options.status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Whether too much waits already for this to be done now: the caller tries again after `retryAfterSeconds`. */
export const isBusy = (error: unknown): error is TenantError => error instanceof TenantError && error.code === 'busy'

/** Whether an admin of the organisation has to grant the service a permission. The message names it, for admins. */
export const isPermissionMissing = (error: unknown): error is TenantError =>
  error instanceof TenantError && ['permission-missing', 'exchange-role-missing'].includes(error.code)
/** What everybody else reads. */
const permissionText =
  'A permission is missing. Your administrators have to grant it, and they are notified. Please try again later.'

const noAnswer = 'Microsoft 365 did not answer.'
const refusedStep = 'Microsoft 365 refused a step of this request. Your administrators can read the reason.'
const unforeseen = 'Something unforeseen happened. Your administrators can read the reason.'

/**
 * Every code of a problem that is ours, with what people read who are not admins. `own` is the problem's own text, which is
 * about the request alone. The other texts replace one that names a permission, a host, a setting or an answer of Microsoft.
 */
export const problemTexts = {
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
  unexpected: 'own',
  'permission-missing': permissionText,
  'exchange-role-missing': permissionText,
  'accounts-hidden': permissionText,
  'foreign-address':
    'The site is on a host that is not configured. Your administrators have to configure it, and they are notified.',
  'extension-not-accepted':
    'Microsoft 365 does not accept the link to the site yet. Your administrators are notified if this lasts.',
  'sign-in-refused':
    'Microsoft 365 does not let the service in. Your administrators have to fix this, and they are notified.',
  'no-answer': noAnswer,
  busy: noAnswer,
  timeout: noAnswer,
  unreachable: noAnswer,
  unavailable: noAnswer,
  'unreadable-answer': noAnswer,
  'sign-in-unreachable': noAnswer,
  refused: refusedStep,
  'no-mail-domain': refusedStep,
  'foreign-page': unforeseen,
  'missing-progress': unforeseen,
} as const satisfies Readonly<Record<string, string>>
type ProblemCode = keyof typeof problemTexts
const isOwnCode = (code: string): code is ProblemCode => Object.hasOwn(problemTexts, code)

/** Codes of Graph and SharePoint, and statuses, of a service that is away or has too much to do. */
const serviceAway = /^(throttled|http-(408|429|5\d\d)|TooManyRequests|service(Not|Un)Available|activityLimitReached)$/i
/** Exceptions of Exchange, by the end of their names: away or too busy; the name is held; not there (yet). */
const exchangeAway =
  /(CmdletProxyException|CmdletProxyNotAvailable\w*|ServerBusyException|TransientException|BackendCommunicationException|OverBudget\w*)$/
const exchangeHeld =
  /(MemberNameInUse|ManagedMemberExists|ProxyAddressExists|ObjectAlreadyExists|PropertyValueExists|NameNotAvailable)Exception$/
const exchangeMissing = /ObjectNotFoundException$/

/** A problem's code as everybody may read it: one of ours is unchanged, and one of Microsoft's becomes what it means. */
export function publicCode(code: string): ProblemCode {
  if (isOwnCode(code)) return code
  if (exchangeHeld.test(code)) return 'name-taken'
  if (exchangeMissing.test(code)) return 'not-ready'
  return serviceAway.test(code) || exchangeAway.test(code) ? 'no-answer' : 'refused'
}

const textsOfMeanings: Readonly<Partial<Record<ProblemCode, string>>> = {
  'name-taken': 'The address was taken meanwhile.',
  'not-ready': 'It did not become ready in time.',
}

/** What people read about a problem who are not admins. */
export function problemForPeople<P extends { readonly code: string; readonly detail: string }>(problem: P): P {
  const code = publicCode(problem.code)
  const text = problemTexts[code]
  if (text !== 'own') return { ...problem, code, detail: text }
  return code === problem.code ? problem : { ...problem, code, detail: textsOfMeanings[code] ?? refusedStep }
}

/** Why something was unavailable that people can be told in so many words; undefined: it did not answer. */
export function whyUnavailable(error: unknown): 'busy' | 'accountUnreadable' | 'permissionMissing' | undefined {
  const cause = error instanceof ProvisioningError ? error.cause : error
  if (isBusy(cause)) return 'busy'
  if (isPermissionMissing(cause)) return 'permissionMissing'
  return cause instanceof TenantError && cause.code === 'account-unreadable' ? 'accountUnreadable' : undefined
}

/** Whether the store itself does not answer, or takes no writes: then nothing can be read, and nothing kept. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof ProvisioningError &&
  error.code === 'unavailable' &&
  error.cause !== undefined &&
  !(error.cause instanceof TenantError)

/** Whether Microsoft 365 does not answer, or refuses us, and not whoever asked. */
export const isDirectoryAway = (error: unknown): boolean =>
  error instanceof TenantError || (error instanceof ProvisioningError && error.cause instanceof TenantError)

/**
 * What a job has to do cannot be done yet, as when what it works on is taken: it is due again after so many milliseconds. This
 * counts as no attempt, and whoever works on jobs is free for others.
 */
export class PutOff extends Error {
  override readonly name = 'PutOff'
  readonly putOffMilliseconds: number
  constructor(why: string, milliseconds: number, cause?: unknown) {
    super(`${why}, again in ${Math.ceil(milliseconds)} ms`, { cause })
    this.putOffMilliseconds = milliseconds
  }
}
