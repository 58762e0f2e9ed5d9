/** Decisions about one request: approve, reject, cancel, retry, reassign, remind. */
import { z } from 'zod'
import { type Deciding, longestComment, type Permission } from '../../../core/index.ts'
import { type ActorRoute, defineRoute } from '../../server/define-route.ts'
import type { ProblemCode } from '../../server/problem-codes.ts'
import { mayStill, ofOneRequest, showing, shown } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const comment = z.string().trim().max(longestComment).optional().describe('Why; the requester reads it')
const endingBody = z.strictObject({ comment }).default({})
const decisionBody = z
  .strictObject({
    comment,
    stage: z
      .int()
      .min(1)
      .max(5)
      .optional()
      .describe('The stage that is decided: with it, a call that is repeated without its key decides no other one'),
  })
  .default({})

interface DecisionSpec {
  readonly verb: 'approve' | 'reject' | 'cancel' | 'retry'
  readonly summary: string
  readonly permission: Permission
  readonly decides?: Deciding
  readonly refusals: readonly ProblemCode[]
  readonly useCase: 'approve' | 'reject' | 'cancelRequest' | 'retryRequest'
}

function decisionRoute({ verb, summary, permission, decides, refusals, useCase }: DecisionSpec): ActorRoute {
  const body: z.ZodType<{ comment?: string | undefined; stage?: number | undefined }> = decides
    ? decisionBody
    : endingBody
  return defineRoute({
    id: `${verb}Request`,
    tag: 'Requests',
    method: 'POST',
    path: `/requests/v1/:requestId/${verb}`,
    summary,
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
    async handle({ actor, core, requestId: attempt }, { params, body }) {
      return shown(await core[useCase](actor, { ...params, ...body, attempt }), actor)
    },
  })
}

const tooLate = ['self-approval', 'not-an-approver', 'second-admin-needed', 'already-decided', 'already-ended'] as const

const approveRequest = decisionRoute({
  verb: 'approve',
  summary: 'Approve a request',
  permission: 'request.decide',
  decides: 'approve',
  refusals: tooLate,
  useCase: 'approve',
})
const rejectRequest = decisionRoute({
  verb: 'reject',
  summary: 'Reject a request, saying why',
  permission: 'request.decide',
  decides: 'reject',
  refusals: [...tooLate, 'comment-required'],
  useCase: 'reject',
})
const cancelRequest = decisionRoute({
  verb: 'cancel',
  summary: 'Cancel a request',
  permission: 'request.cancel',
  refusals: ['already-ended', 'illegal-transition'],
  useCase: 'cancelRequest',
})
const retryRequest = decisionRoute({
  verb: 'retry',
  summary: 'Continue a failed request',
  permission: 'request.retry',
  refusals: ['illegal-transition'],
  useCase: 'retryRequest',
})

const reassignBody = z.strictObject({
  to: z.uuid().toLowerCase().describe('User id of the person who is asked instead'),
  from: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('User id of the approver in whose place; may be left out where it can only be one'),
  comment: z.string().trim().max(longestComment).optional().describe('Why; it stands in the timeline'),
})

const reassignRequest = defineRoute({
  id: 'reassignRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/:requestId/reassign',
  summary: 'Ask somebody else in the place of an approver',
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
  async handle({ actor, core, requestId: attempt }, { params, body }) {
    return shown(await core.reassign(actor, { requestId: params.requestId, ...body, attempt }), actor)
  },
})

const nudgeRequest = defineRoute({
  id: 'nudgeRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/:requestId/nudge',
  summary: 'Remind those whose decision is waited for, once a day at most',
  permission: 'request.nudge',
  audience: 'any',
  params: ofOneRequest,
  body: z.strictObject({}).default({}),
  answers: { 200: showing },
  refusals: ['not-found', 'already-ended', 'nudged-already'],
  examples: examples.nudgeRequest,
  idempotent: true,
  mayStill: mayStill('request.nudge'),
  async handle({ actor, core, requestId: attempt }, { params }) {
    return shown(await core.nudge(actor, { requestId: params.requestId, attempt }), actor)
  },
})

export const decisionRoutes = [
  approveRequest,
  rejectRequest,
  cancelRequest,
  retryRequest,
  reassignRequest,
  nudgeRequest,
] as const
