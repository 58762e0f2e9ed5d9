import { randomUUID } from 'node:crypto'
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { HttpError, problemOf } from './problem.ts'
import type { HttpErrorCode } from './problem-codes.ts'
import type { HttpLog } from './services.ts'

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

/**
 * Answers as problems (RFC 9457) what Node refuses before there is a request: what is no HTTP, headers that are too large,
 * and who sends too slowly. An expectation that we do not know is none (RFC 9110 §10.1.1 leaves that to the server).
 */
export function answerBrokenRequests(node: Server, log: HttpLog): void {
  const answering = new WeakMap<Duplex, ServerResponse>()
  node.on('request', (request, response: ServerResponse) => void answering.set(request.socket, response))
  node.on('checkExpectation', (request, response) => void node.emit('request', request, response))
  node.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An answer on its way must not be followed by half of another.
    const begun = answering.get(socket)
    if (error.code === 'ECONNRESET' || !socket.writable || (begun?.headersSent && !begun.writableFinished))
      return void socket.destroy()
    const { code, line, detail } = refusals[error.code ?? ''] ?? malformed
    const traceId = randomUUID()
    const { body } = problemOf(new HttpError(code, detail), { traceId, instance: '' })
    const content = JSON.stringify(body)
    const headers = [
      `HTTP/1.1 ${line}`,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(content)}`,
      `X-Request-Id: ${traceId}`,
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-store',
      'Connection: close',
    ]
    log.info({ traceId, route: 'none', status: body.status, reason: error.code }, 'answered')
    socket.end(`${headers.join('\r\n')}\r\n\r\n${content}`, () => socket.destroy())
  })
}
