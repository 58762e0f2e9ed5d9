import type { Response } from 'restify'
import { z } from 'zod'
import { answered } from '../../server/answers.ts'
import { largestBody } from '../../server/bodies.ts'
import { definePublicRoute } from '../../server/define-route.ts'
import { closesConnection, commonHeaders } from '../../server/respond.ts'
import examples from './examples.json' with { type: 'json' }

/** The answer of the bot's guard to a refused activity. */
const refusal = z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) })

/**
 * The Bot Framework's endpoint. The bot's own guard checks that the activity comes from the channel. Cards nest deeper
 * than the bodies of our API.
 */
const receiveActivity = definePublicRoute({
  id: 'receiveActivity',
  tag: 'Service',
  method: 'POST',
  path: '/api/messages',
  summary: 'Receive an activity from the Bot Framework',
  description:
    'Receives messages, clicks and installations of the bot. The Bot connector sends the answers of the bot to the chat.',
  permission: 'public',
  audience: null,
  credential: 'connector',
  body: z.looseObject({}),
  answers: {
    200: { description: 'Handled. For an invoke, the body is its answer.', body: z.looseObject({}).optional() },
    400: { description: 'The body is not an activity, or the bot does not handle it.', body: refusal.optional() },
    401: { description: 'The token is missing or not valid.', body: refusal, headers: ['WWW-Authenticate'] },
    403: { description: 'The activity comes from another channel, organisation or connector.', body: refusal },
    503: { description: 'The token cannot be checked now.', body: refusal, headers: ['Retry-After'] },
  },
  refusals: [],
  examples: examples.receiveActivity,
  anyAccept: true,
  largest: { bytes: largestBody.messages, depth: 64 },
  async admit({ services, request, response, requestId }) {
    if (!services.admitsActivity) return true
    setHeaders(response, { ...commonHeaders(requestId), ...(closesConnection(request) && { Connection: 'close' }) })
    const admitted = await services.admitsActivity(request, response)
    if (admitted) response.removeHeader('Connection')
    return admitted
  },
  async handle({ services, request, response, requestId }, { body }) {
    request.body = body
    setHeaders(response, commonHeaders(requestId))
    await services.messages(request, response)
    return answered
  },
})

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

export const channelRoutes = [receiveActivity] as const
