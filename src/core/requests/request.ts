import { z } from 'zod'
import { approvalStage, judgedStage } from '../approvals/index.ts'
import {
  check,
  mailboxDetails,
  mailboxProgress,
  mailboxResource,
  mailboxSteps,
  type SiteNames,
  siteDetails,
  siteProgress,
  siteResource,
  siteSteps,
} from '../resources/index.ts'
import {
  because,
  instant,
  isMailboxKind,
  isTerminal,
  mailboxKind,
  ProvisioningError,
  person,
  type Reason,
  type RequestState,
  reasonShape,
  requestState,
  sentenceOf,
  siteKind,
  transitions,
} from '../shared/index.ts'
import { templateSnapshot } from '../templates/index.ts'

/** The earlier request of the same person: a resubmission of one without a resource, or a repeat of a successful one. */
const basis = {
  requestId: z.uuid(),
  /** `REQ-1041` */
  reference: z.string(),
  how: z.enum(['resubmission', 'repeat']),
}

/** The earlier request that a draft is based on. */
export const draftBasis = z.object(basis)
export type DraftBasis = z.output<typeof draftBasis>

/** The states of requests that a person can submit again or repeat. */
export const endings = ['rejected', 'expired', 'cancelled', 'failed', 'succeeded'] as const

/** The earlier request that a request is based on, as of the submission. */
export const basedOn = z.object({
  ...basis,
  /** The fields that differ, by their input ids in forms: `owners`, `metadata.costCentre`, `permissions.SendAs`. */
  changed: z.array(z.string()),
  /** The end of the earlier request; with person and comment if somebody else than the requester ended it. */
  ended: z.object({ status: z.enum(endings), by: person.optional(), comment: z.string().optional() }).optional(),
})
export type BasedOn = z.output<typeof basedOn>

/** An address that another resource has taken during the wait for approval. The requester chooses another one. */
export const addressConflict = z.object({
  taken: z.string().describe('The taken address: the alias of a site, or a mail address'),
  suggestion: z.string().describe('A free address; empty if none was found'),
  at: instant.describe('When a check found the first taken address; the stage has paused since then'),
})

/**
 * The end of a conflict: the requester's change of the address. An additional address can become empty. Equal addresses: it was free
 * again.
 */
const addressChange = z.object({ from: z.string(), to: z.string(), at: instant })

/** Why a step or a request stopped, as the API shows it; never a stack or the body of an answer. */
export const shownProblem = z.object({
  code: z.string(),
  detail: z.string(),
  step: z.string().optional(),
  /** A free name, if the requested name is taken. */
  suggestion: z.string().optional(),
  people: z
    .array(person.extend({ why: z.enum(['gone', 'blocked', 'guest', 'unread']) }))
    .optional()
    .describe('With `people-unavailable`: the people who cannot get access or ownership, and the reasons'),
})
/** A stored problem. Requests of earlier versions have only the sentence in `detail`. */
export const problem = shownProblem.extend({ reason: reasonShape.optional() })
export type Problem = z.output<typeof problem>

/** Returns a problem with its reason, and the reason's sentence for the API. */
export const problemOf = (
  code: string,
  reason: Reason,
  facts: Omit<Problem, 'code' | 'detail' | 'reason'> = {},
): Problem => ({
  ...{ code, detail: sentenceOf(reason), reason },
  ...facts,
})

/** Returns a problem as the API shows it. */
export const shownProblemOf = ({ reason: _, ...shown }: Problem): z.output<typeof shownProblem> => shown
/** Whether the requested name or additional address is taken, so that another name solves the problem. */
export const isTakenName = (one: Problem | null): one is Problem & { code: 'name-taken' | 'alias-taken' } =>
  one?.code === 'name-taken' || one?.code === 'alias-taken'
/** Whether the requester can send the request again with other people: it failed because of people, and nothing exists yet. */
export const needsOtherPeople = ({ status, problem, steps, progress, requester }: Request): boolean =>
  status === 'failed' &&
  problem?.people?.every(({ id }) => id !== requester.id) === true &&
  steps.every((step) => step.status !== 'done') &&
  Object.keys(progress).length === 0
const stepStatus = z.enum(['pending', 'running', 'done', 'failed'])
export const stepName = z.enum([...siteSteps, ...mailboxSteps])
export const requestStep = z.object({
  name: stepName,
  status: stepStatus,
  attempts: z.int(),
  startedAt: instant.optional(),
  finishedAt: instant.optional(),
  problem: problem.optional(),
  lateAt: instant.optional().describe('The time of the notification that Microsoft 365 takes long.'),
})
export type RequestStep = z.output<typeof requestStep>

/**
 * Whether and how the requester was notified that the resource is ready: by the webhook; for a site by the directory poll; for a
 * mailbox, which has no group, by the request's own state.
 */
export const followUp = z.object({
  state: z.enum(['none', 'waiting', 'late', 'announced']),
  by: z.enum(['webhook', 'poll', 'state']).optional(),
  url: z.string().optional(),
  at: instant.optional(),
})

/** The fields of all requests. */
const common = {
  v: z.literal(1),
  requestId: z.uuid(),
  number: z.int(),
  tenantId: z.uuid(),
  template: templateSnapshot,
  /** The typed name, if the template's policy changed it. */
  typedName: z.string().optional(),
  /** The prefix, suffix and separator of the address by the policy. */
  around: z.object({ prefix: z.string(), suffix: z.string(), separator: z.string() }).optional(),
  /** Derived addresses that were taken, without a domain. */
  passedOver: z.array(z.string()).optional(),
  status: requestState,
  requester: person,
  /** Ids of the owners who were guests at submission, if the template allows guests. Absent in requests of earlier versions. */
  guests: z.array(z.uuid()).optional(),
  channel: z.enum(['chat', 'rest']),
  /** For REST calls: equal for equal bodies, to recognise repeats. */
  fingerprint: z.string().optional(),
  reason: z.string(),
  basedOn: basedOn.optional(),
  /** The batch and the row that the request comes from. Its people get the cards of the batch. */
  batch: z.object({ batchId: z.uuid(), row: z.string() }).optional(),
  approvals: z.array(approvalStage),
  /** The results of the conditions in the template's policy at submission, if it has any. */
  policy: z.array(judgedStage).optional(),
  steps: z.array(requestStep),
  /** Only while the request waits for approval. Nobody can approve it until the requester has chosen another address. */
  addressConflict: addressConflict.optional(),
  addressChanges: z.array(addressChange).optional(),
  /** The results of the ready check, one for each requested value. */
  checks: z.array(check).default([]),
  problem: problem.nullable(),
  cancelledBy: person.nullable(),
  /** The comment of a person other than the requester who cancelled the request. */
  cancelComment: z.string().default(''),
  followUp,
  submittedAt: instant,
  updatedAt: instant,
  /** The time of the submission, the last approval or the last retry. Directory polls count from it. */
  queuedAt: instant.nullable(),
  /** The first start of the work. Older resources in the tenant are not ours. */
  startedAt: instant.nullable().default(null),
  finishedAt: instant.nullable(),
  /** When the service retries the request by itself, or did so: once, after its process was killed in each attempt. */
  retryAt: instant.optional(),
  /** The time when retention removed the details. The audit data stays. */
  reducedAt: instant.optional(),
  version: z.int(),
}
const requestForSite = z.object({
  ...common,
  kind: siteKind,
  details: siteDetails,
  owners: z.array(person),
  /** The people in the answers to the template's own questions, with their names at submission. */
  people: z.array(person).optional(),
  alias: z.string(),
  progress: siteProgress,
  resource: siteResource.nullable(),
})
const requestForMailbox = z.object({
  ...common,
  kind: mailboxKind,
  details: mailboxDetails,
  /** All people in the details, with their names at submission. */
  people: z.array(person),
  /** The primary address, `name@domain`, by the naming policy. */
  address: z.string(),
  /** The additional address, or `''`. */
  aliasAddress: z.string(),
  progress: mailboxProgress,
  resource: mailboxResource.nullable(),
})
export type RequestForSite = z.output<typeof requestForSite>
export type RequestForMailbox = z.output<typeof requestForMailbox>

/** The stored form of a request, with the version `v` of the format. Each read parses it. */
export const provisioningRequest = z.discriminatedUnion('kind', [requestForSite, requestForMailbox])
export type Request = z.output<typeof provisioningRequest>
export const isForMailbox = (request: Request): request is RequestForMailbox => isMailboxKind(request.kind)

/** Returns the reference of a request, which people read and type. */
export const referenceOf = (request: Pick<Request, 'number'>): string => `REQ-${request.number}`
/** A typed reference; the number alone is enough. */
export const referencePattern = /^(?:REQ-?|#)?\s*(\d{1,9})$/i

/** Returns the facts of a refusal that names a request and its status. */
export const statusFacts = (request: Pick<Request, 'number' | 'status'>) => ({
  reference: referenceOf(request),
  status: because('requestStatus', { status: request.status }),
})

/** Returns the request in another state. Throws `illegal-transition` if the move is not allowed. */
export function transition(request: Request, to: RequestState, at: string): Request {
  const legal: readonly RequestState[] = transitions[request.status]
  if (!legal.includes(to)) {
    const facts = { ...statusFacts(request), to: because('requestStatus', { status: to }) }
    throw new ProvisioningError('illegal-transition', because('illegalTransition', facts))
  }
  return {
    ...request,
    status: to,
    addressConflict: undefined,
    updatedAt: at,
    queuedAt: to === 'queued' ? at : request.queuedAt,
    finishedAt: isTerminal(to) ? at : null,
  }
}

/** Returns the request with one changed step. */
export function withStep(
  request: Request,
  name: RequestStep['name'],
  change: Partial<RequestStep>,
  at: string,
): Request {
  const steps = request.steps.map((step) => (step.name === name ? { ...step, ...change } : step))
  return { ...request, steps, updatedAt: at }
}
export const nextStep = (request: Request): RequestStep | undefined =>
  request.steps.find(({ status }) => status !== 'done')

/** The time in seconds after which people are notified that a step is late. */
export const lateSeconds = 15 * 60
/** Returns the current step if it is late. */
export function lateStep(request: Request): RequestStep | undefined {
  const step = request.status === 'provisioning' ? nextStep(request) : undefined
  return step?.lateAt === undefined ? undefined : step
}

/** Returns the names of a team site in Entra ID, if the tenant's own naming policy changed the approved names. */
export function changedNames(request: Request): SiteNames | undefined {
  const names = isForMailbox(request) ? undefined : request.progress.createdAs
  if (!names || isForMailbox(request) || request.reducedAt !== undefined) return undefined
  const isSame = names.displayName === request.details.displayName && isSameAlias(names.alias, request.alias)
  return isSame ? undefined : names
}
const isSameAlias = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
