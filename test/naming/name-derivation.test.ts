import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, alternatives, siteRequest, slug, template } from '../../src/core/index.ts'
import { projectSite } from '../support/card-world.ts'
import { seed } from '../support/seed.ts'

const requestId = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42'
const plain = { prefix: '', suffix: '' }
const allowed = /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/

/** Names that people may type: any script, signs, emoji, very long ones. */
const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 256 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .array(
      fc.constantFrom('Zürich', 'ß', '漢字', '🚀', '👩‍👩‍👧', 'Ł', 'İ', '…', '-', '_', ' ', "O'Neil", '℡', 'Ａ', 'Đ'),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join('')),
)
const aliases = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/)
const namings = fc.record({
  prefix: fc.stringMatching(/^([a-z0-9][a-z0-9-]{0,19})?$/),
  suffix: fc.stringMatching(/^([a-z0-9-]{0,19}[a-z0-9])?$/),
})

describe('slug', () => {
  it.each([
    ['Projekt Zürich (Süd)', 'projekt-zurich-sud'],
    ['Straße & Größe', 'strasse-grosse'],
    ['Łódź Ærø İstanbul', 'lodz-aero-istanbul'],
    ["O'Neil’s team", 'oneils-team'],
    ['  --- R&D / 2027 ---  ', 'r-d-2027'],
    ['Ｆｕｌｌ ｗｉｄｔｈ ℡', 'full-width-tel'],
    ['漢字とカナ', ''],
    ['🚀👩‍👩‍👧', ''],
    ['Team 漢字 🚀 42', 'team-42'],
  ])('%s → %s', (name, expected) => {
    expect(slug(name)).toBe(expected)
  })

  it('returns ASCII for any name, and leaves its own result unchanged', () => {
    fc.assert(
      fc.property(names, (name) => {
        const made = slug(name)
        expect(made === '' || /^[a-z0-9]+(-[a-z0-9]+)*$/.test(made), `${name} → ${made}`).toBe(true)
        expect(slug(made)).toBe(made)
      }),
      { numRuns: 1000, seed },
    )
  })
})

describe('the address of a request', () => {
  it('has prefix and suffix, and at most 64 allowed characters, for 1,000 names', () => {
    fc.assert(
      fc.property(namings, names, fc.option(aliases, { nil: '' }), (naming, displayName, alias) => {
        const address = addressOf({ kind: 'teamSite', naming }, { alias, displayName }, requestId)
        expect(address.isTyped).toBe(alias !== '')
        expect(address.alias).toMatch(allowed)
        expect(address.alias.length).toBeLessThanOrEqual(64)
        expect(address.alias.startsWith(naming.prefix) && address.alias.endsWith(naming.suffix)).toBe(true)
      }),
      { numRuns: 1000, seed },
    )
  })

  it('stays the same when a person types it, and so does each alternative', () => {
    fc.assert(
      fc.property(namings, names, (naming, displayName) => {
        const { alias } = addressOf({ kind: 'teamSite', naming }, { alias: '', displayName }, requestId)
        for (const one of alternatives({ ...naming, separator: '-' }, alias, requestId)) {
          expect(addressOf({ kind: 'teamSite', naming }, { alias: one, displayName }, requestId).alias).toBe(one)
        }
      }),
      { numRuns: 1000, seed },
    )
  })

  it('contains the request’s id if the name has no Latin letter', () => {
    expect(addressOf({ kind: 'teamSite', naming: plain }, { alias: '', displayName: '漢字' }, requestId).alias).toBe(
      'site-7d1c2b3a',
    )
  })

  it('is the typed address in lower case', () => {
    expect(addressOf({ kind: 'teamSite', naming: plain }, { alias: 'Aurora_2', displayName: 'x' }, requestId)).toEqual({
      alias: 'aurora_2',
      isTyped: true,
      around: { ...plain, separator: '-' },
    })
  })
})

describe('alternatives', () => {
  it('are nine different addresses that the naming policy and the API allow', () => {
    fc.assert(
      fc.property(namings, names, (naming, displayName) => {
        const { alias } = addressOf({ kind: 'teamSite', naming }, { alias: '', displayName }, requestId)
        const all = [...alternatives({ ...naming, separator: '-' }, alias, requestId)]
        expect(all[0]).toBe(alias)
        expect(all).toHaveLength(9)
        expect(new Set(all).size).toBe(9)
        for (const one of all) {
          expect(one).toMatch(allowed)
          expect(one.startsWith(naming.prefix) && one.endsWith(naming.suffix)).toBe(true)
          expect(siteRequest.safeParse({ displayName: 'x', templateId: 'x', alias: one }).success).toBe(true)
        }
      }),
      { numRuns: 300, seed },
    )
  })

  it('have their number before the suffix', () => {
    const naming = { prefix: 'prj-', suffix: '-ch' }
    expect([...alternatives({ ...naming, separator: '-' }, 'prj-aurora-ch', requestId)].slice(0, 3)).toEqual([
      'prj-aurora-ch',
      'prj-aurora-2-ch',
      'prj-aurora-3-ch',
    ])
  })
})

it.each([
  ['prefix', '-a'],
  ['suffix', 'a-'],
  ['prefix', 'A'],
  ['suffix', 'ü'],
])('refuses a template with the %s %s: no address may begin or end with it', (side, affix) => {
  const parsed = template.safeParse({ ...projectSite, naming: { ...plain, [side]: affix } })
  expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual([`naming.${side}`])
})
