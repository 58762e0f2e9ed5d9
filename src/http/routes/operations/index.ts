/** Health, statistics and dead letters for admins; probes and metrics. The API document is in `docs.ts`. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { healthState, periodOf, referenceOf, shownHealthPart, stats } from '../../../core/index.ts'
import type { Metrics } from '../../server/define-route.ts'
import { definePublicRoute, defineRoute } from '../../server/define-route.ts'
import { HttpError } from '../../server/problem.ts'
import { listOf, paging } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

export const healthPartBody = shownHealthPart

const readHealth = defineRoute({
  id: 'readHealth',
  tag: 'Administration',
  method: 'GET',
  path: '/admin/v1/health',
  summary: 'Read the health of the service and its dependencies, worst first',
  description: 'Returns each part of the service and of its dependencies with its state, a short text and measures.',
  permission: 'health.read',
  audience: 'any',
  answers: {
    200: {
      description: 'The health of all parts. While the database does not answer, parts that need it are missing.',
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
  async handle({ actor, core, services }) {
    const { state, at, version, startedAt, parts } = await core.readHealth(actor)
    const uptimeSeconds = Math.max(0, Math.round((at.getTime() - startedAt.getTime()) / 1000))
    const shown = parts.map((part) => {
      const { name, state, says: _, problem, ...measures } = part
      const { texts } = services
      return {
        name,
        state,
        detail: texts.healthPart(part),
        ...measures,
        ...(problem && { problem: texts.reason(problem) }),
      }
    })
    return { status: 200, body: { state, at: at.toISOString(), version, uptimeSeconds, parts: shown } }
  },
})

const readStats = defineRoute({
  id: 'readStats',
  tag: 'Administration',
  method: 'GET',
  path: '/admin/v1/stats',
  summary: 'Read statistics of the last seven or thirty days: requests, decisions, results and durations',
  description: 'Returns how many requests were sent, decided and created in the period, and how long they took.',
  permission: 'stats.read',
  audience: 'any',
  query: z.strictObject({ period: z.enum(['week', 'month']).default('week') }),
  answers: {
    200: {
      description: 'The numbers of the period and of the period before it. Times are in seconds.',
      body: stats,
    },
  },
  refusals: [],
  examples: examples.readStats,
  async handle({ actor, core }, { query: { period } }) {
    // Periods end now and use UTC, so the numbers are the same everywhere.
    const anywhere = { timeZone: 'UTC', locale: 'en' }
    const span = periodOf(period, new Date(), anywhere)
    return { status: 200, body: await core.readStats(actor, { period: span }) }
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
  summary: 'List failed jobs that nobody has retried or dismissed, newest first',
  description: 'Returns one page of the jobs that used up their attempts, with the reason of the last failure.',
  permission: 'deadLetter.read',
  audience: 'any',
  query: z.strictObject(paging),
  answers: { 200: { description: 'A page of the list.', body: listOf(deadLetter) } },
  refusals: [],
  examples: examples.listDeadLetters,
  async handle({ actor, core, services }, { query }) {
    const { jobs, nextCursor } = await core.listDeadLetters(actor, query)
    const value = jobs.map(({ letterId, job, problem, at, request }) => ({
      id: letterId,
      job,
      problem: services.texts.reason(problem),
      at: at.toISOString(),
      ...(request && { requestId: request.requestId, reference: referenceOf(request) }),
    }))
    return { status: 200, body: { value, nextCursor } }
  },
})

const dismissDeadLetter = defineRoute({
  id: 'dismissDeadLetter',
  tag: 'Administration',
  method: 'POST',
  path: '/admin/v1/dead-letters/:letterId/dismiss',
  summary: 'Dismiss a failed job without running it',
  description: 'Removes the failed job from the list. Its work is not done. The audit records the admin.',
  permission: 'deadLetter.dismiss',
  audience: 'any',
  params: z.object({ letterId: z.uuid().toLowerCase() }),
  answers: { 204: { description: 'The job is dismissed.', body: null } },
  refusals: ['not-found'],
  examples: examples.dismissDeadLetter,
  idempotent: true,
  async handle({ actor, core }, { params }) {
    await core.dismissDeadLetter(actor, { letterId: params.letterId })
    return { status: 204 }
  },
})

const replayDeadLetter = defineRoute({
  id: 'replayDeadLetter',
  tag: 'Administration',
  method: 'POST',
  path: '/admin/v1/dead-letters/:letterId/replay',
  summary: 'Retry a failed job',
  description: 'Queues the failed job again with new attempts. The audit records the admin.',
  permission: 'deadLetter.replay',
  audience: 'any',
  params: z.object({ letterId: z.uuid().toLowerCase() }),
  answers: { 204: { description: 'The job will run again.', body: null } },
  refusals: ['not-found', 'illegal-transition'],
  examples: examples.replayDeadLetter,
  idempotent: true,
  async handle({ actor, core }, { params }) {
    await core.replayDeadLetter(actor, { letterId: params.letterId })
    return { status: 204 }
  },
})

export const reportRoutes = [readStats, readHealth] as const
export const deadLetterRoutes = [listDeadLetters, replayDeadLetter, dismissDeadLetter] as const

export { docsRoutes } from './docs.ts'

export const healthBody = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  checks: z.record(z.string(), z.string()),
  service: z
    .string()
    .optional()
    .describe(
      'Identifies the installation: the same for all its processes and for `npm run check:tenant`. Only at /healthz',
    ),
})

/** Liveness: the process answers. */
const live = definePublicRoute({
  id: 'readLiveness',
  tag: 'Service',
  method: 'GET',
  path: '/healthz',
  summary: 'Check whether the process is alive',
  description: 'Answers 200 while the process runs. An orchestrator restarts a process that does not answer.',
  permission: 'public',
  audience: null,
  answers: { 200: { description: 'The process is alive.', body: healthBody } },
  refusals: [],
  examples: examples.readLiveness,
  handle: async ({ services: { health } }) => ({
    status: 200,
    body: { status: 'ok' as const, checks: {}, ...(health.serviceId && { service: health.serviceId }) },
  }),
})

/** Readiness: all dependencies of the service answer. Otherwise a load balancer sends no calls here. */
const ready = definePublicRoute({
  id: 'readReadiness',
  tag: 'Service',
  method: 'GET',
  path: '/readyz',
  summary: 'Check whether the service is ready',
  description: 'Answers 200 when the service can accept calls, and 503 while it starts, stops or has no store.',
  permission: 'public',
  audience: null,
  answers: {
    200: { description: 'The service is ready.', body: healthBody },
    503: { description: 'The service is not ready; `checks` shows why.', body: healthBody, headers: ['Retry-After'] },
  },
  refusals: [],
  examples: examples.readReadiness,
  async handle({ services }) {
    const { ok, checks } = await services.health.ready()
    if (ok) return { status: 200, body: { status: 'ok' as const, checks } }
    return { status: 503, headers: { 'Retry-After': '5' }, body: { status: 'unavailable' as const, checks } }
  },
})

/** For Prometheus. Answers in every phase, without a rate limit for callers with the token. */
const readMetrics = definePublicRoute({
  id: 'readMetrics',
  tag: 'Service',
  method: 'GET',
  path: '/metrics',
  summary: 'Read the metrics of this process in the Prometheus format',
  description: 'Returns counters and durations for Prometheus. With `METRICS_TOKEN`, the call needs that token.',
  permission: 'public',
  audience: null,
  credential: 'metrics',
  answers: { 200: { description: 'The metrics.', body: z.string(), mediaTypes: ['text/plain'] } },
  refusals: ['no-such-address', 'invalid-token', 'unauthenticated', 'rate-limited'],
  examples: examples.readMetrics,
  anyAccept: true,
  async handle({ services: { metrics }, headers }) {
    admit(metrics, headers.authorization)
    return { status: 200, mediaType: 'text/plain' as const, body: await metrics.text() }
  },
})

/** Without METRICS_TOKEN the address answers 404, so callers cannot tell that it exists. */
function admit(metrics: Metrics | undefined, authorization: string | undefined): asserts metrics is Metrics {
  if (!metrics || (metrics.token === undefined && !metrics.isOpen))
    throw new HttpError('no-such-address', 'The API has no such address.')
  if (metrics.token === undefined) return
  const [, token] = /^Bearer (.+)$/i.exec(authorization ?? '') ?? []
  const realm = 'Bearer realm="quartermaster"'
  if (token === undefined)
    throw new HttpError('unauthenticated', 'Send METRICS_TOKEN as Authorization: Bearer.', {
      headers: { 'WWW-Authenticate': realm },
    })
  if (!isSame(token, metrics.token))
    throw new HttpError('invalid-token', 'The token is not the METRICS_TOKEN of the service.', {
      headers: { 'WWW-Authenticate': `${realm}, error="invalid_token"` },
    })
}

/** Compares in constant time. Digests have equal lengths. */
function isSame(token: string, known: string): boolean {
  const [one, other] = [token, known].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}

export const probeRoutes = [live, ready, readMetrics] as const
