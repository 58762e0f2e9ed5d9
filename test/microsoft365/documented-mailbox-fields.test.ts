import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type MailboxField, type MailboxKind, mailboxFields, mailboxKinds } from '../../src/core/index.ts'
import { destinationsOf } from '../../src/microsoft365/mailboxes/fields.ts'

const file = 'docs/mailboxes.md'
const begin = '<!-- fields -->'
const end = '<!-- /fields -->'

/** Where a field goes, for the reader: kinds that share a place stand together. */
function placesOf(field: MailboxField): string {
  const said = new Map<string, MailboxKind[]>()
  for (const kind of mailboxKinds) {
    const to = destinationsOf(field, kind)
    const places =
      typeof to === 'string' ? to : [...new Set(to.map(({ cmdlet, parameter }) => `${cmdlet} ${parameter}`))]
    const words = { request: 'kept on the request', refused: 'refused' }
    const text = typeof places === 'string' ? words[places as keyof typeof words] : shorter(places)
    said.set(text, [...(said.get(text) ?? []), kind])
  }
  const kindWords = { sharedMailbox: 'shared', equipmentMailbox: 'equipment', roomMailbox: 'room' }
  if (said.size === 1) return [...said.keys()].join('')
  return [...said].map(([text, kinds]) => `${kinds.map((kind) => kindWords[kind]).join(', ')}: ${text}`).join('; ')
}

/** Fourteen custom attributes in a row say nothing that their range would not. */
const shorter = (places: readonly string[]): string =>
  [...new Set(places.map((place) => place.replace(/CustomAttribute\d+/, 'CustomAttribute1–14')))].join(', ')

it('the fields of a mailbox in the documents are those of the table (UPDATE_DOCS=1 writes them)', () => {
  const rows = mailboxFields.map((field) => `| \`${field}\` | ${placesOf(field)} |`)
  const table = ['| field | where it goes in Exchange |', '|---|---|', ...rows].join('\n')
  const text = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = text.split(begin)
  const [, after = ''] = rest.split(end)
  const wanted = `${before}${begin}\n${table}\n${end}${after}`
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted)
  expect(readFileSync(file, 'utf8')).toBe(wanted)
})
