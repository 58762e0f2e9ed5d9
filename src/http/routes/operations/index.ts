import { z } from 'zod'
import { healthInWords, healthPart, healthSentences, healthState, plainHealthWriting } from '../../../core/index.ts'
import { readHealthExamples } from '../../examples/admin-health.ts'
import { defineRoute } from '../../server/define-route.ts'

export const healthPartBody = healthPart.omit({ says: true }).extend({ detail: z.string() })

export const readHealth = defineRoute({
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
  examples: readHealthExamples,
  async handle({ actor, provisioning }) {
    const { state, at, version, startedAt, parts } = await provisioning.admin.health(actor)
    const uptimeSeconds = Math.max(0, Math.round((at.getTime() - startedAt.getTime()) / 1000))
    const shown = parts.map((part) => {
      const { name, state, says, ...measures } = part
      return { name, state, detail: healthInWords(healthSentences[says], part, plainHealthWriting), ...measures }
    })
    return { status: 200, body: { state, at: at.toISOString(), version, uptimeSeconds, parts: shown } }
  },
})
