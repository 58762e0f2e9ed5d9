import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { catalogues, inLanguage } from '../../src/cards/shared/messages.ts'
import { reasonText } from '../../src/cards/shared/reasons.ts'
import { because, checkNames, type Reason } from '../../src/core/index.ts'
import { mailboxFieldTable } from '../../src/microsoft365/mailboxes/fields.ts'
import { lackingReason, permissions } from '../../src/microsoft365/wire/permissions.ts'

const others = [...catalogues.keys()].filter((language) => language !== 'en')
const textIn = (language: string, reason: Reason): string => inLanguage(language, () => reasonText(reason))
const sizeDiffers = because('quotaDiffers', {
  found: { amount: 49.5, unit: 'gigabyte' },
  wanted: { amount: 10_000, unit: 'megabyte' },
})
const faultsOf = (...checks: string[]): Reason =>
  because('checksFailed', {
    faults: {
      parts: checks.map((check) => because('checkFault', { check, fault: because('replyOff') })),
      between: '; ',
    },
  })

/** The parameters that the ready check compares, without the numbered custom attributes. */
const compared = Object.values(mailboxFieldTable)
  .flat()
  .filter(({ cmdlet }) => ['Set-User', 'Set-Place', 'Set-Mailbox'].includes(cmdlet))
  .map(({ parameter }) => parameter)
  .filter((parameter) => !/^Custom|Quota$|^Hidden|^EmailAddresses$/.test(parameter))

describe('a reason of the ready check', () => {
  it.each([...new Set([...compared, 'AutomateProcessing'])])('names the property %s', (property) => {
    const name = because('exchangeProperty', { property })
    expect(apiTexts.reason(name)).toBe(property.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase())
    for (const language of others) expect(textIn(language, name)).not.toBe(property)
  })

  it('names a custom attribute by its number', () => {
    const name = because('exchangeProperty', { property: 'CustomAttribute', number: '2' })
    expect([apiTexts.reason(name), textIn('de', name)]).toEqual([
      'custom attribute 2',
      'benutzerdefiniertes Attribut 2',
    ])
  })

  it('shows the property names of earlier versions', () => {
    const stored = because('valueEmpty', { property: 'state or province', wanted: 'Bern' })
    expect(textIn('de', stored)).toBe('state or province ist leer statt „Bern“')
  })

  it.each(checkNames)('names the check %s; the API has its code', (check) => {
    expect(apiTexts.reason(faultsOf(check))).toContain(`: ${check} (`)
    for (const language of others) expect(textIn(language, faultsOf(check))).not.toContain(`${check} (`)
  })

  it('separates faults as the language does', () => {
    const faults = faultsOf('contact', 'booking')
    expect(apiTexts.reason(faults)).toContain('contact (it is off); booking (')
    expect(textIn('fr', faults)).toMatch(/^[^;]+\)\u202f; réservation \(/)
    expect(textIn('de', faults)).toContain('); Buchung (')
  })

  it('writes sizes with the units of the language', () => {
    expect(apiTexts.reason(sizeDiffers)).toBe('it has 49.5 GB instead of 10000 MB')
    expect(textIn('fr', sizeDiffers).replace(/\s/g, ' ')).toBe('49,5 Go au lieu de 10000 Mo')
    expect(textIn('de', sizeDiffers).replace(/\s/g, ' ')).toBe('49,5 GB statt 10000 MB')
  })
})

it.each([
  ['en', 'the directory role Exchange Administrator'],
  ['de', 'die Verzeichnisrolle Exchange-Administrator'],
  ['fr', 'le rôle d’annuaire Administrateur Exchange'],
  ['es', 'el rol de directorio Administrador de Exchange'],
])('names a missing role of Microsoft 365 as Microsoft does in %s', (language, name) => {
  const role = permissions.filter(({ kind }) => kind === 'directory role')
  expect(role).toHaveLength(1)
  expect(textIn(language, lackingReason('Exchange Online', role))).toContain(name)
})
