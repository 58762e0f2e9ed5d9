import { BlockList, isIP } from 'node:net'
import { z } from 'zod'

const secretPrefix = 'whsec_'
const isSecret = (text: string): boolean => {
  const encoded = text.slice(secretPrefix.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer reads over what is not base64, so only what it would write itself counts.
  return (
    text.startsWith(secretPrefix) && bytes.toString('base64') === encoded && bytes.length >= 24 && bytes.length <= 64
  )
}

/** What signs webhooks: `whsec_` and 24 to 64 bytes in base64 with its padding (Standard Webhooks 1.0.0). */
export const webhookSecret = z
  .string()
  .refine(isSecret, { error: 'must be whsec_ and 24 to 64 bytes in base64 (openssl rand -base64 32 makes some).' })

/** Networks that are nobody's on the internet: a webhook there would ask a machine of ours. */
const privateNetworks = [
  // Unspecified, loopback, link-local (cloud metadata among them)
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10'],
  // Private (RFC 1918), carrier-grade NAT (RFC 6598), unique local (RFC 4193)
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
  // Protocol assignments, benchmarks, multicast, reserved, IPv4 behind a translator (RFC 6052)
  ...['192.0.0.0/24', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4', '64:ff9b::/96', 'fec0::/10', 'ff00::/8'],
]
/** A network as the settings write it: `10.1.0.0/16`, `fd00::/8`. */
export const network = z.union([z.cidrv4(), z.cidrv6()], { error: 'must be networks such as 10.1.0.0/16' })

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const one of networks) {
    const [address = '', bits] = one.split('/')
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}
const privateAddresses = listOf(privateNetworks)

/**
 * Why a webhook may not go to an address, as a sentence that says what to do; undefined when it may (DESIGN §5). It goes
 * to https, and to http only where the address itself lies in one of the allowed networks; to an address in a private
 * network only if that one is allowed. A host's name is taken as it stands, but for `localhost` (RFC 6761): what it
 * resolves to is not looked at here; the check of the resolved address when connecting is still to come.
 */
export function webhookTargetFault(url: string, allowed: readonly string[]): string | undefined {
  if (!URL.canParse(url)) return 'A webhook needs an address that begins with https://.'
  const { protocol, hostname } = new URL(url)
  const address = literalAddress(hostname)
  if (address !== undefined && listOf(allowed).check(address, familyOf(address))) return undefined
  if (protocol !== 'https:')
    return 'A webhook goes to https://; to http:// only for an address inside WEBHOOK_ALLOW_CIDRS.'
  if (address === undefined || !isPrivate(address)) return undefined
  return 'A webhook does not go to a private address, unless it lies inside WEBHOOK_ALLOW_CIDRS.'
}

/** The address that a host names by itself. URL has brought it to its one form already: `0x7f.1` is 127.0.0.1. */
function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (/^(.+\.)?localhost$/.test(host)) return '127.0.0.1'
  return isIP(host) > 0 ? host : undefined
}

/** IPv4 inside IPv6 is never a proper address to write. BlockList cannot tell it: for it, all of IPv4 lies in there. */
const isPrivate = (address: string): boolean =>
  address.startsWith('::ffff:') || privateAddresses.check(address, familyOf(address))
