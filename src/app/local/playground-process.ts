import '../../private-umask.ts'
import { ClientRequest, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { Server } from 'node:net'
import './playground-loopback.ts'

/**
 * Restricts a Playground's process before the Playground starts. By default it listens on every network interface, where
 * anybody could chat as the person of the window; it reports its faults to Microsoft, also with telemetry switched off; its
 * page loads fonts from a CDN; and it survives a parent that is killed.
 */
const listen = Server.prototype.listen
Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  const [port, ...more] = args
  return Reflect.apply(listen, this, [typeof port === 'number' ? { port, host: '127.0.0.1' } : port, ...more])
}

const writeHead = ServerResponse.prototype.writeHead
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]): ServerResponse {
  this.setHeader('content-security-policy', "font-src 'self' data:")
  return Reflect.apply(writeHead, this, args)
}

// The Playground always says that its person speaks American English. Another locale of the same length keeps the length of
// the message, which is already in its header.
const locale = process.env['PLAYGROUND_LOCALE'] ?? 'en-US'
const { write, end } = ClientRequest.prototype
const inLocale = (chunk: unknown): unknown =>
  typeof chunk === 'string' || chunk instanceof Uint8Array
    ? Buffer.from(chunk).toString().replaceAll('"locale":"en-US"', `"locale":"${locale}"`)
    : chunk
ClientRequest.prototype.write = function (this: ClientRequest, ...[chunk, ...more]: unknown[]): boolean {
  return Reflect.apply(write, this, [inLocale(chunk), ...more])
}
ClientRequest.prototype.end = function (this: ClientRequest, ...[chunk, ...more]: unknown[]): ClientRequest {
  return Reflect.apply(end, this, [inLocale(chunk), ...more])
}

// Ctrl-C reaches the whole process group, and the parent stops its windows itself.
process.on('SIGINT', () => {})
// The pipe from the parent closes in any case when the parent ends.
process.stdin.once('end', () => process.exit(0)).resume()

const { start } = createRequire(import.meta.url)('@microsoft/m365agentsplayground/dist/index.js') as { start(): void }
start()
