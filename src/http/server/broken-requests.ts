import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { HttpError, problemOf } from './problem.ts'
import type { HttpErrorCode } from './problem-codes.ts'
import { idsOfBroken } from './response-metrics.ts'
import type { HttpLog } from './services.ts'

const loopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d{1,5})?$/i

/**
 * What is wrong with whom a request says it is for, if anything. Every request names one Host (RFC 9112 §3.2; HTTP/1.0 may
 * name none): of two, what stands before us may have read the other.
 *
 * With `loopbackOnly` the name must be this machine's, and a page that calls must be our own. The chat of local mode takes
 * no tokens, so any page in the developer's browser could speak in anybody's name: from its own address (Origin), or under
 * a name of its own that leads here (DNS rebinding: Host).
 */
export function misdirected(request: IncomingMessage, loopbackOnly: boolean): HttpError | undefined {
  const { host: hosts = [], origin: origins = [] } = request.headersDistinct
  if (hosts.length > 1 || (hosts.length === 0 && request.httpVersion !== '1.0'))
    return refused('A request names one Host.')
  if (!loopbackOnly) return undefined
  const [host = ''] = hosts
  if (!loopback.test(host)) return refused('In local mode this service answers to localhost and 127.0.0.1 only.')
  if (origins.every((origin) => origin === `http://${host}` || origin === `https://${host}`)) return undefined
  return refused('In local mode pages of other addresses may not call this service.')
}

/** What else comes on this connection is from the same sender, and means as little. */
const refused = (detail: string): HttpError =>
  new HttpError('malformed-request', detail, { headers: { Connection: 'close' } })

/** What Node calls the ways in which a request is none (`node:http`, "Event: 'clientError'"), and what we answer. */
const refusals: Readonly<Record<string, { code: HttpErrorCode; line: string; detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request-timeout',
    line: '408 Request Timeout',
    detail: 'The request did not come in time.',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    line: '431 Request Header Fields Too Large',
    detail: 'The headers are too large.',
  },
}
const malformed = {
  code: 'malformed-request',
  line: '400 Bad Request',
  detail: 'This is not an HTTP request.',
} as const

/** The requests of one connection: those that are still being answered, and the one that came last. */
interface Conversation {
  readonly open: Map<ServerResponse, IncomingMessage>
  last: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
  broken: boolean
}

/**
 * Answers as problems (RFC 9457) what Node refuses before there is a request: what is no HTTP, headers that are too large,
 * and who sends too slowly. An expectation that we do not know is none (RFC 9110 §10.1.1 leaves that to the server).
 *
 * Each request gets one answer, its own: what follows a whole request on its connection does not take its answer's place,
 * and who has been answered gets no second one when the rest of the body does not come.
 */
export function answerBrokenRequests(node: Server, log: HttpLog): void {
  const conversations = new WeakMap<Duplex, Conversation>()
  const conversationOf = (socket: Duplex): Conversation => {
    const known = conversations.get(socket) ?? { open: new Map(), last: undefined, broken: false }
    conversations.set(socket, known)
    return known
  }
  const follow = (request: IncomingMessage, response: ServerResponse): void => {
    const conversation = conversationOf(request.socket)
    conversation.last = { request, response }
    conversation.open.set(response, request)
    response.once('close', () => {
      conversation.open.delete(response)
      if (conversation.broken && conversation.open.size === 0) linger(request.socket.end())
    })
  }
  node.on('request', follow)
  // Who asks whether to go on comes this way only.
  node.on('checkContinue', follow)
  node.on('checkExpectation', (request, response) => void node.emit('request', request, response))
  node.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const conversation = conversationOf(socket)
    if (error.code === 'ECONNRESET') return void socket.destroy()
    if (conversation.broken) return
    if (!socket.writable) return void socket.destroy()
    const verdict = verdictOn(conversation)
    if (verdict === 'end') return void socket.destroy()
    if (verdict === 'answer') refuse(error.code, socket, log)
    conversation.broken = true
  })
}

/** Whether what is broken is to be answered, waits until what came before is answered, or can only be ended. */
function verdictOn({ open, last }: Conversation): 'answer' | 'wait' | 'end' {
  if (last && !last.request.complete) {
    const isOnlyOne = open.size === 1 && open.has(last.response)
    return isOnlyOne && !last.response.headersSent ? 'answer' : 'end'
  }
  return open.size > 0 ? 'wait' : 'answer'
}

function refuse(reason: string | undefined, socket: Duplex, log: HttpLog): void {
  const { code, line, detail } = refusals[reason ?? ''] ?? malformed
  const { callId, traceId } = idsOfBroken()
  const { body } = problemOf(new HttpError(code, detail), { traceId, instance: '' })
  const content = JSON.stringify(body)
  const headers = [
    `HTTP/1.1 ${line}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(content)}`,
    `X-Request-Id: ${callId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  log.info({ traceId, callId, route: 'none', status: body.status, reason }, 'answered')
  linger(socket.end(`${headers.join('\r\n')}\r\n\r\n${content}`))
}

/** How long the rest of a broken request is read and discarded, in milliseconds, before the connection is closed. */
const longestLinger = 1000

/**
 * Reads and discards what still arrives until the client has closed its side, for at most a second. TCP resets a connection
 * that is closed with unread bytes, and a client whose next write meets the reset never reads its answer. Nothing that
 * arrives reaches the parser: a request that has been refused must not begin after all.
 */
function linger(socket: Duplex): void {
  if (socket.destroyed) return
  socket.removeAllListeners('data')
  // A listener for `data` also takes the connection from Node's parser, which reads it below the stream.
  socket.on('data', () => undefined)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), longestLinger).unref()
  socket.once('close', () => clearTimeout(timer))
}
