/** Answers of Microsoft's services: bodies, errors, and what a status means for a retry. */
import { z } from 'zod'
import { because, parsedJson, type Reason, TenantError } from '../../core/index.ts'

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

/** Reads an answer. Throws a `TenantError` for a 2xx answer that is not JSON. */
export function answerOf(response: Response, text: string, service: string): Answer {
  const body = text === '' ? undefined : parsedJson(text)
  if (response.ok && text !== '' && body === undefined) throw unreadable(service, 'notJson')
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
export function errorOf(service: string, purpose: Reason, answer: Answer): TenantError {
  const { status, error } = answer
  const code = error && /^[\w .,-]{1,80}$/.test(error.code) ? error.code : `http-${status}`
  const reason = code.startsWith('http-')
    ? because('serviceAnswered', { service, status, purpose })
    : because('serviceAnsweredCode', { service, status, error: code, purpose })
  return new TenantError(code, reason, {
    retryable: isTransient(status),
    retryAfterSeconds: answer.retryAfterSeconds,
    status,
    ...(error && { cause: new Error(error.text.slice(0, 500)) }),
  })
}

/** Parses an answer's body. Throws a retryable `TenantError` when the body does not match the schema. */
export function parseAnswer<S extends z.ZodType>(schema: S, answer: Answer, service: string): z.output<S> {
  const parsed = schema.safeParse(answer.body)
  if (!parsed.success) throw unreadable(service, 'otherShape', parsed.error)
  return parsed.data
}

/** Larger than any expected answer. Bytes. */
const largestAnswer = 4 * 1024 * 1024

/**
 * Statuses after which the same call may succeed later (Graph's and SharePoint's pages on throttling and errors; the
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
    if (size > largestAnswer) throw unreadable(service, 'tooLarge')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The kinds of answers that differ from the documentation. */
type Unreadable =
  | 'notJson'
  | 'otherShape'
  | 'tooLarge'
  | 'several'
  | 'otherPerson'
  | 'noToken'
  | 'noObject'
  | 'mailboxWithoutIds'

/** Error for an answer that differs from the service's documentation. Retryable: usually a proxy has answered. */
export const unreadable = (service: string, found: Unreadable, cause?: unknown): TenantError =>
  new TenantError('unreadable-answer', because('answerUnreadable', { service, found, most: largestAnswer }), {
    retryable: true,
    cause,
  })

/**
 * Returns the longer wait of `Retry-After` (RFC 9110 §10.2.3: seconds or an HTTP date) and SharePoint's
 * `RateLimit-Reset`, in seconds from 0 to 3600: a broken header must not delay a request for years. Returns undefined
 * without a readable header.
 */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const waits = [headers.get('retry-after'), headers.get('ratelimit-reset')].flatMap((value) => {
    if (value === null) return []
    if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return [Math.ceil(Number(value))]
    const date = Date.parse(value)
    return Number.isNaN(date) ? [] : [Math.max(0, Math.ceil((date - Date.now()) / 1000))]
  })
  return waits.length > 0 ? Math.min(3600, Math.max(...waits)) : undefined
}
