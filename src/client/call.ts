import { type Answer, readAnswer } from './answer.ts'
import { type CallAbout, NetworkError, ProblemError, type QuartermasterError, TimedOutError } from './errors.ts'
import type { Timing } from './timing.ts'
import type { TokenResource } from './types.ts'

/** Fetch, as this client uses it: `globalThis.fetch` is one. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** One call, before it is known how often it has to be sent. */
export interface Call {
  readonly about: CallAbout
  readonly url: string
  readonly resource: TokenResource
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Without these fields an answer is not this API's. */
  readonly fields: readonly string[]
  /** How much longer than others it may take, in seconds: its answer is held. */
  readonly heldSeconds?: number
  readonly signal?: AbortSignal | undefined
}

export interface CallParts {
  readonly fetch: Fetch
  readonly token: (resource: TokenResource) => Promise<string>
  readonly retries: number
  readonly timeoutSeconds: number
  readonly timing: Timing
}
export type SendCall = (call: Call) => Promise<Answer>

/** A call with all its repetitions takes no longer than this before it is given up, in milliseconds. */
const longestCall = 120_000
const firstPause = 500
const longestPause = 20_000
/** Answers of what stands before the service, or of a service that is not ready; the next may be better. */
const passing = [429, 502, 503, 504]

/**
 * Sends a call, and sends it again where that is safe (a read, or a write with its Idempotency-Key) and can help: the
 * connection failed, or the answer was 429, 502, 503 or 504. Retry-After is heeded; else pauses double and are random. A 409
 * that says that the first attempt is still being answered is waited for. All other refusals are final.
 */
export function createSendCall(parts: CallParts): SendCall {
  const { timing, retries } = parts
  return async (call) => {
    const began = timing.now()
    let failures = 0
    for (;;) {
      try {
        return await attempt(parts, call)
      } catch (error) {
        const kind = retryOf(error)
        if (kind === 'busy') failures += 1
        if (kind === undefined || failures > retries) throw error
        const pause = pauseAfter(error as QuartermasterError, kind, failures, timing)
        if (timing.now() - began + pause > longestCall) throw error
        await timing.sleep(pause, call.signal)
      }
    }
  }
}

/** `busy`: counts as a failure. `in-flight`: our own first attempt is still being answered. */
function retryOf(error: unknown): 'busy' | 'in-flight' | undefined {
  const { kind } = Object(error) as Partial<QuartermasterError>
  if (kind === 'network' || kind === 'timed-out') return 'busy'
  if (error instanceof ProblemError && error.code === 'idempotency-key-in-flight') return 'in-flight'
  // Until one of them has ended is no matter of moments.
  if (error instanceof ProblemError && error.code === 'too-many-open-requests') return undefined
  const { status } = Object(error) as { status?: number }
  return status !== undefined && kind !== undefined && passing.includes(status) ? 'busy' : undefined
}

function pauseAfter(error: QuartermasterError, kind: 'busy' | 'in-flight', failures: number, timing: Timing): number {
  const asked = 'retryAfterSeconds' in error ? error.retryAfterSeconds : undefined
  // A little more than asked for, so that those who were refused together do not come back together.
  if (asked !== undefined) return Math.max(asked * 1000, firstPause / 2) + timing.random() * firstPause
  const most = kind === 'in-flight' ? 2 * firstPause : Math.min(longestPause, firstPause * 2 ** failures)
  return most / 2 + (timing.random() * most) / 2
}

async function attempt(parts: CallParts, call: Call): Promise<Answer> {
  const { about, signal, heldSeconds = 0 } = call
  signal?.throwIfAborted()
  const init = initOf(call, await parts.token(call.resource))
  signal?.throwIfAborted()
  const controller = new AbortController()
  const seconds = parts.timeoutSeconds + heldSeconds
  const end = () => controller.abort()
  const timer = setTimeout(end, seconds * 1000)
  signal?.addEventListener('abort', end, { once: true })
  try {
    const response = await parts.fetch(call.url, { ...init, signal: controller.signal })
    const from = call.resource === 'directory' ? 'directory' : 'service'
    const mayBeUnchanged = call.headers?.['if-none-match'] !== undefined
    return await readAnswer(response, about, { from, fields: call.fields, mayBeUnchanged }, parts.timing.now())
  } catch (error) {
    signal?.throwIfAborted()
    if (controller.signal.aborted) throw new TimedOutError(seconds, about)
    throw isOurs(error) ? error : new NetworkError(about, error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

const isOurs = (error: unknown): boolean => typeof Object(error).kind === 'string' && 'call' in Object(error)

function initOf({ about, headers, body }: Call, token: string): RequestInit {
  // fetch would quote what it does not take in its error, and so the token in somebody's log.
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('The access token is empty, or has characters that no token has.')
  return {
    method: about.method,
    // A token goes to the address that it is for, and nowhere else.
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(about.idempotencyKey !== undefined && { 'idempotency-key': about.idempotencyKey }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}
