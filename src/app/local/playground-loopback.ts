import { Socket } from 'node:net'

/** Keeps every connection of this process on this machine: whoever imports it reaches loopback and nothing else. */
const loopback = new Set([undefined, 'localhost', '127.0.0.1', '::1'])

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
