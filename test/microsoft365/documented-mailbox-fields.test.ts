import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type MailboxField, type MailboxKind, mailboxFields, mailboxKinds } from '../../src/core/index.ts'
import { destinationsOf } from '../../src/microsoft365/mailboxes/fields.ts'

const file = 'docs/mailboxes.md'
const begin = '<!-- fields -->'
const end = '<!-- /fields -->'

/** Returns the destinations of a field as text. Kinds with the same destinations are listed together. */
function placesOf(field: MailboxField): string {
  const kindsByText = new Map<string, MailboxKind[]>()
  for (const kind of mailboxKinds) {
    const to = destinationsOf(field, kind)
    const places =
      typeof to === 'string' ? to : [...new Set(to.map(({ cmdlet, parameter }) => `${cmdlet} ${parameter}`))]
    const names = { request: 'kept on the request', refused: 'refused' }
    const text = typeof places === 'string' ? names[places as keyof typeof names] : shorter(places)
    kindsByText.set(text, [...(kindsByText.get(text) ?? []), kind])
  }
  const kindWords = { sharedMailbox: 'shared', equipmentMailbox: 'equipment', roomMailbox: 'room' }
  if (kindsByText.size === 1) return [...kindsByText.keys()].join('')
  return [...kindsByText]
    .map(([text, kinds]) => `${kinds.map((kind) => kindWords[kind]).join(', ')}: ${text}`)
    .join('; ')
}

/** Replaces a list of all fourteen custom attributes by their range. */
const shorter = (places: readonly string[]): string =>
  [...new Set(places.map((place) => place.replace(/CustomAttribute\d+/, 'CustomAttribute1–14')))].join(', ')

it('the mailbox fields in the docs match the table (UPDATE_DOCS=1 writes them)', () => {
  const rows = mailboxFields.map((field) => `| \`${field}\` | ${placesOf(field)} |`)
  const table = ['| field | where it goes in Exchange |', '|---|---|', ...rows].join('\n')
  const text = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = text.split(begin)
  const [, after = ''] = rest.split(end)
  const wanted = `${before}${begin}\n${table}\n${end}${after}`
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted)
  expect(readFileSync(file, 'utf8')).toBe(wanted)
})
