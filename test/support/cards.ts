import type { Card } from './connector.ts'

type Node = Record<string, unknown>

/** Yields every object in a card, outermost first. */
export function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  else if (typeof value === 'object' && value !== null) {
    yield value as Node
    for (const one of Object.values(value)) yield* nodesOf(one)
  }
}

/** Returns all texts that a person reads on a card, line by line. */
export function textOf(card: Card): string {
  const lines: string[] = []
  for (const node of nodesOf(card['body'])) {
    if (node['type'] === 'TextBlock') lines.push(String(node['text']))
    if (node['type'] === 'RichTextBlock')
      lines.push(
        (node['inlines'] as Node[]).map((run) => (typeof run === 'string' ? run : String(run['text']))).join(''),
      )
  }
  return lines.join('\n')
}

/**
 * Returns the actions of a card that a person can press, including those of rows. The title of a row's action is its first
 * part: the texts of the row follow it.
 */
export function actionsOf(card: Card) {
  const nodes = [...nodesOf(card)]
  const rows = new Set(nodes.map((node) => node['selectAction']))
  const fallbacks = new Set(nodes.map((node) => node['fallback']))
  const found = nodes.filter(({ type }) => String(type).startsWith('Action.')).filter((node) => !fallbacks.has(node))
  return found.map((node) => ({
    title: rows.has(node) ? String(node['title']).replace(/\. .*/s, '') : String(node['title']),
    type: String(node['type']),
    verb: node['verb'] as string | undefined,
    data: (node['data'] ?? {}) as Node,
    url: node['url'] as string | undefined,
    associatedInputs: node['associatedInputs'],
  }))
}

/** Returns the values in a form, by input id. */
export function valuesOf(card: Card): Record<string, string> {
  const inputs = [...nodesOf(card)].filter((node) => String(node['type']).startsWith('Input.'))
  return Object.fromEntries(inputs.map((input) => [String(input['id']), String(input['value'] ?? '')]))
}

/** Returns the single action with this title. The error lists the existing actions. */
export function action(card: Card, title: string) {
  const all = actionsOf(card)
  const found = all.find((one) => one.title === title)
  if (!found)
    throw new Error(`no "${title}" on this card, only: ${all.map((one) => one.title).join(', ')}\n${textOf(card)}`)
  return found
}

/**
 * Returns what a client sends when a person presses a button with these answers. Throws when no client sends anything:
 * an answer without an input, an empty required input, or an answer that its input does not accept.
 */
export function pressed(card: Card, title: string, answers: Record<string, string> = {}): { verb: string; data: Node } {
  const { verb, data, associatedInputs } = action(card, title)
  const inputs = [...nodesOf(card)].filter(({ type }) => String(type).startsWith('Input.'))
  const sends = { verb: String(verb), data }
  const strange = Object.keys(answers).filter((id) => !inputs.some((input) => input['id'] === id))
  if (strange.length > 0) throw new Error(`"${title}": this card has no input ${strange.join(', ')}`)
  if (associatedInputs === 'none') return sends
  const values = { ...valuesOf(card), ...answers }
  const wrong = inputs.filter((input) => !takes(input, values[String(input['id'])] ?? ''))
  if (wrong.length > 0)
    throw new Error(
      `"${title}": no client sends ${wrong.map(({ id }) => `${id} = "${values[String(id)]}"`).join(', ')}`,
    )
  return { ...sends, data: { ...data, ...values } }
}

/** Returns whether a client accepts this answer in an input, by the rules of Adaptive Cards 1.5. */
function takes(input: Node, value: string): boolean {
  const { type, isRequired, regex, maxLength, min, max, choices, isMultiSelect } = input
  if (type === 'Input.Toggle') return isRequired !== true || value === String(input['valueOn'] ?? 'true')
  if (value === '') return isRequired !== true
  if (type === 'Input.Text') {
    const fits = typeof maxLength !== 'number' || value.length <= maxLength
    return fits && (typeof regex !== 'string' || new RegExp(regex).test(value))
  }
  if (type === 'Input.Number')
    return Number(value) >= Number(min ?? -Infinity) && Number(value) <= Number(max ?? Infinity)
  if (type === 'Input.Date') return value >= String(min ?? '') && (max === undefined || value <= String(max))
  if (type !== 'Input.ChoiceSet' || 'choices.data' in input) return true
  const offered = (choices as { value: string }[]).map((choice) => choice.value)
  return (isMultiSelect === true ? value.split(',') : [value]).every((one) => offered.includes(one))
}
