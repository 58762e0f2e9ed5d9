/** The reasons for the state of a request. */
import { z } from 'zod'
import { explanation } from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import { ofOneRequest } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

/** A line of an explanation, with a sentence for people. */
export const explanationBody = explanation.extend({ detail: z.string() })

const explainRequest = defineRoute({
  id: 'explainRequest',
  tag: 'Requests',
  method: 'GET',
  path: '/requests/v1/:requestId/explanation',
  summary: 'Explain the approvers, the name and the duration of a request',
  description: 'Returns the reasons for the approvers, the final name and the expected duration, as codes with texts.',
  permission: 'request.read',
  audience: 'any',
  params: ofOneRequest,
  answers: {
    200: {
      description: 'The explanation of the request by topic, from recorded facts only.',
      body: z.strictObject({ value: z.array(explanationBody) }),
    },
  },
  refusals: ['not-found'],
  examples: examples.explainRequest,
  async handle({ actor, core, services }, { params }) {
    const lines = await core.readExplanation(actor, { requestId: params.requestId })
    return {
      status: 200,
      body: { value: lines.map((line) => ({ ...line, detail: services.texts.explanation(line) })) },
    }
  },
})

export const explanationRoutes = [explainRequest] as const
