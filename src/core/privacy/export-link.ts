import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** The kinds of exports. */
export const exportKinds = ['requests', 'audit', 'person'] as const
export type ExportKind = (typeof exportKinds)[number]
export const exportFormats = ['csv', 'json'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** The longest life of a link, in minutes. */
export const linkMinutes = 15
const linkMilliseconds = linkMinutes * 60_000

/** The content of a link. Days are by UTC, both included: `2026-11-01`. */
export interface ExportContent {
  readonly what: ExportKind
  readonly format: ExportFormat
  readonly from: string
  readonly to: string
  /** The person whose data is exported; only where `what` is `person`. */
  readonly personId?: string | undefined
}
/** The stored facts of an issued link. */
export interface ExportTicket extends ExportContent {
  readonly tenantId: string
  /** The admin who requested the link. Their right is checked again at each use. */
  readonly by: string
  readonly issuedAt: Date
  readonly until: Date
}
/** A ticket under the SHA-256 hash of its link's random part, so that the stored ticket alone opens nothing. */
interface IssuedTicket extends ExportTicket {
  readonly hash: string
}
export interface StoredTicket extends IssuedTicket {
  readonly usedAt: Date | null
}

/** Stores the tickets of issued links. */
export interface ExportTickets {
  issue(tickets: readonly IssuedTicket[]): Promise<void>
  find(hash: string): Promise<StoredTicket | undefined>
  /** Marks a ticket as used, if it may be used at this time. Of concurrent callers, only one gets true. */
  use(hash: string, at: Date): Promise<boolean>
  /** Deletes the tickets that ended long before this time. */
  forgetOld(at: Date): Promise<void>
}

/** The random part of a link, in bytes. The HMAC-SHA-256 after it has another 32 bytes. */
const randomLength = 32
const tokenPattern = /^[\w-]{86}$/

/**
 * Derives the key that seals links, 32 bytes, from a secret that is not in the database (HKDF-SHA-256, RFC 5869). The
 * secret may have other uses too: neither key reveals the other.
 */
export const exportKeyOf = (secret: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'quartermaster export links', 32))

/** Returns the start and end of a link that is issued now. The end is a whole second, as people read it. */
export const lifeOfLink = (now: Date): Pick<ExportTicket, 'issuedAt' | 'until'> => ({
  issuedAt: now,
  until: new Date(Math.floor(now.getTime() / 1000) * 1000 + linkMilliseconds),
})

/**
 * Creates a link for a ticket: random bytes and their seal as base64url (RFC 4648 §5). It has 86 characters, because
 * the router accepts at most 100 between two slashes. Only the caller gets the random bytes; the ticket keeps their
 * hash.
 */
export function sealTicket(key: Uint8Array, ticket: ExportTicket): { token: string; ticket: IssuedTicket } {
  const random = randomBytes(randomLength)
  const token = Buffer.concat([random, sealOf(key, random, ticket)]).toString('base64url')
  return { token, ticket: { ...ticket, hash: hashOfRandom(random) } }
}

/** The parts of a link with a valid form. */
interface LinkParts {
  readonly hash: string
  readonly random: Uint8Array
  readonly seal: Uint8Array
}

/** Reads the parts of a link; undefined if the text does not have the form of a link. */
export function partsOfToken(token: string): LinkParts | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // Node reads other spellings of the same bytes too: only the spelling that was issued counts.
  if (!tokenPattern.test(token) || bytes.toString('base64url') !== token) return undefined
  const random = bytes.subarray(0, randomLength)
  return { hash: hashOfRandom(random), random, seal: bytes.subarray(randomLength) }
}

type LinkState = 'open' | 'changed' | 'used' | 'expired'

/**
 * The state of a link and its stored ticket at this time. `changed`: this key did not seal this ticket for this link, or
 * the ticket claims a longer life than a link has.
 */
export function stateOfLink(key: Uint8Array, { random, seal }: LinkParts, ticket: StoredTicket, now: Date): LinkState {
  if (!timingSafeEqual(sealOf(key, random, ticket), seal)) return 'changed'
  const [issuedAt, until, at] = [ticket.issuedAt.getTime(), ticket.until.getTime(), now.getTime()]
  if (until - issuedAt > linkMilliseconds || until - at > linkMilliseconds) return 'changed'
  if (ticket.usedAt) return 'used'
  return until > at ? 'open' : 'expired'
}

/**
 * The seal covers every field, so that a person who can only write to the database cannot change the content of a link.
 */
function sealOf(key: Uint8Array, random: Uint8Array, ticket: ExportTicket): Buffer {
  const { tenantId, what, format, from, to, personId = null, by, issuedAt, until } = ticket
  const fields = [tenantId, what, format, from, to, personId, by, issuedAt.toISOString(), until.toISOString()]
  return createHmac('sha256', key).update(random).update(JSON.stringify(fields)).digest()
}

const hashOfRandom = (random: Uint8Array): string => createHash('sha256').update(random).digest('hex')
