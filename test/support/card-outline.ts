import { isDeepStrictEqual } from 'node:util'
import { isNode, type Node } from './card-rules.ts'

/**
 * Returns a card as plain text for a reviewer: one line for each element, indented by nesting. A line shows the
 * element's type, its main text, and all its other members. Two cards with the same outline are equal as JSON, apart
 * from the order of members.
 *
 * - A member with its usual value is omitted. Any other value is shown; a missing member is shown as `without …`.
 * - A member that is `true` is shown as its key alone. `a.b=1` is the member `b` of the member `a`.
 * - `key:` before an element names the member that contains the element. The main list of a type needs no such name.
 * - A rich text with one run shares its line with the run: the run's members follow the colon.
 * - If a line has more than 200 characters, each long member has its own line, marked by `|`.
 */
export const outlineOf = (card: Node): string => `${linesOf(card, '', '').join('\n')}\n`

const longestLine = 200
const longestMember = 40

/** The main list of a type: the elements inside it. */
const mainLists: Readonly<Record<string, string>> = {
  ActionSet: 'actions',
  AdaptiveCard: 'body',
  Column: 'items',
  ColumnSet: 'columns',
  Container: 'items',
  RichTextBlock: 'inlines',
}

/** Returns the members that a reviewer does not need, because every element of the type has these values. */
function usualMembers({ type, ...members }: Node): Node {
  if (type === 'TextBlock' || type === 'Input.Toggle') return { wrap: true }
  if (type === 'AdaptiveCard')
    return {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      version: '1.5',
      speak: members['fallbackText'],
    }
  if (type !== 'Action.Execute') return {}
  // A client without Action.Execute submits the same verb and data.
  const { title, verb, data, associatedInputs } = members
  const submit = { type: 'Action.Submit', title, data: { verb, ...(isNode(data) ? data : {}) } }
  return { fallback: associatedInputs === undefined ? submit : { ...submit, associatedInputs } }
}

function linesOf(element: unknown, key: string, indent: string): string[] {
  const start = key === '' ? indent : `${indent}${key}: `
  if (!isNode(element)) return [`${start}${written(element)}`]
  const run = onlyRun(element)
  const parts = partsOf(element, key)
  if (run) return fitted(start, [...parts.slice(0, -1), `${parts.at(-1)}:`, ...partsOf(run, 'inlines').slice(1)])
  const inner = childrenOf(element).flatMap(([name, child]) => linesOf(child, name, `${indent}  `))
  return [...fitted(start, parts), ...inner]
}

/** Returns the run of a rich text that can share its line. */
function onlyRun({ type, inlines }: Node): Node | undefined {
  if (type !== 'RichTextBlock' || !Array.isArray(inlines) || inlines.length !== 1) return undefined
  const run: unknown = inlines[0]
  return isNode(run) && run['type'] === 'TextRun' && childrenOf(run).length === 0 ? run : undefined
}

/** Joins the parts of a line. If the line is too long, its long parts follow on their own lines. */
function fitted(start: string, parts: readonly string[]): string[] {
  const line = `${start}${parts.join(' ')}`
  if (line.length <= longestLine) return [line]
  const isLong = (part: string) => part.length > longestMember
  const indent = ' '.repeat(start.length - start.trimStart().length + 4)
  const short = parts.filter((part) => !isLong(part))
  return [`${start}${short.join(' ')}`, ...parts.filter(isLong).map((part) => `${indent}| ${part}`)]
}

/**
 * Returns the elements inside an element with the names in their lines; elements of the type's main list have no name.
 */
function childrenOf(element: Node): [string, unknown][] {
  const main = mainLists[String(element['type'])]
  const all = shownMembers(element).filter(([, value]) => holdsElements(value))
  const named = all.filter(([key]) => key !== main).sort(byName)
  const single = named.filter(([, value]) => !Array.isArray(value))
  const lists = [...all.filter(([key]) => key === main), ...named.filter(([, value]) => Array.isArray(value))]
  return [
    ...single,
    ...lists.flatMap(([key, list]) =>
      (list as unknown[]).map((child): [string, unknown] => [key === main && isTyped(child) ? '' : key, child]),
    ),
  ]
}

const isTyped = (value: unknown): value is Node =>
  isNode(value) && typeof value['type'] === 'string' && /^\w[\w.]*$/.test(value['type'])
const holdsElements = (value: unknown) => (Array.isArray(value) ? value.some(isNode) : isTyped(value))
const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

/** Returns the parts of the element's own line: its type, its main text, and its other members by name. */
function partsOf(element: Node, key: string): string[] {
  const { type } = element
  const main = mainText(type, key)
  const text = element[main]
  const members = shownMembers(element)
    .filter(([name, value]) => name !== 'type' && name !== main && !holdsElements(value))
    .sort(byPlace)
  return [
    ...(isTyped(element) ? [String(type)] : type === undefined ? [] : memberParts('type', type)),
    ...(typeof text === 'string' ? [quoted(text)] : text === undefined ? [] : memberParts(main, text)),
    ...members.flatMap(([name, value]) => memberParts(memberName(name), value)),
    ...Object.keys(usualMembers(element))
      .filter((name) => element[name] === undefined)
      .map((name) => `without ${name}`),
  ]
}

/** Returns the name of the member with the text that people read first. */
function mainText(type: unknown, key: string): string {
  if (type === 'Input.Toggle' || key === 'choices') return 'title'
  const [kind] = String(type).split('.')
  return kind === 'Action' ? 'title' : kind === 'Input' ? 'label' : 'text'
}

/** Returns the members of an element with unusual values. */
function shownMembers(element: Node): [string, unknown][] {
  const usual = usualMembers(element)
  const isUsual = (key: string, value: unknown) => key in usual && isDeepStrictEqual(value, usual[key])
  return Object.entries(element).filter(([key, value]) => value !== undefined && !isUsual(key, value))
}

/** Members in the order of a review: first the type and effect of an element, then all others by name. */
const firstMembers = ['id', 'verb', 'url', 'data', 'value']
function byPlace(one: [string, unknown], other: [string, unknown]): number {
  const place = ([name]: [string, unknown]) => firstMembers.indexOf(name) + 1 || firstMembers.length + 1
  return place(one) - place(other) || byName(one, other)
}

function memberParts(name: string, value: unknown): string[] {
  if (value === true) return [name]
  if (!isNode(value) || Object.keys(value).length === 0) return [`${name}=${written(value)}`]
  const inner = Object.entries(value).filter(([, one]) => one !== undefined)
  return inner.sort(byName).flatMap(([key, one]) => memberParts(`${name}.${memberName(key)}`, one))
}

const memberName = (key: string): string => (/^[\w$]+$/.test(key) ? key : quoted(key))

/**
 * Writes a value so that different values have different texts. Texts of letters, digits and `.:/@-` need no quotes.
 */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`
  if (typeof value !== 'string') return quoted(value)
  const isWord = /^[\w.:/@-]+$/.test(value) && Number.isNaN(Number(value))
  return isWord && !['true', 'false', 'null'].includes(value) ? value : quoted(value)
}

/** Writes JSON with the codes of invisible characters, such as U+2060. */
const quoted = (value: unknown): string =>
  JSON.stringify(value ?? null).replaceAll(/(?! )[\p{Cf}\p{Z}]/gu, (one) =>
    [...one].map((letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`).join(''),
  )
