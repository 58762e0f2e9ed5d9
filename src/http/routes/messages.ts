import { z } from 'zod'
import { answered, definePublicRoute } from '../define-route.ts'
import { largestBody } from '../read-body.ts'

/**
 * The Bot Framework's endpoint. Whether the activity comes from the channel is checked by the bot's own guard, before any
 * handler. Cards nest deeper than our API's bodies do.
 */
export const receiveActivity = definePublicRoute({
  method: 'POST',
  path: '/api/messages',
  summary: 'Receive an activity from the Bot Framework',
  permission: 'public',
  audience: null,
  body: z.looseObject({}),
  answers: { 200: null },
  anyAccept: true,
  largest: { bytes: largestBody.messages, depth: 64 },
  async handle({ services, request, response }, { body }) {
    request.body = body
    await services.messages(request, response)
    return answered
  },
})
