import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import { originOf, type StoredAnswer, type Telemetry, traceIdOf } from '../../core/index.ts'
import type { Answer, headersOfAll } from './answers.ts'
import { type ApiTexts, type Problem, type ProblemBody, problemOf } from './problem.ts'

/** The log of this layer; pino implements it. */
export interface HttpLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The log, and the texts of refusals. */
export interface LogAndTexts {
  readonly log: HttpLog
  readonly texts: Pick<ApiTexts, 'reason'>
}

/** Starts an exchange with its own id, and with the caller's trace or a new trace. */
export function exchangeOf({ log, texts }: LogAndTexts, request: Request, response: Response): Exchange {
  const callId = randomUUID()
  const { trace = traceIdOf(callId), sampled = false } = originOf(request.headers.traceparent)
  return { request, response, callId, traceId: trace, sampled, log, texts, facts: {}, extraHeaders: {} }
}

interface AnswerFacts {
  /** The method and the pattern of the path; absent if no route matched. */
  readonly route?: { readonly path: string; readonly method: string } | undefined
  readonly status: number
  readonly milliseconds: number
  /** A defect: the error that was thrown. */
  readonly error?: { readonly thrown: unknown }
}

/**
 * Writes one log line for each request and counts it. The line has the route's pattern and ids, because addresses may
 * contain personal data.
 */
export function logAnswer(
  { log, callId, traceId, request, facts }: Exchange,
  { route, status, milliseconds, error }: AnswerFacts,
  telemetry: Telemetry | undefined,
): void {
  const method = route?.method ?? 'any'
  telemetry?.requestAnswered({ method, route: route?.path ?? 'none', status, seconds: milliseconds / 1000 })
  const fields = {
    traceId,
    callId,
    method: request.method,
    route: route?.path ?? 'none',
    ...(route && idsIn(request.params)),
    status,
    milliseconds: Math.round(milliseconds),
    ...(facts.personId !== undefined && { personId: facts.personId }),
    ...(facts.problem && { code: facts.problem.code, tokenClaims: facts.problem.tokenClaims }),
  }
  if (error) log.error({ ...fields, err: error.thrown }, 'a call failed')
  else if (facts.isLogged) log.debug(fields, 'a call completed')
  else log.info(fields, 'a call completed')
}

const isId = (value: unknown): boolean => z.uuid().safeParse(value).success

const idsIn = (params: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => isId(value)))

/** New ids for the answer to a request that could not be read, and whose trace is unknown. */
export function idsOfBroken(): { callId: string; traceId: string } {
  const callId = randomUUID()
  return { callId, traceId: traceIdOf(callId) }
}

/** One request and its answer, with the ids that the log shows. */
export interface Exchange {
  readonly request: Request
  readonly response: Response
  /** The UUID of this call: its `X-Request-Id`. */
  readonly callId: string
  /** The caller's trace if `traceparent` is valid, else a new one. */
  readonly traceId: string
  readonly sampled: boolean
  readonly log: HttpLog
  readonly texts: Pick<ApiTexts, 'reason'>
  /** Found while the call is served: the caller, the problem, and whether the handler writes its own log line. */
  readonly facts: { personId?: string; isLogged?: boolean; problem?: Pick<ProblemBody, 'code' | 'tokenClaims'> }
  /** Headers of every answer to this call. */
  readonly extraHeaders: Record<string, string>
}

/** The size above which the rest of a body is not read, so the connection closes. Bytes. */
const readToTheEnd = 1024 * 1024

/** Whether the connection closes with the answer: Node discards an unread body, unless it may be long. */
export function closesConnection({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  const announced = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] !== undefined || announced > readToTheEnd
}

export const outgoing = ({ status, headers = {}, body, mediaType }: Answer): StoredAnswer => ({
  status,
  headers,
  body: body === undefined ? '' : mediaType === undefined ? JSON.stringify(body) : String(body),
})

export const commonHeaders = (callId: string): Record<(typeof headersOfAll)[number], string> => ({
  'X-Request-Id': callId,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
})

/** An answer whose bytes may be shared between calls and are not copied. */
interface Sent extends Omit<StoredAnswer, 'body'> {
  readonly body: string | Uint8Array
}
export const sent = (answer: Answer): Sent =>
  answer.body instanceof Uint8Array
    ? { status: answer.status, headers: answer.headers ?? {}, body: answer.body }
    : outgoing(answer)

/** Writes an answer without restify's formatters, so that the bytes are those that are tested and stored. */
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

export function sendError(exchange: Exchange, error: unknown): Problem {
  const { traceId, request, texts } = exchange
  const problem = problemOf(error, { traceId, texts, instance: pathOf(request) })
  const { status, headers, body } = problem
  exchange.facts.problem = body
  send(exchange, { status, headers, body: JSON.stringify(body) }, 'application/problem+json')
  return problem
}

/**
 * The path for logs and problems: without the query, which may contain secrets, and without the secret of an export
 * link.
 */
export const pathOf = ({ url = '/' }: IncomingMessage): string =>
  (url.split(/[?#]/, 1)[0] ?? '/').replace(secretPath, '$1…').slice(0, 500)
const secretPath = /(\/exports\/v1\/).+/i

/** A repeated parameter becomes a list, which schemas of single values refuse. */
export function queryOf(url: string): Record<string, string | string[]> {
  const search = new URLSearchParams(url.split('?').slice(1).join('?'))
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

/** Whether an Accept header allows JSON (RFC 9110 §12.5.1): the most specific matching range decides. */
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
