import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { type CardJson, formInputIds, wholeValue } from '../../src/cards/index.ts'
import {
  type Fault,
  isMailboxKind,
  propertiesOf,
  type ResourceKind,
  reasonOfIssue,
  resourceKinds,
  type Template,
  templateWithin,
} from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { dana, draftOf, kim, projectSite, templateOf } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { cards } from '../support/english-cards.ts'
import { faultSaying, textOf } from '../support/refusal.ts'

const long = (letters: number) => 'ß'.repeat(letters)
const bytes = (card: CardJson) => JSON.stringify(card).length * 2
const types = ['text', 'choice', 'number', 'date', 'toggle', 'person'] as const

/** The largest template of a kind: `count` questions of all types with every member, and all properties of the API on the form. */
function largest(kind: ResourceKind, { label = 12, choices = 2, count = 20, required = true } = {}) {
  const fields = Array.from({ length: count }, (_, index) => {
    const type = types[index % types.length] ?? 'text'
    return {
      key: `field${index}`,
      type,
      label: long(label),
      help: long(200),
      placeholder: long(100),
      error: long(200),
      required: index % 2 === 0,
      ...(type === 'text' && { pattern: '[A-Z]{2,4}' }),
      ...(type === 'choice' && {
        choices: Array.from({ length: choices }, (_, at) => ({ title: long(10), value: `value${at}` })),
      }),
      ...(type === 'number' && { minimum: 1, maximum: 99 }),
      ...(type === 'date' && { minimum: 'today', maximum: '2030-12-31' }),
    }
  })
  const properties = Object.fromEntries(
    propertiesOf(kind).map((id) => [id, { shown: true, required: required && id !== 'name' }]),
  )
  return templateOf({
    ...projectSite,
    kind,
    name: long(64),
    fields,
    properties,
    labels: { allowed: [], default: null },
  })
}

const isAccepted = (template: Template): boolean => {
  const { webhook: _, ...written } = template
  return templateWithin([]).safeParse(written).success
}

/** The completely filled form with an error at every field and twenty people in its pickers. */
function returned(template: Template): CardJson {
  const empty = cards.form(requestForm({ template, draft: draftOf({}) }))
  const values: Record<string, string> = {}
  for (const { type, id, maxLength } of nodesOf(empty)) {
    if (type === 'Input.Text') values[String(id)] = long(Number(maxLength))
    if (type === 'Input.Number') values[String(id)] = '99'
    if (type === 'Input.Date') values[String(id)] = '2030-12-31'
  }
  const people = Array.from({ length: 20 }, (_, index) => ({
    ...dana,
    displayName: long(256),
    id: `11111111-aaaa-4aaa-8aaa-${String(index).padStart(12, '0')}`,
  }))
  const picker = isMailboxKind(template.kind) ? 'permissions.FullAccess' : 'owners'
  values[picker] = people.map(({ id }) => id).join(',')
  const faults: Fault[] = nodesOf(empty).flatMap(({ type, id }) =>
    String(type).startsWith('Input.') ? [faultSaying(`/${String(id).replace('.', '/')}`, 'required', long(300))] : [],
  )
  return cards.form(
    requestForm({ template, draft: draftOf(values), people, faults, requester: { ...kim, displayName: long(256) } }),
  )
}

describe('the form of the largest template', () => {
  const fitsAMessage = (template: Template) => {
    expect(isAccepted(template)).toBe(true)
    for (const card of [cards.form(requestForm({ template, draft: draftOf({}) })), returned(template)]) {
      expect(bytes(card)).toBeLessThan(25_000)
      // Only one of the two buttons of "More fields" is visible at a time.
      const actions = nodesOf(card).filter(
        ({ type, title }) => String(type).startsWith('Action.') && title !== strings.button.fewerFields,
      )
      const shownActions = actions.filter((action) => !nodesOf(card).some(({ fallback }) => fallback === action))
      expect(shownActions.length).toBeLessThanOrEqual(6)
      const inputs = nodesOf(card).flatMap(({ type, id }) => (String(type).startsWith('Input.') ? [String(id)] : []))
      expect(inputs.toSorted()).toEqual(formInputIds(template).toSorted())
    }
  }

  it.each<[ResourceKind, number]>([
    ['teamSite', 20],
    ['communicationSite', 20],
    ['equipmentMailbox', 20],
    ['sharedMailbox', 19],
    ['roomMailbox', 16],
  ])('of a %s with every property of the API and %i questions has at most 25 kB and six actions', (kind, count) => {
    fitsAMessage(largest(kind, { count, required: false }))
    expect(count === 20 || !isAccepted(largest(kind, { count: count + 1, required: false }))).toBe(true)
  })

  it('of a room fits with twenty questions and six hidden properties', () => {
    const hidden = { shown: false, required: false }
    const unused = ['companyName', 'businessPhones', 'audioDeviceName', 'displayDeviceName', 'videoDeviceName', 'state']
    const template = largest('roomMailbox', { required: false })
    const properties = { ...template.properties, ...Object.fromEntries(unused.map((id) => [id, hidden])) }
    fitsAMessage({ ...template, properties })
  })

  it('limits answers to fewer characters when there are more questions', () => {
    const lengthIn = (template: Template, id: string) =>
      Number(
        nodesOf(cards.form(requestForm({ template, draft: draftOf({}) }))).find((node) => node['id'] === id)?.[
          'maxLength'
        ],
      )
    const [small, large] = [largest('roomMailbox', { count: 1, required: false }), largest('roomMailbox')]
    expect(lengthIn(large, 'automaticReply')).toBeLessThan(lengthIn(small, 'automaticReply'))
    expect(lengthIn(large, 'name')).toBe(64)
  })

  it('shows the start of long answers, which a click sends back for the whole answers', () => {
    const template = largest('roomMailbox', { count: 16, required: false })
    const answer = 'A text with many words. '.repeat(200)
    const ids = nodesOf(cards.form(requestForm({ template, draft: draftOf({}) }))).flatMap(({ type, id }) =>
      type === 'Input.Text' ? [String(id)] : [],
    )
    const card = cards.form(
      requestForm({ template, draft: draftOf(Object.fromEntries(ids.map((id) => [id, answer]))) }),
    )
    expect(bytes(card)).toBeLessThan(25_000)
    const texts = nodesOf(card).filter(({ type }) => type === 'Input.Text')
    expect(texts.length).toBe(ids.length)
    for (const { value, maxLength } of texts) {
      expect(String(value).length).toBeLessThanOrEqual(Number(maxLength))
      expect(wholeValue(String(value), answer)).toBe(answer)
      expect(wholeValue(`New: ${value}`, answer)).toBe(`New: ${value}`)
    }
  })

  it('that cannot fit makes the template invalid, and the error tells how to shorten the form', () => {
    const written = templateWithin([]).safeParse({ ...largest('roomMailbox', { choices: 50 }), webhook: null })
    const issues = (written.error?.issues ?? []).map((one) => [
      one.path,
      one.code === 'custom' && textOf(reasonOfIssue(one)),
    ])
    expect(issues).toEqual([[['fields'], expect.stringContaining('Hide properties')]])
  })

  it('fits for every valid template', () => {
    const shape = fc.record({
      kind: fc.constantFrom(...resourceKinds),
      label: fc.integer({ min: 1, max: 64 }),
      choices: fc.integer({ min: 1, max: 50 }),
      count: fc.integer({ min: 0, max: 20 }),
      required: fc.boolean(),
    })
    fc.assert(
      fc.property(shape, ({ kind, ...more }) => {
        const template = largest(kind, more)
        fc.pre(isAccepted(template))
        expect(bytes(returned(template))).toBeLessThan(25_000)
      }),
      { numRuns: 60 },
    )
  })
})
