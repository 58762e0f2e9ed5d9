import type { Clock, SendWebhook } from '../../core/index.ts'
import { headersOf, outcomeOf, unsigned } from './message.ts'
import type { PostWebhook } from './post.ts'

export interface SendScope {
  readonly post: PostWebhook
  /** The secret of the bot's own subscription. */
  readonly ownSecret: string
  readonly clock: Clock
}

/** Sends a webhook outside the queue: to the same addresses, signed and judged in the same way as a delivery. */
export const createSendWebhook =
  ({ post, ownSecret, clock }: SendScope): SendWebhook =>
  async ({ url, id, at, body, secrets }) => {
    const headers = headersOf(secrets === 'own' ? [ownSecret] : secrets, id, at, body)
    if (headers === undefined) return { said: unsigned, milliseconds: 0 }
    const began = performance.now()
    const signal = new AbortController().signal
    const answer = await post({ url, headers, body, anywhere: secrets === 'own', signal })
    const milliseconds = Math.round(performance.now() - began)
    return { said: outcomeOf(answer, clock.now()).said, milliseconds }
  }
