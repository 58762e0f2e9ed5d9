import { isMailboxKind, type Person, type TemplateField } from '../../core/index.ts'
import { inputsOf } from '../drafts/mailbox-inputs.ts'
import {
  type Described,
  type DescribedMailbox,
  described,
  type Fact,
  labelName,
  mostOfPeople,
} from '../shared/facts.ts'
import { strings } from '../shared/messages.ts'
import { dayOf, isDay, peopleList } from '../shared/words.ts'
import { accessFacts, propertyFacts } from './mailbox-facts.ts'

const isMailbox = (of: Described): of is DescribedMailbox => isMailboxKind(of.kind)

/** What matters most of what was asked for: a site's description and owners; who has which access to a mailbox. */
export function mainFacts(of: Described, most?: number): Fact[] {
  if (isMailbox(of)) return accessFacts(of)
  return [
    ...described(strings.field.description, of.details.description, most),
    ...described(strings.field.owners, peopleList(of.owners, 'and'), mostOfPeople),
  ]
}

export const labelFact = (of: Described): Fact[] =>
  isMailbox(of) ? [] : described(strings.field.labelId, labelName(of))
export const reasonFact = ({ reason }: Described, most?: number): Fact[] =>
  described(strings.field.reason, reason, most)

/** Everything else: a mailbox's properties in the order of its form, the answers to the template's own fields among them. */
export function otherFacts(of: Described): Fact[] {
  if (!isMailbox(of)) return extras(of, [])
  const { front, more } = inputsOf(of.kind)
  const builtIn = [...front, ...more].flatMap((id) =>
    id.startsWith('metadata.') ? [id.slice('metadata.'.length)] : [],
  )
  const properties = propertyFacts(of)
  return [...properties.front, ...extras(of, builtIn), ...properties.more]
}

/** The template's own fields in their order, then what a REST client sent besides. */
function extras(of: Described, told: readonly string[]): Fact[] {
  const { template, details } = of
  const { fields } = template
  const people = of.people ?? []
  const asked = fields.flatMap((field) => {
    const value = Object.hasOwn(details.metadata, field.key) ? details.metadata[field.key] : ''
    return described(field.label, answerInWords(field, value ?? '', people))
  })
  const shown = [...fields.map(({ key }) => key), ...told]
  const others = Object.entries(details.metadata).filter(([key]) => !shown.includes(key))
  return [...asked, ...others.flatMap(([key, value]) => described(key, String(value)))]
}

/** An answer as people read it: a choice by its title, a day and a person by their names. */
function answerInWords(
  { type, choices }: TemplateField,
  answer: string | number | boolean,
  people: readonly Person[],
): string {
  const value = String(answer)
  switch (type) {
    case 'choice':
      return choices.find((choice) => choice.value === value)?.title ?? value
    case 'toggle':
      return value === 'true' || value === 'false' ? strings.toggle.answer[value] : value
    case 'date':
      return isDay(value) ? dayOf(value) : value
    case 'person':
      return people.find(({ id }) => id === value)?.displayName ?? value
    default:
      return value
  }
}
