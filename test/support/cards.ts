import type { Card } from './connector.ts'

type Node = Record<string, unknown>

/** Every object in a card, outermost first. */
export function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  else if (typeof value === 'object' && value !== null) {
    yield value as Node
    for (const one of Object.values(value)) yield* nodesOf(one)
  }
}

/** All that a person reads on a card, line by line. */
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

/** The actions of a card that a person can press, rows included. */
export function actionsOf(
  card: Card,
): { title: string; type: string; verb: string | undefined; data: Node; url: string | undefined }[] {
  const found = [...nodesOf(card)].filter(
    (node) => typeof node['type'] === 'string' && String(node['type']).startsWith('Action.') && !isFallback(card, node),
  )
  return found.map((node) => ({
    title: String(node['title']),
    type: String(node['type']),
    verb: node['verb'] as string | undefined,
    data: (node['data'] ?? {}) as Node,
    url: node['url'] as string | undefined,
  }))
}

function isFallback(card: Card, action: Node): boolean {
  return [...nodesOf(card)].some((node) => node['fallback'] === action)
}

/** The values that a form holds, by input id. */
export function valuesOf(card: Card): Record<string, string> {
  const inputs = [...nodesOf(card)].filter((node) => String(node['type']).startsWith('Input.'))
  return Object.fromEntries(inputs.map((input) => [String(input['id']), String(input['value'] ?? '')]))
}

/** The one action with this title; says what there is when it is not there. */
export function action(card: Card, title: string) {
  const all = actionsOf(card)
  const found = all.find((one) => one.title === title)
  if (!found)
    throw new Error(`no "${title}" on this card, only: ${all.map((one) => one.title).join(', ')}\n${textOf(card)}`)
  return found
}
