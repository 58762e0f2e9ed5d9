import { z } from 'zod'
import { referenceOf } from '../../../core/index.ts'
import {
  dismissDeadLetterExamples,
  listDeadLettersExamples,
  replayDeadLetterExamples,
} from '../../examples/administration.ts'
import { defineRoute } from '../../server/define-route.ts'
import { listOf, paging } from '../shared/paging.ts'

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
  query: z.strictObject(paging),
  answers: { 200: { says: 'A page of the list.', body: listOf(deadLetter) } },
  refusals: [],
  examples: listDeadLettersExamples,
  async handle({ actor, provisioning }, { query: { limit, cursor } }) {
    const page = { limit, ...(cursor !== undefined && { cursor }) }
    const { jobs, nextCursor } = await provisioning.admin.deadLetters(actor, page)
    const value = jobs.map(({ letterId, job, problem, at, request }) => ({
      id: letterId,
      ...{ job, problem, at: at.toISOString() },
      ...(request && { requestId: request.requestId, reference: referenceOf(request) }),
    }))
    return { status: 200, body: { value, ...(nextCursor && { nextCursor }) } }
  },
})

export const dismissDeadLetter = defineRoute({
  id: 'dismissDeadLetter',
  tag: 'Administration',
  method: 'POST',
  path: '/admin/v1/dead-letters/:letterId/dismiss',
  summary: 'Take a given-up job off the list without running it',
  permission: 'deadLetter.dismiss',
  audience: 'any',
  params: z.object({ letterId: z.uuid().toLowerCase() }),
  answers: { 204: { says: 'It is off the list.', body: null } },
  refusals: ['not-found'],
  examples: dismissDeadLetterExamples,
  idempotent: true,
  async handle({ actor, provisioning }, { params }) {
    await provisioning.admin.dismiss(actor, params.letterId)
    return { status: 204 }
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
  refusals: ['not-found', 'illegal-transition'],
  examples: replayDeadLetterExamples,
  idempotent: true,
  async handle({ actor, provisioning }, { params }) {
    await provisioning.admin.replay(actor, params.letterId)
    return { status: 204 }
  },
})
