import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { reasonOfIssue, templateWithin } from '../../src/core/index.ts'
import { textOf } from '../support/refusal.ts'
import { people } from '../support/teams-user.ts'

const site = { id: randomUUID(), version: 1, kind: 'teamSite', name: 'Club' }
const mailbox = { ...site, kind: 'sharedMailbox' }
const room = { ...site, kind: 'roomMailbox' }
const field = (more: object) => ({ fields: [{ key: 'a', type: 'text', label: 'A', ...more }] })
const choices = [{ title: 'One', value: 'one' }]
const inGerman = (texts: object) => ({ localised: { de: { fields: { a: texts } } } })
const values = Array.from({ length: 50 }, (_, index) => `${index}`)
/** Three questions with many choices, whose titles fit into a form only while they are short. */
const long = (title: string) => ({
  fields: ['a', 'b', 'c'].map((key) => ({
    ...{ key, type: 'choice', label: key },
    choices: values.map((value) => ({ title, value })),
  })),
})
const longTitles = (title: string) =>
  Object.fromEntries(
    ['a', 'b', 'c'].map((key) => [key, { choices: Object.fromEntries(values.map((value) => [value, title])) }]),
  )
const stage = (more: object) => ({ approval: { stages: [{ approvers: [{ user: people.dana.id }], ...more }] } })
const when = (one: object) => stage({ when: [one] })
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const webhook = { url: 'https://hooks.contoso.example/', secret }

type Row = readonly [design: object, pointer: string, message?: string]
/** Invalid templates, each with the pointer of its fault and a part of the message. */
const wrong: Readonly<Record<string, readonly Row[]>> = {
  itself: [
    [{ ...site, id: 'x' }, '/id'],
    [{ ...site, version: 0 }, '/version'],
    [{ ...site, kind: 'site' }, '/kind'],
    [{ ...site, name: ' ' }, '/name'],
    [{ ...site, description: 'x'.repeat(301) }, '/description'],
    [{ ...site, icon: '📁📁' }, '/icon', 'one character'],
    [{ ...site, icon: ' ' }, '/icon', 'one character'],
    [{ ...site, localised: { german: {} } }, '/localised/german'],
    [{ ...site, localised: { de_CH: { name: 'Verein' } } }, '/localised/de_CH'],
    [{ ...site, localised: { de: { name: '' } } }, '/localised/de/name'],
    [{ ...site, localised: { 'de-ab-cd': {} } }, '/localised/de-ab-cd', 'right format'],
    [{ ...site, localised: { de: { fields: { a: { label: 'A' } } } } }, '/localised/de/fields/a', 'not a field'],
    [
      { ...site, ...field({ type: 'choice', choices }), ...inGerman({ choices: { one: 'Eins', two: 'Zwei' } }) },
      '/localised/de/fields/a/choices/two',
      'two is not a choice of a',
    ],
    [{ ...site, ...field({}), ...inGerman({ label: '' }) }, '/localised/de/fields/a/label'],
    [{ ...site, ...field({}), ...inGerman({ key: 'b' }) }, '/localised/de/fields/a/key'],
    [{ ...site, localised: { de: { labels: { b2: 'Intern' } } } }, '/localised/de/labels/b2', 'not a choice'],
    [
      { ...site, ...long('x'), localised: { de: { fields: longTitles('x'.repeat(64)) } } },
      '/localised/de',
      'The form is too large',
    ],
    [{ ...site, active: 'yes' }, '/active'],
    [{ ...site, order: 1.5 }, '/order'],
    [{ ...site, audience: { people: ['kim'] } }, '/audience/people/0'],
    [{ ...site, audience: { groups: ['staff'] } }, '/audience/groups/0'],
    [{ ...site, colour: 'red' }, '/colour'],
    [{ ...site, quota: { openPerPerson: 0 } }, '/quota/openPerPerson'],
    [{ ...site, quota: { resources: 100_001 } }, '/quota/resources'],
    [{ ...site, labels: { allowed: [], default: 'x' } }, '/labels/default', 'one of the allowed labels'],
    [{ ...site, labels: { allowed: [{ id: 'x', name: '' }] } }, '/labels/allowed/0/name'],
    [{ ...site, webhook: { ...webhook, url: 'http://hooks.contoso.example/' } }, '/webhook/url', 'https://'],
    [{ ...site, webhook: { ...webhook, secret: 'short' } }, '/webhook/secret'],
    [{ ...site, webhook: { ...webhook, events: [] } }, '/webhook/events'],
    [{ ...site, webhook: { ...webhook, events: ['site.lost'] } }, '/webhook/events/0'],
  ],
  'its limits': [
    [
      { ...site, limits: { ownersMinimum: 3, ownersMaximum: 2 } },
      '/limits/ownersMinimum',
      'minimum of owners is greater',
    ],
    [{ ...site, limits: { ownersMaximum: 21 } }, '/limits/ownersMaximum'],
    [{ ...site, limits: { capacityMaximum: 5 } }, '/limits/capacityMaximum', 'Only mailboxes have this limit'],
    [{ ...site, limits: { permissionsMaximum: 5 } }, '/limits/permissionsMaximum', 'Only mailboxes have this limit'],
    [{ ...site, limits: { accessLevels: ['SendAs'] } }, '/limits/accessLevels', 'Only mailboxes have this limit'],
    [{ ...mailbox, limits: { capacityMaximum: 102_401 } }, '/limits/capacityMaximum'],
    [{ ...mailbox, limits: { accessLevels: ['None'] } }, '/limits/accessLevels/0'],
    [
      { ...site, limits: { ownersMinimum: 2 }, properties: { owners: { shown: false } } },
      '/limits/ownersMinimum',
      'Show the field “owners”',
    ],
    [
      { ...site, limits: { ownersMaximum: 1 }, properties: { owners: { fixed: [people.dana.id, people.omar.id] } } },
      '/properties/owners/fixed',
      'above the limits of the template',
    ],
    [
      { ...mailbox, limits: { capacityMaximum: 500 }, properties: { capacity: { default: 501 } } },
      '/properties/capacity/default',
      'above the limits of the template',
    ],
    ...['SendAs', 'FullAccess'].map((level): Row => {
      const limits = level === 'SendAs' ? { accessLevels: ['FullAccess'] } : { permissionsMaximum: 0 }
      const properties = { [`permissions.${level}`]: { required: true } }
      return [
        { ...mailbox, limits, properties },
        `/properties/permissions.${level}/required`,
        'limits do not allow this access',
      ]
    }),
  ],
  'its fields': [
    [{ ...site, ...field({ key: '1a' }) }, '/fields/0/key'],
    [{ ...site, ...field({ type: 'colour' }) }, '/fields/0/type'],
    [{ ...site, ...field({ label: '' }) }, '/fields/0/label'],
    [{ ...site, fields: [field({}).fields[0], field({}).fields[0]] }, '/fields', 'same key'],
    [
      {
        ...mailbox,
        fields: ['a', 'b'].map((key) => ({ ...field({}).fields[0], key, customAttribute: 1 })),
      },
      '/fields',
      'same custom attribute',
    ],
    [{ ...mailbox, ...field({ customAttribute: 15 }) }, '/fields/0/customAttribute'],
    [{ ...mailbox, ...field({ key: 'equipmentType' }) }, '/fields/0/key', 'Only equipment has'],
    [{ ...room, ...field({ key: 'seats', type: 'toggle' }) }, '/fields/0/key', 'seats must be a number'],
    [
      { ...room, ...field({ key: 'seats', type: 'choice', choices: [...choices, { title: '8', value: '8' }] }) },
      '/fields/0/choices',
      'seats must be a number',
    ],
    [{ ...room, ...field({ key: 'seats', default: 'many' }) }, '/fields/0/default', 'seats must be a number'],
    [{ ...site, ...field({ type: 'choice' }) }, '/fields/0/choices', 'at least one choice'],
    [{ ...site, ...field({ choices }) }, '/fields/0/choices', 'Only the type “choice”'],
    [{ ...site, ...field({ type: 'choice', choices: [...choices, ...choices] }) }, '/fields/0/choices', 'same value'],
    [{ ...site, ...field({ type: 'number', pattern: '\\d' }) }, '/fields/0/pattern', 'Only the type “text”'],
    [{ ...site, ...field({ pattern: '(' }) }, '/fields/0/pattern', 'not a regular expression'],
    [{ ...site, ...field({ pattern: '(a+)+' }) }, '/fields/0/pattern', 'Do not repeat a group'],
    [{ ...site, ...field({ pattern: '(?=a)' }) }, '/fields/0/pattern', 'lookaround'],
    [{ ...site, ...field({ pattern: '(a)\\1' }) }, '/fields/0/pattern', 'backreference'],
    [{ ...site, ...field({ pattern: '.*.*.*.*' }) }, '/fields/0/pattern', 'too many ways'],
    [{ ...site, ...field({ minimum: 1 }) }, '/fields/0/minimum', 'Only numbers and dates'],
    [{ ...site, ...field({ type: 'number', maximum: 'today' }) }, '/fields/0/maximum', 'Enter a number.'],
    [{ ...site, ...field({ type: 'date', minimum: 3 }) }, '/fields/0/minimum', 'Give a date'],
    [{ ...site, ...field({ type: 'date', minimum: 'tomorrow' }) }, '/fields/0/minimum'],
    [
      { ...site, ...field({ type: 'number', minimum: 3, maximum: 2 }) },
      '/fields/0/minimum',
      'greater than the maximum',
    ],
    [{ ...site, ...field({ type: 'person', default: people.kim.id }) }, '/fields/0/default', 'cannot have a default'],
    [{ ...site, ...field({ pattern: '\\d', default: 'x' }) }, '/fields/0/default', 'not a valid answer'],
    [{ ...site, ...field({ type: 'choice', choices, default: 'two' }) }, '/fields/0/default', 'not a valid answer'],
    [{ ...site, ...field({ type: 'number', maximum: 5, default: 6 }) }, '/fields/0/default', 'not a valid answer'],
    [{ ...site, ...field({ type: 'number', minimum: 5, default: 4 }) }, '/fields/0/default', 'not a valid answer'],
    [
      { ...site, ...field({ type: 'date', minimum: '2027-01-01', maximum: 'today', default: '2026-12-31' }) },
      '/fields/0/default',
      'not a valid answer',
    ],
  ],
  'its properties': [
    [{ ...site, properties: { city: {} } }, '/properties/city', 'This kind has no such property'],
    [
      { ...mailbox, properties: { officeLocation: {} } },
      '/properties/officeLocation',
      'This kind has no such property',
    ],
    [{ ...mailbox, properties: { alias: { default: 'x@contoso.example' } } }, '/properties/alias/default', 'differs'],
    [{ ...mailbox, properties: { capacity: { fixed: 0 } } }, '/properties/capacity/fixed', 'does not allow this value'],
    [
      { ...mailbox, properties: { country: { default: 'Atlantis' } } },
      '/properties/country/default',
      'does not allow this value',
    ],
    ...['fixed', 'default'].map((rule): Row => {
      const properties = { state: { [rule]: 'Active' } }
      return [{ ...mailbox, properties }, `/properties/state/${rule}`, 'cannot set the mailbox status “Active”']
    }),
    [{ ...mailbox, properties: { city: { default: 'Bern', fixed: 'Bern' } } }, '/properties/city/default', 'needs no'],
    [
      { ...mailbox, properties: { city: { shown: false, required: true } } },
      '/properties/city/required',
      'hidden and has no value',
    ],
    [
      { ...room, properties: { 'metadata.seats': { fixed: 'many' } } },
      '/properties/metadata.seats/fixed',
      'does not allow this value',
    ],
    [
      { ...room, properties: { 'metadata.seats': { default: 0 } } },
      '/properties/metadata.seats/default',
      'does not allow this value',
    ],
    [
      { ...mailbox, kind: 'equipmentMailbox', properties: { 'metadata.equipmentType': { fixed: 'x'.repeat(1025) } } },
      '/properties/metadata.equipmentType/fixed',
      'does not allow this value',
    ],
    [{ ...mailbox, properties: { name: { required: true } } }, '/properties/name/required', 'always required'],
    [{ ...mailbox, properties: { notes: { hidden: true } } }, '/properties/notes/hidden'],
  ],
  'its names': [
    [{ ...site, naming: { prefix: 'Prj ' } }, '/naming/prefix'],
    [{ ...site, naming: { suffix: '-' } }, '/naming/suffix'],
    [{ ...site, naming: { name: { pattern: '{input}' } } }, '/naming/name', 'use the rule “alias”'],
    [{ ...mailbox, kind: 'roomMailbox', naming: { alias: {} } }, '/naming/alias', 'Only shared mailboxes'],
    [
      { ...site, naming: { prefix: 'a-', alias: { pattern: 'b-{input}' } } },
      '/naming/alias/pattern',
      'either prefix and suffix or a pattern',
    ],
    [{ ...site, naming: { alias: { pattern: '{town}-{input}' } } }, '/naming/alias/pattern', '{town} is not known'],
    [
      { ...site, naming: { alias: { pattern: '{metadata.b}{input}' } } },
      '/naming/alias/pattern',
      'is not a field of this template',
    ],
    [{ ...site, naming: { alias: { pattern: '{input:loud}' } } }, '/naming/alias/pattern', 'loud is not known'],
    [{ ...site, naming: { alias: { pattern: '{input}{counter:9}' } } }, '/naming/alias/pattern', '1 to 6 digits'],
    [{ ...site, naming: { alias: { pattern: '{input' } } }, '/naming/alias/pattern', 'A brace is missing'],
    [{ ...site, naming: { alias: { pattern: '{input}{input}' } } }, '/naming/alias/pattern', 'once'],
    [{ ...site, naming: { alias: { pattern: `${'x'.repeat(60)}{input}` } } }, '/naming/alias/pattern', '64 characters'],
    [{ ...site, naming: { alias: { pattern: 'Ä{input}' } } }, '/naming/alias/pattern', 'a to z'],
    [{ ...site, naming: { alias: { pattern: '-{input}' } } }, '/naming/alias/pattern', 'begin and end'],
    [{ ...site, naming: { alias: { pattern: 'same' } } }, '/naming/alias/pattern', 'Every address would be the same'],
    [{ ...site, naming: { alias: { allowed: 'a-m' } } }, '/naming/alias/allowed', 'Allow a-z and 0-9'],
    [
      { ...site, naming: { alias: { pattern: 'a-{input}', allowed: 'a-z0-9' } } },
      '/naming/alias/allowed',
      'not allowed here',
    ],
    [{ ...site, naming: { alias: { allowed: ']' } } }, '/naming/alias/allowed', 'without brackets'],
    [{ ...site, naming: { displayName: { pattern: 'Club' } } }, '/naming/displayName/pattern', 'Add {input}'],
    [
      { ...site, naming: { displayName: { pattern: '{input} {counter}' } } },
      '/naming/displayName/pattern',
      'The number comes from',
    ],
    [
      { ...site, naming: { displayName: { pattern: 'Test {input}' }, blockedWords: ['test'] } },
      '/naming/displayName/pattern',
      'blocked word',
    ],
    [{ ...site, naming: { prefix: 'test-', blockedWords: ['Test'] } }, '/naming/prefix', 'blocked word'],
    [{ ...site, naming: { suffix: '-test', blockedWords: ['Test'] } }, '/naming/suffix', 'blocked word'],
    [
      { ...site, naming: { alias: { pattern: '{kind}-{input}' }, blockedWords: ['team'] } },
      '/naming/alias/pattern',
      'blocked word',
    ],
    [{ ...site, naming: { blockedWords: [''] } }, '/naming/blockedWords/0'],
  ],
  'its approval': [
    [{ ...site, approval: { stages: [] } }, '/approval/stages'],
    [{ ...site, ...stage({ approvers: [] }) }, '/approval/stages/0/approvers'],
    [{ ...site, ...stage({ approvers: [{ group: 'x' }] }) }, '/approval/stages/0/approvers/0/group'],
    [{ ...site, ...stage({ rule: 'most' }) }, '/approval/stages/0/rule'],
    [{ ...site, ...stage({ rule: 'quorum' }) }, '/approval/stages/0/quorum', 'number of approvals for the quorum'],
    [{ ...site, ...stage({ quorum: 1 }) }, '/approval/stages/0/quorum', 'Only the rule “quorum”'],
    [{ ...site, ...stage({ rule: 'quorum', quorum: 2 }) }, '/approval/stages/0/quorum', 'at most one approver'],
    [{ ...site, ...stage({ remindAfterHours: -1 }) }, '/approval/stages/0/remindAfterHours'],
    [{ ...site, ...when({ field: 'capacity', above: 5 }) }, '/approval/stages/0/when/0/field'],
    [{ ...site, ...when({ field: 'metadata.b', given: true }) }, '/approval/stages/0/when/0/field'],
    [{ ...site, ...stage({}), approval: { ...stage({}).approval, expiresAfterDays: 0 } }, '/approval/expiresAfterDays'],
  ],
}
const rows = Object.entries(wrong).flatMap(([what, some]) =>
  some.map(([design, pointer, message = '']) => ({ what, design, pointer, message })),
)

describe('an invalid template', () => {
  const schema = templateWithin([])
  const pointerOf = (path: readonly PropertyKey[]) => path.map((part) => `/${String(part)}`).join('')

  it.each(rows)('with a fault in $what is refused at $pointer ($message)', ({ design, pointer, message: expected }) => {
    const { error } = schema.safeParse(design)
    const faults = (error?.issues ?? []).map((issue) => {
      const at = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys] : issue.path
      return { pointer: pointerOf(at), message: issue.code === 'custom' ? textOf(reasonOfIssue(issue)) : issue.message }
    })
    expect(faults).toEqual([{ pointer, message: expect.stringContaining(expected) }])
  })

  it('is valid without its fault', () => {
    const later = field({ type: 'date', maximum: 'today', default: '2099-12-31' })
    const good = [site, mailbox, { ...site, ...field({}) }, { ...site, ...later }, { ...site, ...stage({}) }]
    for (const one of [...good, { ...site, webhook }]) expect(schema.safeParse(one).error).toBeUndefined()
  })
})
