import { createRequire } from 'node:module'
import { verbs } from '../../src/cards/index.ts'

/** Checks the rules of the card style that a test can check. Returns one sentence for each broken rule. */
export function brokenRules(card: object): string[] {
  const nodes = nodesOf(card)
  const text = JSON.stringify(card)
  const count = (test: (node: Node) => boolean) => nodes.filter(test).length
  const actions = Array.isArray(get(card, 'actions')) ? (get(card, 'actions') as unknown[]).length : 0
  return [
    ...nodes.flatMap(brokenIn),
    ...unless(get(card, 'version') === '1.5', 'the version is not 1.5'),
    ...unless(text.length * 2 < 25_000, `the card takes ${text.length * 2} bytes`),
    ...unless(actions <= 6, 'more than six actions'),
    ...unless(count((node) => node['style'] === 'heading') === 1, 'not exactly one heading'),
    ...unless(count((node) => node['style'] === 'positive') <= 1, 'more than one positive action'),
    ...unless(get(card, 'fallbackText') === get(card, 'speak'), 'fallbackText and speak differ'),
    ...unless(filled(get(card, 'speak')), 'no text to speak'),
    ...alike(shownActions(card), ({ title, tooltip }) => [title, tooltip], targetOf, 'a button reads like another'),
    ...alike(
      nodes.filter(({ type }) => String(type).startsWith('Input.')),
      ({ label, title }) => [label, title],
      ({ id }) => id,
      'an input reads like another',
    ),
    ...hiddenState(nodes),
    ...rendererMessages(card),
  ]
}

/** The actions that a client shows: not the ones for older clients, and not the one that clients call themselves. */
function shownActions(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(shownActions)
  if (!isNode(value)) return []
  const { fallback: _, refresh: __, ...members } = value
  const own = String(value['type']).startsWith('Action.') ? [value] : []
  return [...own, ...Object.values(members).flatMap(shownActions)]
}

const targetOf = ({ verb, data, url, targetElements }: Node): unknown => [verb, data, url, targetElements]

/** Returns a fault for each two elements that a screen reader reads alike although they differ. */
function alike(
  elements: readonly Node[],
  read: (node: Node) => unknown,
  meaning: (node: Node) => unknown,
  rule: string,
): string[] {
  const known = new Map<string, string>()
  return elements.flatMap((node) => {
    const [text, means] = [JSON.stringify(read(node)), JSON.stringify(meaning(node))]
    const earlier = known.get(text) ?? means
    known.set(text, earlier)
    return unless(earlier === means, `${rule}: ${text}`)
  })
}

/** A button that shows a part makes room for one with another title that hides the part, so its text is the state. */
function hiddenState(nodes: readonly Node[]): string[] {
  const toggles = nodes.filter(({ type }) => type === 'Action.ToggleVisibility')
  return toggles.flatMap(({ title, targetElements }) => {
    const twins = toggles.filter((one) => same(one['targetElements'], targetElements))
    return unless(
      twins.length === 2 && twins.some((one) => one['title'] !== title),
      `${title}: no text says whether its part is visible`,
    )
  })
}

export type Node = Readonly<Record<string, unknown>>
const forbidden = ['FactSet', 'Table', 'Image', 'ImageSet', 'Media', 'Action.ShowCard']

function brokenIn(node: Node): string[] {
  const type = String(node['type'] ?? '')
  const at = `${type} ${String(node['id'] ?? node['title'] ?? node['text'] ?? '')}`
  const lists = ['items', 'columns', 'inlines', 'actions', 'targetElements'].filter((key) => key in node)
  return [
    ...unless(!forbidden.includes(type), `${type} is not used on our cards`),
    ...unless(type !== 'TextBlock' || node['wrap'] === true, `${at} does not wrap`),
    ...unless(!('text' in node) || (typeof node['text'] === 'string' && node['text'] !== ''), `${at} has no words`),
    ...unless(
      !type.startsWith('Input.') || filled(node[type === 'Input.Toggle' ? 'title' : 'label']),
      `${at} has no label`,
    ),
    ...unless(!('color' in node) || !hasLetters(node['text']), `${at} has coloured letters`),
    ...unless(!type.startsWith('Action.') || !('title' in node) || filled(node['title']), `${at} has no title`),
    ...unless(node['isRequired'] !== true || filled(node['errorMessage']), `${at} has no error message`),
    ...unless(!Object.values(node).includes(null), `${at} holds null`),
    ...lists
      .filter((key) => !Array.isArray(node[key]) || node[key].length === 0)
      .map((key) => `${at}: ${key} is empty`),
    ...(type === 'Action.Execute' ? brokenExecute(node, at) : []),
  ]
}

function brokenExecute(node: Node, at: string): string[] {
  const { verb, title, data, fallback } = node
  // `of` is a known command. `displayName` is the name that the person typed, and `confirmed` a second click.
  const known = [
    'requestId',
    'version',
    'stage',
    'templateId',
    'starter',
    'letterId',
    'personId',
    'erasureId',
    'before',
    'after',
    'of',
    'from',
    'deliveryId',
    'displayName',
    'confirmed',
    'restore',
    'batchId',
    'decisionId',
  ]
  const expected = { verb, ...(isNode(data) ? data : {}) }
  return [
    ...unless(
      verbs.some((one) => one === verb),
      `${at} has the unknown verb ${String(verb)}`,
    ),
    ...unless(isNode(data) && Object.keys(data).every((key) => known.includes(key)), `${at} carries more than ids`),
    ...unless(isNode(fallback) && fallback['type'] === 'Action.Submit', `${at} has no fallback`),
    ...unless(isNode(fallback) && fallback['title'] === title, `${at} falls back to another title`),
    ...unless(isNode(fallback) && same(fallback['data'], expected), `${at} falls back to other data`),
    ...unless(isNode(fallback) && fallback['associatedInputs'] === node['associatedInputs'], `${at}: other inputs`),
  ]
}

/**
 * Returns the messages of the Adaptive Cards parser. It requires choices in people pickers, which is the only message
 * to ignore.
 */
function rendererMessages(card: object): string[] {
  const context = new renderer.SerializationContext()
  const drawn = new renderer.AdaptiveCard()
  drawn.parse(JSON.parse(JSON.stringify(card)), context)
  const parsing = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message)
  const checking = drawn.validateProperties().validationEvents.map(({ message }) => message)
  return [...parsing, ...checking].filter((message) => !/at least one choice/i.test(message))
}
interface Renderer {
  SerializationContext: new () => { eventCount: number; getEventAt(index: number): { message: string } }
  AdaptiveCard: new () => {
    parse(card: unknown, context: object): void
    validateProperties(): { validationEvents: { message: string }[] }
  }
}
const renderer: Renderer = createRequire(import.meta.url)('adaptivecards/dist/adaptivecards.js')

/** Returns every object of a card, outermost first. */
export function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf)
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesOf)] : []
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const get = (card: object, key: string): unknown => (isNode(card) ? card[key] : undefined)
const filled = (value: unknown): boolean => typeof value === 'string' && value !== ''
const hasLetters = (text: unknown): boolean => /[\p{L}\p{N}]/u.test(String(text))
const unless = (holds: boolean, rule: string): string[] => (holds ? [] : [rule])
const same = (one: unknown, other: unknown): boolean => {
  const sorted = (value: unknown) => (isNode(value) ? JSON.stringify(Object.entries(value).sort()) : String(value))
  return sorted(one) === sorted(other)
}
