import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../src/core/shared/validation.ts'
import { patternFault, wholeValue } from '../../src/core/templates/field.ts'
import { template } from '../../src/core/templates/template.ts'
import { shownFaults, textOf } from '../support/refusal.ts'
import { seed } from '../support/seed.ts'

describe("a pattern of a template's field", () => {
  it.each([
    '\\d{4}',
    '[A-Z]{2}-\\d{3,6}',
    '(?:EMEA|APAC|AMER)-\\d+',
    '\\p{Lu}[\\p{L} ]*',
    '.+@contoso\\.example',
    '.*-.*',
    'a*?b',
    '(?<year>20\\d\\d)',
    '[)(*+?{|]',
    '\\u{1F600}?',
    '\\(\\*\\)',
    '',
  ])('is accepted if its match is always fast: %s', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined()
  })

  it.each([
    ['(a+)+', 'repeat a group'],
    ['(?:a|a)*', 'repeat a group'],
    ['(ab){2}', 'repeat a group'],
    ['(a*)\\1', 'backreference'],
    ['(?<a>a*)\\k<a>', 'backreference'],
    ['(?=a)a', 'lookaround'],
    ['(?!a)b', 'lookaround'],
    ['(?<=a)b', 'lookaround'],
    ['(?<!a)b', 'lookaround'],
    ['a*a*a*', 'too many ways'],
    ['a{2,}a{2,}a?', 'too many ways'],
    [`${'a{0,9}'.repeat(7)}b`, 'too many ways'],
    ['(a|a)'.repeat(30), 'too many ways'],
    ['(?:|a)'.repeat(25), 'too many ways'],
    ['a?'.repeat(30), 'too many ways'],
    ['a{0,120}a{0,120}a{0,120}a{600}b', 'too many ways'],
    ['(', 'not a regular expression'],
    [')(', 'not a regular expression'],
    ['a{2', 'not a regular expression'],
  ])('is refused with a solution: %s', (pattern, message) => {
    expect(textOf(patternFault(pattern))).toContain(message)
  })

  it('is a fault of the template at its pointer if it could block the service', () => {
    const field = { key: 'code', type: 'text', label: 'Code', pattern: '(a+)+' }
    const body = { id: crypto.randomUUID(), version: 1, kind: 'teamSite', name: 'Club', fields: [field] }
    const parsed = template.safeParse(body)
    const faults = parsed.error ? faultsOf(parsed.error, body) : []
    expect(shownFaults(faults)).toEqual([
      { pointer: '/fields/0/pattern', code: 'invalid', detail: expect.stringContaining('Do not repeat a group') },
    ])
  })

  it('matches the worst values in time if it is accepted', () => {
    const atom = fc.constantFrom('a', 'b', '.', '\\w', '[ab]', '[^b]', '\\p{L}', 'aa', '(?:a|b|ab)', '(a|a)', '|')
    const count = fc.constantFrom(
      '',
      '',
      '',
      '*',
      '+',
      '?',
      '*?',
      '{3}',
      '{2,}',
      '{0,40}',
      '{0,125}',
      '{1,9}?',
      '{300}',
    )
    const pattern = fc
      .array(
        fc.tuple(atom, count).map(([one, times]) => `${one}${/[|)]$/.test(one) ? '' : times}`),
        { minLength: 1, maxLength: 12 },
      )
      .map((parts) => parts.join(''))
      .filter((source) => patternFault(source) === undefined)
    const values = [
      'a'.repeat(1024),
      `${'a'.repeat(1023)}!`,
      `${'ab'.repeat(511)}!!`,
      `${'a'.repeat(700)}${'b'.repeat(323)}-`,
    ]
    fc.assert(
      fc.property(pattern, (source) => {
        for (const value of values) wholeValue(source).test(value)
      }),
      { seed, numRuns: 200 },
    )
  })
})
