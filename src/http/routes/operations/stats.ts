import { z } from 'zod'
import { periodOf, stats } from '../../../core/index.ts'
import { readStatsExamples } from '../../examples/stats.ts'
import { defineRoute } from '../../server/define-route.ts'

export const readStats = defineRoute({
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
  examples: readStatsExamples,
  async handle({ actor, provisioning }, { query: { period } }) {
    // These two are counted back from now, so that they are the same everywhere.
    const anywhere = { timeZone: 'UTC', locale: 'en' }
    const span = periodOf(period, new Date(), anywhere)
    return { status: 200, body: await provisioning.admin.stats(actor, span) }
  },
})
