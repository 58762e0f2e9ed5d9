import { z } from 'zod'
import { asRecord, same } from '../tenant/index.ts'
import parametersJson from './exo-cmdlet-parameters.json' with { type: 'json' }
import { exceptions, fail, failBinding, failLimit, failTransformation, type Result } from './wire.ts'

const published = z
  .object({
    cmdlets: z.record(
      z.string(),
      z.record(z.string(), z.object({ type: z.string(), required: z.boolean().optional() })),
    ),
  })
  .parse(parametersJson).cmdlets

/** The values for a cmdlet, by the published spelling of their parameters. */
export type Parameters = Readonly<Record<string, unknown>>

/** A simulated cmdlet. `takes` lists the parameters that have an effect here. */
export interface Cmdlet {
  readonly name: string
  readonly takes: readonly string[]
  /** PowerShell requires a confirmation, so the caller must pass `Confirm: false`. */
  readonly needsConfirmation?: boolean
  run(parameters: Parameters): Result
}

const unknownParameter =
  'Parameter set cannot be resolved using the specified named parameters. Invalid cmdlet parameters specified.'

/** Switches that have no effect here. */
const harmless = new Set(['Confirm', 'Force', 'IgnoreDefaultScope', 'UseCustomRouting'])

/**
 * Binds a body to a cmdlet's published parameters as PowerShell does: by name without case. The call fails for an
 * unknown or missing parameter, a value of another type, or a published parameter that is not simulated.
 */
export function bind(cmdlet: Cmdlet, values: Readonly<Record<string, unknown>>): Parameters {
  const known = new Map(Object.entries(published[cmdlet.name] ?? {}).map((each) => [each[0].toLowerCase(), each]))
  const bound: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(values)) {
    const [name = '', annotation] = key.split('@')
    const parameter = known.get(name.toLowerCase())
    if (!parameter) return failBinding(`${unknownParameter} ${name}`, exceptions.unknownParameter)
    if (annotation !== undefined) continue
    const [spelling, { type }] = parameter
    const converted = convert(spelling, type, value)
    if (!cmdlet.takes.includes(spelling) && !harmless.has(spelling) && converted !== false) {
      return failLimit(`the parameter ${spelling} of ${cmdlet.name}`)
    }
    bound[spelling] = converted
  }
  for (const [name, { required }] of known.values()) {
    if (!required || (bound[name] !== undefined && bound[name] !== '')) continue
    failBinding(`Cannot process command because of one or more missing mandatory parameters: ${name}.`)
  }
  if (cmdlet.needsConfirmation && bound['Confirm'] !== false) {
    const text = `A command that prompts the user failed because the host program or the command type does not support user interaction. Prompt: Are you sure you want to perform ${cmdlet.name}?`
    fail(exceptions.noPrompt, text)
  }
  return bound
}

const names: Readonly<Record<string, readonly string[]>> = {
  CalendarProcessingFlags: ['None', 'AutoUpdate', 'AutoAccept'],
  OofState: ['Disabled', 'Enabled', 'Scheduled'],
  ExternalAudience: ['None', 'Known', 'All'],
  'MailboxRights[]': [
    'FullAccess',
    'SendAs',
    'ExternalAccount',
    'DeleteItem',
    'ReadPermission',
    'ChangePermission',
    'ChangeOwner',
  ],
  ActiveDirectorySecurityInheritance: ['None', 'All', 'Descendents', 'SelfAndChildren', 'Children'],
  'RecipientTypeDetails[]': ['UserMailbox', 'SharedMailbox', 'RoomMailbox', 'EquipmentMailbox', 'GroupMailbox'],
  GetPlaceType: ['Room', 'RoomList', 'Space', 'Building', 'Floor', 'Section', 'Desk'],
}
const lists = new Set(['MultiValuedProperty', 'ProxyAddressCollection'])

function convert(name: string, type: string, value: unknown): unknown {
  const kind = type.replace(/^System\./, '')
  if (kind === 'Boolean' || kind === 'SwitchParameter') {
    if (typeof value === 'boolean') return value
    return failTransformation(name, value, `System.${kind}`, 'Boolean parameters accept only Boolean values.')
  }
  if (kind === 'Int32') {
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value
    return failTransformation(name, value, 'System.Int32', 'Input string was not in a correct format.')
  }
  if (kind.endsWith('[]') || lists.has(kind)) return convertList(name, kind, value)
  if (kind === 'Unlimited' && typeof value === 'number') return String(value)
  // $null empties a property.
  if (value === null) return ''
  if (typeof value !== 'string') {
    return failTransformation(name, value, typeNameOf(kind), 'The value is not a single text.')
  }
  if (kind === 'CountryInfo' && value !== '') return countryName(name, value)
  if (kind === 'DateTime' && Number.isNaN(Date.parse(value))) {
    return failTransformation(name, value, 'System.DateTime', 'String was not recognized as a valid DateTime.')
  }
  return oneOf(name, kind, value)
}

/** A change to a list: `{"@odata.type": "#Exchange.GenericHashTable", add, remove}`. */
export interface ListChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

function convertList(name: string, type: string, value: unknown): readonly string[] | ListChange {
  if (typeof value === 'string') return [oneOf(name, type, value)]
  if (value === null) return []
  if (Array.isArray(value)) return texts(name, type, value)
  const table = asRecord(value)
  if (!lists.has(type) || table['@odata.type'] !== '#Exchange.GenericHashTable') {
    return failTransformation(name, value, typeNameOf(type), 'The value is neither a list nor a hashtable.')
  }
  const change = { add: texts(name, type, table['add'] ?? []), remove: texts(name, type, table['remove'] ?? []) }
  const unknown = Object.keys(table).find((key) => !['@odata.type', 'add', 'remove'].includes(key.split('@')[0] || key))
  if (unknown)
    return failTransformation(name, value, typeNameOf(type), `Hash values other than add and remove: ${unknown}`)
  return change
}

function texts(name: string, type: string, value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.map((each) =>
    typeof each === 'string'
      ? oneOf(name, type, each)
      : failTransformation(name, each, typeNameOf(type), 'Not a text.'),
  )
}

/** Returns a text in the spelling of its enumeration. Other types accept any text. */
function oneOf(name: string, type: string, value: string): string {
  const allowed = names[type]
  if (!allowed) return value
  const found = allowed.find((each) => each.toLowerCase() === value.toLowerCase())
  if (found) return found
  const reason = `Unable to match the identifier name ${value} to a valid enumerator name. Specify one of the following enumerator names and try again: ${allowed.join(', ')}`
  return failTransformation(name, value, typeNameOf(type), reason)
}

const typeNameOf = (type: string): string => (type === 'String' ? 'System.String' : `Microsoft.Exchange.Data.${type}`)

export const textOf = (parameters: Parameters, name: string): string | undefined => {
  const value = parameters[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns a parameter that is a whole list; undefined when it is absent or a change to a list. */
export function listOf(parameters: Parameters, name: string): readonly string[] | undefined {
  const value = parameters[name]
  return Array.isArray(value) ? value.map(String) : undefined
}

/** Returns a list after the parameter has replaced or changed it. */
export function changedList(parameters: Parameters, name: string, before: readonly string[]): readonly string[] {
  const whole = listOf(parameters, name)
  if (whole) return whole
  const { add, remove } = changeOf(parameters, name)
  const left = before.filter((each) => !remove.some((gone) => gone.toLowerCase() === each.toLowerCase()))
  return [...left, ...add.filter((each) => !left.some((held) => held.toLowerCase() === each.toLowerCase()))]
}

export function changeOf(parameters: Parameters, name: string): ListChange {
  const { add, remove } = asRecord(parameters[name])
  return { add: Array.isArray(add) ? add.map(String) : [], remove: Array.isArray(remove) ? remove.map(String) : [] }
}

/** Returns the values of these parameters. */
export const only = (parameters: Parameters, wanted: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(wanted.filter((name) => name in parameters).map((name) => [name, parameters[name]]))

const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
/** Regions of Unicode that are not countries in ISO 3166-1. */
const otherRegions = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

/** Every two-letter code of ISO 3166-1 with its English name. */
const countries = new Map(letters().flatMap(countryOf))
const byName = new Map([...countries.values()].map((name) => [name.toLowerCase(), name]))

function letters(): string[] {
  const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  return alphabet.flatMap((first) => alphabet.map((second) => first + second))
}

function countryOf(code: string): [string, string][] {
  const name = otherRegions.has(code) ? undefined : english.of(code)
  // Withdrawn codes (DD, UK, YU) are aliases of their successors.
  return name !== undefined && new Intl.Locale(`und-${code}`).region === code ? [[code, name]] : []
}

/** Returns a country's English name, as Exchange shows it, for a two-letter code or an English name. */
export function countryName(parameter: string, value: string): string {
  const found = countries.get(value.toUpperCase()) ?? byName.get(value.toLowerCase())
  if (found) return found
  const type = 'Microsoft.Exchange.Data.Directory.CountryInfo'
  return failTransformation(parameter, value, type, `The country or region "${value}" is not valid.`)
}

type Doc = Readonly<Record<string, unknown>>
type Test = (doc: Doc) => boolean

const tokens = /\s*(\(|\)|-\w+|\$\w+|'(?:[^']|'')*'|"[^"]*"|\w+)/y

/**
 * Parses an OPATH filter: `Property -eq 'value'` with `''` for a quote, `$true`, `$false`, `$null`, joined by -and and -or,
 * in brackets. `filterable` lists the allowed properties. Values compare without case; one value of a list must be equal,
 * and an address without a prefix is an SMTP address.
 */
export function parseOpath(filter: string, filterable: readonly string[]): Test {
  const terms = split(filter)
  let at = 0
  const refuse = (reason: string): never =>
    failBinding(`Cannot bind parameter 'Filter' to the target. Exception setting "Filter": "${reason} "${filter}"."`)
  const next = (): string => {
    at += 1
    return terms[at - 1] ?? refuse('Invalid filter syntax: the filter ends too early.')
  }
  const joined = (operator: string, part: () => Test, join: (tests: readonly Test[]) => Test): Test => {
    const tests = [part()]
    while (terms[at]?.toLowerCase() === operator) {
      at += 1
      tests.push(part())
    }
    return join(tests)
  }
  const either = (): Test => joined('-or', both, (tests) => (doc) => tests.some((test) => test(doc)))
  const both = (): Test => joined('-and', clause, (tests) => (doc) => tests.every((test) => test(doc)))
  const clause = (): Test => {
    const term = next()
    if (term === '(') {
      const inside = either()
      return next() === ')' ? inside : refuse('Invalid filter syntax: a bracket is not closed.')
    }
    const property = filterable.find((each) => each.toLowerCase() === term.toLowerCase())
    if (!property) return refuse(`"${term}" is not a recognized filterable property.`)
    const operator = next()
    if (operator.toLowerCase() === '-like') return beginsWith(property, next())
    if (operator.toLowerCase() !== '-eq') return refuse(`The simulator does not serve the operator ${operator}.`)
    return equals(property, literal(next()) ?? refuse('Invalid filter syntax: a value must be quoted.'))
  }
  /** Supports only a wildcard at the end: Exchange supports no other wildcard in most properties. */
  const beginsWith = (property: string, term: string): Test => {
    const [, prefix] = /^'((?:[^'*]|'')+)\*'$/.exec(term) ?? []
    if (prefix === undefined) return refuse('The simulator serves only a wildcard at the end of a quoted value.')
    return (doc) =>
      String(doc[property] ?? '')
        .toLowerCase()
        .startsWith(prefix.toLowerCase())
  }
  const test = either()
  return at === terms.length ? test : refuse('Invalid filter syntax.')
}

function split(filter: string): string[] {
  const terms: string[] = []
  let end = 0
  for (const match of filter.matchAll(new RegExp(tokens, 'gy'))) {
    terms.push(match[1] ?? '')
    end = match.index + match[0].length
  }
  if (filter.slice(end).trim() !== '') {
    failBinding(`Cannot bind parameter 'Filter' to the target. Invalid filter syntax at position ${end}: "${filter}".`)
  }
  return terms
}

function literal(term: string): { is: unknown } | undefined {
  const constants: Readonly<Record<string, unknown>> = { $true: true, $false: false, $null: null }
  if (term.startsWith("'")) return { is: term.slice(1, -1).replaceAll("''", "'") }
  if (term.startsWith('"')) return { is: term.slice(1, -1) }
  return term.toLowerCase() in constants ? { is: constants[term.toLowerCase()] } : undefined
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

const hasAddress = (held: unknown, wanted: string): boolean =>
  Array.isArray(held) && held.some((each) => same(each, wanted.includes(':') ? wanted : `smtp:${wanted}`))
