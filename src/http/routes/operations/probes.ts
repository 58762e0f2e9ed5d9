import { z } from 'zod'
import { readLivenessExamples, readReadinessExamples } from '../../examples/service.ts'
import { definePublicRoute } from '../../server/define-route.ts'

export const healthBody = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  checks: z.record(z.string(), z.string()),
})

/** Liveness: the process answers. */
export const live = definePublicRoute({
  id: 'readLiveness',
  tag: 'Service',
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process is alive',
  permission: 'public',
  audience: null,
  answers: { 200: { says: 'It is.', body: healthBody } },
  refusals: [],
  examples: readLivenessExamples,
  handle: async () => ({ status: 200, body: { status: 'ok' as const, checks: {} } }),
})

/** Readiness: all that the service needs answers. A load balancer sends no calls here while it does not. */
export const ready = definePublicRoute({
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
  examples: readReadinessExamples,
  async handle({ services }) {
    const { ok, checks } = await services.health.ready()
    if (ok) return { status: 200, body: { status: 'ok' as const, checks } }
    return { status: 503, headers: { 'Retry-After': '5' }, body: { status: 'unavailable' as const, checks } }
  },
})
