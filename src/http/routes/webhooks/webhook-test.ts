import { z } from 'zod'
import { webhookTestResult } from '../../../core/index.ts'
import { testWebhookExamples } from '../../examples/webhook-test.ts'
import { defineRoute } from '../../server/define-route.ts'

/** So that integrators can try their receiver, also from a build server. */
export const testWebhook = defineRoute({
  id: 'testWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/templates/v1/:templateId/webhook/test',
  summary: 'Send one signed webhook.test to the webhook of a template now, and tell what came back',
  permission: 'webhook.test',
  audience: 'any',
  params: z.object({ templateId: z.uuid().toLowerCase() }),
  answers: { 200: { says: 'It was tried once. `delivered` tells whether it was taken.', body: webhookTestResult } },
  refusals: ['not-found'],
  examples: testWebhookExamples,
  async handle({ actor, provisioning }, { params: { templateId } }) {
    return { status: 200, body: await provisioning.deliveries.test(actor, { templateId }) }
  },
})
