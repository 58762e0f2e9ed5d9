import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { definePublicRoute } from '../../server/define-route.ts'
import { HttpError } from '../../server/problem.ts'
import type { Metrics } from '../../server/services.ts'
import examples from './examples.json' with { type: 'json' }

export const healthBody = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  checks: z.record(z.string(), z.string()),
})

/** Liveness: the process answers. */
const live = definePublicRoute({
  id: 'readLiveness',
  tag: 'Service',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process is alive',
  permission: 'public',
  audience: null,
  answers: { 200: { says: 'It is.', body: healthBody } },
  refusals: [],
  examples: examples.readLiveness,
  handle: async () => ({ status: 200, body: { status: 'ok' as const, checks: {} } }),
})

/** Readiness: all that the service needs answers. A load balancer sends no calls here while it does not. */
const ready = definePublicRoute({
  id: 'readReadiness',
  tag: 'Service',
  method: 'GET',
  path: '/readyz',
  summary: 'Whether the service can do its work',
  permission: 'public',
  audience: null,
  answers: {
    200: { says: 'It can.', body: healthBody },
    503: { says: 'It cannot just now; `checks` says why.', body: healthBody, headers: ['Retry-After'] },
  },
  refusals: [],
  examples: examples.readReadiness,
  async handle({ services }) {
    const { ok, checks } = await services.health.ready()
    if (ok) return { status: 200, body: { status: 'ok' as const, checks } }
    return { status: 503, headers: { 'Retry-After': '5' }, body: { status: 'unavailable' as const, checks } }
  },
})

/** For Prometheus. Answered in every phase, and to whoever has the token however often they ask. */
const readMetrics = definePublicRoute({
  id: 'readMetrics',
  tag: 'Service',
  method: 'GET',
  path: '/metrics',
  summary: 'The figures of this process, as Prometheus reads them',
  permission: 'public',
  audience: null,
  credential: 'metrics',
  answers: { 200: { says: 'The figures.', body: z.string(), mediaTypes: ['text/plain'] } },
  refusals: ['no-such-address', 'invalid-token', 'unauthenticated'],
  examples: examples.readMetrics,
  anyAccept: true,
  async handle({ services: { metrics }, headers }) {
    admit(metrics, headers.authorization)
    return { status: 200, mediaType: 'text/plain' as const, body: await metrics.text() }
  },
})

/** Without a token of the settings the address is as good as none: nobody learns by it that there is something. */
function admit(metrics: Metrics | undefined, authorization: string | undefined): asserts metrics is Metrics {
  if (!metrics || (metrics.token === undefined && !metrics.isOpen))
    throw new HttpError('no-such-address', 'There is nothing at this address.')
  if (metrics.token === undefined) return
  const [, given] = /^Bearer (.+)$/i.exec(authorization ?? '') ?? []
  const realm = 'Bearer realm="quartermaster"'
  if (given === undefined)
    throw new HttpError('unauthenticated', 'Send METRICS_TOKEN as Authorization: Bearer.', {
      headers: { 'WWW-Authenticate': realm },
    })
  if (!isSame(given, metrics.token))
    throw new HttpError('invalid-token', 'This is not the METRICS_TOKEN of the service.', {
      headers: { 'WWW-Authenticate': `${realm}, error="invalid_token"` },
    })
}

/** Takes as long for any token. Digests are compared, since their lengths are the same. */
function isSame(given: string, known: string): boolean {
  const [one, other] = [given, known].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}

export const probeRoutes = [live, ready, readMetrics] as const
