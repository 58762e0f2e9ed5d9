import type { IncomingMessage } from 'node:http'
import { HttpError } from './problem.ts'

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
