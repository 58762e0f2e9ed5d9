import { Socket } from 'node:net'

/** Restricts all connections of this process to this machine. Importing this file is enough. */
const loopback = new Set([undefined, 'localhost', '127.0.0.1', '::1'])

const connect = Socket.prototype.connect
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  if (loopback.has(hostOf(args))) return Reflect.apply(connect, this, args)
  // Connects to a port without a server, for an ordinary refusal. Ending the socket before it connects breaks TLS.
  const [first, ...more] = args
  const nowhere = { host: '127.0.0.1', port: 1 }
  if (Array.isArray(first)) Object.assign(first[0], nowhere)
  const instead = Array.isArray(first) ? first : typeof first === 'object' ? { ...first, ...nowhere } : nowhere
  return Reflect.apply(connect, this, [instead, ...more.filter((arg) => typeof arg === 'function')])
}

/** Returns the host of `connect(options)`, `connect(port, host)` or Node's own form `connect([options, callback])`. */
function hostOf([first, second]: readonly unknown[]): string | undefined {
  const options: unknown = Array.isArray(first) ? first[0] : first
  const host = typeof options === 'object' && options !== null && 'host' in options ? options.host : second
  return typeof host === 'string' ? host : undefined
}
