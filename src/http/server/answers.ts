import { createHash } from 'node:crypto'
import type { z } from 'zod'

interface Header {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly example: string | number
  /** Whether a call without it is refused. */
  readonly required?: true
}
const text = (description: string, example: string, more: Readonly<Record<string, unknown>> = {}): Header => ({
  description,
  schema: { type: 'string', ...more },
  example,
})

const required = (...header: Parameters<typeof text>): Header => ({ ...text(...header), required: true })

/** The headers that change what a call does, except Authorization. */
export const requestHeaders = {
  'Idempotency-Key': text(
    'Makes a repeat safe (draft-ietf-httpapi-idempotency-key-header). The same key with the same body returns the first answer ' +
      'again, if the caller may still make the call. The same key with another body is refused. Keys are kept for seven days for ' +
      'each caller and address. A refused call (4xx) does not store its key.',
    '3b1f8a52-6a54-4f0e-8a34-0f5a0c1d9e77',
    { minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]{1,255}$' },
  ),
  traceparent: text(
    'The trace of the call (W3C Trace Context). Jobs, calls to Microsoft 365, webhooks and the audit continue it. Without a ' +
      'valid value, the service starts a new trace.',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ),
  'If-Match': text(
    'The ETag that the caller has read. The service writes only if nobody has changed the resource since (RFC 9110 §13.1.1).',
    '"3"',
  ),
  Prefer: text(
    '`wait=` and seconds, at most 30 (RFC 7240 §4.3). The service holds its answer until the request has another version than ' +
      'in If-None-Match (by default: than now), has ended, or the time is over.',
    'wait=30',
  ),
  'If-None-Match': text(
    'For reads, an ETag: 304 if nothing has changed. For writes, `*`: only if the resource does not exist (RFC 9110 §13.1.2).',
    '"3"',
  ),
  'webhook-id': required(
    'The id of the message; the same in every attempt (Standard Webhooks).',
    'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d',
  ),
  'webhook-timestamp': required('Time of the signature, in seconds since 1970.', '1772442000', { pattern: '^\\d+$' }),
  'webhook-signature': required(
    '`v1,` and the HMAC-SHA256 of id, timestamp and body in base64. Spaces separate several signatures.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
} as const satisfies Readonly<Record<string, Header>>
export type RequestHeader = keyof typeof requestHeaders

export const answerHeaders = {
  'X-Request-Id': text(
    'The id of this call in the log. A call without `traceparent` starts a trace with the same digits.',
    '0b6a2f5e-6b0f-4a54-9d3e-3a5f1f0c2d11',
    {
      format: 'uuid',
    },
  ),
  'X-Content-Type-Options': text('Always `nosniff`.', 'nosniff', { const: 'nosniff' }),
  'Cache-Control': text('`no-store`, except for content that is the same for everybody.', 'no-store'),
  Location: text('The address of the created resource.', '/requests/v1/6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11', {
    format: 'uri-reference',
  }),
  'Retry-After': {
    description: 'How long to wait before the next call, in seconds (RFC 9110 §10.2.3).',
    schema: { type: 'integer', minimum: 0 },
    example: 20,
  },
  'Preference-Applied': text(
    'The applied wait (RFC 7240 §3). If it is absent, too many calls wait already: poll again in ten seconds.',
    'wait=30',
  ),
  ETag: text('The version of the resource, for If-Match and If-None-Match (RFC 9110 §8.8.3).', '"3"'),
  'RateLimit-Policy': text(
    'The rate limits: `q` calls in `w` seconds each (draft-ietf-httpapi-ratelimit-headers).',
    '"writes";q=10;w=10, "tenant-writes";q=600;w=60',
  ),
  RateLimit: text(
    'What is left of the limits: `r` calls, and all of them again in `t` seconds.',
    '"writes";r=9;t=1, "tenant-writes";r=599;t=1',
  ),
  'Idempotency-Replayed': text('`true`: this is the answer of the first call with this key.', 'true', {
    const: 'true',
  }),
  'WWW-Authenticate': text(
    'The error of the token, and the required scope (RFC 6750 §3).',
    'Bearer realm="quartermaster", error="invalid_token"',
  ),
  Allow: text('The methods of this address (RFC 9110 §10.2.1).', 'GET, HEAD'),
  Accept: text('The accepted media type of the body (RFC 9110 §12.5.1).', 'application/json'),
  'Accept-Encoding': text('The accepted content coding: none (RFC 9110 §12.5.3).', 'identity'),
  'Content-Disposition': text('A file to save, and its name (RFC 6266).', 'attachment; filename="requests.csv"'),
  'Referrer-Policy': text(
    '`no-referrer`: other sites do not learn this address. `same-origin`: the same, for a page with a form.',
    'no-referrer',
    {
      enum: ['no-referrer', 'same-origin'],
    },
  ),
  'Content-Security-Policy': text('The page may load only its own files.', "default-src 'none'; script-src 'self'"),
} as const satisfies Readonly<Record<string, Header>>
export type AnswerHeader = keyof typeof answerHeaders

export const headersOfAll = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Cache-Control',
] as const satisfies AnswerHeader[]

/** A strong ETag of a text (RFC 9110 §8.8.3). */
export const entityTag = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`

/** One answer of a route, except problems. The handler returns the body and all headers. */
export interface AnswerSpec {
  readonly description: string
  /** null: no body. A schema that accepts `undefined`: an optional body. */
  readonly body: z.ZodType | null
  /** Set if the handler returns the text or bytes itself. */
  readonly mediaTypes?: readonly string[]
  /** Always present, in addition to {@link headersOfAll}. */
  readonly headers?: readonly AnswerHeader[]
  /** Present only in some cases. */
  readonly sometimes?: readonly AnswerHeader[]
}
/** The answers of a route by status. For problems a route lists only their codes. */
export type Answers = Readonly<Record<number, AnswerSpec>>

/** An answer to write. Tests check `body` against its schema; the server does not. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly mediaType?: string | undefined
}

type HeadersOf<S extends AnswerSpec> = S extends { readonly headers: readonly (infer H extends AnswerHeader)[] }
  ? { readonly headers: Readonly<Record<H, string>> & OptionalOf<S> }
  : { readonly headers?: undefined }
type OptionalOf<S extends AnswerSpec> = S extends { readonly sometimes: readonly (infer H extends AnswerHeader)[] }
  ? { readonly [P in H]?: string }
  : unknown
type BodyOf<S extends AnswerSpec> = S extends { readonly mediaTypes: readonly string[] }
  ? { readonly body: string | Uint8Array }
  : S['body'] extends z.ZodType
    ? { readonly body: z.input<S['body']> }
    : { readonly body?: undefined }

type MediaOf<S extends AnswerSpec> = S extends { readonly mediaTypes: readonly (infer M extends string)[] }
  ? { readonly mediaType: M }
  : { readonly mediaType?: undefined }

/** The return value of a handler: one of its route's answers, with its body and all of its headers. */
export type AnswerOf<A extends Answers> = {
  [S in keyof A & number]: { readonly status: S } & HeadersOf<A[S]> & BodyOf<A[S]> & MediaOf<A[S]>
}[keyof A & number]

/** The return value of a handler that has written the answer itself. */
export const answered = Symbol('answered')

/** One call of a route with its answer, for the API document. A test makes each call and compares the answer. */
export interface Example {
  readonly summary: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  readonly answer?: unknown
}
