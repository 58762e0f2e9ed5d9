import { failTransformation } from './exchange-wire.ts'

const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
/** What Unicode counts as regions beside the countries of ISO 3166-1, and pseudo regions. */
const noCountries = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

/** Every two-letter code of ISO 3166-1 with its English name. */
const countries = new Map(letters().flatMap(countryOf))
const byName = new Map([...countries.values()].map((name) => [name.toLowerCase(), name]))

function letters(): string[] {
  const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  return alphabet.flatMap((first) => alphabet.map((second) => first + second))
}

function countryOf(code: string): [string, string][] {
  const name = noCountries.has(code) ? undefined : english.of(code)
  // Withdrawn codes (DD, UK, YU) are known as aliases of those that took their place.
  return name !== undefined && new Intl.Locale(`und-${code}`).region === code ? [[code, name]] : []
}

/** A country by two-letter code or English name, as Exchange shows one: by its English name. */
export function countryName(parameter: string, value: string): string {
  const found = countries.get(value.toUpperCase()) ?? byName.get(value.toLowerCase())
  if (found) return found
  const type = 'Microsoft.Exchange.Data.Directory.CountryInfo'
  return failTransformation(parameter, value, type, `The country or region "${value}" is not valid.`)
}
