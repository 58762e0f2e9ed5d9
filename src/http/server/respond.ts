import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'restify'
import type { Answer, headersOfAll } from './answers.ts'
import { type Problem, problemOf } from './problem.ts'
import type { ApiTexts, HttpLog } from './services.ts'

/** One request and its answer, and the ids by which both are found in the log. */
export interface Exchange {
  readonly request: Request
  readonly response: Response
  /** A UUID, of this call alone: its `X-Request-Id`. */
  readonly callId: string
  /** The trace that it belongs to: the caller's if there is a valid `traceparent`, else one that begins here. */
  readonly traceId: string
  readonly sampled: boolean
  readonly log: HttpLog
  readonly texts: Pick<ApiTexts, 'reason'>
  /** What is found out while it is served: who calls, once their token is found good; whether the handler tells the log itself. */
  readonly told: { personId?: string; byHandler?: boolean }
  /** Headers that whatever answer comes will carry. */
  readonly extra: Record<string, string>
}

/** An answer as it goes out; what an Idempotency-Key keeps. */
export interface Outgoing {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Bodies up to this size are read to their end before the connection is used again. Bytes. */
const readToTheEnd = 1024 * 1024

/** Whether the connection ends with the answer: an unread body is thrown away by Node, unless it may be long. */
export function closesConnection({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  const announced = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] !== undefined || announced > readToTheEnd
}

export const outgoing = ({ status, headers = {}, body, mediaType }: Answer): Outgoing => ({
  status,
  headers,
  body: body === undefined ? '' : mediaType === undefined ? JSON.stringify(body) : String(body),
})

/** What every answer carries, whoever writes it. */
export const commonHeaders = (callId: string): Record<(typeof headersOfAll)[number], string> => ({
  'X-Request-Id': callId,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
})

/** An answer whose bytes may be the same for everybody: those are not copied. */
interface Sent extends Omit<Outgoing, 'body'> {
  readonly body: string | Uint8Array
}
/** The same as `outgoing`, but bytes stay what they are. */
export const sent = (answer: Answer): Sent =>
  answer.body instanceof Uint8Array
    ? { status: answer.status, headers: answer.headers ?? {}, body: answer.body }
    : outgoing(answer)

/** Writes an answer past restify's formatters, so that what goes out is what is tested and kept. */
export function send(exchange: Exchange, { status, headers, body }: Sent, mediaType = 'application/json'): void {
  const { request, response, callId, extra } = exchange
  if (response.headersSent || response.destroyed) return
  const same = status === 200 && headers['ETag'] !== undefined && hasEntity(request, headers['ETag'])
  const content = same ? '' : body
  response.writeHead(same ? 304 : status, {
    ...(content.length > 0 && { 'Content-Type': `${mediaType}; charset=utf-8` }),
    ...(status !== 204 && !same && { 'Content-Length': String(Buffer.byteLength(content)) }),
    ...commonHeaders(callId),
    ...(closesConnection(request) && { Connection: 'close' }),
    ...extra,
    ...headers,
  })
  response.end(content)
}

/** If-None-Match of a GET or HEAD (RFC 9110 §13.1.2): weak comparison. */
export function hasEntity({ method, headers }: IncomingMessage, etag: string): boolean {
  const given = headers['if-none-match']
  if (given === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Writes the problem that an error is. */
export function sendError(exchange: Exchange, error: unknown): Problem {
  const { traceId, request, texts } = exchange
  const problem = problemOf(error, { traceId, texts, instance: pathOf(request) })
  const { status, headers, body } = problem
  send(exchange, { status, headers, body: JSON.stringify(body) }, 'application/problem+json')
  return problem
}

/** The path as it was asked for, without the query: people put secrets there. A link to an export is a secret itself. */
export const pathOf = ({ url = '/' }: IncomingMessage): string =>
  (url.split(/[?#]/, 1)[0] ?? '/').replace(secretPath, '$1…').slice(0, 500)
const secretPath = /(\/exports\/v1\/).+/i

/** Whether an Accept header takes JSON (RFC 9110 §12.5.1): the most specific range that matches decides. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, wanted: quality === undefined || Number(quality.slice(2)) > 0 }
  })
  const best = ['application/json', 'application/*', '*/*'].map((type) => ranges.find((range) => range.type === type))
  return best.find((range) => range !== undefined)?.wanted ?? false
}
