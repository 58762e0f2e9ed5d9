/** A language in which people name a country. */
export interface CountryLanguage {
  /** The BCP 47 tag. `Intl` has the usual name of each country in this language. */
  readonly tag: string
  /** Common names that `Intl` does not know, by the country's code. */
  readonly otherNames: Readonly<Record<string, readonly string[]>>
}

let languages: readonly CountryLanguage[] = [{ tag: 'en', otherNames: {} }]
let codes: ReadonlyMap<string, string> | undefined

/**
 * Sets the languages in which {@link countryCode} knows the names of countries. The core does not know the languages of the
 * chat, so `app/sentences.ts` gives them to it.
 */
export function nameCountriesIn(all: readonly CountryLanguage[]): void {
  languages = all
  codes = undefined
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
  const named = languages.flatMap(({ tag }) => {
    const names = new Intl.DisplayNames(tag, { type: 'region', fallback: 'none' })
    return known.flatMap((code) => {
      const name = names.of(code)
      return name === undefined ? [] : [[plain(name), code] as const]
    })
  })
  const others = languages.flatMap(({ otherNames }) =>
    Object.entries(otherNames).flatMap(([code, names]) => names.map((name) => [plain(name), code] as const)),
  )
  const byName = new Map([...named, ...others])
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
