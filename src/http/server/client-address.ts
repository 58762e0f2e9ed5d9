import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyaddr from 'proxy-addr'

/** What is read of a request. */
export interface Forwarded {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headersDistinct: NodeJS.Dict<string[]>
}

/** More hops than this nobody has; the rest of the header is not looked at. */
const mostHops = 20

/**
 * Finds the address that a request comes from. `X-Forwarded-For` is anybody's text: it is read from the right, where each
 * proxy has written who asked it, and only as far as the ones that wrote are `trusted` networks (`10.0.0.0/8`). The first
 * address from the right that is none of ours is the caller's. Without trusted proxies it is that of the connection.
 */
export function createClientAddress(trusted: readonly string[]): (request: Forwarded) => string {
  const isTrusted = proxyaddr.compile(trusted.flatMap(halved))
  return ({ socket, headersDistinct }) => {
    const named = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',').slice(-mostHops)
    const hops = named.map((hop) => plain(withoutPort(hop.trim())))
    // What is no address was written by nobody that we trust: the hop after it is the last one known.
    const known = hops.slice(hops.findLastIndex((hop) => isIP(hop) === 0) + 1)
    const read: Pick<Forwarded, 'socket'> & Pick<IncomingMessage, 'headers'> = {
      socket: { remoteAddress: plain(socket.remoteAddress ?? '') },
      headers: { 'x-forwarded-for': known.join(', ') },
    }
    // Of a request the library reads no more than this.
    return proxyaddr(read as IncomingMessage, isTrusted)
  }
}

/** The library refuses a network of all addresses, so such a network is named by its halves. That of IPv6 holds IPv4 too. */
function halved(network: string): string[] {
  if (!network.endsWith('/0')) return [network]
  const halves = ['0.0.0.0/1', '128.0.0.0/1']
  return network.includes(':') ? [...halves, '::/1', '8000::/1'] : halves
}

/** What limits are counted by: somebody with IPv6 has a whole /64 (RFC 6177), so its addresses count as one. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const [before = [], after = []] = groups.map((part) => (part === '' ? [] : part.split(':')))
  const whole = [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
  return `${whole.slice(0, 4).join(':')}::/64`
}

/** Without the zone, and IPv4 as itself where a socket of both families writes it as IPv6. */
const plain = (address: string): string => (address.split('%')[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop
