import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { HttpError, problemOf } from './problem.ts'
import type { HttpErrorCode } from './problem-codes.ts'
import { idsOfBroken, type LogAndTexts } from './respond.ts'

const loopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d{1,5})?$/i

/**
 * The error of a request whose Host is not acceptable, if any. Every request needs one Host (RFC 9112 §3.2; HTTP/1.0
 * may omit it): with two, a proxy may have read the other.
 *
 * With `loopbackOnly` the Host must be this machine, and a calling page must be ours. The chat of local mode has no
 * tokens, so a page in the developer's browser could act for anybody: from its own address (Origin), or by DNS
 * rebinding (Host).
 */
export function hostError(request: IncomingMessage, loopbackOnly: boolean): HttpError | undefined {
  const { host: hosts = [], origin: origins = [] } = request.headersDistinct
  if (hosts.length > 1 || (hosts.length === 0 && request.httpVersion !== '1.0'))
    return refused('Send exactly one Host header.')
  if (!loopbackOnly) return undefined
  const [host = ''] = hosts
  if (!loopback.test(host)) return refused('In local mode this service accepts only the hosts localhost and 127.0.0.1.')
  if (origins.every((origin) => origin === `http://${host}` || origin === `https://${host}`)) return undefined
  return refused('In local mode this service accepts no calls from pages of other addresses.')
}

/** Closes the connection, because the same sender sends everything else on it. */
const refused = (detail: string): HttpError =>
  new HttpError('malformed-request', detail, { headers: { Connection: 'close' } })

/** Node's codes of requests that it cannot read (`node:http`, "Event: 'clientError'"), and our answers. */
const refusals: Readonly<Record<string, { code: HttpErrorCode; line: string; detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request-timeout',
    line: '408 Request Timeout',
    detail: 'The request did not arrive in time.',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    line: '431 Request Header Fields Too Large',
    detail: 'The headers are larger than 16 KiB.',
  },
}
const malformed = {
  code: 'malformed-request',
  line: '400 Bad Request',
  detail: 'This is not an HTTP request.',
} as const

/** The requests of one connection: those without an answer yet, and the last one. */
interface Conversation {
  readonly open: Map<ServerResponse, IncomingMessage>
  last: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
  broken: boolean
}

/**
 * Answers requests that Node refuses with problems (RFC 9457): invalid HTTP, too large headers, slow senders. An
 * unknown Expect header is ignored (RFC 9110 §10.1.1).
 *
 * Each request gets exactly one answer. A broken request waits until the complete request before it is answered. An
 * answered request gets no second answer if the rest of its body never arrives.
 */
export function answerBrokenRequests(node: Server, options: LogAndTexts): void {
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
  // Requests with `Expect: 100-continue` raise only this event.
  node.on('checkContinue', follow)
  node.on('checkExpectation', (request, response) => void node.emit('request', request, response))
  node.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const conversation = conversationOf(socket)
    if (error.code === 'ECONNRESET') return void socket.destroy()
    if (conversation.broken) return
    if (!socket.writable) return void socket.destroy()
    const verdict = verdictOn(conversation)
    if (verdict === 'end') return void socket.destroy()
    if (verdict === 'answer') refuse(error.code, socket, options)
    conversation.broken = true
  })
}

/** Whether to answer a broken request, wait for answers to earlier requests, or end the connection. */
function verdictOn({ open, last }: Conversation): 'answer' | 'wait' | 'end' {
  if (last && !last.request.complete) {
    const isOnlyOne = open.size === 1 && open.has(last.response)
    return isOnlyOne && !last.response.headersSent ? 'answer' : 'end'
  }
  return open.size > 0 ? 'wait' : 'answer'
}

function refuse(reason: string | undefined, socket: Duplex, { log, texts }: LogAndTexts): void {
  const { code, line, detail } = refusals[reason ?? ''] ?? malformed
  const { callId, traceId } = idsOfBroken()
  const { body } = problemOf(new HttpError(code, detail), { traceId, texts, instance: '' })
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
  log.info({ traceId, callId, route: 'none', status: body.status, reason }, 'a call completed')
  linger(socket.end(`${headers.join('\r\n')}\r\n\r\n${content}`))
}

/** How long the rest of a broken request is read and discarded, in milliseconds, before the connection is closed. */
const longestLinger = 1000

/**
 * Reads and discards what still arrives until the client has closed its side, for at most a second. TCP resets a connection
 * that is closed with unread bytes, and a client whose next write meets the reset never reads its answer. The parser
 * gets none of these bytes: a refused request must not start.
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
