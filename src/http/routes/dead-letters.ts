import { z } from 'zod'
import { referenceOf } from '../../core/index.ts'
import { defineRoute } from '../define-route.ts'

export const deadLetter = z.strictObject({
  id: z.uuid(),
  job: z.string(),
  problem: z.string(),
  at: z.iso.datetime(),
  requestId: z.uuid().optional(),
  reference: z.string().optional(),
})

export const listDeadLetters = defineRoute({
  id: 'listDeadLetters',
  tag: 'Administration',
  method: 'GET',
  path: '/admin/v1/dead-letters',
  summary: 'List jobs that were given up and that nobody has looked after, the newest first',
  permission: 'deadLetter.read',
  audience: 'any',
  answers: { 200: { says: 'The list.', body: z.strictObject({ value: z.array(deadLetter) }) } },
  refusals: [],
  examples: {},
  async handle({ actor, provisioning }) {
    const given = await provisioning.admin.deadLetters(actor)
    const value = given.map(({ letterId, job, problem, at, request }) => ({
      id: letterId,
      ...{ job, problem, at: at.toISOString() },
      ...(request && { requestId: request.requestId, reference: referenceOf(request) }),
    }))
    return { status: 200, body: { value } }
  },
})

export const replayDeadLetter = defineRoute({
  id: 'replayDeadLetter',
  tag: 'Administration',
  method: 'POST',
  path: '/admin/v1/dead-letters/:letterId/replay',
  summary: 'Run a given-up job again',
  permission: 'deadLetter.replay',
  audience: 'any',
  params: z.object({ letterId: z.uuid().toLowerCase() }),
  answers: { 204: { says: 'It will be run again.', body: null } },
  refusals: ['not-found'],
  examples: {},
  idempotent: true,
  async handle({ actor, provisioning }, { params }) {
    await provisioning.admin.replay(actor, params.letterId)
    return { status: 204 }
  },
})
