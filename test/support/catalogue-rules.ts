import { TYPE } from '@formatjs/icu-messageformat-parser'
import { IntlMessageFormat } from 'intl-messageformat'
import type { Catalogue } from '../../src/cards/shared/messages.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

/** The messages of a catalogue by their keys, without the names of commands and countries and the phrases that people type. */
export function messagesOf(catalogue: Catalogue): Map<string, string> {
  const { commands: _, sentences: __, typed: ___, countries: ____, locale: _____, ...texts } = catalogue
  const all = new Map<string, string>()
  const walk = (value: unknown, at: string): void => {
    if (typeof value === 'string') all.set(at, value)
    else for (const [key, one] of Object.entries(value ?? {})) walk(one, at === '' ? key : `${at}/${key}`)
  }
  walk(texts, '')
  return all
}

/** Returns one sentence for each difference between the arguments of a message and of its translation. */
export function brokenArguments(message: string, translation: string, language: string): string[] {
  const [wanted, found] = [message, translation].map((text) => argumentsOf(text, language))
  return [
    ...[...(wanted?.arguments ?? [])].filter((one) => !found?.arguments.has(one)).map((one) => `lacks ${one}`),
    ...[...(found?.arguments ?? [])].filter((one) => !wanted?.arguments.has(one)).map((one) => `does not know ${one}`),
    ...(found?.missingForms ?? []),
  ]
}

/** The arguments of a message, with the cases of a selection, and the plural forms that it lacks. */
function argumentsOf(message: string, language: string): { arguments: Set<string>; missingForms: string[] } {
  const found = new Set<string>()
  const missingForms: string[] = []
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  const walk = (element: Element): void => {
    if (!('value' in element) || element.type === TYPE.literal) return
    if (!('options' in element)) return void found.add(`{${element.value}}`)
    const cases = Object.keys(element.options)
    if (element.type === TYPE.select) found.add(`{${element.value}, select, ${cases.toSorted().join(' ')}}`)
    else {
      found.add(`{${element.value}}`)
      const missing = forms.filter((form) => !cases.includes(form))
      if (missing.length > 0) missingForms.push(`{${element.value}} has no form ${missing.join(', ')}`)
    }
    for (const { value } of Object.values(element.options)) value.forEach(walk)
  }
  new IntlMessageFormat(message, language, undefined, { ignoreTag: true }).getAst().forEach(walk)
  return { arguments: found, missingForms }
}

/** The texts in quotation marks of a message, in the marks of any of our languages. */
export const quotedIn = (message: string): string[] =>
  [...message.matchAll(/[“„«]\s?([^“”„«»]+?)\s?[”“»]/g)].map(([, quoted = '']) => quoted)
