/** Common names of countries that Intl does not know. */
const otherNames: Readonly<Record<string, string>> = {
  usa: 'US',
  'united states of america': 'US',
  uk: 'GB',
  'great britain': 'GB',
  turkey: 'TR',
  'czech republic': 'CZ',
  holland: 'NL',
  'the netherlands': 'NL',
  'hong kong': 'HK',
  macau: 'MO',
  burma: 'MM',
  'ivory coast': 'CI',
  'cape verde': 'CV',
}

const plain = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', 'and')
    .replace(/[^a-z]+/g, ' ')
    .trim()

/** Codes that ISO 3166 reserves or leaves to private use: they are not countries. */
const notCountries = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

/** Withdrawn codes and aliases (FX, SU, UK) have a name in Intl but another canonical form. */
const isCode = (code: string): boolean => !notCountries.has(code) && new Intl.Locale(`und-${code}`).region === code

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const known = letters.flatMap((one) => letters.map((other) => one + other)).filter(isCode)
  const found = known.flatMap((code) => {
    const name = names.of(code)
    return name === undefined ? [] : [[plain(name), code] as const, [code.toLowerCase(), code] as const]
  })
  return new Map([...found, ...Object.entries(otherNames)])
}

let codes: ReadonlyMap<string, string> | undefined

/**
 * Returns the ISO 3166-1 alpha-2 code for a code or an English name, in any case; undefined for an unknown country. Exchange
 * accepts a code or .NET's name of the country, which can differ from the name that people write.
 */
export function countryCode(text: string): string | undefined {
  codes ??= codesByName()
  return codes.get(plain(text))
}
