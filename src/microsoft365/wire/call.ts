import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type Gate, originNow, TenantError, traceHeaders } from '../../core/index.ts'

/**
 * What came of an exchange: an answer, also one that says no to what was asked; a refusal of us (401, 403), a wish that we slow
 * down (429), a failure of the service (5xx) or an answer that makes no sense, or none at all, in time or ever.
 */
export type CallOutcome = 'answered' | 'refused' | 'throttled' | 'failed' | 'timedOut' | 'unreachable'

/** Called once for each HTTP exchange; nothing in it is a secret. */
export type CallLog = (entry: {
  service: string
  purpose: string
  method: string
  status: number | undefined
  outcome: CallOutcome
  milliseconds: number
  clientRequestId: string
  /** The service's own id of the exchange: what Microsoft's support asks for. */
  requestId: string | undefined
}) => void

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  /** What the call is for, in words that finish "… while": `making the group`. */
  readonly purpose: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses that are answers, not errors, to this caller: 404 where it asks whether something is there. */
  readonly accept?: readonly number[]
  /** A POST that changes nothing: it has a read's time-out, and is repeated at once as a GET is. */
  readonly reads?: boolean
  readonly signal?: AbortSignal
}

/** What the service says went wrong. `text` is its own words: for logs and for the few cases that have no code. */
export interface ServiceError {
  readonly code: string
  readonly text: string
  readonly details: readonly { readonly code?: string | undefined; readonly target?: string | undefined }[]
}
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly error: ServiceError | undefined
  readonly retryAfterSeconds: number | undefined
}

export interface Door {
  /** For people: `Microsoft Graph`. */
  readonly service: string
  /** Whose tokens: `https://graph.microsoft.com`. */
  readonly resource: string
  readonly headers?: Readonly<Record<string, string>>
  /** Makes an error of an answer, for a service with error bodies of its own; {@link errorOf} unless told. */
  readonly refusal?: typeof errorOf
  /** Where a redirect is followed to, once and with our token; nowhere unless told. */
  readonly follows?: (from: URL, to: URL) => URL | undefined
}
/** Gives an access token for a resource; `fresh` skips the cache, after a 401. */
export type TokenSource = (resource: string, how?: { fresh: boolean }) => Promise<string>
export type CallService = (call: Call) => Promise<Answer>

const readMilliseconds = 10_000
const writeMilliseconds = 30_000
/** Before the second and third try of a GET; longer waits are the job's, which does not hold anything meanwhile. */
const quickRetries = [100, 400] as const

/**
 * The one door through which this room talks HTTP to a service. Answers that are neither 2xx nor accepted, lost
 * connections and time-outs (10 s to read, 30 s to write) become a `TenantError` that knows whether to try again.
 * Reads are repeated twice at once; a write never is, since its answer may be lost and its work done: the step looks
 * first when it runs again. Only a 401 is repeated, once, with a fresh token: it was refused before anything happened.
 */
export function createCaller(
  door: Door,
  options: { token: TokenSource; gate: Gate; fetch: typeof fetch; log?: CallLog | undefined },
): CallService {
  const once = async (call: Call, fresh: boolean): Promise<Answer> => {
    const token = await options.token(door.resource, { fresh })
    const answer = await inTurn(door, call, options.gate, () => exchange(door, call, token, options))
    return answer.status === 401 && !fresh && !call.accept?.includes(401) ? once(call, true) : answer
  }
  const attempt = async (call: Call): Promise<Answer> => {
    const answer = await once(call, false)
    const { status } = answer
    if ((status >= 200 && status < 300) || call.accept?.includes(status)) return answer
    throw (door.refusal ?? errorOf)(door.service, call.purpose, answer)
  }
  return async (call) => {
    for (const wait of isRead(call) ? quickRetries : []) {
      try {
        return await attempt(call)
      } catch (error) {
        if (!isQuick(error) || call.signal?.aborted) throw error
      }
      await pause(wait * (0.75 + Math.random() / 2))
    }
    return attempt(call)
  }
}

/** Waits for a place among the calls to the service, for as long as somebody waits for the answer. */
async function inTurn<T>(door: Door, { signal, purpose }: Call, gate: Gate, work: () => Promise<T>): Promise<T> {
  const { abandoned } = originNow()
  const signals = [signal, abandoned].filter((one) => one !== undefined)
  let isEntered = false
  const entered = () => {
    isEntered = true
    return work()
  }
  try {
    return await gate.pass(entered, signals.length > 1 ? AbortSignal.any(signals) : signals[0])
  } catch (error) {
    if (isEntered || error instanceof TenantError) throw error
    throw lost(door.service, purpose, isTimeout(signal?.reason), error)
  }
}

const isRead = ({ reads, method = 'GET' }: Call): boolean => reads === true || method === 'GET'

/** Worth repeating at once: it may pass, and the service did not ask for a wait or use up our time already. */
const isQuick = (error: unknown): boolean =>
  error instanceof TenantError &&
  error.retryable &&
  error.retryAfterSeconds === undefined &&
  error.code !== 'timeout' &&
  error.code !== 'http-429'

async function exchange(
  door: Door,
  call: Call,
  token: string,
  { fetch, log }: { fetch: typeof globalThis.fetch; log?: CallLog | undefined },
): Promise<Answer> {
  const { service, headers } = door
  const { method = 'GET', url, purpose, body } = call
  const clientRequestId = randomUUID()
  const started = performance.now()
  const limit = AbortSignal.timeout(isRead(call) ? readMilliseconds : writeMilliseconds)
  let response: Response | undefined
  let outcome: CallOutcome = 'failed'
  try {
    const init: RequestInit = {
      method,
      // A redirect would carry our token to an address that nobody configured.
      redirect: 'manual',
      signal: call.signal ? AbortSignal.any([limit, call.signal]) : limit,
      headers: {
        accept: 'application/json',
        'user-agent': 'NONISV|Quartermaster|Quartermaster/1.0',
        'client-request-id': clientRequestId,
        ...traceHeaders(),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
        ...call.headers,
        authorization: `Bearer ${token}`,
      },
      ...(body && { body: JSON.stringify(body) }),
    }
    response = await fetch(url, init)
    const next = redirectOf(door, url, response)
    if (next) {
      await response.body?.cancel()
      response = await fetch(next, init)
    }
    const answer = answerOf(response, await readText(response, service), service)
    outcome = outcomeOf(answer, call)
    return answer
  } catch (error) {
    if (!isLost(error) && !call.signal?.aborted) throw error
    outcome = limit.aborted || isTimeout(call.signal?.reason) ? 'timedOut' : 'unreachable'
    throw lost(service, purpose, limit.aborted, error)
  } finally {
    const requestId = response?.headers.get('request-id') ?? response?.headers.get('sprequestguid') ?? undefined
    const milliseconds = Math.round(performance.now() - started)
    log?.({ service, purpose, method, status: response?.status, outcome, milliseconds, clientRequestId, requestId })
  }
}

function outcomeOf({ status }: Answer, { accept }: Call): CallOutcome {
  if (accept?.includes(status)) return 'answered'
  if (status === 429) return 'throttled'
  if (status === 401 || status === 403) return 'refused'
  return status >= 500 || status === 408 ? 'failed' : 'answered'
}

const isTimeout = (reason: unknown): boolean => reason instanceof TenantError && reason.code === 'timeout'

function redirectOf({ follows }: Door, from: string, { status, headers }: Response): URL | undefined {
  const location = headers.get('location') ?? ''
  const isRedirect = [301, 302, 307, 308].includes(status) && URL.canParse(location, from)
  return isRedirect ? follows?.(new URL(from), new URL(location, from)) : undefined
}

function answerOf(response: Response, text: string, service: string): Answer {
  const body = text === '' ? undefined : parseJson(text)
  if (response.ok && text !== '' && body === undefined) throw unreadable(service, 'something that is not JSON')
  const error = response.ok ? undefined : serviceErrorOf(body)
  return { status: response.status, body, error, retryAfterSeconds: retryAfterSeconds(response.headers) }
}

const words = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]).catch('')
const errorObject = z.object({
  code: z.string().catch(''),
  message: words,
  details: z.array(z.object({ code: z.string().optional(), target: z.string().nullish() })).catch([]),
})
/** Graph and OData 4: `{error}`; SharePoint's older wrapper: `{"odata.error"}` with `message.value`. */
const errorBody = z.union([
  z.object({ error: errorObject }).transform(({ error }) => error),
  z.object({ 'odata.error': errorObject }).transform((body) => body['odata.error']),
])

function serviceErrorOf(body: unknown): ServiceError | undefined {
  const { data } = errorBody.safeParse(body)
  if (!data) return undefined
  const details = data.details.map(({ code, target }) => ({ code, target: target ?? undefined }))
  return { code: data.code, text: data.message, details }
}

/** An answer as an error. What the service wrote stays in `cause`: people and stores see the code only. */
export function errorOf(service: string, purpose: string, answer: Answer): TenantError {
  const { status, error } = answer
  const code = error && /^[\w .,-]{1,80}$/.test(error.code) ? error.code : `http-${status}`
  const message = `${service} answered ${status}${code.startsWith('http-') ? '' : ` (${code})`} while ${purpose}.`
  return new TenantError(code, message, {
    retryable: isPassing(status),
    retryAfterSeconds: answer.retryAfterSeconds,
    status,
    ...(error && { cause: new Error(error.text.slice(0, 500)) }),
  })
}

function lost(service: string, purpose: string, late: boolean, cause: unknown): TenantError {
  const what = late ? 'did not answer in time' : 'cannot be reached'
  return new TenantError(late ? 'timeout' : 'unreachable', `${service} ${what} while ${purpose}.`, {
    retryable: true,
    cause,
  })
}

/** Checks an answer's body against what the service documents; anything else is a `TenantError`, never a crash. */
export function readAs<S extends z.ZodType>(schema: S, answer: Answer, service: string): z.output<S> {
  const parsed = schema.safeParse(answer.body)
  if (!parsed.success) throw unreadable(service, 'an answer of another shape', parsed.error)
  return parsed.data
}

/** More than any answer that we ask for can hold; whoever sends more is not Microsoft 365. Bytes. */
const largestAnswer = 4 * 1024 * 1024

/**
 * Statuses after which the same call may succeed later (Graph's and SharePoint's throttling and error pages, and the
 * list in dev-proxy's GraphRandomErrorPlugin). All others stay as they are until somebody changes something.
 */
const passing = new Set([408, 423, 425, 429, 500, 502, 503, 504, 507])
export const isPassing = (status: number): boolean => passing.has(status)

/** The whole body as text, cut off with a `TenantError` when it is larger than anything we ask for. */
export async function readText(response: Response, service: string): Promise<string> {
  if (!response.body) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.byteLength
    // Leaving the loop cancels the stream, so the rest is never downloaded.
    if (size > largestAnswer) throw unreadable(service, `an answer of more than ${largestAnswer} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The JSON value of a text; undefined when it is none (an HTML page of some proxy, say). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An answer that is not what the service documents. Worth another try: mostly something in between answered. */
export const unreadable = (service: string, what: string, cause?: unknown): TenantError =>
  new TenantError('unreadable-answer', `${service} sent ${what}, which is not what it documents.`, {
    retryable: true,
    cause,
  })

/**
 * Seconds to wait by a `Retry-After` header (RFC 9110 §10.2.3): a number of seconds or an HTTP date, never less than 0.
 * Undefined when there is none or it cannot be read. SharePoint's `RateLimit-Reset` counts when it is longer. At most an
 * hour: nothing here asks for more, and a broken header must not put a request to sleep for years.
 */
export function retryAfterSeconds(headers: Headers, now: number = Date.now()): number | undefined {
  const waits = [headers.get('retry-after'), headers.get('ratelimit-reset')].flatMap((value) => {
    if (value === null) return []
    if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return [Math.ceil(Number(value))]
    const date = Date.parse(value)
    return Number.isNaN(date) ? [] : [Math.max(0, Math.ceil((date - now) / 1000))]
  })
  return waits.length > 0 ? Math.min(3600, Math.max(...waits)) : undefined
}

/** How `fetch` reports a lost connection and a time-out; whatever else it throws is a defect and stays one. */
export const isLost = (error: unknown): boolean => error instanceof TypeError || error instanceof DOMException
