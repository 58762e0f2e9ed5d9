import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import { originOf, type Telemetry, traceIdOf } from '../../core/index.ts'
import type { Answer, headersOfAll } from './answers.ts'
import { type Problem, problemOf } from './problem.ts'

/** The log as this room uses it; pino is one. */
export interface HttpLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** One request as it begins: its own id, and the trace that its caller names or that begins with it. */
export function exchangeOf(log: HttpLog, request: Request, response: Response): Exchange {
  const callId = randomUUID()
  const { trace = traceIdOf(callId), sampled = false } = originOf(request.headers.traceparent)
  return { request, response, callId, traceId: trace, sampled, log, facts: {}, extraHeaders: {} }
}

/** What there is to tell of an answer. */
interface AnswerFacts {
  /** The pattern of the path, and its method; none where no route took the request. */
  readonly route?: { readonly path: string; readonly method: string } | undefined
  readonly status: number
  readonly milliseconds: number
  /** A defect: what was thrown. */
  readonly error?: { readonly thrown: unknown }
}

/**
 * Tells the log and the figures of an answer: one line for each request. Its address is told by the route's pattern and the
 * ids in it, since people put anything else into addresses.
 */
export function logAnswer(
  { log, callId, traceId, request, facts }: Exchange,
  { route, status, milliseconds, error }: AnswerFacts,
  telemetry: Telemetry | undefined,
): void {
  const method = route?.method ?? 'any'
  telemetry?.requestAnswered({ method, route: route?.path ?? 'none', status, seconds: milliseconds / 1000 })
  const fields = {
    ...{ traceId, callId, method: request.method, route: route?.path ?? 'none' },
    ...(route && idsIn(request.params)),
    ...{ status, milliseconds: Math.round(milliseconds) },
    ...(facts.personId !== undefined && { personId: facts.personId }),
  }
  if (error) log.error({ ...fields, err: error.thrown }, 'a request failed')
  else if (facts.isLogged) log.debug(fields, 'answered')
  else log.info(fields, 'answered')
}

const isId = (value: unknown): boolean => z.uuid().safeParse(value).success

const idsIn = (params: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => isId(value)))

/** The ids of an answer to what is no request, and so names no trace. */
export function idsOfBroken(): { callId: string; traceId: string } {
  const callId = randomUUID()
  return { callId, traceId: traceIdOf(callId) }
}

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
  /** What is found out while it is served: who calls, once their token is found good; whether the handler tells the log itself. */
  readonly facts: { personId?: string; isLogged?: boolean }
  /** Headers that whatever answer comes will carry. */
  readonly extraHeaders: Record<string, string>
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
  const { request, response, callId, extraHeaders } = exchange
  if (response.headersSent || response.destroyed) return
  const same = status === 200 && headers['ETag'] !== undefined && hasEntity(request, headers['ETag'])
  const content = same ? '' : body
  response.writeHead(same ? 304 : status, {
    ...(content.length > 0 && { 'Content-Type': `${mediaType}; charset=utf-8` }),
    ...(status !== 204 && !same && { 'Content-Length': String(Buffer.byteLength(content)) }),
    ...commonHeaders(callId),
    ...(closesConnection(request) && { Connection: 'close' }),
    ...extraHeaders,
    ...headers,
  })
  response.end(content)
}

/** If-None-Match of a GET or HEAD (RFC 9110 §13.1.2): weak comparison. */
export function hasEntity({ method, headers }: IncomingMessage, etag: string): boolean {
  const header = headers['if-none-match']
  if (header === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Writes the problem that an error is. */
export function sendError(exchange: Exchange, error: unknown): Problem {
  const { traceId, request } = exchange
  const problem = problemOf(error, { traceId, instance: pathOf(request) })
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
