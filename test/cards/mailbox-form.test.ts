import { describe, expect, it } from 'vitest'
import { type CardJson, formInputIds, peopleInputIds } from '../../src/cards/index.ts'
import {
  applies,
  type Draft,
  type Fault,
  faultCodes,
  mailboxFields,
  mailboxKinds,
  type Template,
} from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { meetingRoom, poolEquipment, roomAnswers, supportMailbox } from '../support/card-mailboxes.ts'
import { dana, draftOf, omar, projectSite } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { textOf, valuesOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'
import { faultSaying } from '../support/refusal.ts'

const inputsOf = (value: unknown): string[] =>
  nodesOf(value).flatMap(({ type, id }) => (String(type).startsWith('Input.') ? [String(id)] : []))
const formOf = (template: Template, values: Draft['values'] = {}, faults: readonly Fault[] = []) =>
  cards.form(requestForm({ template, faults, people: [dana, omar], draft: draftOf(values) }))
const partOf = (card: CardJson, id: string) => nodesOf(card).find((node) => node['id'] === id) ?? {}
const templates = { sharedMailbox: supportMailbox, roomMailbox: meetingRoom, equipmentMailbox: poolEquipment }

describe('the mailbox form', () => {
  it.each(mailboxKinds)('of a %s has exactly the API’s properties of this kind', (kind) => {
    const shown = inputsOf(formOf(templates[kind]))
    expect(shown.toSorted()).toEqual(formInputIds(templates[kind]).toSorted())
    expect(new Set(shown).size).toBe(shown.length)
    const inputs = new Set(shown.map((id) => id.split('.')[0]))
    // Only rooms and equipment have devices; the API accepts device names for every kind.
    const goesWith = (field: string) => kind !== 'sharedMailbox' || !field.endsWith('DeviceName')
    const known = mailboxFields.filter((field) => field !== 'templateId' && applies(field, kind) && goesWith(field))
    expect([...inputs].toSorted()).toEqual(
      [...known].filter((field) => field !== 'metadata' || inputs.has('metadata')).toSorted(),
    )
  })

  it('has no required inputs behind "More", and no input that a client checks', () => {
    for (const template of Object.values(templates)) {
      const inputsOf = (part: object) => nodesOf(part).filter(({ type }) => String(type).startsWith('Input.'))
      const behind = inputsOf(partOf(formOf(template), 'more'))
      expect(behind.length).toBeGreaterThan(10)
      for (const { label, title } of behind) expect(String(label ?? title)).not.toMatch(/ \*$/)
      const inputs = inputsOf(formOf(template))
      for (const input of inputs)
        for (const rule of ['isRequired', 'regex', 'min', 'max']) expect(input).not.toHaveProperty(rule)
    }
  })

  it('keeps all answers when it comes back, and shows the names in pickers', () => {
    const card = formOf(meetingRoom, roomAnswers)
    expect(valuesOf(card)).toMatchObject(roomAnswers)
    expect(partOf(card, 'permissions.FullAccess')['choices']).toMatchObject([
      { title: 'Dana Fox' },
      { title: 'Omar Haddad' },
    ])
    expect(partOf(card, 'permissions.SendAs')['choices']).toEqual([])
    expect(partOf(card, 'capacity')['value']).toBe(50_000)
  })

  it('has automapping ticked unless the person unticked it', () => {
    expect(valuesOf(formOf(supportMailbox))['autoMapping']).toBe('true')
    expect(valuesOf(formOf(supportMailbox, { autoMapping: 'false' }))['autoMapping']).toBe('false')
    expect(valuesOf(formOf(supportMailbox))['hideFromGAL']).toBe('false')
  })

  it("replaces a built-in field by a template's own", () => {
    const ids = inputsOf(formOf(poolEquipment))
    expect(ids.filter((id) => id === 'metadata.equipmentType')).toHaveLength(1)
    expect(partOf(formOf(poolEquipment), 'metadata.equipmentType')['type']).toBe('Input.ChoiceSet')
  })

  it.each<[string, string, string]>([
    [`/permissions/${dana.id}`, 'unknown-person', 'permissions.FullAccess'],
    [`/permissions/${dana.id}`, 'no-mailbox', 'permissions.FullAccess'],
    [`/permissions/${dana.id}`, 'chosen-twice', 'permissions.SendAs'],
    ['/metadata/seats', 'invalid', 'metadata.seats'],
    ['/roomMailboxMetadata/hasWhiteboard', 'wrong-type', 'roomMailboxMetadata.hasWhiteboard'],
    ['/businessPhones/1', 'too-long', 'businessPhones'],
    ['/primaryOwner', 'unknown-person', 'primaryOwner'],
  ])('shows the fault at %s (%s) next to %s', (pointer, code, id) => {
    const found = faultCodes.find((one) => one === code) ?? 'invalid'
    const card = formOf(meetingRoom, roomAnswers, [faultSaying(pointer, found, 'A sentence of the core.')])
    const box = nodesOf(card).find(
      ({ items }) => Array.isArray(items) && items.some((item: { id?: string }) => item.id === id),
    )
    expect(JSON.stringify(box)).toContain('"! "')
    expect(textOf(card)).toContain('One thing to fix')
  })

  it.each<[string, string, string | undefined, string]>([
    ['/name', 'invalid', 'buro-zurich-5', 'Leave out the @ and the domain. Try buro-zurich-5.'],
    ['/name', 'invalid', undefined, 'Use a–z, 0–9, dots, - and _ without spaces. Leave out the @ and the domain.'],
    ['/name', 'too-long', '59', 'Enter at most 59 characters.'],
    ['/alias', 'invalid', undefined, 'Enter one address such as help@contoso.example, or the part before its @'],
    ['/domain', 'invalid', undefined, 'Enter a mail domain of your organisation, such as contoso.example.'],
    ['/capacity', 'too-large', '102400', 'Enter at most 102,400.'],
    ['/capacity', 'too-small', '1', 'Enter at least 1.'],
    ['/metadata/seats', 'invalid', undefined, 'Enter a whole number from 1 to 99,999.'],
    [
      `/permissions/${dana.id}`,
      'chosen-twice',
      undefined,
      'You chose Dana Fox in both fields. Remove this person from one field.',
    ],
  ])('shows how to fix %s (%s, %s): %s', (pointer, code, suggestion, remedy) => {
    const found = faultCodes.find((one) => one === code) ?? 'required'
    const template = pointer === '/alias' ? supportMailbox : meetingRoom
    expect(textOf(formOf(template, {}, [faultSaying(pointer, found, 'Of the core.', suggestion)]))).toContain(remedy)
  })

  it('names everybody who is chosen for both kinds of access', () => {
    const faults = [dana, omar].map(({ id }) => faultSaying(`/permissions/${id}`, 'chosen-twice', 'Of the core.'))
    expect(textOf(formOf(meetingRoom, {}, faults))).toContain('You chose Dana Fox and Omar Haddad in both fields.')
  })

  it('opens "More" only for a fault behind it', () => {
    const isOpen = (card: CardJson) => partOf(card, 'more')['isVisible']
    expect(isOpen(formOf(meetingRoom, roomAnswers))).toBe(false)
    expect(isOpen(formOf(meetingRoom, roomAnswers, [faultSaying('/name', 'name-taken', '')]))).toBe(false)
    const faulty = formOf(meetingRoom, roomAnswers, [faultSaying('/country', 'not-a-country', '')])
    expect(isOpen(faulty)).toBe(true)
    expect(partOf(faulty, 'moreShow')['isVisible']).toBe(false)
  })

  it.each(faultCodes)('has a text for the fault %s on any input', (code) => {
    const pointers = [...formInputIds(supportMailbox), 'nowhere'].map((id) => `/${id.replace('.', '/')}`)
    const faults = pointers.map((pointer) => faultSaying(pointer, code, 'A sentence of the core.'))
    const words = textOf(formOf(supportMailbox, {}, faults))
    // The form reports people who are chosen for both kinds of access once, not once for each kind.
    const count = code === 'chosen-twice' ? pointers.length - 1 : pointers.length
    expect(words).toContain(`${count} things to fix`)
    expect(words).not.toMatch(/[{}]/)
  })

  it('knows its inputs of people', () => {
    const people = ['permissions.FullAccess', 'permissions.SendAs', 'primaryOwner', 'secondaryOwner']
    expect(peopleInputIds(meetingRoom).toSorted()).toEqual(people)
    expect(peopleInputIds(projectSite)).toEqual(['owners'])
    for (const id of people) expect(partOf(formOf(meetingRoom), id)).toHaveProperty(['choices.data'])
  })
})
