import { z } from 'zod'
import { definedCards } from '../../src/cards/index.ts'
import { isNode, type Node } from './card-rules.ts'
import type { Sample } from './card-sample.ts'

/**
 * Texts of a card's data that nobody but us writes: references, moments, ids, keys of our strings, links that links.ts has
 * judged. All other texts count as people's, so that a new field is tested before anybody thinks of it.
 */
const ours = new Set([
  ...['reference', 'at', 'age', 'gaveUpAt', 'retry', 'words', 'group', 'command'],
  ...['id', 'key', 'letterId', 'requestId', 'url'],
])

const schemas = new Map<string, Node>(
  definedCards.map(({ name, data }) => {
    const schema: unknown = z.toJSONSchema(data)
    return [name, isNode(schema) ? schema : {}]
  }),
)

/**
 * The data of a sample with the given text in every field of people, shown or not. `textOf` is asked once for each field,
 * by its path with `[]` for any place in a list.
 */
export function withText(sample: Sample, textOf: (path: string) => string): unknown {
  const filled = (value: unknown, schema: Node | undefined, path: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => filled(one, memberOf(schema, 'items'), `${path}[]`))
    // A toggle is one of our own questions: templates ask for texts and choices.
    if (isNode(value)) return value['type'] === 'toggle' ? value : object(value, memberOf(schema, 'properties'), path)
    const isFree = schema?.['type'] === 'string' && !('enum' in schema || 'format' in schema || 'const' in schema)
    return isFree && !ours.has(path.split('.').at(-1) ?? '') ? textOf(path) : value
  }
  const object = (value: Node, properties: Node | undefined, path: string): Node =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        filled(member, memberOf(properties, name), path === '' ? name : `${path}.${name}`),
      ]),
    )
  return filled(sample.data, schemas.get(sample.card), '')
}

/** The fields of people that a sample shows, by their paths. */
export function shownFields(sample: Sample): Set<string> {
  const paths: string[] = []
  const data = withText(sample, (path) => `field ${paths.push(path)},`)
  const card = JSON.stringify(sample.render(data))
  return new Set(paths.filter((_, index) => card.includes(`field ${index + 1},`)))
}

/** As few samples of each card as show every field that any of them shows. */
export function telling(samples: readonly Sample[]): { sample: Sample; fields: ReadonlySet<string> }[] {
  const known = new Set<string>()
  return samples
    .map((sample) => ({ sample, fields: shownFields(sample) }))
    .toSorted((one, other) => other.fields.size - one.fields.size)
    .filter(({ sample, fields }) => {
      const added = [...fields].filter((path) => !known.has(`${sample.card} ${path}`))
      for (const path of added) known.add(`${sample.card} ${path}`)
      return added.length > 0
    })
}

function memberOf(node: Node | undefined, name: string): Node | undefined {
  const member = node?.[name]
  return isNode(member) ? member : undefined
}
