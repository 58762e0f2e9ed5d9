/** The languages in which people name a country. */
let languages: readonly string[] = ['en']
let codes: ReadonlyMap<string, string> | undefined

/**
 * Sets the languages in which {@link countryCode} knows the names of countries. The core does not know the languages of the
 * chat, so `app/sentences.ts` gives them to it.
 */
export function nameCountriesIn(tags: readonly string[]): void {
  languages = tags
  codes = undefined
}

/** Common names of countries that Intl does not know. A language needs none here: Intl has its names. */
const otherNames: Readonly<Record<string, string>> = {
  usa: 'US',
  'united states of america': 'US',
  uk: 'GB',
  'great britain': 'GB',
  turkey: 'TR',
  'czech republic': 'CZ',
  holland: 'NL',
  'hong kong': 'HK',
  macau: 'MO',
  burma: 'MM',
  'ivory coast': 'CI',
  'cape verde': 'CV',
  'vereinigte staaten von amerika': 'US',
  'etats unis d amerique': 'US',
  'estados unidos de america': 'US',
  'ee uu': 'US',
  eeuu: 'US',
  grossbritannien: 'GB',
  'grande bretagne': 'GB',
  'gran bretana': 'GB',
  'tschechische republik': 'CZ',
  'republique tcheque': 'CZ',
  'republica checa': 'CZ',
  hollande: 'NL',
  holanda: 'NL',
  hongkong: 'HK',
  macao: 'MO',
  birma: 'MM',
  birmanie: 'MM',
  birmania: 'MM',
  elfenbeinkuste: 'CI',
  'costa de marfil': 'CI',
  'kap verde': 'CV',
  moldau: 'MD',
  moldawien: 'MD',
  weissrussland: 'BY',
}

/** Names of one country that are also the short name of another one: Spanish “Congo” is one of two countries. */
const unclearNames = ['congo']

const plain = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z&]+/g, ' ')
    .replace(/ (?:&|and|und|et|y) /g, ' ')
    .trim()
    .replace(/^(?:the|die|der|le|la|les|l|el|los|las) /, '')

/** Codes that ISO 3166 reserves or leaves to private use: they are not countries. */
const notCountries = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

/** Withdrawn codes and aliases (FX, SU, UK) have a name in Intl but another canonical form. */
const isCode = (code: string): boolean => !notCountries.has(code) && new Intl.Locale(`und-${code}`).region === code

/** Returns the codes by names in all languages. A name of two countries is left out. */
function codesByName(): ReadonlyMap<string, string> {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const known = letters.flatMap((one) => letters.map((other) => one + other)).filter(isCode)
  const named = languages.flatMap((language) => {
    const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
    return known.flatMap((code) => {
      const name = names.of(code)
      return name === undefined ? [] : [[plain(name), code] as const]
    })
  })
  const byName = new Map([...named, ...Object.entries(otherNames)])
  const unclear = named.flatMap(([name, code]) => (byName.get(name) === code ? [] : [name]))
  for (const name of [...unclear, ...unclearNames]) byName.delete(name)
  return new Map([...byName, ...named.map(([, code]) => [code.toLowerCase(), code] as const)])
}

/**
 * Returns the ISO 3166-1 alpha-2 code for a code or a name in a language of the chat, in any case; undefined for an unknown
 * country. Exchange accepts a code or .NET's name of the country, which can differ from the name that people
 * write.
 */
export function countryCode(text: string): string | undefined {
  codes ??= codesByName()
  return codes.get(plain(text))
}
