import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressRuleOf, isMailboxKind, mailboxRequest, resourceKinds, siteRequest } from '../../src/core/index.ts'
import { blockedWordsIn } from '../../src/core/templates/refused-names.ts'
import { templateWithin } from '../../src/core/templates/template-faults.ts'
import { projectSite } from '../support/card-world.ts'
import { names, written } from '../support/policy-names.ts'
import { seed } from '../support/seed.ts'

const words = fc.constantFrom(
  'Zürich',
  'R&D',
  'Straße',
  '漢字',
  '🚀',
  'Łódź',
  'payroll',
  'Pay-Roll',
  'CEO',
  "O'Neil",
  '…',
  '  ',
  'ａｂｃ',
  'İ',
)
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 256 }),
  fc.array(words, { maxLength: 12 }).map((some) => some.join(' ').slice(0, 256)),
)
const token = fc.constantFrom(
  '{kind}',
  '{department}',
  '{city}',
  '{city:3}',
  '{city:initials}',
  '{country}',
  '{year}',
  '{metadata.project:8}',
)
const literal = fc.constantFrom('-', '_', 'prj-', 'a', '-x-', '9')
const piece = fc.oneof(token, literal)
const addressPattern = fc
  .tuple(
    fc.array(piece, { maxLength: 2 }),
    fc.constantFrom('{input}', '{input}-{counter:3}', '{counter}', ''),
    fc.array(piece, { maxLength: 2 }),
  )
  .map(([before, middle, after]) => [...before, middle, ...after].join(''))
const displayPattern = fc
  .tuple(
    fc.constantFrom('', 'PRJ ', '{department:upper:12} – ', '[{kind}] '),
    fc.constantFrom('{input}', '{input:title}'),
    fc.constantFrom('', ' ({city})', ' · {year}'),
  )
  .map((parts) => parts.join(''))
const policies = fc.record(
  {
    displayName: fc.record({ pattern: displayPattern, allowed: fc.constantFrom('', '\\p{L}\\p{M}\\p{N} &-') }),
    address: fc.record({ pattern: addressPattern, allowed: fc.constantFrom('', 'a-z0-9', 'a-z0-9-', 'a-z0-9_') }),
    blockedWords: fc.subarray(['CEO', 'payroll', 'human resources', '機密', 'Größe']),
  },
  { requiredKeys: ['address', 'blockedWords'] },
)
const profiles = fc.record(
  { department: anyText, city: anyText, country: fc.constantFrom('CH', 'Deutschland') },
  { requiredKeys: [] },
)

describe('names by a policy', () => {
  it('satisfy the limits of Microsoft and the policy for any accepted text', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...resourceKinds),
        policies,
        fc.oneof(anyText, fc.stringMatching(/^[A-Za-z][A-Za-z0-9 -]{0,40}$/)),
        fc.oneof(fc.constant(''), fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/)),
        profiles,
        async (kind, { address, ...policy }, displayName, typed, profile) => {
          const template = written(kind, { ...policy, [addressRuleOf(kind)]: address })
          const shape = isMailboxKind(kind) ? mailboxRequest.shape : siteRequest.shape
          const parsed = shape.displayName.safeParse(displayName)
          if (!template || !parsed.success) return
          const made = await names(template, { displayName: parsed.data, address: typed }, profile)
          if (made.faults.length > 0) return
          accepted += 1
          const field = isMailboxKind(kind) ? mailboxRequest.shape.name : siteRequest.shape.alias
          expect(field.safeParse(made.name), made.name).toMatchObject({ success: true, data: made.name })
          expect(made.name).toMatch(/^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$/)
          expect(made.name.length).toBeLessThanOrEqual(64)
          if (address.allowed !== '') expect(made.name).toMatch(new RegExp(`^[${address.allowed}]+$`, 'u'))
          expect(shape.displayName.safeParse(made.displayName)).toMatchObject({ success: true })
          const inputs = [displayName, profile.city, profile.department].join(' ')
          if (!/[(){}]/.test(inputs)) expect(made.displayName).not.toMatch(/[{}]|\(\s*\)/)
          for (const name of [made.name, made.displayName])
            expect(blockedWordsIn(name, policy.blockedWords), name).toEqual([])
        },
      ),
      { numRuns: 4_000, seed },
    )
    // Enough names must have been accepted, or the test proves nothing.
    expect(accepted).toBeGreaterThan(800)
  })

  const site = (naming: object) => written('teamSite', naming)
  const by = (pattern: string, more: object = {}) => site({ alias: { pattern, ...more } })
  it.each([
    ['umlauts', by('{department}-{input}'), 'Größe', { department: 'Büro Süd' }, 'buro-sud-grosse'],
    ['CJK leaves nothing, so the address contains the id', by('prj-{input}'), '漢字', {}, 'prj-site-7d1c2b3a'],
    ['emoji', by('{input}-{year}'), 'Launch 🚀 Team', {}, 'launch-team-2027'],
    ['spaces', by('{city}-{input}'), '  North   Sea  ', { city: 'Den  Haag' }, 'den-haag-north-sea'],
    ['a derived name that is too long is cut', by('{input}-zrh'), 'x'.repeat(80), {}, `${'x'.repeat(60)}-zrh`],
    [
      'a token has twenty characters at most',
      by('{department}-{input}'),
      'Aurora',
      { department: 'International Business Development' },
      'international-busine-aurora',
    ],
    ['a token with a length', by('{city:3}-{input}'), 'Aurora', { city: 'Zürich' }, 'zur-aurora'],
    ['initials', by('{department:initials}-{input}'), 'Aurora', { department: 'Human Resources' }, 'hr-aurora'],
    ['an empty token removes its hyphen', by('{kind}-{city}-{input}'), 'Aurora', {}, 'team-aurora'],
    ['an empty token at the end', by('{input}-{city}'), 'Aurora', {}, 'aurora'],
    ['an answer', by('{metadata.costCentre}-{input}'), 'Aurora', {}, '4711-aurora'],
    ['a counter', by('prj-{counter:4}'), 'Aurora', {}, 'prj-0042'],
    ['a counter after a name', by('{input}-{counter:2}'), 'Aurora', {}, 'aurora-42'],
    [
      'no hyphens if the rule allows no separator',
      by('prj{input}', { allowed: 'a-z0-9' }),
      'North Sea',
      {},
      'prjnorthsea',
    ],
    [
      'underscores if the rule allows no hyphens',
      by('prj_{input}', { allowed: 'a-z0-9_' }),
      'North Sea',
      {},
      'prj_north_sea',
    ],
  ])('%s', async (_, template, displayName, profile, expected) => {
    if (!template) throw new Error('the template was refused')
    const made = await names(template, { displayName: displayName.trim(), address: '' }, profile)
    expect([made.faults, made.name]).toEqual([[], expected])
  })

  it.each([
    ['PRJ {input} ({city})', 'Aurora', { city: 'Zürich' }, 'PRJ Aurora (Zürich)'],
    ['PRJ {input} ({city})', 'Aurora', {}, 'PRJ Aurora'],
    ['{department:upper} – {input}', 'Aurora', { department: 'Sales' }, 'SALES – Aurora'],
    ['{department} – {input}', 'Aurora', {}, 'Aurora'],
    ['{input:title}', 'north sea', {}, 'North Sea'],
    ['PRJ {input}', 'PRJ Aurora', {}, 'PRJ Aurora'],
    ['{input} 漢字', '🚀', {}, '🚀 漢字'],
  ])('build the display name %s from %s', async (pattern, displayName, profile, expected) => {
    const template = site({ displayName: { pattern } })
    if (!template) throw new Error('the template was refused')
    expect((await names(template, { displayName, address: '' }, profile)).displayName).toBe(expected)
  })

  it.each([
    [{ blockedWords: ['Payroll'] }, { displayName: 'The PAYROLL of May', address: '' }, '/displayName blocked-word'],
    [{ blockedWords: ['cafe'] }, { displayName: 'Café', address: '' }, '/displayName blocked-word'],
    [
      { blockedWords: ['human resources'] },
      { displayName: 'Human-Resources', address: '' },
      '/displayName blocked-word',
    ],
    [{ blockedWords: ['機密'] }, { displayName: '最高機密資料', address: '' }, '/displayName blocked-word'],
    [{ blockedWords: ['ceo'] }, { displayName: 'Aurora', address: 'office-ceo' }, '/alias blocked-word'],
    [
      { blockedWords: ['payroll'], alias: { pattern: 'pay{input}' } },
      { displayName: 'roll', address: '' },
      '/displayName blocked-word',
    ],
    [{ displayName: { allowed: '\\p{L} ' } }, { displayName: 'R&D 7', address: '' }, '/displayName characters'],
    [{ alias: { allowed: 'a-z0-9-' } }, { displayName: 'Aurora', address: 'a_b' }, '/alias characters'],
    [{ prefix: 'prj-' }, { displayName: 'Aurora', address: 'x'.repeat(64) }, '/alias too-long'],
    [
      { displayName: { pattern: 'PRJ {input}' } },
      { displayName: 'x'.repeat(256), address: 'a' },
      '/displayName too-long',
    ],
  ])('%j refuses %j', async (naming, typed, expected) => {
    const template = site(naming)
    if (!template) throw new Error('the template was refused')
    const { faults } = await names(template, typed)
    expect(faults.map(({ pointer, code }) => `${pointer} ${code}`)).toContain(expected)
  })

  it('are blocked only for whole words', () => {
    expect(blockedWordsIn('Classified assets', ['class', 'ass', 'set'])).toEqual([])
  })
})

describe('a new naming policy is refused:', () => {
  it.each([
    ['teamSite', { alias: { pattern: '{town}-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{metadata.nothing}-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{city-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{city:loud}-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{input}-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: 'Prj {input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: 'always-the-same' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{department}-{city}-{office}-{input}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: '{input:upper}' } }, 'naming.alias.pattern'],
    ['teamSite', { displayName: { pattern: '{input:9}' } }, 'naming.displayName.pattern'],
    ['teamSite', { alias: { pattern: '{counter:9}' } }, 'naming.alias.pattern'],
    ['teamSite', { alias: { pattern: 'a_{input}', allowed: 'a-z0-9' } }, 'naming.alias.allowed'],
    ['teamSite', { alias: { allowed: 'a-z' } }, 'naming.alias.allowed'],
    ['teamSite', { alias: { allowed: ']' } }, 'naming.alias.allowed'],
    ['teamSite', { alias: { pattern: 'x-{input}' }, prefix: 'y-' }, 'naming.alias.pattern'],
    ['teamSite', { name: { pattern: 'x-{input}' } }, 'naming.name'],
    ['teamSite', { displayName: { pattern: '{city}' } }, 'naming.displayName.pattern'],
    ['teamSite', { displayName: { pattern: '{input} {counter}' } }, 'naming.displayName.pattern'],
    ['teamSite', { alias: { pattern: 'ceo-{input}' }, blockedWords: ['CEO'] }, 'naming.alias.pattern'],
    ['roomMailbox', { alias: { pattern: 'x-{input}' } }, 'naming.alias'],
    ['sharedMailbox', { alias: { pattern: '{input}-{counter}' } }, 'naming.alias.pattern'],
    ['sharedMailbox', { name: { pattern: '{input}..x' } }, 'naming.name.pattern'],
  ] as const)('%s %j', (kind, naming, at) => {
    const parsed = templateWithin([]).safeParse({
      ...projectSite,
      kind,
      naming,
      fields: [],
      labels: {},
      approval: null,
      limits: {},
    })
    const found = parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
    expect(found.map((one) => one.split(':')[0])).toContain(at)
  })
})
