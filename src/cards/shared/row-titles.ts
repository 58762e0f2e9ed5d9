import { isRecord } from '../../core/index.ts'

/** An object of a card's JSON. */
type Part = { readonly [key: string]: unknown }

const hasLetters = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)
/** The mark at the right edge of a row, which has no meaning for a screen reader. */
const chevron = / ?›$/

/**
 * Completes the title of each part of a card that people can tap. Renderers make such a part one button whose only name is
 * the title of its action, so a screen reader would read "Open REQ-1042" and none of the texts in the row. The result has
 * the first texts, `most` of them, in their order and without marks: "Open REQ-1042. Project Aurora. Waiting for approval".
 */
export function withRowTitles(card: Part, most = Number.POSITIVE_INFINITY): Part {
  const inside = (member: unknown): unknown =>
    Array.isArray(member) ? member.map(inside) : isRecord(member) ? withRowTitles(member, most) : member
  const members = Object.entries(card).map(([name, member]): [string, unknown] => [name, inside(member)])
  const row = Object.fromEntries(members)
  const tap = row['selectAction']
  return isRecord(tap) ? { ...row, selectAction: retitled(tap, textsIn(row).slice(0, most)) } : row
}

/** Returns an action, with the action for older clients, that has the new title. */
function retitled(tap: Part, texts: readonly string[]): Part {
  const short = tap['title']
  if (typeof short !== 'string') return tap
  const title = titleWith(short, texts)
  const fallback = tap['fallback']
  return { ...tap, title, ...(isRecord(fallback) && { fallback: { ...fallback, title } }) }
}

/** Does not repeat a title that is one of the texts, or a name at the end of the title. */
function titleWith(title: string, [first, ...others]: readonly string[]): string {
  if (first === undefined) return title
  if ([first, ...others].includes(title)) return inSequence([first, ...others])
  return inSequence(title.endsWith(first) ? [title, ...others] : [title, first, ...others])
}

const inSequence = (texts: readonly string[]): string =>
  texts.reduce((all, text) => `${all}${/[.!?…:]$/.test(all) ? '' : '.'} ${text}`)

/** The readable texts of an element in their order: a rich text is one text. */
function textsIn(element: unknown): string[] {
  if (Array.isArray(element)) return element.flatMap(textsIn)
  if (!isRecord(element) || element['isVisible'] === false) return []
  const { type, text, inlines, items, columns } = element
  const runs = type === 'RichTextBlock' && Array.isArray(inlines) ? inlines : undefined
  const own = runs ? runs.map((run) => (isRecord(run) ? run['text'] : run)).join('') : text
  const read = typeof own === 'string' ? own.replace(chevron, '').trim() : ''
  return [...(hasLetters(read) ? [read] : []), ...textsIn(items ?? []), ...textsIn(columns ?? [])]
}
