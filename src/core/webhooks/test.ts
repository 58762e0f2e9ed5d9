import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import { testEventType, type WebhookTestBody } from '../requests/index.ts'
import { type Context, defineUseCase } from '../shared/index.ts'
import { signingSecrets } from '../templates/index.ts'
import { answerMeanings, meaningOf } from './answer.ts'
import type { WebhookPorts } from './ports.ts'
import { aboutReceiver, knownReceiver, receiverId } from './receivers.ts'

/** What came of a test of a receiver. */
export const webhookTestResult = z.strictObject({
  /** The `webhook-id` that it was sent under. */
  webhookId: z.uuid(),
  /** null: the bot's own subscription. */
  templateId: z.uuid().nullable(),
  url: z.string(),
  /** Whether it was answered 2xx, as a delivery has to be. */
  delivered: z.boolean(),
  /** The answer's status, or why there was none: as the log of deliveries says it. */
  status: z.string(),
  meaning: z.enum(answerMeanings),
  milliseconds: z.int().min(0),
})
export type WebhookTestResult = z.output<typeof webhookTestResult>

/** No request has this id (RFC 9562 §5.9): what reads every message's id finds one, and what looks for the request finds none. */
const noRequest = '00000000-0000-0000-0000-000000000000'

/**
 * Sends one signed `webhook.test` to a receiver now, by the way and with the secrets of a delivery, and tells what came back. It is no
 * delivery: it is tried once, stands in no log, and changes nothing of how the receiver is said to do. Throws `not-found`.
 */
export const testReceiver = defineUseCase({
  permission: 'webhook.test',
  input: z.object({ subscriber: receiverId }),
  async handle(context: Context<WebhookPorts>, { subscriber }): Promise<WebhookTestResult> {
    const { ports, settings, actor } = context
    const { template, url } = await knownReceiver(context, subscriber)
    const webhook = template?.webhook
    const at = ports.clock.now()
    const { tenantId } = settings
    const templateId = template?.id ?? null
    const body: WebhookTestBody = {
      ...{ type: testEventType, timestamp: at.toISOString(), requestId: noRequest, tenantId },
      data: { templateId },
    }
    const webhookId = randomUUID()
    const secrets = webhook ? signingSecrets(webhook, at) : ('own' as const)
    const { said, milliseconds } = await ports.sendWebhook({
      url,
      id: webhookId,
      at,
      body: JSON.stringify(body),
      secrets,
    })
    const meaning = meaningOf(said)
    await noteAct(ports, actor, 'webhook-tested', { ...aboutReceiver(template, url), status: said, meaning })
    return { webhookId, templateId, url, delivered: meaning === 'taken', status: said, meaning, milliseconds }
  },
})
