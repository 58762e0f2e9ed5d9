/** Health, statistics and dead letters for admins; probes, metrics and the API document are in the files beside. */
import { z } from 'zod'
import { healthPart, healthState, periodOf, referenceOf, stats } from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import { listOf, paging } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

export const healthPartBody = healthPart.omit({ says: true }).extend({ detail: z.string() })

const readHealth = defineRoute({
  id: 'readHealth',
  tag: 'Administration',
  method: 'GET',
  path: '/admin/v1/health',
  summary: 'How the service and everything it needs do, the worst first',
  permission: 'health.read',
  audience: 'any',
  answers: {
    200: {
      says: 'How all does, also while the database does not answer: then nothing is told of what lies in it.',
      body: z.strictObject({
        state: healthState,
        at: z.iso.datetime(),
        version: z.string(),
        uptimeSeconds: z.int().min(0),
        parts: z.array(healthPartBody),
      }),
    },
  },
  refusals: [],
  examples: examples.readHealth,
  async handle({ actor, provisioning, services }) {
    const { state, at, version, startedAt, parts } = await provisioning.readHealth(actor)
    const uptimeSeconds = Math.max(0, Math.round((at.getTime() - startedAt.getTime()) / 1000))
    const shown = parts.map((part) => {
      const { name, state, says: _, ...measures } = part
      return { name, state, detail: services.texts.healthPart(part), ...measures }
    })
    return { status: 200, body: { state, at: at.toISOString(), version, uptimeSeconds, parts: shown } }
  },
})

const readStats = defineRoute({
  id: 'readStats',
  tag: 'Administration',
  method: 'GET',
  path: '/admin/v1/stats',
  summary: 'What was asked for, decided, made and failed in the last seven or thirty days, and how long it took',
  permission: 'stats.read',
  audience: 'any',
  query: z.strictObject({ period: z.enum(['week', 'month']).default('week') }),
  answers: {
    200: { says: 'The numbers of the period, and of as long a time before it. Times are in seconds.', body: stats },
  },
  refusals: [],
  examples: examples.readStats,
  async handle({ actor, provisioning }, { query: { period } }) {
    // These two are counted back from now, so that they are the same everywhere.
    const anywhere = { timeZone: 'UTC', locale: 'en' }
    const span = periodOf(period, new Date(), anywhere)
    return { status: 200, body: await provisioning.readStats(actor, { period: span }) }
  },
})

export const deadLetter = z.strictObject({
  id: z.uuid(),
  job: z.string(),
  problem: z.string(),
  at: z.iso.datetime(),
  requestId: z.uuid().optional(),
  reference: z.string().optional(),
})

const listDeadLetters = defineRoute({
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
  examples: examples.listDeadLetters,
  async handle({ actor, provisioning }, { query: { limit, cursor } }) {
    const page = { limit, ...(cursor !== undefined && { cursor }) }
    const { jobs, nextCursor } = await provisioning.listDeadLetters(actor, page)
    const value = jobs.map(({ letterId, job, problem, at, request }) => ({
      id: letterId,
      ...{ job, problem, at: at.toISOString() },
      ...(request && { requestId: request.requestId, reference: referenceOf(request) }),
    }))
    return { status: 200, body: { value, ...(nextCursor && { nextCursor }) } }
  },
})

const dismissDeadLetter = defineRoute({
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
  examples: examples.dismissDeadLetter,
  idempotent: true,
  async handle({ actor, provisioning }, { params }) {
    await provisioning.dismissDeadLetter(actor, { letterId: params.letterId })
    return { status: 204 }
  },
})

const replayDeadLetter = defineRoute({
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
  examples: examples.replayDeadLetter,
  idempotent: true,
  async handle({ actor, provisioning }, { params }) {
    await provisioning.replayDeadLetter(actor, { letterId: params.letterId })
    return { status: 204 }
  },
})

export const reportRoutes = [readStats, readHealth] as const
export const deadLetterRoutes = [listDeadLetters, replayDeadLetter, dismissDeadLetter] as const

export { docsRoutes } from './docs.ts'
export { healthBody, probeRoutes } from './probes.ts'
