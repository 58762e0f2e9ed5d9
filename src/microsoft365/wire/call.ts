import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type Gate, originNow, TenantError, traceHeaders } from '../../core/index.ts'
import { consentDelay, lackingIn, neededFor, type Permission, permissionMissing } from './permissions.ts'

/**
 * Result of an HTTP exchange: `answered` (also with a negative answer), `refused` (401, 403), `throttled` (429), `failed`
 * (5xx, or an answer that is not what the service documents), `timedOut` or `unreachable`.
 */
export type CallOutcome = 'answered' | 'refused' | 'throttled' | 'failed' | 'timedOut' | 'unreachable'

/** Called once for each HTTP exchange. An entry contains no secret. */
export type CallLog = (entry: {
  service: string
  purpose: string
  method: string
  status: number | undefined
  outcome: CallOutcome
  milliseconds: number
  clientRequestId: string
  /** The service's own id of the exchange. Microsoft's support asks for it. */
  requestId: string | undefined
}) => void

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  /** The purpose, as text that completes "… while": `making the group`. */
  readonly purpose: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses that this caller handles itself, such as 404 when it asks whether an object exists. */
  readonly accept?: readonly number[]
  /** True for a POST that changes nothing: it gets the time-out and the retries of a GET. */
  readonly reads?: boolean
  readonly signal?: AbortSignal
}

/** The service's own error. `text` is for logs and for the few cases that have no code. */
export interface ServiceError {
  readonly code: string
  readonly text: string
  readonly details: readonly ErrorDetail[]
}
interface ErrorDetail {
  readonly code?: string | undefined
  readonly target?: string | undefined
  /** The value that the service would accept (Graph, group naming policy). */
  readonly suggestedPropertyValue?: string | undefined
}
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly error: ServiceError | undefined
  readonly retryAfterSeconds: number | undefined
}

export interface Endpoint {
  /** Name for people: `Microsoft Graph`. */
  readonly service: string
  /** The resource that tokens are requested for: `https://graph.microsoft.com`. */
  readonly resource: string
  readonly headers?: Readonly<Record<string, string>>
  /** Turns an answer into an error, for a service with its own error bodies. Default: {@link errorOf}. */
  readonly refusal?: typeof errorOf
  /** Target of a redirect, which is followed once, with our token. Default: redirects are not followed. */
  readonly redirectTo?: (from: URL, to: URL) => URL | undefined
}
/**
 * Gives an access token for a resource. `fresh` skips the cache, after a 401. `refused` replaces a token once in `every`
 * milliseconds, and else gives the same. Calls and checks count apart: a check before a grant does not delay a retry.
 */
export type TokenSource = (
  resource: string,
  how?: { readonly fresh: true } | { readonly refused: string; readonly every: number; readonly by: 'call' | 'check' },
) => Promise<string>
export type CallService = (call: Call) => Promise<Answer>

const readMilliseconds = 10_000
const writeMilliseconds = 30_000
/** How often a refusal that no missing permission explains may cost a new token. Milliseconds. */
const policyDelay = 300_000
/** Waits before the second and third attempt of a read. The job does longer waits, since it holds nothing meanwhile. */
const quickRetries = [100, 400] as const

/**
 * Creates the only function that sends HTTP to a service. It throws a `TenantError` that says whether to retry, for
 * answers that are neither 2xx nor accepted, lost connections and time-outs (reads 10 s, writes 30 s). It repeats a read
 * twice at once and never repeats a write, which may have succeeded although its answer was lost: the step checks first
 * when it runs again. It repeats any call once with a fresh token after a 401 or 403, which precede all effects: a token
 * keeps its roles, so consent that an admin has just granted needs a new one.
 */
export function createCaller(
  endpoint: Endpoint,
  options: {
    token: TokenSource
    gate: Gate
    fetch: typeof fetch
    log?: CallLog | undefined
    /** What our token must carry. */
    permissions: readonly Permission[]
  },
): CallService {
  const { resource, service } = endpoint
  const send = (call: Call, token: string) =>
    throughGate(endpoint, call, options.gate, () => exchange(endpoint, call, token, options))
  const lacking = ({ method = 'GET', url }: Call, token: string) =>
    lackingIn(token, neededFor(options.permissions, method, url))
  const isRefused = ({ status }: Answer, { accept }: Call) =>
    (status === 401 || status === 403) && !accept?.includes(status)
  const renewed = (call: Call, { status }: Answer, refused: string): Promise<string> => {
    const lacks = lacking(call, refused).length > 0
    if (status === 401 && !lacks) return options.token(resource, { fresh: true })
    return options
      .token(resource, { refused, every: lacks ? consentDelay : policyDelay, by: 'call' })
      .catch(() => refused)
  }
  const attempt = async (call: Call): Promise<Answer> => {
    let token = await options.token(resource)
    let answer = await send(call, token)
    if (isRefused(answer, call)) {
      const next = await renewed(call, answer, token)
      if (next !== token || answer.status === 401) answer = await send(call, next)
      token = next
    }
    const { status } = answer
    if ((status >= 200 && status < 300) || call.accept?.includes(status)) return answer
    const missing = isRefused(answer, call) ? lacking(call, token) : []
    if (missing.length > 0) throw permissionMissing(service, call.purpose, status, missing)
    throw (endpoint.refusal ?? errorOf)(endpoint.service, call.purpose, answer)
  }
  return async (call) => {
    for (const wait of isRead(call) ? quickRetries : []) {
      try {
        return await attempt(call)
      } catch (error) {
        if (!mayRepeatNow(error) || call.signal?.aborted) throw error
      }
      await pause(wait * (0.75 + Math.random() / 2))
    }
    return attempt(call)
  }
}

/** Waits for a free slot among the calls to the service, until the caller aborts or abandons the request. */
async function throughGate<T>(
  endpoint: Endpoint,
  { signal, purpose }: Call,
  gate: Gate,
  work: () => Promise<T>,
): Promise<T> {
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
    throw connectionError(endpoint.service, purpose, isTimeout(signal?.reason), error)
  }
}

const isRead = ({ reads, method = 'GET' }: Call): boolean => reads === true || method === 'GET'

/** Whether to retry at once: a transient error, without a wait that the service requires and without a time-out. */
const mayRepeatNow = (error: unknown): boolean =>
  error instanceof TenantError &&
  error.retryable &&
  error.retryAfterSeconds === undefined &&
  error.code !== 'timeout' &&
  error.code !== 'http-429'

async function exchange(
  endpoint: Endpoint,
  call: Call,
  token: string,
  { fetch, log }: { fetch: typeof globalThis.fetch; log?: CallLog | undefined },
): Promise<Answer> {
  const { service, headers } = endpoint
  const { method = 'GET', url, purpose, body } = call
  const clientRequestId = randomUUID()
  const started = performance.now()
  const limit = AbortSignal.timeout(isRead(call) ? readMilliseconds : writeMilliseconds)
  let response: Response | undefined
  let outcome: CallOutcome = 'failed'
  try {
    const init: RequestInit = {
      method,
      // A redirect would send our token to an address that is not configured.
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
    const next = redirectOf(endpoint, url, response)
    if (next) {
      await response.body?.cancel()
      response = await fetch(next, init)
    }
    const answer = answerOf(response, await readText(response, service), service)
    outcome = outcomeOf(answer, call)
    return answer
  } catch (error) {
    if (!isConnectionError(error) && !call.signal?.aborted) throw error
    outcome = limit.aborted || isTimeout(call.signal?.reason) ? 'timedOut' : 'unreachable'
    throw connectionError(service, purpose, limit.aborted, error)
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

function redirectOf({ redirectTo }: Endpoint, from: string, { status, headers }: Response): URL | undefined {
  const location = headers.get('location') ?? ''
  const isRedirect = [301, 302, 307, 308].includes(status) && URL.canParse(location, from)
  return isRedirect ? redirectTo?.(new URL(from), new URL(location, from)) : undefined
}

function answerOf(response: Response, text: string, service: string): Answer {
  const body = text === '' ? undefined : parseJson(text)
  if (response.ok && text !== '' && body === undefined) throw unreadable(service, 'something that is not JSON')
  const error = response.ok ? undefined : serviceErrorOf(body)
  return { status: response.status, body, error, retryAfterSeconds: retryAfterSeconds(response.headers) }
}

const messageText = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]).catch('')
const errorObject = z.object({
  code: z.string().catch(''),
  message: messageText,
  details: z
    .array(
      z.object({
        code: z.string().optional(),
        target: z.string().nullish(),
        suggestedPropertyValue: z.string().optional().catch(undefined),
      }),
    )
    .catch([]),
})
/** Graph and OData 4: `{error}`; SharePoint's older wrapper: `{"odata.error"}` with `message.value`. */
const errorBody = z.union([
  z.object({ error: errorObject }).transform(({ error }) => error),
  z.object({ 'odata.error': errorObject }).transform((body) => body['odata.error']),
])

function serviceErrorOf(body: unknown): ServiceError | undefined {
  const { data } = errorBody.safeParse(body)
  if (!data) return undefined
  const details = data.details.map(({ target, ...detail }) => ({ ...detail, target: target ?? undefined }))
  return { code: data.code, text: data.message, details }
}

/** Turns an answer into an error. The service's text stays in `cause`: people and the store see only the code. */
export function errorOf(service: string, purpose: string, answer: Answer): TenantError {
  const { status, error } = answer
  const code = error && /^[\w .,-]{1,80}$/.test(error.code) ? error.code : `http-${status}`
  const message = `${service} answered ${status}${code.startsWith('http-') ? '' : ` (${code})`} while ${purpose}.`
  return new TenantError(code, message, {
    retryable: isTransient(status),
    retryAfterSeconds: answer.retryAfterSeconds,
    status,
    ...(error && { cause: new Error(error.text.slice(0, 500)) }),
  })
}

function connectionError(service: string, purpose: string, late: boolean, cause: unknown): TenantError {
  const what = late ? 'did not answer in time' : 'cannot be reached'
  return new TenantError(late ? 'timeout' : 'unreachable', `${service} ${what} while ${purpose}.`, {
    retryable: true,
    cause,
  })
}

/** Parses an answer's body. Throws a retryable `TenantError` when the body does not match the schema. */
export function parseAnswer<S extends z.ZodType>(schema: S, answer: Answer, service: string): z.output<S> {
  const parsed = schema.safeParse(answer.body)
  if (!parsed.success) throw unreadable(service, 'an answer of another shape', parsed.error)
  return parsed.data
}

/** Larger than any expected answer. Bytes. */
const largestAnswer = 4 * 1024 * 1024

/**
 * Statuses after which the same call may succeed later (Graph's and SharePoint's pages on throttling and errors, and the
 * list in dev-proxy's GraphRandomErrorPlugin).
 */
const transientStatuses = new Set([408, 423, 425, 429, 500, 502, 503, 504, 507])
export const isTransient = (status: number): boolean => transientStatuses.has(status)

/** Reads the whole body as text. Throws a `TenantError` when the body is larger than any expected answer. */
export async function readText(response: Response, service: string): Promise<string> {
  if (!response.body) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.byteLength
    // Leaving the loop cancels the download.
    if (size > largestAnswer) throw unreadable(service, `an answer of more than ${largestAnswer} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Parses JSON; returns undefined for any other text, such as the HTML page of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Error for an answer that is not what the service documents. Retryable: usually a proxy has answered. */
export const unreadable = (service: string, what: string, cause?: unknown): TenantError =>
  new TenantError('unreadable-answer', `${service} sent ${what}, which is not what it documents.`, {
    retryable: true,
    cause,
  })

/**
 * Returns the wait that `Retry-After` (RFC 9110 §10.2.3: seconds or an HTTP date) or SharePoint's `RateLimit-Reset` asks
 * for, whichever is longer, in seconds from 0 to 3600: a broken header must not delay a request for years. Returns
 * undefined without a readable header.
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

/** Whether `fetch` reports a lost connection or a time-out. Any other error is a defect. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof DOMException
