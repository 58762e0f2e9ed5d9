import { describe, expect, it } from 'vitest'
import { catalogues } from '../../src/cards/index.ts'
import { type CountryLanguage, countryCode, nameCountriesIn } from '../../src/core/index.ts'
import { countryName } from '../../src/simulator/exchange/parameters.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const pairs = letters.flatMap((one) => letters.map((other) => one + other))
const codes = pairs.filter((code) => countryCode(code) === code)
const english = new Intl.DisplayNames('en', { type: 'region' })

const languages: readonly CountryLanguage[] = [...catalogues].map(([tag, { countries: otherNames }]) => ({
  tag,
  otherNames,
}))

describe('countryCode', () => {
  it('knows the 249 countries of ISO 3166-1', () => {
    expect(codes).toHaveLength(249)
    for (const code of ['FX', 'SU', 'YU', 'DD', 'ZR', 'EU', 'ZZ', 'AC']) expect(countryCode(code)).toBeUndefined()
  })

  it.each(codes)('finds %s by its code and by its name, in any case, and Exchange accepts the code', (code) => {
    const name = english.of(code) ?? ''
    expect(countryCode(name)).toBe(code)
    expect(countryCode(name.toUpperCase())).toBe(code)
    expect(countryCode(countryName('CountryOrRegion', code))).toBe(code)
  })

  it.each([...catalogues.keys()])(
    'finds each country by its name in %s, in any case and without accents',
    (language) => {
      const names = new Intl.DisplayNames(language, { type: 'region' })
      // “Congo” alone can mean two countries.
      for (const code of codes.filter((one) => names.of(one) !== 'Congo')) {
        const name = names.of(code) ?? ''
        expect(countryCode(name), name).toBe(code)
        expect(countryCode(name.toUpperCase().normalize('NFD').replace(/\p{M}/gu, '')), name).toBe(code)
      }
    },
  )

  it.each(languages)('finds each country by its other names in $tag', ({ otherNames }) => {
    for (const [code, names] of Object.entries(otherNames))
      for (const name of names) expect(countryCode(name), name).toBe(code)
  })

  it('knows the names in one more language when there is one more catalogue', () => {
    expect(countryCode('Svizzera')).toBeUndefined()
    nameCountriesIn([...languages, { tag: 'it', otherNames: { GB: ['Gran Bretagna'] } }])
    expect(countryCode('Svizzera')).toBe('CH')
    expect(countryCode('gran bretagna')).toBe('GB')
    nameCountriesIn(languages)
    expect(countryCode('Svizzera')).toBeUndefined()
  })

  it.each([
    ['Schweiz', 'CH'],
    ['die Schweiz', 'CH'],
    ['la Suisse', 'CH'],
    ['Suiza', 'CH'],
    ['l’Allemagne', 'DE'],
    ['Großbritannien', 'GB'],
    ['Grande-Bretagne', 'GB'],
    ['EE. UU.', 'US'],
    ['Trinidad & Tobago', 'TT'],
    ['Bosnia y Herzegovina', 'BA'],
    ['RU', 'RU'],
    ['USA', 'US'],
    ['UK', 'GB'],
    ['Great Britain', 'GB'],
    ['Turkey', 'TR'],
    ['Côte d’Ivoire', 'CI'],
    ['ivory coast', 'CI'],
    ['Bosnia and Herzegovina', 'BA'],
    ['The Netherlands', 'NL'],
  ])('finds a country by its other name %s', (name, code) => expect(countryCode(name)).toBe(code))

  it.each(['', ' ', 'Helvetien', 'Congo', 'Kongo', 'Europe', 'C', 'CHE', '**', '中国'])('does not find "%s"', (name) =>
    expect(countryCode(name)).toBeUndefined(),
  )
})
