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
  type RequestState,
  requestState,
  siteKind,
  transitions,
} from '../shared/index.ts'
import { templateSnapshot } from '../templates/index.ts'

/** How a request takes up an earlier one of the same person: what came to nothing again, or what was made once more. */
const basis = {
  requestId: z.uuid(),
  /** `REQ-1041` */
  reference: z.string(),
  how: z.enum(['resubmission', 'repeat']),
}

/** What a draft remembers of the request that its values come from. */
export const draftBasis = z.object(basis)
export type DraftBasis = z.output<typeof draftBasis>

/** The states from which something is asked for again. */
export const endings = ['rejected', 'expired', 'cancelled', 'failed', 'succeeded'] as const

/** What a request keeps of the one before it, as that was at submission. */
export const basedOn = z.object({
  ...basis,
  /** The fields that differ, by the names that forms give them: `owners`, `metadata.costCentre`, `permissions.SendAs`. */
  changed: z.array(z.string()),
  /** How the earlier one ended; by whom and why, where somebody else than the requester ended it. */
  ended: z.object({ status: z.enum(endings), by: person.optional(), comment: z.string().optional() }).optional(),
})
export type BasedOn = z.output<typeof basedOn>

/** Why a step or a request stopped, in words for people; never a stack or an answer's body. */
export const problem = z.object({
  code: z.string(),
  detail: z.string(),
  step: z.string().optional(),
  /** A name that is free, when the one that was asked for is not. */
  suggestion: z.string().optional(),
  people: z
    .array(person.extend({ why: z.enum(['gone', 'blocked', 'guest', 'unread']) }))
    .optional()
    .describe('With `people-unavailable`: the people who cannot get what the request gives them, and why'),
})
export type Problem = z.output<typeof problem>
/** Whether somebody else has the name or the additional address that was asked for, so that another will do. */
export const isTakenName = (one: Problem | null): one is Problem & { code: 'name-taken' | 'alias-taken' } =>
  one?.code === 'name-taken' || one?.code === 'alias-taken'
/** Whether its requester can send the same with other people: it failed over people, and nothing exists yet. */
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
  lateAt: instant.optional().describe('When the requester and the admins were notified that Microsoft 365 takes long.'),
})
export type RequestStep = z.output<typeof requestStep>

/**
 * Whether and how the requester was told that the resource is ready, once: by the webhook; for a site by the directory
 * poll; for a mailbox, which no group stands for, by the request's own state.
 */
export const followUp = z.object({
  state: z.enum(['none', 'waiting', 'late', 'announced']),
  by: z.enum(['webhook', 'poll', 'state']).optional(),
  url: z.string().optional(),
  at: instant.optional(),
})

/** What all requests have, whatever they ask for. */
const common = {
  v: z.literal(1),
  requestId: z.uuid(),
  number: z.int(),
  tenantId: z.uuid(),
  template: templateSnapshot,
  /** The name that was typed, where the template's policy made another one of it. */
  typedName: z.string().optional(),
  /** What the policy put around the address, and what joins words in it. */
  around: z.object({ prefix: z.string(), suffix: z.string(), separator: z.string() }).optional(),
  status: requestState,
  requester: person,
  /** Ids of the owners who were guests at submission, where the template allows them: the approvers knew them as such. Absent in requests of earlier versions. */
  guests: z.array(z.uuid()).optional(),
  channel: z.enum(['chat', 'rest']),
  /** Of a REST call: equal for equal bodies, to recognise a repeat. */
  fingerprint: z.string().optional(),
  reason: z.string(),
  /** An earlier request of the same person that this one takes up again. */
  basedOn: basedOn.optional(),
  approvals: z.array(approvalStage),
  /** How the conditions of the template's policy were judged at submission, where it has any. */
  policy: z.array(judgedStage).optional(),
  steps: z.array(requestStep),
  /** What the ready check found, each thing that was asked for. */
  checks: z.array(check).default([]),
  problem: problem.nullable(),
  /** Who ended it before it was made. */
  cancelledBy: person.nullable(),
  /** Why somebody else than the requester cancelled it. */
  cancelComment: z.string().default(''),
  followUp,
  submittedAt: instant,
  updatedAt: instant,
  /** When work last became possible: submission, the last approval, or a retry. Directory polls count from it. */
  queuedAt: instant.nullable(),
  /** When work first began: what the tenant holds from before is not ours. */
  startedAt: instant.nullable().default(null),
  finishedAt: instant.nullable(),
  /** When its details were removed, as the organisation's retention has it: what is left is what the audit needs. */
  reducedAt: instant.optional(),
  version: z.int(),
}
const requestForSite = z.object({
  ...common,
  kind: siteKind,
  details: siteDetails,
  owners: z.array(person),
  /** Whom the answers to the template's own questions name by id, as the directory knew them at submission. */
  people: z.array(person).optional(),
  alias: z.string(),
  /** Aliases that it would have had, made of its name, and that were held already. */
  passedOver: z.array(z.string()).optional(),
  progress: siteProgress,
  resource: siteResource.nullable(),
})
const requestForMailbox = z.object({
  ...common,
  kind: mailboxKind,
  details: mailboxDetails,
  /** Everybody whom the details name by id, as the directory knew them at submission. */
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

/** A request as it is stored: the whole aggregate, versioned by `v`, parsed whenever it is read back. */
export const provisioningRequest = z.discriminatedUnion('kind', [requestForSite, requestForMailbox])
export type Request = z.output<typeof provisioningRequest>
export const isForMailbox = (request: Request): request is RequestForMailbox => isMailboxKind(request.kind)
export const isForSite = (request: Request): request is RequestForSite => !isMailboxKind(request.kind)

/** What people call a request. */
export const referenceOf = (request: Pick<Request, 'number'>): string => `REQ-${request.number}`
/** As people type it: the number alone will do. */
export const referencePattern = /^(?:REQ-?|#)?\s*(\d{1,9})$/i

/** Moves a request to another state, purely. Anything that is not a legal move throws `illegal-transition`. */
export function transition(request: Request, to: RequestState, at: string): Request {
  const legal: readonly RequestState[] = transitions[request.status]
  if (!legal.includes(to)) {
    const facts = { reference: referenceOf(request), status: request.status, to }
    throw new ProvisioningError('illegal-transition', because('illegalTransition', facts))
  }
  return {
    ...request,
    status: to,
    updatedAt: at,
    queuedAt: to === 'queued' ? at : request.queuedAt,
    finishedAt: isTerminal(to) ? at : null,
  }
}

/** Replaces one step's record. */
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

/** How long a step may take before people are notified that it is late. Seconds. */
export const lateSeconds = 15 * 60
/** The step that Microsoft 365 takes long for; undefined while nothing is late. */
export function lateStep(request: Request): RequestStep | undefined {
  const step = request.status === 'provisioning' ? nextStep(request) : undefined
  return step?.lateAt === undefined ? undefined : step
}

/** The names that a team site got, if the tenant's own naming policy made others of those that were approved. */
export function changedNames(request: Request): SiteNames | undefined {
  const names = isForMailbox(request) ? undefined : request.progress.createdAs
  if (!names || isForMailbox(request) || request.reducedAt !== undefined) return undefined
  const isSame = names.displayName === request.details.displayName && isSameAlias(names.alias, request.alias)
  return isSame ? undefined : names
}
const isSameAlias = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
