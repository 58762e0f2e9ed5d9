/** Names by which people call countries beside those that Intl gives. */
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

/** Regions that ISO 3166 sets aside, or leaves to everybody's own use: no country's. */
const notCountries = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

/** Intl also names codes that are withdrawn or only another's alias (FX, SU, UK): their canonical form is another code. */
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
 * The ISO 3166-1 alpha-2 code of a country that is given by its code or its English name, in any case; undefined when
 * there is none. Exchange takes a code or .NET's name of the country, which is not always the one that people write.
 */
export function countryCode(text: string): string | undefined {
  codes ??= codesByName()
  return codes.get(plain(text))
}
