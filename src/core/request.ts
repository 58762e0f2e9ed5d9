import { z } from 'zod'
import { approvalStage } from './approval.ts'
import { ProvisioningError } from './errors.ts'
import { instant, person, requestKind } from './resource.ts'
import { siteDetails, siteProgress, siteResource, siteSteps } from './site.ts'
import { templateSnapshot } from './template.ts'

export const requestStates = [
  'pendingApproval',
  'queued',
  'provisioning',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export const requestState = z.enum(requestStates)
export type RequestState = z.output<typeof requestState>

/** The only legal moves (DESIGN §4). An empty list is a terminal state. */
export const transitions = {
  pendingApproval: ['queued', 'rejected', 'expired', 'cancelled'],
  queued: ['provisioning', 'cancelled'],
  provisioning: ['succeeded', 'failed'],
  failed: ['queued', 'cancelled'],
  succeeded: [],
  rejected: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<RequestState, readonly RequestState[]>

export const isTerminal = (state: RequestState): boolean => transitions[state].length === 0
/** An open request counts against the limit of open requests per person. */
export const openStates = requestStates.filter((state) => !isTerminal(state))

/** Why a step or a request stopped, in words for people; never a stack or an answer's body. */
export const problem = z.object({ code: z.string(), detail: z.string(), step: z.string().optional() })
export const stepStatus = z.enum(['pending', 'running', 'done', 'failed'])
export const requestStep = z.object({
  name: z.enum(siteSteps),
  status: stepStatus,
  attempts: z.int(),
  startedAt: instant.optional(),
  finishedAt: instant.optional(),
  problem: problem.optional(),
})
export type RequestStep = z.output<typeof requestStep>

/** Whether and how the requester was told that the resource is ready: by the webhook or by the directory poll, once. */
export const followUp = z.object({
  state: z.enum(['none', 'waiting', 'late', 'announced']),
  by: z.enum(['webhook', 'poll']).optional(),
  url: z.string().optional(),
  at: instant.optional(),
})

/** A request as it is stored: the whole aggregate, versioned by `v`, parsed whenever it is read back. */
export const provisioningRequest = z.object({
  v: z.literal(1),
  requestId: z.uuid(),
  number: z.int(),
  tenantId: z.uuid(),
  kind: requestKind,
  template: templateSnapshot,
  status: requestState,
  requester: person,
  channel: z.enum(['chat', 'rest']),
  details: siteDetails,
  owners: z.array(person),
  reason: z.string(),
  alias: z.string(),
  approvals: z.array(approvalStage),
  steps: z.array(requestStep),
  progress: siteProgress,
  resource: siteResource.nullable(),
  problem: problem.nullable(),
  /** Who ended it before it was made. */
  cancelledBy: person.nullable(),
  followUp,
  submittedAt: instant,
  updatedAt: instant,
  /** When work last became possible: submission, the last approval, or a retry. Follow-up looks count from it. */
  queuedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  version: z.int(),
})
export type Request = z.output<typeof provisioningRequest>

/** What people call a request. */
export const referenceOf = (request: Pick<Request, 'number'>): string => `REQ-${request.number}`
/** As people type it: the number alone will do. */
export const referencePattern = /^(?:REQ-?|#)?\s*(\d{1,9})$/i

/** Moves a request to another state, purely. Anything that is not a legal move throws `illegal-transition`. */
export function transition(request: Request, to: RequestState, at: string): Request {
  const legal: readonly RequestState[] = transitions[request.status]
  if (!legal.includes(to)) {
    throw new ProvisioningError(
      'illegal-transition',
      `${referenceOf(request)} is ${request.status} and cannot become ${to}.`,
    )
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

/** The request as the API shows it (DESIGN §5). */
export const requestView = z.object({
  requestId: z.uuid(),
  reference: z.string(),
  tenantId: z.uuid(),
  kind: requestKind,
  templateId: z.uuid(),
  status: requestState,
  approvalRequired: z.boolean(),
  requester: person,
  submittedAt: instant,
  updatedAt: instant,
  details: siteDetails.extend({ reason: z.string().optional() }),
  approvals: z.array(approvalStage),
  steps: z.array(requestStep),
  resource: siteResource.nullable(),
  problem: problem.nullable(),
})
export type RequestView = z.output<typeof requestView>

export function viewOf(request: Request): RequestView {
  const { requestId, tenantId, kind, status, requester, submittedAt, updatedAt, approvals, steps, resource, problem } =
    request
  const details = {
    ...request.details,
    alias: request.alias,
    owners: request.owners.map(({ id }) => id),
    ...(request.reason && { reason: request.reason }),
  }
  return {
    requestId,
    reference: referenceOf(request),
    tenantId,
    kind,
    templateId: request.template.id,
    status,
    approvalRequired: approvals.length > 0,
    requester,
    submittedAt,
    updatedAt,
    details,
    approvals,
    steps,
    resource,
    problem,
  }
}
