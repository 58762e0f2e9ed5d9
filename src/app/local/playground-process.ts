import '../../private-umask.ts'
import { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { Server } from 'node:net'
import './playground-loopback.ts'

/**
 * What runs in a Playground's process, before the Playground's own entry. As shipped it listens on every network
 * interface, where anybody could chat as the person whose window it is; it reports its own faults to Microsoft, telemetry
 * switched off or not; its page loads fonts from a CDN; and it outlives a parent that is killed.
 */
const listen = Server.prototype.listen
Server.prototype.listen = function (this: Server, ...words: unknown[]): Server {
  const [port, ...more] = words
  return Reflect.apply(listen, this, [typeof port === 'number' ? { port, host: '127.0.0.1' } : port, ...more])
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
