import { z } from 'zod'
import { definedCards } from '../../src/cards/index.ts'
import { isNode, type Node } from './card-rules.ts'
import type { Sample } from './card-sample.ts'

/**
 * Texts in a card's data that only the service writes: references, times, ids, keys of our strings, links checked by
 * links.ts, numbers and sentences about them. All other texts count as people's, so that a new field is tested
 * automatically.
 */
const ours = new Set([
  ...['reference', 'at', 'age', 'gaveUpAt', 'waited', 'retry', 'group', 'command'],
  ...['quantity', 'delta', 'figures', 'rest', 'compared'],
  ...[
    'fallback',
    'heading',
    'similarHeading',
    'band',
    'step',
    'edition',
    'advice',
    'finding',
    'waiting',
    'comes',
    'jobs',
  ],
  ...[
    'range',
    'earlier',
    'older',
    'hidden',
    'hiddenDetails',
    'more',
    'moreChecks',
    'moreSimilar',
    'moreToMe',
    'moreWarnings',
  ],
  ...['batchId', 'decisionId', 'input', 'ticked'],
  ...['approvers', 'drafts'],
  ...['id', 'key', 'letterId', 'requestId', 'url', 'regex', 'minimum', 'maximum'],
])

const wordless = new Set(['toggle', 'date', 'number'])

const schemas = new Map<string, Node>(
  definedCards.map(({ name, data }) => {
    const schema: unknown = z.toJSONSchema(data)
    return [name, isNode(schema) ? schema : {}]
  }),
)

/**
 * A sample whose text fields of people are filled: all fields, or without empty ones, because some fields appear only
 * while others are empty.
 */
export interface Filling {
  readonly sample: Sample
  readonly emptyToo: boolean
}
export const fillings = (samples: readonly Sample[]): Filling[] =>
  samples.flatMap((sample) => [
    { sample, emptyToo: true },
    { sample, emptyToo: false },
  ])

/**
 * Returns the filled data. `textOf` is called once for each field, with its path, in which `[]` is any position of a
 * list.
 */
export function withText({ sample, emptyToo }: Filling, textOf: (path: string) => string): unknown {
  const filled = (value: unknown, schema: Node | undefined, path: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => filled(one, memberOf(schema, 'items'), `${path}[]`))
    // Values without text are no fields for text: on, off, a day or a number.
    if (isNode(value))
      return wordless.has(String(value['type'])) ? value : object(value, memberOf(schema, 'properties'), path)
    const isFree = schema?.['type'] === 'string' && !('enum' in schema || 'format' in schema || 'const' in schema)
    const isTheirs = isFree && !ours.has(path.split('.').at(-1) ?? '')
    return isTheirs && (emptyToo || value !== '') ? textOf(path) : value
  }
  const object = (value: Node, properties: Node | undefined, path: string): Node =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        filled(member, memberOf(properties, name), path === '' ? name : `${path}.${name}`),
      ]),
    )
  return filled(sample.json, schemas.get(sample.card), '')
}

/** Returns the paths of people's fields that a filling shows. */
export function shownFields(filling: Filling): Set<string> {
  const paths: string[] = []
  const data = withText(filling, (path) => `field ${paths.push(path)},`)
  const card = JSON.stringify(filling.sample.render(data))
  return new Set(paths.filter((_, index) => card.includes(`field ${index + 1},`)))
}

/** Returns as few fillings for each card as necessary to show every field. */
export function coveringFillings(all: readonly Filling[]): Filling[] {
  const known = new Set<string>()
  return all
    .map((filling) => ({ filling, fields: shownFields(filling) }))
    .toSorted((one, other) => other.fields.size - one.fields.size)
    .filter(({ filling: { sample }, fields }) => {
      const added = [...fields].filter((path) => !known.has(`${sample.card} ${path}`))
      for (const path of added) known.add(`${sample.card} ${path}`)
      return added.length > 0
    })
    .map(({ filling }) => filling)
}

/** Returns people's fields that no filling shows: card and path. */
export function neverShown(all: readonly Filling[]): string[] {
  const known = new Set<string>()
  const shown = new Set<string>()
  for (const filling of all) {
    withText(filling, (path) => {
      known.add(`${filling.sample.card} ${path}`)
      return 'x'
    })
    for (const path of shownFields(filling)) shown.add(`${filling.sample.card} ${path}`)
  }
  return [...known].filter((one) => !shown.has(one))
}

function memberOf(node: Node | undefined, name: string): Node | undefined {
  const member = node?.[name]
  return isNode(member) ? member : undefined
}
