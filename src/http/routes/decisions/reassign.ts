import { z } from 'zod'
import { longestComment } from '../../../core/index.ts'
import { nudgeRequestExamples, reassignRequestExamples } from '../../examples/waiting.ts'
import { defineRoute } from '../../server/define-route.ts'
import { mayStill, ofOneRequest, showing, shown } from '../shared/shown-request.ts'

const reassignBody = z.strictObject({
  to: z.uuid().toLowerCase().describe('User id of the person who is asked instead'),
  from: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('User id of the approver in whose place; may be left out where it can only be one'),
  comment: z.string().trim().max(longestComment).optional().describe('Why; it stands in the timeline'),
})

export const reassignRequest = defineRoute({
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
  examples: reassignRequestExamples,
  idempotent: true,
  mayStill: mayStill('request.reassign'),
  async handle({ actor, provisioning, requestId: attempt }, { params, body }) {
    return shown(await provisioning.reassign(actor, params.requestId, body, attempt))
  },
})

export const nudgeRequest = defineRoute({
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
  examples: nudgeRequestExamples,
  idempotent: true,
  mayStill: mayStill('request.nudge'),
  async handle({ actor, provisioning, requestId: attempt }, { params }) {
    return shown(await provisioning.nudge(actor, params.requestId, attempt))
  },
})
