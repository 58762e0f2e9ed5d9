import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineOf } from '../support/card-outline.ts'
import { isNode, type Node, nodesOf } from '../support/card-rules.ts'
import { samples } from '../support/card-samples.ts'

const execute = {
  type: 'Action.Execute',
  title: 'Approve',
  verb: 'approval.approve',
  data: { requestId: '42', stage: 1 },
  style: 'positive',
  fallback: {
    type: 'Action.Submit',
    title: 'Approve',
    data: { verb: 'approval.approve', requestId: '42', stage: 1 },
  },
}
const card: Node = {
  type: 'AdaptiveCard',
  $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
  version: '1.5',
  fallbackText: 'REQ-1042 waits for you.',
  speak: 'REQ-1042 waits for you.',
  body: [
    { type: 'TextBlock', text: 'Your decision', wrap: true, style: 'heading', weight: 'Bolder' },
    { type: 'RichTextBlock', spacing: 'Small', inlines: [{ type: 'TextRun', text: 'Kim\u2060 Lee', isSubtle: true }] },
    {
      type: 'Container',
      id: 'details',
      isVisible: false,
      items: [
        { type: 'Input.Text', id: 'comment', label: 'Comment', maxLength: 500, isRequired: true, value: '12' },
        {
          type: 'Input.ChoiceSet',
          id: 'to',
          label: 'To',
          choices: [
            { title: 'Dana Fox', value: 'dana' },
            { title: 'Omar Haddad', value: 'omar' },
          ],
          'choices.data': { type: 'Data.Query', dataset: 'graph.microsoft.com/users' },
        },
      ],
      selectAction: { type: 'Action.OpenUrl', title: 'Open', url: 'https://contoso.example/?a=1' },
    },
  ],
  actions: [execute],
}

/** One sample of each card: all kinds of elements, without all situations. */
const oneOfEach = samples.filter(({ card }, index) => samples.findIndex((other) => other.card === card) === index)

describe('the outline of a card', () => {
  it('has one line for each element, with everything that a reviewer needs', () => {
    expect(outlineOf(card).split('\n')).toEqual([
      'AdaptiveCard fallbackText="REQ-1042 waits for you."',
      '  TextBlock "Your decision" style=heading weight=Bolder',
      '  RichTextBlock spacing=Small: "Kim\\u{2060} Lee" isSubtle',
      '  Container id=details isVisible=false',
      '    selectAction: Action.OpenUrl "Open" url="https://contoso.example/?a=1"',
      '    Input.Text "Comment" id=comment value="12" isRequired maxLength=500',
      '    Input.ChoiceSet "To" id=to',
      '      choices.data: Data.Query dataset=graph.microsoft.com/users',
      '      choices: "Dana Fox" value=dana',
      '      choices: "Omar Haddad" value=omar',
      '  actions: Action.Execute "Approve" verb=approval.approve data.requestId="42" data.stage=1 style=positive',
      '',
    ])
  })

  it.each<[string, readonly (string | number)[], unknown]>([
    ['a text', ['body', 0, 'text'], 'Your choice'],
    ['a text that wraps', ['body', 0, 'wrap'], false],
    ['a style', ['body', 0, 'style'], 'default'],
    ['an invisible text', ['body', 1, 'inlines', 0, 'text'], 'Kim Lee'],
    ['the colour of a text', ['body', 1, 'inlines', 0, 'color'], 'Good'],
    ['the initial visibility', ['body', 2, 'isVisible'], true],
    ['an address', ['body', 2, 'selectAction', 'url'], 'https://contoso.example/?a=2'],
    ['the kind of an action', ['body', 2, 'selectAction', 'type'], 'Action.Submit'],
    ['the id of an input', ['body', 2, 'items', 0, 'id'], 'remark'],
    ['the label of an input', ['body', 2, 'items', 0, 'label'], 'Remark'],
    ['the limit of an input', ['body', 2, 'items', 0, 'maxLength'], 400],
    ['a required input', ['body', 2, 'items', 0, 'isRequired'], undefined],
    ['the type of a value', ['body', 2, 'items', 0, 'value'], 12],
    ['the type of an input', ['body', 2, 'items', 0, 'type'], 'Input.Number'],
    ['a choice', ['body', 2, 'items', 1, 'choices', 1, 'value'], 'priya'],
    ['the number of choices', ['body', 2, 'items', 1, 'choices'], [{ title: 'Dana Fox', value: 'dana' }]],
    ['the source of choices', ['body', 2, 'items', 1, 'choices.data', 'dataset'], 'graph.microsoft.com/groups'],
    ['a verb', ['actions', 0, 'verb'], 'approval.reject'],
    ['a value of an action', ['actions', 0, 'data', 'stage'], 2],
    ['a key of an action', ['actions', 0, 'data', 'version'], 1],
    ['the style of an action', ['actions', 0, 'style'], 'destructive'],
    ['inputs that an action sends', ['actions', 0, 'associatedInputs'], 'none'],
    ['the data from older clients', ['actions', 0, 'fallback', 'data', 'stage'], 2],
    ['a missing fallback', ['actions', 0, 'fallback'], undefined],
    ['the order of elements', ['body'], (card['body'] as unknown[]).toReversed()],
    ['the text for older clients', ['fallbackText'], 'Update Teams.'],
    ['the spoken text', ['speak'], 'A decision'],
    ['the version', ['version'], '1.6'],
    ['an unknown member', ['msteams'], { width: 'Full' }],
  ])('shows a change of %s', (_, path, value) => {
    expect(outlineOf(changed(card, path, value))).not.toBe(outlineOf(card))
  })

  it('changes with any new value of any leaf of any card, and if the leaf is missing', () => {
    const anything = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined, [], {}, 'true'))
    fc.assert(
      fc.property(fc.constantFrom(...oneOfEach), fc.nat(), anything, (sample, number, value) => {
        const card = sample.rendered()
        const leaves = leavesOf(card)
        const path = leaves[number % leaves.length] ?? []
        const other = changed(card, path, value)
        fc.pre(ordered(at(card, path)) !== ordered(at(other, path)))
        expect(outlineOf(other), path.join('/')).not.toBe(outlineOf(card))
      }),
      { numRuns: 300 },
    )
  })

  it('changes when two neighbours are swapped', () => {
    fc.assert(
      fc.property(fc.constantFrom(...oneOfEach), fc.nat(), fc.nat(), (sample, number, place) => {
        const card = sample.rendered()
        const lists = listsOf(card)
        const path = lists[number % lists.length] ?? []
        const list = at(card, path) as unknown[]
        const first = place % (list.length - 1)
        const [one, other] = list.slice(first, first + 2)
        fc.pre(ordered(one) !== ordered(other))
        const swapped = changed(card, path, list.with(first, other).with(first + 1, one))
        expect(outlineOf(swapped), path.join('/')).not.toBe(outlineOf(card))
      }),
      { numRuns: 100 },
    )
  })

  it('does not depend on the order of members', () => {
    for (const sample of oneOfEach)
      expect(outlineOf(reversed(sample.rendered()) as Node), sample.name).toBe(outlineOf(sample.rendered()))
  })

  it('has at most one line for each element and long value', () => {
    for (const sample of oneOfEach) {
      const lines = outlineOf(sample.rendered()).trimEnd().split('\n')
      const elements = nodesOf(sample.rendered()).filter(({ type, title }) => type ?? title)
      expect(lines.filter((line) => !/^ *\| /.test(line)).length, sample.name).toBeLessThanOrEqual(elements.length)
    }
  })
})

type Path = readonly (string | number)[]

/** Returns a copy of the value in which another value is at a path; `undefined` takes the member away. */
function changed<T>(value: T, path: Path, to: unknown): T {
  const copy = structuredClone(value)
  const last = path.at(-1)
  const holder = at(copy, path.slice(0, -1)) as Record<string | number, unknown>
  if (last !== undefined) holder[last] = to
  return copy
}

/** Returns the value at a path. */
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value)

/** Returns the paths of all values that have no others inside. */
function leavesOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [[]]
  return entriesOf(value).flatMap(([key, inner]) => leavesOf(inner).map((path) => [key, ...path]))
}

/** Returns the paths of all lists of two or more. */
function listsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = entriesOf(value).flatMap(([key, inner]) => listsOf(inner).map((path) => [key, ...path]))
  return Array.isArray(value) && value.length > 1 ? [[], ...inside] : inside
}

const entriesOf = (value: object): [string | number, unknown][] =>
  Array.isArray(value) ? [...value.entries()] : Object.entries(value)

/** Returns a copy with the members of each object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isNode(value)) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]))
}

/** Returns JSON with sorted members: the same for equal values. */
const ordered = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, inner: unknown) =>
    isNode(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  )
