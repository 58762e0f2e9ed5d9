import { parseArgs } from 'node:util'
import { type Command, type OptionSpec, type OptionSpecs, UsageError } from './define-command.ts'
import { fill, words } from './words.ts'

/** What every command takes. */
export const commonOptions = {
  'base-url': { type: 'text', value: '<url>' },
  'directory-url': { type: 'text', value: '<url>' },
  tenant: { type: 'text', value: '<id>' },
  'client-id': { type: 'text', value: '<id>' },
  authority: { type: 'text', value: '<url>' },
  json: { type: 'flag' },
  verbose: { type: 'flag', short: 'v' },
  help: { type: 'flag', short: 'h' },
} as const satisfies OptionSpecs

/** What was asked for: a command with what it takes, or help. */
export type Asked =
  | { readonly what: 'version' }
  | { readonly what: 'help'; readonly words: string; readonly wrong: boolean }
  | { readonly what: 'run'; readonly command: Command; readonly values: Values; readonly operands: readonly string[] }
export type Values = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** Reads the command line. Throws {@link UsageError}, which names what is not right. */
export function parse(args: readonly string[], commands: readonly Command[]): Asked {
  const [first = ''] = args
  if (first === '--version' || first === '-V') return { what: 'version' }
  const said = leadingWords(args)
  if (first === 'help') return { what: 'help', words: known(said.slice(1), commands), wrong: false }
  const command = longestMatch(said, commands)
  const wantsHelp = args.some((each) => each === '--help' || each === '-h')
  if (!command) return { what: 'help', words: known(said, commands), wrong: args.length > 0 && !wantsHelp }
  if (wantsHelp) return { what: 'help', words: command.words, wrong: false }
  const { values, operands } = readValues(args.slice(command.words.split(' ').length), command)
  return { what: 'run', command, values, operands }
}

function leadingWords(args: readonly string[]): string[] {
  const end = args.findIndex((each) => each.startsWith('-'))
  return (end < 0 ? args : args.slice(0, end)).map((each) => each.toLowerCase())
}

const longestMatch = (said: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find((command) => `${said.join(' ')} `.startsWith(`${command.words} `))

/** A command, the beginning of some, or nothing; else what was meant is told. */
function known(said: readonly string[], commands: readonly Command[]): string {
  const text = said.join(' ')
  if (text === '' || commands.some(({ words: own }) => `${own} `.startsWith(`${text} `))) return text
  const match = longestMatch(said, commands)
  if (match) return match.words
  const names = commands.map((command) => command.words)
  const meant = nearest(text, names) ?? nearest(said.slice(0, 2).join(' '), names)
  const hint = meant === undefined ? words.usage.seeHelp : fill(words.usage.didYouMean, { meant })
  throw new UsageError(`${fill(words.usage.unknownCommand, { said: text })} ${hint}`)
}

function readValues(args: readonly string[], command: Command): { values: Values; operands: readonly string[] } {
  const specs: OptionSpecs = { ...commonOptions, ...command.options }
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      name,
      {
        type: type === 'flag' ? ('boolean' as const) : ('string' as const),
        multiple: type === 'list',
        ...(short !== undefined && { short }),
      },
    ]),
  )
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true })
  const values: Record<string, string | number | boolean | string[]> = {}
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined
    if (!spec) throw unknownOption(token.rawName, Object.keys(specs), command)
    if (spec.type === 'list') values[token.name] = [...listOf(values[token.name]), textValue(token, spec, command)]
    else if (values[token.name] !== undefined && spec.type !== 'flag')
      throw new UsageError(fill(words.usage.twice, { option: token.rawName }), command.words)
    else values[token.name] = readValue(token, spec, command)
  }
  countOperands(operands, command)
  return { values, operands }
}
const listOf = (value: unknown): string[] => (Array.isArray(value) ? value : [])

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function readValue(token: OptionToken, spec: OptionSpec, command: Command): string | number | boolean {
  if (spec.type === 'flag') {
    if (token.value === undefined) return true
    throw new UsageError(fill(words.usage.noValue, { option: token.rawName }), command.words)
  }
  const text = textValue(token, spec, command)
  if (spec.type !== 'number') return text
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(number)) return number
  throw new UsageError(fill(words.usage.noNumber, { option: token.rawName, value: text }), command.words)
}

function textValue(token: OptionToken, { choices }: OptionSpec, command: Command): string {
  const { value, rawName } = token
  // `--alias --json`: a value that begins with a dash has to be written with an equals sign, or it may be a forgotten one.
  if (value === undefined || (value.startsWith('-') && value !== '-' && !/^-\d/.test(value) && !token.inlineValue))
    throw new UsageError(fill(words.usage.valueNeeded, { option: rawName }), command.words)
  if (choices && !choices.includes(value))
    throw new UsageError(fill(words.usage.noChoice, { option: rawName, value, choices: choices.join(', ') }))
  return value
}

function unknownOption(rawName: string, names: readonly string[], command: Command): UsageError {
  const meant = nearest(rawName.replace(/^-+/, ''), names)
  const hint = meant === undefined ? '' : ` ${fill(words.usage.didYouMean, { meant: `--${meant}` })}`
  return new UsageError(fill(words.usage.unknownOption, { option: rawName }) + hint, command.words)
}

function countOperands(operands: readonly string[], { operands: names, words: own }: Command): void {
  const missing = names[operands.length]
  if (missing !== undefined)
    throw new UsageError(fill(words.usage.operandNeeded, { operand: words.operands[missing as Operand] }), own)
  const surplus = operands[names.length]
  if (surplus !== undefined) throw new UsageError(fill(words.usage.surplus, { operand: surplus }), own)
}
export type Operand = keyof typeof words.operands

/** What somebody probably meant: the one that differs in the fewest letters, if it differs in few. */
export function nearest(said: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, off: distance(said.toLowerCase(), name.toLowerCase()) }))
  const [best] = ranked.sort((one, other) => one.off - other.off)
  return best && best.off <= Math.max(1, Math.floor(said.length / 3)) ? best.name : undefined
}

/** Levenshtein's distance: how many letters have to be put in, taken out or changed. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1]
    for (const [index, sign] of [...other].entries()) {
      const changed = (row[index] ?? 0) + (sign === letter ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? other.length
}
