import {
  type CallAbout,
  DirectoryError,
  type FieldFault,
  NetworkError,
  ProblemError,
  problemCodeOf,
  type QuartermasterError,
  TimedOutError,
  UnexpectedAnswerError,
} from './errors.ts'
import type { TokenResource } from './types.ts'

/** The part of fetch that this client uses: `globalThis.fetch` is one. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** One call; it may be sent several times. */
interface Call {
  readonly about: CallAbout
  readonly url: string
  readonly resource: TokenResource
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** An answer without these fields does not come from this API. */
  readonly fields: readonly string[]
  /** How many seconds longer than other calls it may take, because the service holds its answer. */
  readonly heldSeconds?: number
  /** When the caller stops waiting for the answer, by {@link Timing.now}. Later the call is not repeated. */
  readonly deadline?: number
  readonly signal?: AbortSignal | undefined
}

interface CallParts {
  readonly fetch: Fetch
  readonly token: (resource: TokenResource) => Promise<string>
  readonly retries: number
  readonly timeoutSeconds: number
  readonly timing: Timing
}
export type SendCall = (call: Call) => Promise<Answer>

/** A call with all its repeats takes at most this time. Milliseconds. */
const longestCall = 120_000
/** An attempt may end this much after the deadline, because the service holds its answer until then. Seconds. */
const lateSeconds = 5
const firstPause = 500
const longestPause = 20_000
/** Answers of a proxy, or of a service that is not ready; a repeat may succeed. */
const passing = [429, 502, 503, 504]

/**
 * Sends a call, and repeats it where that is safe (a read, or a write with its Idempotency-Key) and can help: the
 * connection failed, or the answer was 429, 502, 503 or 504. Pauses follow Retry-After; otherwise they double and are
 * random. It also waits while the first attempt is still in progress (409). All other refusals are final.
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
        const left = (call.deadline ?? Number.POSITIVE_INFINITY) - timing.now()
        if (pause > left) {
          if (left > 0) await timing.sleep(left, call.signal)
          throw error
        }
        if (timing.now() - began + pause > longestCall) throw error
        await timing.sleep(pause, call.signal)
      }
    }
  }
}

/** Whether a repeat may succeed. */
export const mayPass = (error: unknown): boolean => retryOf(error) !== undefined

/** `busy`: counts as a failure. `in-flight`: the first attempt is still in progress. */
function retryOf(error: unknown): 'busy' | 'in-flight' | undefined {
  const { kind } = Object(error) as Partial<QuartermasterError>
  if (kind === 'network' || kind === 'timed-out') return 'busy'
  if (error instanceof ProblemError && error.code === 'idempotency-key-in-flight') return 'in-flight'
  // An open request may take days to end.
  if (error instanceof ProblemError && error.code === 'too-many-open-requests') return undefined
  const { status } = Object(error) as { status?: number }
  return status !== undefined && kind !== undefined && passing.includes(status) ? 'busy' : undefined
}

function pauseAfter(error: QuartermasterError, kind: 'busy' | 'in-flight', failures: number, timing: Timing): number {
  const retryAfter = 'retryAfterSeconds' in error ? error.retryAfterSeconds : undefined
  // A random addition, so that callers who were refused together do not repeat together.
  if (retryAfter !== undefined) return Math.max(retryAfter * 1000, firstPause / 2) + timing.random() * firstPause
  const most = kind === 'in-flight' ? 2 * firstPause : Math.min(longestPause, firstPause * 2 ** failures)
  return most / 2 + (timing.random() * most) / 2
}

async function attempt(parts: CallParts, call: Call): Promise<Answer> {
  const { about, signal, heldSeconds = 0, deadline = Number.POSITIVE_INFINITY } = call
  signal?.throwIfAborted()
  const init = initOf(call, await parts.token(call.resource))
  signal?.throwIfAborted()
  const controller = new AbortController()
  const left = Math.max(0, deadline - parts.timing.now()) / 1000
  const seconds = Math.min(parts.timeoutSeconds + heldSeconds, Math.ceil(left) + lateSeconds)
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
  // fetch would quote an invalid header in its error, and so log the token.
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('The access token is empty or has invalid characters.')
  return {
    method: about.method,
    // The token must not go to another address.
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

/** A successful answer, or a requested 304. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** undefined for a 304. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** The longest answer that is read: a page of 100 requests with the longest automatic replies needs a third of it. */
const longestAnswer = 16 * 1024 * 1024

/** Reads an answer to its end. Throws an error for an unsuccessful answer. Errors while reading pass through. */
async function readAnswer(
  response: Response,
  call: CallAbout,
  expects: {
    readonly from: 'service' | 'directory'
    readonly fields: readonly string[]
    readonly mayBeUnchanged: boolean
  },
  now: number,
): Promise<Answer> {
  const { status, headers } = response
  const retryAfter = retryAfterOf(headers, now)
  const unexpected = (what: string) => new UnexpectedAnswerError(what, status, call, retryAfter)
  if (status === 304 && expects.mayBeUnchanged) return { status, headers, body: undefined }
  if (isRedirect(response)) throw await dropped(response, unexpected('a redirect, which is never followed'))
  const text = await readText(response)
  if (text === undefined) throw unexpected(`more than ${longestAnswer} bytes`)
  const body = objectIn(headers.get('content-type') ?? '', text)
  if (!response.ok) throw body ? refusal(expects.from, body, status, call, headers, retryAfter) : unexpected('no JSON')
  if (!body) throw unexpected('no JSON')
  if (expects.fields.some((field) => !isThere(field, body[field])))
    throw unexpected('a body that this API does not send')
  return { status, headers, body }
}

/** A redirect could lead anywhere, so it is never followed. Browsers hide its status and show only its type. */
const isRedirect = ({ status, type, redirected }: Response): boolean =>
  (status >= 300 && status < 400) || type === 'opaqueredirect' || redirected

async function dropped(response: Response, error: Error): Promise<Error> {
  await response.body?.cancel?.().catch(() => undefined)
  return error
}

/** Reads a text; undefined if it is longer than any answer of this API, and the rest was not read. */
async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader?.()
  if (!reader) {
    const text = await response.text()
    return text.length > longestAnswer ? undefined : text
  }
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > longestAnswer) {
      await reader.cancel().catch(() => undefined)
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** All lists of this API are called `value`. */
const isThere = (field: string, value: unknown): boolean =>
  field === 'value' ? Array.isArray(value) : value !== undefined && value !== null

function objectIn(contentType: string, text: string): Record<string, unknown> | undefined {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function refusal(
  from: 'service' | 'directory',
  body: Readonly<Record<string, unknown>>,
  status: number,
  call: CallAbout,
  headers: Headers,
  retryAfterSeconds: number | undefined,
): QuartermasterError {
  if (from === 'directory') {
    const code = isObject(body['error']) ? textOf(body['error']['code']) : ''
    return new DirectoryError(status, code.slice(0, 100), call, retryAfterSeconds)
  }
  const { code, title, detail, instance, traceId, errors } = body
  const problem = {
    status,
    code: problemCodeOf(code),
    givenCode: textOf(code),
    title: textOf(title),
    detail: textOf(detail),
    instance: textOf(instance),
    traceId: textOf(traceId) || (headers.get('x-request-id') ?? ''),
    errors: Array.isArray(errors) ? errors.filter(isObject).map(faultOf) : [],
    retryAfterSeconds,
  }
  return new ProblemError(problem, call)
}

const faultOf = ({ pointer, code, detail, suggestion }: Record<string, unknown>): FieldFault => ({
  pointer: textOf(pointer),
  code: textOf(code),
  detail: textOf(detail),
  ...(typeof suggestion === 'string' && { suggestion }),
})

/** Time for calls and waits. Tests replace it. */
export interface Timing {
  /** Milliseconds since 1970. */
  now(): number
  random(): number
  /** Rejects with the signal's reason if it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const realTiming: Timing = {
  now: Date.now,
  random: Math.random,
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, milliseconds)
      signal?.addEventListener('abort', abort, { once: true })
    }),
}

/**
 * Reads `Retry-After`, a number of seconds or a date (RFC 9110 §10.2.3), as seconds from now; undefined if it is
 * neither.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (!/^[A-Z][a-z]{2,8},? .+ GMT$/.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000))
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const onThisMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether an address is on this computer. Only there http is allowed. */
export const isLoopback = (address: string): boolean => onThisMachine.test(new URL(address).hostname)

/**
 * The root of an address that tokens are sent to, without a slash at the end. Throws TypeError for an invalid address,
 * and for http to another machine (RFC 6750 §5.3).
 */
export function rootOf(name: string, address: string): string {
  if (!URL.canParse(address))
    throw new TypeError(`${name} must be an address such as https://provisioning.contoso.com.`)
  const { protocol, hostname, username, password, search, hash, origin, pathname } = new URL(address)
  if (protocol !== 'https:' && !(protocol === 'http:' && onThisMachine.test(hostname)))
    throw new TypeError(`${name} must start with https://; http:// is only for this computer.`)
  if (username + password + search + hash !== '')
    throw new TypeError(`${name} must have no user name, password, query or fragment.`)
  return origin + pathname.replace(/\/+$/, '')
}

/** An id for a path or filter. Throws TypeError for anything except a UUID, such as the reference REQ-1042. */
export function idOf(what: 'request' | 'template' | 'batch', id: string): string {
  if (uuid.test(id)) return id.toLowerCase()
  throw new TypeError(
    what === 'request'
      ? 'Use the requestId, which is a UUID, and not a reference such as REQ-1042.'
      : `Use the id of the ${what}, which is a UUID.`,
  )
}
