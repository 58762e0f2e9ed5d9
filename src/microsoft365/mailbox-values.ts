import type { MailboxDetails } from '../core/index.ts'

/**
 * Exchange's three quotas for a capacity in MB: it stops receiving when the capacity is used up, sending a little before,
 * and warns earlier still. Each is at most the next, as Set-Mailbox demands; as text, since a bare number means bytes.
 */
export function quotasOf(capacity: number): { warning: string; send: string; sendReceive: string } {
  const part = (share: number) => `${Math.max(1, Math.floor(capacity * share))} MB`
  return { warning: part(0.95), send: part(0.99), sendReceive: `${capacity} MB` }
}

/** Tags by which Outlook's room finder shows what a room has. */
export function roomTags(has: MailboxDetails['roomMailboxMetadata']): string[] | undefined {
  if (!has) return undefined
  return [
    ...(has.hasConferencePhone ? ['Conference phone'] : []),
    ...(has.hasWhiteboard ? ['Whiteboard'] : []),
    ...(has.hasVideoConferencing ? ['Video conferencing'] : []),
  ]
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const
const characters = new Map<string, string>(Object.entries(entities).map(([character, entity]) => [entity, character]))

/** People's plain text as HTML that shows it as it was written. */
export const htmlOf = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => Reflect.get(entities, character)).replace(/\r\n|\r|\n/g, '<br>')

/** What people read of an HTML text, its white space made plain: Exchange wraps what it is given in a page of its own. */
export const readableOf = (html: string): string =>
  plainOf(
    html
      .replace(/<br\s*\/?>/gi, '\n')
      .replace(/<[^>]*>/g, '')
      .replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => characters.get(entity) ?? ' '),
  )

/** A text by which two are compared: services keep texts but for their white space. */
export const plainOf = (text: string): string => text.replace(/\s+/g, ' ').trim()
