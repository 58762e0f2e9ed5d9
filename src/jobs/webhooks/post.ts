import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type Reason, type ResolveHost, webhookAddressFault, webhookTargetFault } from '../../core/index.ts'

/** How long a name may take, in milliseconds: nobody who saves a template should wait out the resolver's own time-out. */
const patience = 5000

/** All addresses of a name as this machine knows them, its hosts file included. Rejects when there are none in time. */
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
  /** The bot's own subscription: it goes to where the service itself is. */
  readonly anywhere: boolean
  /** Aborts when the process stops: then it is unknown what came of it, and the post rejects. */
  readonly signal: AbortSignal
}

/**
 * What came of a post: an answer, or why there was none. Nothing was sent when it was `forbidden` by its URL, or `refused`
 * for where its name leads just now.
 */
export type WebhookAnswer =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly problem: 'timeout' | 'forbidden' | 'refused' | 'unreachable'; readonly words: string }
export type PostWebhook = (post: WebhookPost) => Promise<WebhookAnswer>

export interface PosterOptions {
  /** Private networks that may be gone to. */
  readonly allowCidrs: readonly string[]
  readonly resolveHost: ResolveHost
  /** The sentence of a reason. */
  readonly texts: { readonly reason: (reason: Reason) => string }
  /** Throws inside a database transaction. */
  readonly assertOutside: (what: string) => void
  /** For everything from the look-up of the name to the end of the answer; 15 s by DESIGN §5. */
  readonly timeoutMilliseconds?: number
}

/** As much of an answer as is read; nobody looks at it. */
const largestAnswer = 64 * 1024

class RefusedAddress extends Error {}

/**
 * Posts webhooks to addresses that strangers name. The name is looked up once, every address that it has is judged, and one
 * of these very addresses is connected to, so that a name cannot change between check and connect. Each post has a
 * connection of its own; redirects are answers like any other and not followed, no proxy of the environment is used, and
 * certificates are verified whatever the environment says.
 */
export function createWebhookPoster(options: PosterOptions): PostWebhook {
  const { allowCidrs, texts, assertOutside, timeoutMilliseconds = 15_000 } = options
  return (post) => {
    assertOutside('a webhook')
    const reason = post.anywhere ? undefined : webhookTargetFault(post.url, allowCidrs)
    if (reason) return Promise.resolve({ problem: 'forbidden', words: texts.reason(reason) })
    return new Promise<WebhookAnswer>((resolve, reject) => {
      const stop = () => settle(() => reject(post.signal.reason))
      if (post.signal.aborted) return reject(post.signal.reason)
      const request = open(options, post)
      const seconds = timeoutMilliseconds / 1000
      const timer = setTimeout(
        () => settle(() => resolve({ problem: 'timeout', words: `no answer in ${seconds} s` })),
        timeoutMilliseconds,
      )
      post.signal.addEventListener('abort', stop)
      // Whatever comes first counts, and nothing of the exchange outlives it.
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
    // An agent of its own: neither a kept connection nor the global agent's proxy.
    agent: false,
    rejectUnauthorized: true,
    lookup: checkedLookup(resolveHost, judge),
  })
}

/** Node's look-up for one connection: gives the addresses only if all of them may be gone to. */
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

/** An answer counts when it has ended, or is longer than anybody reads; one that breaks off is none. */
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

/** The code of an error says enough to an admin; its message may quote more than the log should hold. */
function problemOf(error: Error): WebhookAnswer {
  if (error instanceof RefusedAddress) return { problem: 'refused', words: error.message }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { problem: 'unreachable', words: /^[A-Z0-9_]{3,60}$/.test(code) ? `not reachable (${code})` : 'not reachable' }
}
