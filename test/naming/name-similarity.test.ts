import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginningsOf, likeness, similarFrom } from '../../src/core/naming/similar.ts'

const permuted = (of: readonly string[]) =>
  fc.shuffledSubarray([...of], { minLength: of.length }).map((words) => words.join(' '))

describe('two names', () => {
  it.each([
    ['Marketing', 'Marketing'],
    ['Marketing', 'Marketing EMEA'],
    ['Marketing', 'Marketting'],
    ['Marketing', 'marketing team'],
    ['Team Aurora', 'Project Aurora'],
    ['The Aurora Project', 'Aurora'],
    ['Aurora Launch Plan', 'Aurora Launch'],
    ['Sales Force', 'Salesforce'],
    ['SalesForce', 'sales-force'],
    ['Projektgruppe Zürich', 'Projektgruppe Zuerich'],
    ['Küche Süd', 'Kueche Sued'],
    ['Zürich', 'ZURICH'],
    ['Straße 7', 'Strasse 7'],
    ['Marketingabteilung', 'Marketing Abteilung'],
    ['市场部', '市场部门'],
    ['プロジェクト北極星', '北極星プロジェクト'],
    ['市场部 Marketing', '市场部'],
    ['Отдел продаж', 'Отдел продажи'],
    ['Team Site', 'team site'],
    ['Room 4.12', 'Room 4-12'],
    ['Northwind customer care', 'Customer care Northwind'],
    ['Northwind customer care', 'Northwind custommer care team'],
    ['Sales Forse EMEA', 'Salesforce EMEA'],
    ['Customer care', 'Northwind customer care'],
  ])('“%s” and “%s” are similar', (one, other) => {
    expect(likeness(one, other)).toBeGreaterThanOrEqual(similarFrom)
    expect(likeness(other, one)).toBeCloseTo(likeness(one, other), 10)
  })

  it.each([
    ['Project Aurora', 'Project Borealis'],
    ['Project Team Site', 'Marketing'],
    ['Marketing EMEA', 'Marketing APAC'],
    ['Marketing Team', 'Sales Team'],
    ['Projector 1', 'Projector 2'],
    ['Budget 2025', 'Budget 2026'],
    ['Project Team Site A', 'Project Team Site B'],
    ['Tailspin customer care', 'Northwind customer care'],
    ['Northwind customer care', 'Southwind customer care'],
    ['Acme customer support desk', 'Apex customer support desk'],
    ['Aurora Launch Plan', 'Aurora Launch Budget'],
    ['Marketing Budget 2025', 'Marketing Budget 2026'],
    ['HR', 'HQ'],
    ['Team Site', 'Project Site'],
    ['市场部', '财务部'],
    ['Zürich', 'Zug'],
    ['🚀', '🚀'],
    ['', 'Marketing'],
  ])('“%s” and “%s” are not similar', (one, other) => {
    expect(likeness(one, other)).toBeLessThan(similarFrom)
    expect(likeness(other, one)).toBeLessThan(similarFrom)
  })

  const customers = ['Northwind', 'Southwind', 'Tailspin', 'Fabrikam', 'Contoso', 'Adatum', 'Litware', 'Acme', 'Apex']
  const ordinary = ['customer', 'care', 'support', 'service', 'desk', 'orders', 'portal', 'contracts', 'for', 'team']
  const twoCustomers = fc.shuffledSubarray(customers, { minLength: 2, maxLength: 2 })
  const words = fc.shuffledSubarray(ordinary, { maxLength: 6 })

  it('of different customers are not similar, whatever ordinary words they share', () => {
    fc.assert(
      fc.property(twoCustomers, words, fc.nat(6), fc.nat(6), ([one = '', other = ''], shared, place, otherPlace) => {
        const [name, otherName] = [shared.toSpliced(place, 0, one), shared.toSpliced(otherPlace, 0, other)]
        expect(likeness(name.join(' '), otherName.join(' '))).toBeLessThan(similarFrom)
      }),
    )
  })

  it('with the same words in another order are as similar as equal names', () => {
    const names = fc
      .tuple(fc.constantFrom(...customers), words)
      .chain(([customer, shared]) => fc.tuple(permuted([customer, ...shared]), permuted([customer, ...shared])))
    fc.assert(
      fc.property(names, ([one, other]) => {
        expect(likeness(one, other)).toBeCloseTo(1, 10)
      }),
    )
  })

  it('have one likeness in both directions', () => {
    const name = fc.array(fc.constantFrom(...customers, ...ordinary, 'custommer', 'suport', 'Northwynd', '2026', '7'))
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(likeness(one.join(' '), other.join(' '))).toBeCloseTo(likeness(other.join(' '), one.join(' ')), 10)
      }),
    )
  })

  it('are more similar with more common words that are not frequent', () => {
    const order = ['Marketing', 'Marketing Team', 'Marketting', 'Marketing EMEA', 'Marketing EMEA North', 'Team']
    const alike = order.map((name) => likeness('Marketing', name))
    expect(alike).toEqual([...alike].sort((a, b) => b - a))
  })
})

describe('a search for similar names', () => {
  it.each([
    ['Marketting', ['market']],
    ['Project Aurora', ['auro']],
    ['Team Site', ['team', 'site']],
    ['Zürich EMEA', ['züri', 'zuri', 'emea']],
    ['市场部', ['市场']],
    ['O’Brien’s', ['obrie']],
    ['"; DROP* (x) OR name:y', ['drop', 'name', 'or']],
    ['🚀', []],
  ])('for “%s” uses the beginnings of its least frequent words', (name, beginnings) => {
    expect(beginningsOf(name)).toEqual(beginnings)
  })

  it('contains only letters and digits for any name', () => {
    const beginnings = beginningsOf(`a'b"c\\d(e)f*g?h:i ${'x'.repeat(300)} ÄÖÜ·ß`)
    expect(beginnings.join('')).toMatch(/^[\p{L}\p{M}\p{N}]+$/u)
  })
})
