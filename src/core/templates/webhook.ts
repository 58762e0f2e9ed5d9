import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { because, instant, issueOf, type Reason } from '../shared/index.ts'

const secretPrefix = 'whsec_'
/** Whether a text is `whsec_` and 24 to 64 bytes in base64 with its padding (Standard Webhooks 1.0.0). */
export const isWebhookSecret = (text: string): boolean => {
  const encoded = text.slice(secretPrefix.length)
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer reads over what is not base64, so only what it would write itself counts.
  return (
    text.startsWith(secretPrefix) && bytes.toString('base64') === encoded && bytes.length >= 24 && bytes.length <= 64
  )
}

/** What signs webhooks. */
export const webhookSecret = z.string().refine(isWebhookSecret, issueOf('webhookSecretForm'))

/** What a subscriber can be told (DESIGN §5). */
export const eventTypes = [
  'site.provisioned',
  'mailbox.provisioned',
  'request.rejected',
  'request.failed',
  'request.expired',
  'request.cancelled',
] as const
export const webhookSubscription = z.strictObject({
  // As it will be called: hosts in ASCII, spaces encoded.
  url: z
    .url({ protocol: /^https?$/, normalize: true })
    .max(2000)
    .describe('Where the events are posted, by https'),
  secret: webhookSecret.describe('What signs them; it is never shown'),
  events: z
    .array(z.enum(eventTypes))
    .min(1)
    .default(['site.provisioned', 'mailbox.provisioned'])
    .describe('Which events are sent'),
})

/** A webhook as it is stored: with the secrets that were replaced, as long as they still sign beside the present one. */
export const storedWebhook = webhookSubscription.extend({
  formerSecrets: z.array(z.strictObject({ secret: webhookSecret, until: instant })).optional(),
})
type StoredWebhook = z.output<typeof storedWebhook>

/** How long a replaced secret still signs beside the new one, in hours, so that receivers can change over at leisure. */
const formerSecretHours = 24

/** A webhook that is about to replace another: the secret that it no longer has goes on signing for a day. */
export function withFormerSecrets(webhook: StoredWebhook, before: StoredWebhook | null, now: Date): StoredWebhook {
  const until = new Date(now.getTime() + formerSecretHours * 3_600_000).toISOString()
  const replaced = before && before.secret !== webhook.secret ? [{ secret: before.secret, until }] : []
  const formerSecrets = [...replaced, ...(before?.formerSecrets ?? [])]
    .filter((one) => one.secret !== webhook.secret && Date.parse(one.until) > now.getTime())
    // Each signs every delivery, and a header has an end.
    .slice(0, 5)
  return { ...webhook, ...(formerSecrets.length > 0 && { formerSecrets }) }
}

/** What signs a webhook at this time, the present secret first. */
export const signingSecrets = ({ secret, formerSecrets = [] }: StoredWebhook, now: Date): string[] => [
  secret,
  ...formerSecrets.filter(({ until }) => Date.parse(until) > now.getTime()).map((one) => one.secret),
]

/**
 * Networks that are nobody's on the internet: a webhook there would ask a machine of ours (IANA's registries of special
 * addresses, RFC 6890). The last is Azure's door to a virtual machine's own host, which looks public.
 */
const privateIpv4 = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
])
/** All that is given out of IPv6; loopback, unique local, link-local, SRv6 and what is reserved lie outside. */
const publicIpv6 = listOf(['2000::/3'])
/** What is special inside it: protocols (Teredo among them), documentation, 6to4, which hides any IPv4 address. */
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
 * Why a webhook may not go to a URL; undefined when it may (DESIGN §5). It goes to
 * https, and to http only where the address itself lies in one of the allowed networks; to an address in a private network
 * only if that one is allowed. A host's name is taken as it stands, but for `localhost` (RFC 6761): what it resolves to is
 * the matter of {@link webhookAddressFault}.
 */
export function webhookTargetFault(url: string, allowed: readonly string[]): Reason | undefined {
  if (!URL.canParse(url)) return because('webhookUrlForm')
  const { href, protocol, hostname, port, username, password } = new URL(url)
  if (username !== '' || password !== '') return because('webhookUrlUser')
  const address = literalAddress(hostname)
  const fault = address === undefined ? protocolFault(protocol) : webhookAddressFault(address, protocol, allowed)
  if (fault !== undefined) return fault
  const exempt = address !== undefined && isIn(address, allowed)
  // Below 1024 are services that a POST might be taken for an order by: mail, directories, remote shells.
  if (port !== '' && Number(port) < 1024 && !exempt) return because('webhookPort')
  return writtenOut.test(href) ? undefined : because('webhookUrlCharacters')
}

/** An address as RFC 3986 has it: of what goes beyond it each reader makes something else. */
const writtenOut =
  /^https?:\/\/(?:\[[\da-f:.]+\])?(?:[\w\-.~:/?@!$&'()*+,;=]|%[\da-f]{2})*(?:#(?:[\w\-.~:/?@!$&'()*+,;=]|%[\da-f]{2})*)?$/i

/**
 * Why a webhook may not go to an address that a name resolved to, or that a URL names by itself; undefined when it may.
 * `protocol` as URL has it: `https:`.
 */
export function webhookAddressFault(address: string, protocol: string, allowed: readonly string[]): Reason | undefined {
  const plain = address.split('%')[0] ?? ''
  if (isIP(plain) === 0) return because('webhookNoInternetAddress')
  if (isIn(plain, allowed) && /^https?:$/.test(protocol)) return undefined
  return protocolFault(protocol) ?? (isPrivate(plain) ? because('webhookPrivateAddress') : undefined)
}

/**
 * Why a webhook may not be saved for a URL whose name has these addresses now: one bad one among them is enough. No
 * addresses say nothing, since a name may come to be later; it is looked at again when connecting.
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

/** The address that a host names by itself. URL has brought it to its one form already: `0x7f.1` is 127.0.0.1. */
function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (/^(.+\.)?localhost$/.test(host)) return '127.0.0.1'
  return isIP(host) > 0 ? host : undefined
}

function isPrivate(address: string): boolean {
  if (isIP(address) === 4) return privateIpv4.check(address, 'ipv4')
  const behind = translatedAddress(address)
  if (behind !== undefined) return isPrivate(behind)
  return !publicIpv6.check(address, 'ipv6') || privateIpv6.check(address, 'ipv6')
}

/** The IPv4 address behind 64:ff9b::/96 (RFC 6052), by which a machine that has IPv6 alone reaches the rest. */
function translatedAddress(address: string): string | undefined {
  const { hostname } = new URL(`http://[${address}]/`)
  const found = /^\[64:ff9b::(?:([0-9a-f]+):)?([0-9a-f]+)?\]$/.exec(hostname)
  const parts = found?.slice(1).map((part) => Number.parseInt(part ?? '0', 16))
  return parts?.flatMap((part) => [part >> 8, part & 0xff]).join('.')
}
