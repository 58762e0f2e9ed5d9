/** A card as it is sent: plain JSON. */
export type CardJson = { readonly [key: string]: unknown }

/** Whether a value of JSON is an object: no list and not null. */
export const isPlainObject = (value: unknown): value is CardJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of a card's elements that hold words to be read. What an input holds comes back to us, so it stays as it is. */
const shownMembers = new Set(['text', 'title', 'label', 'placeholder'])

/** Controls, and what reverses or embeds the direction of the text around it (Unicode UAX #9, explicit formatting). */
const unseen = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu
const lineBreak = /\r\n?|[\u0085\u2028\u2029]/g
/** Renderers put a date in place of `{{DATE(…)}}`, in plain runs of text too. A word joiner parts the braces unseen. */
const dateFunction = /\{(?=\{(?:DATE|TIME)\()/gi

/**
 * The text as a card shows it: every visible character stays, in its order. Taken out are controls and marks that turn
 * the direction of what stands beside them; line breaks are all written alike.
 */
export const literal = (text: string): string =>
  text.toWellFormed().replace(lineBreak, '\n').replace(unseen, '').replace(dateFunction, '{\u2060')

/** The card with every text that is shown as {@link literal} makes it, whoever wrote it. */
export function withLiteralTexts(card: CardJson): CardJson {
  return Object.fromEntries(Object.entries(card).map(([name, member]) => [name, literalMember(name, member)]))
}

function literalMember(name: string, member: unknown): unknown {
  if (typeof member === 'string') return shownMembers.has(name) ? literal(member) : member
  if (Array.isArray(member)) return member.map((one) => literalMember('', one))
  return isPlainObject(member) ? withLiteralTexts(member) : member
}
