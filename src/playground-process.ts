import { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { Server, Socket } from 'node:net'

/**
 * What runs in a Playground's process, before the Playground's own entry. As shipped it listens on every network
 * interface, where anybody could chat as the person whose window it is; it reports its own faults to Microsoft, telemetry
 * switched off or not; its page loads fonts from a CDN; and it outlives a parent that is killed.
 */
const loopback = new Set([undefined, 'localhost', '127.0.0.1', '::1'])

const listen = Server.prototype.listen
Server.prototype.listen = function (this: Server, ...words: unknown[]): Server {
  const [port, ...more] = words
  return Reflect.apply(listen, this, [typeof port === 'number' ? { port, host: '127.0.0.1' } : port, ...more])
}

const connect = Socket.prototype.connect
Socket.prototype.connect = function (this: Socket, ...words: unknown[]): Socket {
  if (loopback.has(hostOf(words))) return Reflect.apply(connect, this, words)
  // Refused the ordinary way, at a port where nobody listens: a socket that is ended before it connects breaks TLS.
  const [first, ...more] = words
  const nowhere = { host: '127.0.0.1', port: 1 }
  if (Array.isArray(first)) Object.assign(first[0], nowhere)
  const instead = Array.isArray(first) ? first : typeof first === 'object' ? { ...first, ...nowhere } : nowhere
  return Reflect.apply(connect, this, [instead, ...more.filter((word) => typeof word === 'function')])
}

/** Of `connect(options)`, `connect(port, host)` and the form that Node itself uses, `connect([options, callback])`. */
function hostOf([first, second]: readonly unknown[]): string | undefined {
  const options: unknown = Array.isArray(first) ? first[0] : first
  const host = typeof options === 'object' && options !== null && 'host' in options ? options.host : second
  return typeof host === 'string' ? host : undefined
}

const writeHead = ServerResponse.prototype.writeHead
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...words: unknown[]): ServerResponse {
  this.setHeader('content-security-policy', "font-src 'self' data:")
  return Reflect.apply(writeHead, this, words)
}

// Ctrl-C reaches the whole process group; the parent ends its windows itself.
process.on('SIGINT', () => {})
// The pipe from the parent closes however the parent ends.
process.stdin.once('end', () => process.exit(0)).resume()

const { start } = createRequire(import.meta.url)('@microsoft/m365agentsplayground/dist/index.js') as { start(): void }
start()
