import { createHmac, timingSafeEqual } from 'node:crypto'

/** What can be taken out of the store. */
export const exportKinds = ['requests', 'audit', 'person'] as const
export type ExportKind = (typeof exportKinds)[number]
export const exportFormats = ['csv', 'json'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** For how long a link works, in minutes. */
export const linkMinutes = 15

/** All that a link says. Days are UTC's, both of them included: `2026-11-01`. */
export interface Ticket {
  readonly what: ExportKind
  readonly format: ExportFormat
  readonly from: string
  readonly to: string
  /** Who had it made: their right is asked again whenever it is used. */
  readonly by: string
  /** Whom it is about, of a person's data. */
  readonly personId?: string | undefined
  readonly until: Date
}

const version = 1
const nobody = '00000000-0000-0000-0000-000000000000'
const ticketBytes = 41
const dayMilliseconds = 86_400_000

/**
 * A ticket in an address: 41 bytes and their HMAC-SHA-256 (RFC 2104) as base64url (RFC 4648 §5). Packed, since the router takes no
 * more than 100 characters between two slashes.
 */
export function sealTicket(key: Uint8Array, tenantId: string, ticket: Ticket): string {
  const packed = pack(ticket)
  return Buffer.concat([packed, signatureOf(key, tenantId, packed)]).toString('base64url')
}

/** What a link says; `expired` of one that was ours, `changed` of any other. */
export function openTicket(
  key: Uint8Array,
  tenantId: string,
  token: string,
  now: Date,
): Ticket | 'changed' | 'expired' {
  const bytes = Buffer.from(token, 'base64url')
  // Node reads other spellings of the same bytes too: a link is what was given out, to the letter.
  if (bytes.length !== ticketBytes + 32 || bytes.toString('base64url') !== token) return 'changed'
  const packed = bytes.subarray(0, ticketBytes)
  if (!timingSafeEqual(signatureOf(key, tenantId, packed), bytes.subarray(ticketBytes))) return 'changed'
  const ticket = unpack(packed)
  if (!ticket) return 'changed'
  return ticket.until > now ? ticket : 'expired'
}

const signatureOf = (key: Uint8Array, tenantId: string, packed: Uint8Array): Buffer =>
  createHmac('sha256', key).update(`export ${tenantId}\n`).update(packed).digest()

function pack({ what, format, from, to, by, personId = nobody, until }: Ticket): Buffer {
  const bytes = Buffer.alloc(ticketBytes)
  bytes.writeUInt8((version << 4) | (exportKinds.indexOf(what) << 1) | exportFormats.indexOf(format))
  bytes.writeUInt16BE(Date.parse(from) / dayMilliseconds, 1)
  bytes.writeUInt16BE(Date.parse(to) / dayMilliseconds, 3)
  bytes.writeUInt32BE(Math.floor(until.getTime() / 1000), 5)
  bytes.write(by.replaceAll('-', ''), 9, 'hex')
  bytes.write(personId.replaceAll('-', ''), 25, 'hex')
  return bytes
}

function unpack(bytes: Buffer): Ticket | undefined {
  const first = bytes.readUInt8()
  const what = exportKinds[(first >> 1) & 7]
  const format = exportFormats[first & 1]
  if (first >> 4 !== version || !what || !format) return undefined
  const personId = uuidAt(bytes, 25)
  return {
    ...{ what, format, from: dayAt(bytes, 1), to: dayAt(bytes, 3), by: uuidAt(bytes, 9) },
    ...(personId !== nobody && { personId }),
    until: new Date(bytes.readUInt32BE(5) * 1000),
  }
}

const dayAt = (bytes: Buffer, place: number): string =>
  new Date(bytes.readUInt16BE(place) * dayMilliseconds).toISOString().slice(0, 10)

const uuidAt = (bytes: Buffer, place: number): string =>
  bytes.toString('hex', place, place + 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
