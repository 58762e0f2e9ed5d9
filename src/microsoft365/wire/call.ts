import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { because, type Gate, originNow, type Reason, sentenceOf, TenantError, traceHeaders } from '../../core/index.ts'
import { type Answer, answerOf, errorOf, parseAnswer, readText } from './answer.ts'
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
  /** The service's own id of the exchange. Microsoft's support needs this id. */
  requestId: string | undefined
  /** By how many seconds our clock is ahead of the answer's `Date`; undefined without a readable date. */
  aheadSeconds: number | undefined
}) => void

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  /** The purpose: a reason whose text completes "… while": `creating the group`. */
  readonly purpose: Reason
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses that this caller handles itself, such as 404 when it checks whether an object exists. */
  readonly accept?: readonly number[]
  /** True for a POST that changes nothing: it has the time-out and the retries of a GET. */
  readonly reads?: boolean
  readonly signal?: AbortSignal
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
 * Returns an access token for a resource. `fresh` skips the cache, after a 401. `refused` replaces a refused token at
 * most once in `every` milliseconds; otherwise the same token is returned. Calls and checks count separately: a check
 * before a grant does not delay a retry.
 */
export type TokenSource = (
  resource: string,
  how?: { readonly fresh: true } | { readonly refused: string; readonly every: number; readonly by: 'call' | 'check' },
) => Promise<string>
export type CallService = (call: Call) => Promise<Answer>

const readMilliseconds = 10_000
const writeMilliseconds = 30_000
/** Minimum time between new tokens after refusals that no missing permission explains. Milliseconds. */
const policyDelay = 300_000
/**
 * Waits before the second and third attempt of a read. Longer waits happen in the job, which holds nothing meanwhile.
 */
const quickRetries = [100, 400] as const

/**
 * Creates the only function that sends HTTP to a service. It throws a `TenantError` with `retryable` for answers that
 * are neither 2xx nor accepted, lost connections and time-outs (reads 10 s, writes 30 s). It repeats a read twice at
 * once. It never repeats a write, which may have succeeded although its answer was lost: the step checks first when it
 * runs again. It repeats any call once with a fresh token after a 401 or 403, which precede all effects: a token keeps
 * its roles, so consent that an admin has just granted needs a new token.
 */
export function createCaller(
  endpoint: Endpoint,
  options: {
    token: TokenSource
    gate: Gate
    fetch: typeof fetch
    log?: CallLog | undefined
    /** The permissions that our token must contain. */
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
    const error = (endpoint.refusal ?? errorOf)(service, call.purpose, answer)
    const missing = isRefused(answer, call) ? lacking(call, token) : []
    throw missing.length > 0 ? permissionMissing(service, call.purpose, status, missing, error) : error
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

/** Returns whether to retry at once: the error is transient, requires no wait and is no time-out. */
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
    const aheadSeconds = aheadOf(response?.headers.get('date'), milliseconds)
    log?.({
      ...{ service, purpose: sentenceOf(purpose), method, status: response?.status, outcome, milliseconds },
      ...{ clientRequestId, requestId, aheadSeconds },
    })
  }
}

/**
 * Returns by how much our clock is ahead of a `Date` header, which has whole seconds and is from about the middle of
 * the exchange.
 */
function aheadOf(date: string | null | undefined, milliseconds: number): number | undefined {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return undefined
  return Math.round((Date.now() - milliseconds / 2 - theirs - 500) / 1000)
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

function connectionError(service: string, purpose: Reason, late: boolean, cause: unknown): TenantError {
  const reason = because(late ? 'serviceSilent' : 'serviceUnreachable', { service, purpose })
  return new TenantError(late ? 'timeout' : 'unreachable', reason, {
    retryable: true,
    cause,
  })
}

/** Returns whether `fetch` reports a lost connection or a time-out. Any other error is a defect. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof DOMException

const onePage = z.object({ value: z.array(z.unknown()), '@odata.nextLink': z.string().optional() })
type How = Pick<Call, 'headers' | 'signal'>
/** Maximum number of pages of one list: ten million entries. */
const maxPages = 10_000
interface Page<T> {
  readonly found: readonly T[]
  readonly next: string | undefined
}

/** Creates functions that read lists of Microsoft Graph. They follow only links below `root`, because our token goes there. */
export function createPages(call: CallService, root: string, service: string) {
  async function page<S extends z.ZodType>(
    url: string,
    item: S,
    purpose: Reason,
    how: How = {},
  ): Promise<Page<z.output<S>> | undefined> {
    const answer = await call({ url, purpose, accept: [404], ...how })
    if (answer.status === 404) return undefined
    const body = parseAnswer(onePage, answer, service)
    // Directory lists mix people with groups, devices and roles: entries of other types are skipped.
    const found = body.value.flatMap((each) => {
      const parsed = item.safeParse(each)
      return parsed.success ? [parsed.data] : []
    })
    return { found, next: body['@odata.nextLink'] }
  }

  return {
    /** Yields the pages of a list of any length. */
    async *pages<S extends z.ZodType>(url: string, item: S, purpose: Reason): AsyncGenerator<readonly z.output<S>[]> {
      let next: string | undefined = url
      for (let count = 0; next !== undefined; count += 1) {
        if (!next.startsWith(`${root}/`) || count === maxPages) throw foreignPage(service)
        const read: Page<z.output<S>> | undefined = await page(next, item, purpose)
        if (!read) return
        yield read.found
        next = read.next
      }
    },
    /** Reads all entries of a list, at most 100 pages. Returns no entries when the list does not exist. */
    async list<S extends z.ZodType>(url: string, item: S, purpose: Reason, signal?: AbortSignal) {
      const found: z.output<S>[] = []
      let next: string | undefined = url
      for (let count = 0; next !== undefined; count += 1) {
        if (!next.startsWith(`${root}/`) || count === 100) throw foreignPage(service)
        const read: Page<z.output<S>> | undefined = await page(next, item, purpose, signal && { signal })
        if (!read) return []
        found.push(...read.found)
        next = read.next
      }
      return found
    },
    /** Reads the first page of a list, with as many entries as `$top` says. */
    first: async <S extends z.ZodType>(
      url: string,
      item: S,
      purpose: Reason,
      how?: How,
    ): Promise<readonly z.output<S>[]> => (await page(url, item, purpose, how))?.found ?? [],
  }
}

/** Error for a list whose next page is at another host, or that has too many pages. */
export const foreignPage = (service: string): TenantError =>
  new TenantError('foreign-page', because('listForeign', { service }), {
    retryable: false,
  })

/** Builds a query string as Graph's documentation writes it: dollar signs, commas and slashes stay readable. */
export const query = (parameters: Readonly<Record<string, string>>): string =>
  `?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%2F', '/')}`)
    .join('&')}`

/** Encodes one segment of a path. Throws `TypeError` for dots alone, which change the path in any encoding. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError('An id cannot consist of dots.')
  return encodeURIComponent(text)
}

/** Quotes text as an OData literal, with doubled single quotes (OData 4.01 URL conventions §5.1.1.6.1). */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
