import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { because, instant, issueOf, type Reason } from '../shared/index.ts'

const secretPrefix = 'whsec_'
/** Whether a text is `whsec_` and 24 to 64 bytes in base64 with its padding (Standard Webhooks 1.0.0). */
export const isWebhookSecret = (text: string): boolean => {
  const encoded = text.slice(secretPrefix.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer ignores invalid characters, so the text must equal its encoded bytes.
  return (
    text.startsWith(secretPrefix) && bytes.toString('base64') === encoded && bytes.length >= 24 && bytes.length <= 64
  )
}

/** The secret that signs webhooks. */
export const webhookSecret = z.string().refine(isWebhookSecret, issueOf('webhookSecretForm'))

/** The events that a webhook can send (DESIGN §5). */
export const eventTypes = [
  'site.provisioned',
  'mailbox.provisioned',
  'request.rejected',
  'request.failed',
  'request.expired',
  'request.cancelled',
] as const
export const webhookSubscription = z.strictObject({
  // Normalised: hosts in ASCII, spaces encoded.
  url: z
    .url({ protocol: /^https?$/, normalize: true })
    .max(2000)
    .describe('The https address that receives the events'),
  secret: webhookSecret.describe('The secret that signs the events; it is never shown'),
  events: z
    .array(z.enum(eventTypes))
    .min(1)
    .default(['site.provisioned', 'mailbox.provisioned'])
    .describe('The events that are sent'),
})

/** A stored webhook. Replaced secrets stay for a while and sign in addition to the current secret. */
export const storedWebhook = webhookSubscription.extend({
  formerSecrets: z.array(z.strictObject({ secret: webhookSecret, until: instant })).optional(),
})
type StoredWebhook = z.output<typeof storedWebhook>

/**
 * How long a replaced secret still signs in addition to the new one, in hours, so that receivers have time to change.
 */
const formerSecretHours = 24

/** Returns a new webhook with the replaced secret of the previous one, which signs for one more day. */
export function withFormerSecrets(webhook: StoredWebhook, previous: StoredWebhook | null, now: Date): StoredWebhook {
  const until = new Date(now.getTime() + formerSecretHours * 3_600_000).toISOString()
  const replaced = previous && previous.secret !== webhook.secret ? [{ secret: previous.secret, until }] : []
  const formerSecrets = [...replaced, ...(previous?.formerSecrets ?? [])]
    .filter((one) => one.secret !== webhook.secret && Date.parse(one.until) > now.getTime())
    // Every secret adds a signature to the header, whose length is limited.
    .slice(0, 5)
  return { ...webhook, ...(formerSecrets.length > 0 && { formerSecrets }) }
}

/** Returns the secrets that sign a webhook at this time, the current secret first. */
export const signingSecrets = ({ secret, formerSecrets = [] }: StoredWebhook, now: Date): string[] => [
  secret,
  ...formerSecrets.filter(({ until }) => Date.parse(until) > now.getTime()).map((one) => one.secret),
]

/**
 * Networks that are not public: a webhook to such an address could reach our own machines (IANA's registries of special
 * addresses, RFC 6890). The last entry is Azure's address of a virtual machine's host, which seems public.
 */
const privateIpv4 = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
])
/** The public range of IPv6; without loopback, unique local, link-local, SRv6 and reserved addresses. */
const publicIpv6 = listOf(['2000::/3'])
/**
 * Special addresses in that range: protocols (with Teredo), documentation, and 6to4, which can contain any IPv4
 * address.
 */
const privateIpv6 = listOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const one of networks) {
    const [address = '', bits] = one.split('/')
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

/**
 * Returns why a webhook may not use a URL; undefined if it may (DESIGN §5). http and addresses in private networks are
 * allowed only for IP addresses in the allowed networks. Host names are not resolved here, except `localhost` (RFC
 * 6761); {@link webhookAddressFault} checks their addresses.
 */
export function webhookTargetFault(url: string, allowed: readonly string[]): Reason | undefined {
  if (!URL.canParse(url)) return because('webhookUrlForm')
  const { href, protocol, hostname, port, username, password } = new URL(url)
  if (username !== '' || password !== '') return because('webhookUrlUser')
  const address = literalAddress(hostname)
  const fault = address === undefined ? protocolFault(protocol) : webhookAddressFault(address, protocol, allowed)
  if (fault !== undefined) return fault
  const exempt = address !== undefined && isIn(address, allowed)
  // Services on ports below 1024 might execute parts of a POST as commands: mail, directories, remote shells.
  if (port !== '' && Number(port) < 1024 && !exempt) return because('webhookPort')
  return plainUrl.test(href) ? undefined : because('webhookUrlCharacters')
}

/** A URL with the characters of RFC 3986 only, because programs read other characters differently. */
const plainUrl =
  /^https?:\/\/(?:\[[\da-f:.]+\])?(?:[\w\-.~:/?@!$&'()*+,;=]|%[\da-f]{2})*(?:#(?:[\w\-.~:/?@!$&'()*+,;=]|%[\da-f]{2})*)?$/i

/**
 * Returns why a webhook may not use an IP address from a URL or from a host name; undefined if it may. `protocol`: with
 * its colon, `https:`.
 */
export function webhookAddressFault(address: string, protocol: string, allowed: readonly string[]): Reason | undefined {
  const plain = address.split('%')[0] ?? ''
  if (isIP(plain) === 0) return because('webhookNoInternetAddress')
  if (isIn(plain, allowed) && /^https?:$/.test(protocol)) return undefined
  return protocolFault(protocol) ?? (isPrivate(plain) ? because('webhookPrivateAddress') : undefined)
}

/**
 * Returns why a webhook may not be saved for a URL whose name resolves to these addresses; one refused address is
 * enough. A name without addresses is allowed, because it may get one later. Each connection checks the addresses
 * again.
 */
export const webhookNameFault = (
  url: string,
  addresses: readonly string[],
  allowed: readonly string[],
): Reason | undefined =>
  addresses.map((one) => webhookAddressFault(one, new URL(url).protocol, allowed)).find((fault) => fault !== undefined)

const protocolFault = (protocol: string): Reason | undefined =>
  protocol === 'https:' ? undefined : because('webhookProtocol')

const isIn = (address: string, networks: readonly string[]): boolean =>
  listOf(networks).check(address, familyOf(address))

/** Returns the IP address in a host. `URL` has already normalised it: `0x7f.1` is 127.0.0.1. */
function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (/^(.+\.)?localhost$/.test(host)) return '127.0.0.1'
  return isIP(host) > 0 ? host : undefined
}

function isPrivate(address: string): boolean {
  if (isIP(address) === 4) return privateIpv4.check(address, 'ipv4')
  const translated = translatedAddress(address)
  if (translated !== undefined) return isPrivate(translated)
  return !publicIpv6.check(address, 'ipv6') || privateIpv6.check(address, 'ipv6')
}

/** Returns the IPv4 address inside 64:ff9b::/96 (RFC 6052), which machines with only IPv6 use to reach IPv4. */
function translatedAddress(address: string): string | undefined {
  const { hostname } = new URL(`http://[${address}]/`)
  const found = /^\[64:ff9b::(?:([0-9a-f]+):)?([0-9a-f]+)?\]$/.exec(hostname)
  const parts = found?.slice(1).map((part) => Number.parseInt(part ?? '0', 16))
  return parts?.flatMap((part) => [part >> 8, part & 0xff]).join('.')
}
