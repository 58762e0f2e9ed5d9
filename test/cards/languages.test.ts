import { describe, expect, it } from 'vitest'
import { namedPeriod, parseDays } from '../../src/bot/channel/typed-arguments.ts'
import { plain } from '../../src/bot/channel/typed-phrases.ts'
import { parseCommand } from '../../src/bot/registry.ts'
import { apiTexts, exampleNameFor } from '../../src/cards/index.ts'
import { catalogues, format, inLanguage, languageOf, strings } from '../../src/cards/shared/messages.ts'
import { dayOf, days, fullMoment } from '../../src/cards/shared/texts.ts'
import { mailboxSteps, siteSteps } from '../../src/core/index.ts'
import { sam, viewerOf } from '../support/card-requests.ts'
import { brokenRules } from '../support/card-rules.ts'
import { samples } from '../support/card-samples.ts'
import { brokenArguments, messagesOf, quotedIn } from '../support/catalogue-rules.ts'

const english = messagesOf(strings)
const translated = [...catalogues].filter(([language]) => language !== 'en')
const translatedTexts = translated.map(([language, catalogue]) => ({ language, texts: messagesOf(catalogue) }))
/** The keys of an object and of the objects in it. */
const keysIn = (value: object): string[] =>
  Object.entries(value)
    .flatMap(([key, one]) => (Array.isArray(one) ? [key] : keysIn(one).map((inner) => `${key}/${inner}`)))
    .toSorted()
/** Several small letters: no mark, no name of a setting and no technical term. */
const smallLetters = /(?<![\p{L}{_])\p{Ll}{2,}(?![\p{L}}_])/gu

describe('languages', () => {
  it('are English, German, French and Spanish', () => {
    expect([...catalogues.keys()].toSorted()).toEqual(['de', 'en', 'es', 'fr'])
    for (const [language, { locale }] of catalogues) expect(locale).toBe(language)
  })

  it.each([
    ['de', 'de', 'de'],
    ['de-CH', 'de', 'de-CH'],
    ['fr-CA', 'fr', 'fr-CA'],
    ['es-MX', 'es', 'es-MX'],
    ['en-US', 'en', 'en-US'],
    ['it-IT', 'en', 'en-IT'],
    ['', 'en', 'en'],
    ['not a locale', 'en', 'en'],
    ['constructor', 'en', 'en'],
  ])('of the locale “%s”: %s, with dates and numbers of %s', (tag, language, locale) => {
    expect(languageOf(tag)).toEqual({ language, locale })
  })

  it('change from card to card, and the outer one returns after an error', () => {
    const inner = () => inLanguage('fr', () => strings.locale)
    expect(inLanguage('de', () => [strings.locale, inner(), strings.locale])).toEqual(['de', 'fr', 'de'])
    const fails = () =>
      inLanguage('de', () => {
        throw new Error('no card')
      })
    expect(fails).toThrow('no card')
    expect(strings.locale).toBe('en')
  })

  it('do not change the sentences of the API', () => {
    const english = apiTexts.reason({ key: 'adminOnly' })
    expect(english).toBe(strings.reason.adminOnly)
    expect(inLanguage('de', () => apiTexts.reason({ key: 'adminOnly' }))).toBe(english)
  })
})

describe.each(translatedTexts)('the catalogue of $language', ({ language, texts }) => {
  it('has the texts of the English one, and no others', () => {
    expect([...texts.keys()].toSorted()).toEqual([...english.keys()].toSorted())
  })

  it('has the arguments of each text, and all plural forms of the language', () => {
    const broken = [...english].flatMap(([key, message]) =>
      brokenArguments(message, texts.get(key) ?? '', language).map((fault) => `${key}: ${fault}`),
    )
    expect(broken).toEqual([])
  })

  it('has no English sentence', () => {
    const same = [...english].filter(
      ([key, message]) => texts.get(key) === message && (message.match(smallLetters) ?? []).length >= 3,
    )
    expect(same).toEqual([])
  })

  it('quotes the commands of its language', () => {
    const commandIn = (text: string, locale: string) => parseCommand(text, locale)?.command.name
    const commandsIn = (message: string, locale: string) =>
      new Set(quotedIn(message).flatMap((quoted) => commandIn(quoted, locale) ?? []))
    // A translation may quote a command that the English sentence names without quotation marks.
    const different = [...english].filter(([key, message]) => {
      const own = commandsIn(texts.get(key) ?? '', language)
      return [...commandsIn(message, 'en')].some((command) => !own.has(command))
    })
    expect(different.map(([key]) => [key, texts.get(key)])).toEqual([])
  })

  it('types commands that the bot understands', () => {
    const types = [...english].filter(([key]) => /(^|\/)types(\/|$)/.test(key))
    expect(types.length).toBeGreaterThan(20)
    for (const [key, message] of types) {
      const own = parseCommand(texts.get(key) ?? '', language)?.command.name
      expect(own, `${key}: ${texts.get(key)}`).toBe(parseCommand(message, 'en')?.command.name)
    }
  })
})

describe.each(translated)('the commands of %s', (language, { commands }) => {
  const english = Object.keys(strings.commands)

  it('have a name for each command, in lower case, and no name twice', () => {
    expect(Object.keys(commands).toSorted()).toEqual(english.toSorted())
    const names = Object.values(commands).flat()
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    for (const name of names) expect(name).toBe(name.trim().toLowerCase())
  })

  it.each(Object.entries(commands))('%s: works by each name, and by its English name', (command, names) => {
    for (const name of names) expect(parseCommand(name, language)?.command.name, name).toBe(command)
    expect(parseCommand(command, language)?.command.name).toBe(command)
    expect(parseCommand(names[0] ?? '', 'en')?.command.name, 'a reader of English').toBe(command)
  })
})

describe.each([...catalogues])('the phrases of %s in arguments', (_, { typed, stats, types, locale }) => {
  it('have all keys and numbers of the English ones, and no phrase twice', () => {
    const { numbers, units, periods, ...lists } = typed
    expect(keysIn(typed)).toEqual(keysIn(strings.typed))
    expect(numbers).toHaveLength(strings.typed.numbers.length)
    for (const list of [...numbers, ...[units, periods, lists].flatMap((one) => Object.values<string[]>(one))]) {
      expect(list.length).toBeGreaterThan(0)
      expect(new Set(list).size).toBe(list.length)
      for (const phrase of list) expect(phrase).toBe(phrase.trim().toLowerCase())
    }
  })

  it('include those that buttons type', () => {
    const { days, ...names } = stats.types
    for (const [name, phrase] of Object.entries(names)) expect(namedPeriod(phrase), phrase).toBe(name)
    const typedDays = inLanguage(locale, () => format(days, { first: '2026-11-01', last: '2026-11-15' }))
    expect(parseDays(typedDays, new Date(), 'UTC')).toEqual({ from: '2026-11-01', to: '2026-11-15' })
    const lastMonth = parseCommand(types.exportLastMonth, locale)
    expect([lastMonth?.command.name, namedPeriod(lastMonth?.argument ?? '')]).toEqual(['admin export', 'lastMonth'])
  })
})

it('no phrase in arguments has two meanings', () => {
  const all = [...catalogues.values()].map(({ typed }) => typed)
  const meanings = [
    all.flatMap(({ numbers }) => numbers.map((list, index) => [`${index}`, list] as const)),
    ...(['units', 'periods'] as const).map((key) => all.flatMap((typed) => Object.entries(typed[key]))),
    all.flatMap(({ on, off }) => Object.entries({ on, off })),
  ]
  for (const pairs of meanings) {
    const known = new Map(pairs.flatMap(([meaning, list]) => list.map((phrase) => [plain(phrase), meaning] as const)))
    for (const [meaning, list] of pairs)
      for (const phrase of list) expect(known.get(plain(phrase)), phrase).toBe(meaning)
  }
})

describe('the first day of a month', () => {
  const first = '2026-11-01T09:05:00Z'
  const datesIn = (locale: string) => {
    const viewer = { ...viewerOf(sam), locale, timeZone: 'UTC', now: new Date('2026-11-20T09:00:00Z') }
    return inLanguage(locale, () => [
      dayOf('2026-11-01'),
      fullMoment(first, viewer),
      days('2026-11-01T00:00:00Z', '2026-11-03T00:00:00Z', viewer),
    ])
  }

  it('is “1er” in French, next to the name of the month', () => {
    for (const date of datesIn('fr-FR')) expect(date).toMatch(/^1er[ –]/)
    expect(inLanguage('fr-FR', () => [dayOf('2026-11-11'), dayOf('2027-01-21')])).toEqual([
      '11 novembre 2026',
      '21 janvier 2027',
    ])
  })

  it.each(['en-GB', 'de-DE', 'es-ES'])('is a number in %s', (locale) => {
    for (const date of datesIn(locale)) expect(date).toMatch(/^1(?!er)/)
  })
})

describe.each(translated.map(([language]) => language))('in %s', (language) => {
  it('the sample name of a simulation is the name that its sentences quote', () => {
    const name = exampleNameFor({ locale: language })
    const { becomes, noName } = catalogues.get(language)?.simulate ?? strings.simulate
    for (const sentence of [becomes, noName]) expect(quotedIn(sentence)).toEqual([name])
  })

  it('the audit names each step', () => {
    const names = catalogues.get(language)?.audit.step
    expect(Object.keys(names ?? {}).toSorted()).toEqual([...new Set([...siteSteps, ...mailboxSteps])].toSorted())
  })

  it.each(samples)('$name keeps the rules of the card style', ({ renderedIn }) => {
    expect(brokenRules(renderedIn(language))).toEqual([])
  })
})
