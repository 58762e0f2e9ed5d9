import { BlockList, isIP } from 'node:net'

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
  const proxies = new BlockList()
  for (const network of trusted) {
    const [address = '', bits] = network.split('/')
    proxies.addSubnet(address, Number(bits), familyOf(address))
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && proxies.check(address, familyOf(address))
  return ({ socket, headersDistinct }) => {
    let address = plain(socket.remoteAddress ?? '')
    if (!isTrusted(address)) return address
    const named = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',').slice(-mostHops)
    for (const hop of named.toReversed()) {
      const next = plain(withoutPort(hop.trim()))
      // What is no address was written by nobody that we trust: the hop before is the last one known.
      if (isIP(next) === 0) return address
      address = next
      if (!isTrusted(address)) return address
    }
    return address
  }
}

/** What limits are counted by: somebody with IPv6 has a whole /64 (RFC 6177), so its addresses count as one. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const [before = [], after = []] = groups.map((part) => (part === '' ? [] : part.split(':')))
  const whole = [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
  return `${whole.slice(0, 4).join(':')}::/64`
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
/** Without the zone, and IPv4 as itself where a socket of both families writes it as IPv6. */
const plain = (address: string): string => (address.split('%')[0] ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop
