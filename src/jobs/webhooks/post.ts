import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Webhook } from 'standardwebhooks'
import {
  type AttemptOutcome,
  type Clock,
  longestWaitSeconds,
  type Reason,
  type ResolveHost,
  type SendWebhook,
  traceHeaders,
  webhookAddressFault,
  webhookTargetFault,
} from '../../core/index.ts'

/**
 * The time-out of a name lookup, in milliseconds. The resolver's own time-out is too long for a person who saves a
 * template.
 */
const patience = 5000

/** Returns all addresses of a name, also from this machine's hosts file. Rejects without an answer in time. */
export const resolveHost: ResolveHost = async (hostname) => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error(`${hostname} was not found in time`), { code: 'EAI_AGAIN' })
    timer = setTimeout(() => reject(error), patience)
  })
  try {
    const found = await Promise.race([lookup(hostname, { all: true }), tooLate])
    return found.map(({ address }) => address)
  } finally {
    clearTimeout(timer)
  }
}

export interface WebhookPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether any address is allowed: for the service's own receiver. */
  readonly anywhere: boolean
  /** Aborts when the process stops. Then the post rejects, because its result is unknown. */
  readonly signal: AbortSignal
}

/**
 * The result of a post: an answer, or why there was no answer. Nothing was sent if its URL is `forbidden`, or if it was
 * `refused` because of the present addresses of its host.
 */
export type WebhookAnswer =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly problem: 'timeout' | 'forbidden' | 'refused' | 'unreachable'; readonly text: string }
export type PostWebhook = (post: WebhookPost) => Promise<WebhookAnswer>

export interface PosterOptions {
  /** Private networks that are allowed. */
  readonly allowCidrs: readonly string[]
  readonly resolveHost: ResolveHost
  /** Returns the text of a reason. */
  readonly texts: { readonly reason: (reason: Reason) => string }
  /** Throws inside a database transaction. */
  readonly assertOutside: (what: string) => void
  /** The time-out from the name lookup to the end of the answer. Default 15 s (DESIGN §5). */
  readonly timeoutMilliseconds?: number
}

/** The longest part of an answer that is read, in bytes. Its content is not used. */
const largestAnswer = 64 * 1024

class RefusedAddress extends Error {}

/**
 * Posts webhooks to addresses that other people configure. The name is looked up once and all of its addresses are checked;
 * the connection uses one of these addresses, so that a name cannot change between check and connection. Each post has its
 * own connection. Redirects are not followed, no proxy of the environment is used, and certificates are always verified.
 */
export function createWebhookPoster(options: PosterOptions): PostWebhook {
  const { allowCidrs, texts, assertOutside, timeoutMilliseconds = 15_000 } = options
  return (post) => {
    assertOutside('a webhook')
    const reason = post.anywhere ? undefined : webhookTargetFault(post.url, allowCidrs)
    if (reason) return Promise.resolve({ problem: 'forbidden', text: texts.reason(reason) })
    return new Promise<WebhookAnswer>((resolve, reject) => {
      const stop = () => settle(() => reject(post.signal.reason))
      if (post.signal.aborted) return reject(post.signal.reason)
      const request = open(options, post)
      const seconds = timeoutMilliseconds / 1000
      const timer = setTimeout(
        () => settle(() => resolve({ problem: 'timeout', text: `no answer in ${seconds} s` })),
        timeoutMilliseconds,
      )
      post.signal.addEventListener('abort', stop)
      // The first result counts, and ends the exchange.
      const settle = (end: () => void) => {
        clearTimeout(timer)
        post.signal.removeEventListener('abort', stop)
        end()
        request.destroy()
      }
      const answered = (answer: WebhookAnswer) => settle(() => resolve(answer))
      request.once('response', (response) => readToEnd(response, answered))
      request.on('error', (error) => answered(problemOf(error)))
      request.end(post.body)
    })
  }
}

function open(
  { allowCidrs, resolveHost, texts }: PosterOptions,
  { url, headers, body, anywhere }: WebhookPost,
): ClientRequest {
  const { protocol } = new URL(url)
  const make = protocol === 'https:' ? httpsRequest : httpRequest
  const judge = (address: string): string | undefined => {
    const reason = anywhere ? undefined : webhookAddressFault(address, protocol, allowCidrs)
    return reason && texts.reason(reason)
  }
  return make(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    // No agent: neither a kept connection nor the global agent's proxy.
    agent: false,
    rejectUnauthorized: true,
    lookup: checkedLookup(resolveHost, judge),
  })
}

/** Returns Node's lookup function for one connection. It returns addresses only if all of them are allowed. */
function checkedLookup(resolveHost: ResolveHost, judge: (address: string) => string | undefined): LookupFunction {
  return (hostname, { all }, done) => {
    resolveHost(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }))
        const fault = addresses.map(judge).find((one) => one !== undefined)
        const [first] = found
        if (fault !== undefined) done(new RefusedAddress(fault), '', 0)
        else if (first === undefined) done(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
        else if (all) done(null, found)
        else done(null, first.address, first.family)
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), '', 0),
    )
  }
}

/** Reads an answer to its end or to the limit. An answer that breaks off before is an error. */
function readToEnd(response: IncomingMessage, answered: (answer: WebhookAnswer) => void): void {
  const answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > largestAnswer) answered(answer)
  })
  response.once('end', () => answered(answer))
  response.on('error', (error) => answered(problemOf(error)))
}

/** Describes an error by its code alone, because its message may quote data that the log should not contain. */
function problemOf(error: Error): WebhookAnswer {
  if (error instanceof RefusedAddress) return { problem: 'refused', text: error.message }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { problem: 'unreachable', text: /^[A-Z0-9_]{3,60}$/.test(code) ? `not reachable (${code})` : 'not reachable' }
}

/**
 * Returns the header `webhook-signature` of one attempt (Standard Webhooks 1.0.0): one signature for each secret,
 * joined by spaces, so that receivers can change to the next secret at any time. Undefined if the first secret, the
 * present one, cannot sign.
 */
export function signatureOf(secrets: readonly string[], id: string, at: Date, body: string): string | undefined {
  const [present, ...former] = secrets.map((secret) => sign(secret, id, at, body))
  return present && [present, ...former.filter((one) => one !== undefined)].join(' ')
}

/** The delivery's status if the present secret cannot sign its message. */
export const unsigned = 'not sent: its secret cannot sign; write the webhook anew'

/**
 * Returns the headers of one attempt with its time, because receivers check its age. Undefined if it cannot be signed.
 */
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

/** The shortest pause after a 429 or a time-out, in seconds. */
const shortestWaitSeconds = 60

/** Returns the outcome of an attempt by the rules of Standard Webhooks 1.0.0. */
export function outcomeOf(answer: WebhookAnswer, now: Date): AttemptOutcome {
  if ('problem' in answer) {
    const { problem, text } = answer
    if (problem === 'timeout') return { status: text, waitSeconds: shortestWaitSeconds }
    if (problem === 'forbidden') return { status: `not sent: ${text}`, ends: 'failed' }
    return { status: problem === 'refused' ? `not sent: ${text}` : text }
  }
  const { status: code, retryAfter } = answer
  const status = String(code)
  if (code >= 200 && code < 300) return { status, ends: 'delivered' }
  if (code === 410) return { status, ends: 'failed', gone: true }
  const requested = retryAfterSeconds(retryAfter, now)
  return { status, waitSeconds: code === 429 ? Math.max(shortestWaitSeconds, requested) : requested }
}

/** Returns `Retry-After` in seconds, also from a date (RFC 9110 §10.2.3): at most a day, and 0 for any other text. */
function retryAfterSeconds(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? ''
  const date = /^[A-Z][a-z]{2,8},? .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((date - now.getTime()) / 1000)
  return seconds > 0 ? Math.min(seconds, longestWaitSeconds) : 0
}

interface SendScope {
  readonly post: PostWebhook
  /** The secret of the service's own receiver. */
  readonly ownSecret: string
  readonly clock: Clock
}

/** Sends a webhook outside the queue, with the same checks, signature and outcome as a delivery. */
export const createSendWebhook =
  ({ post, ownSecret, clock }: SendScope): SendWebhook =>
  async ({ url, id, at, body, secrets }) => {
    const headers = headersOf(secrets === 'own' ? [ownSecret] : secrets, id, at, body)
    if (headers === undefined) return { status: unsigned, milliseconds: 0 }
    const startedAt = performance.now()
    const signal = new AbortController().signal
    const answer = await post({ url, headers, body, anywhere: secrets === 'own', signal })
    const milliseconds = Math.round(performance.now() - startedAt)
    return { status: outcomeOf(answer, clock.now()).status, milliseconds }
  }
