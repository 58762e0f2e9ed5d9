import { Webhook } from 'standardwebhooks'
import {
  type AttemptOutcome,
  type Clock,
  longestWaitSeconds,
  type SendWebhook,
  traceHeaders,
} from '../../core/index.ts'
import type { PostWebhook, WebhookAnswer } from './post.ts'

/**
 * `webhook-signature` of one attempt (Standard Webhooks 1.0.0): one for each secret, joined by spaces, so receivers may
 * change over from one secret to the next when they like. undefined when the first, which is the present one, cannot sign.
 */
export function signatureOf(secrets: readonly string[], id: string, at: Date, body: string): string | undefined {
  const [present, ...former] = secrets.map((secret) => sign(secret, id, at, body))
  return present && [present, ...former.filter((one) => one !== undefined)].join(' ')
}

/** What the log says of a message that its present secret cannot sign. */
export const unsigned = 'not sent: its secret cannot sign; write the webhook anew'

/** What goes with a message: the timestamp is that of this attempt, as receivers check its age. undefined: it cannot be signed. */
export function headersOf(secrets: readonly string[], id: string, at: Date, body: string) {
  const signature = signatureOf(secrets, id, at, body)
  if (signature === undefined) return undefined
  return {
    'content-type': 'application/json',
    'user-agent': 'Quartermaster-Webhooks/1.0',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
    ...traceHeaders(),
  }
}

function sign(secret: string, id: string, at: Date, body: string): string | undefined {
  try {
    return new Webhook(secret).sign(id, at, body)
  } catch {
    // The error may quote the secret.
    return undefined
  }
}

/** Who says "too many" or does not answer is left alone for so long at least, in seconds. */
const shortestWaitSeconds = 60

/** What an answer means, by the rules of Standard Webhooks 1.0.0. */
export function outcomeOf(answer: WebhookAnswer, now: Date): AttemptOutcome {
  if ('problem' in answer) {
    const { problem, words } = answer
    if (problem === 'timeout') return { status: words, waitSeconds: shortestWaitSeconds }
    if (problem === 'forbidden') return { status: `not sent: ${words}`, ends: 'failed' }
    return { status: problem === 'refused' ? `not sent: ${words}` : words }
  }
  const { status: code, retryAfter } = answer
  const status = String(code)
  if (code >= 200 && code < 300) return { status, ends: 'delivered' }
  if (code === 410) return { status, ends: 'failed', gone: true }
  const requested = retryAfterSeconds(retryAfter, now)
  return { status, waitSeconds: code === 429 ? Math.max(shortestWaitSeconds, requested) : requested }
}

/** `Retry-After` in seconds, or as a date (RFC 9110 §10.2.3); 0 when it is neither, a day at most. */
function retryAfterSeconds(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? ''
  const date = /^[A-Z][a-z]{2,8},? .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((date - now.getTime()) / 1000)
  return seconds > 0 ? Math.min(seconds, longestWaitSeconds) : 0
}

interface SendScope {
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
    if (headers === undefined) return { status: unsigned, milliseconds: 0 }
    const began = performance.now()
    const signal = new AbortController().signal
    const answer = await post({ url, headers, body, anywhere: secrets === 'own', signal })
    const milliseconds = Math.round(performance.now() - began)
    return { status: outcomeOf(answer, clock.now()).status, milliseconds }
  }
