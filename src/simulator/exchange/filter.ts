import { failBinding } from './wire.ts'

type Doc = Readonly<Record<string, unknown>>
type Test = (doc: Doc) => boolean

const tokens = /\s*(\(|\)|-\w+|\$\w+|'(?:[^']|'')*'|"[^"]*"|\w+)/y

/**
 * Parses an OPATH filter: `Property -eq 'value'` with `''` for a quote, `$true`, `$false`, `$null`, joined by -and and -or,
 * in brackets. `filterable` lists the allowed properties. Values compare without case; one value of a list must be equal,
 * and an address without a prefix is an SMTP address.
 */
export function parseOpath(filter: string, filterable: readonly string[]): Test {
  const words = split(filter)
  let at = 0
  const refuse = (reason: string): never =>
    failBinding(`Cannot bind parameter 'Filter' to the target. Exception setting "Filter": "${reason} "${filter}"."`)
  const next = (): string => {
    at += 1
    return words[at - 1] ?? refuse('Invalid filter syntax: the filter ends too early.')
  }
  const joined = (operator: string, part: () => Test, join: (tests: readonly Test[]) => Test): Test => {
    const tests = [part()]
    while (words[at]?.toLowerCase() === operator) {
      at += 1
      tests.push(part())
    }
    return join(tests)
  }
  const either = (): Test => joined('-or', both, (tests) => (doc) => tests.some((test) => test(doc)))
  const both = (): Test => joined('-and', clause, (tests) => (doc) => tests.every((test) => test(doc)))
  const clause = (): Test => {
    const word = next()
    if (word === '(') {
      const inside = either()
      return next() === ')' ? inside : refuse('Invalid filter syntax: a bracket is not closed.')
    }
    const property = filterable.find((each) => each.toLowerCase() === word.toLowerCase())
    if (!property) return refuse(`"${word}" is not a recognized filterable property.`)
    const operator = next()
    if (operator.toLowerCase() !== '-eq') return refuse(`The simulator does not serve the operator ${operator}.`)
    return equals(property, literal(next()) ?? refuse('Invalid filter syntax: a value must be quoted.'))
  }
  const test = either()
  return at === words.length ? test : refuse('Invalid filter syntax.')
}

function split(filter: string): string[] {
  const words: string[] = []
  let end = 0
  for (const match of filter.matchAll(new RegExp(tokens, 'gy'))) {
    words.push(match[1] ?? '')
    end = match.index + match[0].length
  }
  if (filter.slice(end).trim() !== '') {
    failBinding(`Cannot bind parameter 'Filter' to the target. Invalid filter syntax at position ${end}: "${filter}".`)
  }
  return words
}

function literal(word: string): { is: unknown } | undefined {
  const constants: Readonly<Record<string, unknown>> = { $true: true, $false: false, $null: null }
  if (word.startsWith("'")) return { is: word.slice(1, -1).replaceAll("''", "'") }
  if (word.startsWith('"')) return { is: word.slice(1, -1) }
  return word.toLowerCase() in constants ? { is: constants[word.toLowerCase()] } : undefined
}

function equals(property: string, wanted: { is: unknown }): Test {
  const { is } = wanted
  return (doc) => {
    const held = doc[property] ?? null
    if (property === 'EmailAddresses' && typeof is === 'string') return hasAddress(held, is)
    if (Array.isArray(held)) return held.some((each) => same(each, is))
    return is === null ? held === null || held === '' : same(held, is)
  }
}

const same = (left: unknown, right: unknown): boolean =>
  typeof left === 'string' && typeof right === 'string' ? left.toLowerCase() === right.toLowerCase() : left === right

const hasAddress = (held: unknown, wanted: string): boolean =>
  Array.isArray(held) && held.some((each) => same(each, wanted.includes(':') ? wanted : `smtp:${wanted}`))
