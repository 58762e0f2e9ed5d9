import {
  type AccessLevel,
  accessLevels,
  countryCode,
  isMailboxKind,
  type MailboxDetails,
  metadataText,
  type Person,
  type TemplateField,
} from '../../core/index.ts'
import { inputsOf, type MailboxInputId, roomFeatures } from '../drafts/mailbox-form.ts'
import { type Described, type DescribedMailbox, described, type Fact, labelName, maxOfPeople } from '../shared/facts.ts'
import { format, locale, strings } from '../shared/messages.ts'
import { dayOf, isDay, listOf, peopleList, quantity, quantityOf } from '../shared/texts.ts'

const isMailbox = (of: Described): of is DescribedMailbox => isMailboxKind(of.kind)

/** The most important facts: a site's description and owners; the access to a mailbox. */
export function mainFacts(of: Described, most?: number): Fact[] {
  if (isMailbox(of)) return accessFacts(of)
  return [
    ...described(strings.field.description, of.details.description, most),
    ...described(strings.field.owners, peopleList(of.owners, 'and'), maxOfPeople),
  ]
}

export const labelFact = (of: Described): Fact[] =>
  isMailbox(of) ? [] : described(strings.field.labelId, labelName(of))
export const reasonFact = ({ reason }: Described, most?: number): Fact[] =>
  described(strings.field.reason, reason, most)

/** All other facts: a mailbox's properties in the order of its form, with the answers to the template's own fields. */
export function otherFacts(of: Described): Fact[] {
  if (!isMailbox(of)) return extras(of, [])
  const { front, more } = inputsOf(of.kind)
  const builtIn = [...front, ...more].flatMap((id) =>
    id.startsWith('metadata.') ? [id.slice('metadata.'.length)] : [],
  )
  const properties = propertyFacts(of)
  return [...properties.front, ...extras(of, builtIn), ...properties.more]
}

/** The template's own fields in their order, then other metadata that a REST client sent. */
function extras(of: Described, shownElsewhere: readonly string[]): Fact[] {
  const { template, details } = of
  const { fields } = template
  const people = of.people ?? []
  const answers = fields.flatMap((field) => {
    const value = Object.hasOwn(details.metadata, field.key) ? details.metadata[field.key] : ''
    return described(field.label, answerText(field, value ?? '', people))
  })
  const shown = [...fields.map(({ key }) => key), ...shownElsewhere]
  const others = Object.entries(details.metadata).filter(([key]) => !shown.includes(key))
  return [...answers, ...others.flatMap(([key, value]) => described(key, metadataText(value)))]
}

/** An answer as people read it: a choice by its title, a day and a person by their names. */
function answerText({ type, choices }: TemplateField, answer: unknown, people: readonly Person[]): string {
  const value = metadataText(answer)
  switch (type) {
    case 'choice':
      return choices.find((choice) => choice.value === value)?.title ?? value
    case 'toggle':
      return value === 'true' || value === 'false' ? strings.toggle.answer[value] : value
    case 'date':
      return isDay(value) ? dayOf(value) : value
    case 'person':
      return people.find(({ id }) => id === value)?.displayName ?? value
    case 'text':
    case 'number':
      return value
  }
}

/** The names of the people with this access to a mailbox, or `''`. */
export function peopleWith(
  { details, people }: Pick<DescribedMailbox, 'details' | 'people'>,
  level: AccessLevel,
): string {
  const ids = Object.keys(details.permissions).filter((id) => details.permissions[id] === level)
  return peopleList(
    people.filter(({ id }) => ids.includes(id)),
    'and',
  )
}

/** The people with rights who are guests in the directory. Their names do not decide. */
export const guestsOf = (of: Described & { readonly guests?: readonly string[] | undefined }): Person[] =>
  (isMailbox(of) ? of.people : of.owners).filter(({ id }) => of.guests?.includes(id))

/** Whether anybody can open the mailbox. */
export const isReadable = (of: Pick<DescribedMailbox, 'details' | 'people'>): boolean =>
  peopleWith(of, 'FullAccess') !== ''

const accessFacts = (of: DescribedMailbox): Fact[] =>
  accessLevels.toReversed().flatMap((level) => {
    return described(strings.field[`permissions.${level}`], peopleWith(of, level), maxOfPeople)
  })

/** A mailbox's properties except its name, address and access: in front on its form, and behind "More". */
export function propertyFacts(of: DescribedMailbox): { front: Fact[]; more: Fact[] } {
  const { front, more } = inputsOf(of.kind, of.template.fields)
  return { front: front.flatMap((id) => propertyFact(of, id)), more: more.flatMap((id) => propertyFact(of, id)) }
}

const shownElsewhere: readonly MailboxInputId[] = [
  'displayName',
  'name',
  'domain',
  'permissions.FullAccess',
  'permissions.SendAs',
]

function propertyFact(of: DescribedMailbox, id: MailboxInputId): Fact[] {
  const { details, people, aliasAddress } = of
  if (shownElsewhere.includes(id)) return []
  // The features of a room are one line, at the position of the first.
  if (id === 'isWheelChairAccessible') return described(strings.field.inTheRoom, featuresOf(details))
  switch (id) {
    case 'alias':
      return described(strings.field.alias, aliasAddress)
    case 'capacity':
      return described(strings.field.capacity, storageOf(details))
    case 'country':
      return described(strings.field.country, countryName(details.country ?? ''))
    case 'metadata.seats':
      return described(strings.field[id], quantityOf(textOf(details, id)))
    case 'metadata.equipmentType':
      return described(strings.field[id], textOf(details, id))
    case 'primaryOwner':
    case 'secondaryOwner':
      return described(
        strings.field[id],
        peopleList(
          people.filter((person) => person.id === details[id]),
          'and',
        ),
      )
    case 'businessPhones':
    case 'tags':
      return described(strings.field[id], listOf(details[id] ?? [], 'unit'))
    case 'autoMapping':
      if (!isReadable(of)) return []
      return described(strings.field.autoMapping, textOf(details, id) && strings.toggle[id][`${details[id] === true}`])
    case 'hideFromGAL':
    case 'isAllowAutomaticReplyOverride':
      return described(strings.field[id], details[id] === undefined ? '' : strings.toggle[id][`${details[id]}`])
    default:
      return id in strings.field ? described(strings.field[id as keyof typeof strings.field], textOf(details, id)) : []
  }
}

/** A country by its name, from a name or a code. */
export function countryName(typed: string): string {
  const code = countryCode(typed)
  return code === undefined ? typed : (new Intl.DisplayNames(locale, { type: 'region' }).of(code) ?? typed)
}

/** The requested value of an input as text; `''` without one. */
function textOf(details: MailboxDetails, id: MailboxInputId): string {
  const [field = '', key] = id.split('.')
  const value: unknown = Object.entries(details).find(([name]) => name === field)?.[1]
  if (key === undefined) return value === undefined ? '' : String(value)
  if (typeof value !== 'object' || value === null) return ''
  const inner: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return metadataText(inner)
}

/** The features of a room as text; `''` if the request names none. */
export function featuresOf(details: MailboxDetails): string {
  const answered = roomFeatures.filter((id) => textOf(details, id) !== '')
  const there = answered.filter((id) => textOf(details, id) === 'true')
  if (answered.length === 0) return ''
  return there.length > 0
    ? listOf(
        there.map((id) => strings.mailbox[id].label),
        'unit',
      )
    : strings.facts.none
}

/** The requested storage in MB; `''` for the default. */
export const storageOf = ({ capacity }: MailboxDetails): string =>
  capacity === undefined ? '' : format(strings.facts.megabytes, { count: quantity(capacity) })
