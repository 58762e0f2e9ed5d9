/** Decisions about one request: approve, reject, cancel, retry, reassign, remind, and another address. */
import { z } from 'zod'
import { type Deciding, longestComment, type Permission, ProvisioningError } from '../../../core/index.ts'
import { type ActorRoute, defineRoute } from '../../server/define-route.ts'
import type { ProblemCode } from '../../server/problem-codes.ts'
import { mayStill, ofOneRequest, showing, shown } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const comment = z.string().trim().max(longestComment).optional().describe('Comment or reason; the requester reads it')
const endingBody = z.strictObject({ comment }).default({})
const decisionBody = z
  .strictObject({
    comment,
    stage: z
      .int()
      .min(1)
      .max(5)
      .optional()
      .describe('The stage to decide. With it, a call that is repeated without its key cannot decide another stage'),
  })
  .default({})

interface DecisionSpec {
  readonly verb: 'approve' | 'reject' | 'cancel' | 'retry'
  readonly summary: string
  readonly description: string
  readonly permission: Permission
  readonly decides?: Deciding
  readonly refusals: readonly ProblemCode[]
  readonly useCase: 'approve' | 'reject' | 'cancelRequest' | 'retryRequest'
}

function decisionRoute({
  verb,
  summary,
  description,
  permission,
  decides,
  refusals,
  useCase,
}: DecisionSpec): ActorRoute {
  const body: z.ZodType<{ comment?: string | undefined; stage?: number | undefined }> = decides
    ? decisionBody
    : endingBody
  return defineRoute({
    id: `${verb}Request`,
    tag: 'Requests',
    method: 'POST',
    path: `/requests/v1/:requestId/${verb}`,
    summary,
    description,
    permission,
    ...(decides && { decides }),
    audience: 'any',
    params: ofOneRequest,
    body,
    answers: { 200: showing },
    refusals: ['not-found', ...refusals],
    examples: examples[`${verb}Request`],
    idempotent: true,
    mayStill: mayStill(permission),
    async handle(scope, { params, body }) {
      const { actor, core, requestId: attempt } = scope
      return shown(await core[useCase](actor, { ...params, ...body, attempt }), scope)
    },
  })
}

const tooLate = ['self-approval', 'not-an-approver', 'second-admin-needed', 'already-decided', 'already-ended'] as const

const approveRequest = decisionRoute({
  verb: 'approve',
  summary: 'Approve a request',
  description: 'Approves the current stage in the name of the caller. After the last stage, the request is queued.',
  permission: 'request.decide',
  decides: 'approve',
  refusals: [...tooLate, 'name-taken'],
  useCase: 'approve',
})
const rejectRequest = decisionRoute({
  verb: 'reject',
  summary: 'Reject a request, with a reason',
  description: 'Ends the request. The comment is required, and the requester reads it.',
  permission: 'request.decide',
  decides: 'reject',
  refusals: [...tooLate, 'comment-required'],
  useCase: 'reject',
})
const cancelRequest = decisionRoute({
  verb: 'cancel',
  summary: 'Cancel a request',
  description: 'Ends a request that is not created yet. The name becomes free.',
  permission: 'request.cancel',
  refusals: ['already-ended', 'illegal-transition'],
  useCase: 'cancelRequest',
})
const retryRequest = decisionRoute({
  verb: 'retry',
  summary: 'Retry a failed request from its failed step',
  description: 'Queues a failed request again. Finished steps are not repeated.',
  permission: 'request.retry',
  refusals: ['illegal-transition'],
  useCase: 'retryRequest',
})

const reassignBody = z.strictObject({
  to: z.uuid().toLowerCase().describe('User id of the new approver'),
  from: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('User id of the approver to replace; may be omitted if only one is possible'),
  comment: z.string().trim().max(longestComment).optional().describe('Reason; the timeline shows it'),
})

const reassignRequest = defineRoute({
  id: 'reassignRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/:requestId/reassign',
  summary: 'Reassign the decision of an approver to another person',
  description: 'Replaces one approver of the current stage, who has not decided yet. The new approver gets the card.',
  permission: 'request.reassign',
  decides: 'reassign',
  audience: 'any',
  params: ofOneRequest,
  body: reassignBody,
  answers: { 200: showing },
  refusals: ['not-found', 'self-approval', 'not-an-approver', 'already-decided', 'already-ended'],
  examples: examples.reassignRequest,
  idempotent: true,
  mayStill: mayStill('request.reassign'),
  async handle(scope, { params, body }) {
    const { actor, core, requestId: attempt } = scope
    return shown(await core.reassign(actor, { requestId: params.requestId, ...body, attempt }), scope)
  },
})

const nudgeRequest = defineRoute({
  id: 'nudgeRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/:requestId/nudge',
  summary: 'Remind the approvers who have not decided, at most once a day',
  description: 'Sends a reminder to the approvers of the current stage. A second reminder within 24 hours is refused.',
  permission: 'request.nudge',
  audience: 'any',
  params: ofOneRequest,
  body: z.strictObject({}).default({}),
  answers: { 200: showing },
  refusals: ['not-found', 'already-ended', 'nudged-already'],
  examples: examples.nudgeRequest,
  idempotent: true,
  mayStill: mayStill('request.nudge'),
  async handle(scope, { params }) {
    const { actor, core, requestId: attempt } = scope
    return shown(await core.nudge(actor, { requestId: params.requestId, attempt }), scope)
  },
})

const addressBody = z.strictObject({
  address: z
    .string()
    .trim()
    .max(256)
    .describe('The alias of a site, or the mail address of a mailbox; an empty text removes an additional address'),
})

/** Runs a change of an address. Its faults are about the field `address`, whatever the request itself names this field. */
async function faultsAtAddress<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error
    const { code, reason, context } = error
    const faults = error.faults.map((fault) => ({ ...fault, pointer: '/address' }))
    throw new ProvisioningError(code, reason, { faults, context, cause: error.cause })
  }
}

const changeRequestAddress = defineRoute({
  id: 'changeRequestAddress',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/:requestId/address',
  summary: 'Replace an address that another resource has taken during the wait',
  description:
    'Replaces the address in `addressConflict`. The approvers are notified of the new address. A request without `addressConflict` does not change.',
  permission: 'request.address',
  audience: 'any',
  params: ofOneRequest,
  body: addressBody,
  answers: { 200: showing },
  refusals: ['not-found', 'name-taken', 'already-ended'],
  examples: examples.changeRequestAddress,
  idempotent: true,
  mayStill: mayStill('request.address'),
  async handle(scope, { params, body: { address } }) {
    const { actor, core, requestId: attempt } = scope
    const { requestId } = params
    return shown(await faultsAtAddress(() => core.changeAddress(actor, { requestId, address, attempt })), scope)
  },
})

export const decisionRoutes = [
  approveRequest,
  rejectRequest,
  cancelRequest,
  retryRequest,
  reassignRequest,
  nudgeRequest,
  changeRequestAddress,
] as const
