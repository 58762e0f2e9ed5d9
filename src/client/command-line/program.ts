import { Command, CommanderError, Help, Option } from 'commander'
import type { OptionSpec, OptionSpecs, Command as Spec } from './define-command.ts'
import { type SettingName, settingVariables } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { type ExitCode, type ExitName, exitCodes, fill, nearest, texts, UsageError } from './terminal.ts'

/** The version of this package. A test compares it with both package.json files. */
export const version = '0.1.0'

/** Options of every command, in addition to `--help`. */
export const commonOptions = {
  'base-url': { type: 'text', value: '<url>' },
  'directory-url': { type: 'text', value: '<url>' },
  tenant: { type: 'text', value: '<id>' },
  'client-id': { type: 'text', value: '<id>' },
  authority: { type: 'text', value: '<url>' },
  json: { type: 'flag' },
  verbose: { type: 'flag', short: 'v' },
} as const satisfies OptionSpecs

interface Invocation {
  readonly command: Spec
  readonly values: Readonly<Record<string, Value>>
  readonly operands: readonly string[]
}
type Value = string | number | boolean | readonly string[]
type OptionName = keyof typeof texts.options
type Operand = keyof typeof texts.operands

/**
 * Reads the command line. Returns the command to run, or the exit code after help or the version was written.
 * Throws {@link UsageError} for an error in the command line.
 */
export function parse(typed: readonly string[], commands: readonly Spec[], terminal: Terminal): Invocation | ExitCode {
  const args =
    typed.length === 0 ? ['--help'] : typed[0] === 'help' ? [...leadingArguments(typed.slice(1)), '--help'] : typed
  const leading = leadingArguments(args).map((argument) => argument.toLowerCase())
  const command = commandOf(leading.join(' '), commands)
  const names = command ? command.name.split(' ') : leading
  const rest = args.slice(names.length)
  const isAnswered = command !== undefined || isVersion(args[0]) || flagsIn(rest).some(isHelp)
  if (!isAnswered) refuseWithoutCommand(leading, rest, commands)
  let invocation: Invocation | undefined
  const program = programOf(commands, terminal, (found) => {
    invocation = found
  })
  try {
    // An incomplete command shows its help; known flags after it are ignored.
    program.parse([...names, ...(isAnswered ? rest : [])], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.done
    if (!command) return exitCodes.usage
    throw usageErrorOf(error, command, rest)
  }
  if (!invocation) throw new Error('no command was run')
  return invocation
}

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'
const isVersion = (arg: string | undefined): boolean => arg === '--version' || arg === '-V'

/** The arguments before `--`: all that follow it are operands. */
export const flagsIn = (args: readonly string[]): readonly string[] =>
  args.includes('--') ? args.slice(0, args.indexOf('--')) : args

function leadingArguments(args: readonly string[]): readonly string[] {
  const end = args.findIndex((arg) => arg.startsWith('-'))
  return end < 0 ? args : args.slice(0, end)
}

/** Finds the command at the start of a text; undefined for an incomplete command. Throws {@link UsageError}. */
function commandOf(text: string, commands: readonly Spec[]): Spec | undefined {
  const names = commands.map(({ name }) => name)
  const command = commands.find(({ name }) => `${text} `.startsWith(`${name} `))
  if (command || text === '' || names.some((name) => name.startsWith(`${text} `))) return command
  const meant = nearest(text, names) ?? nearest(text.split(' ', 2).join(' '), names)
  const hint = meant === undefined ? texts.usage.seeHelp : fill(texts.usage.didYouMean, { meant })
  throw new UsageError(`${fill(texts.usage.unknownCommand, { typed: text })} ${hint}`)
}

/** Throws {@link UsageError} for an unknown flag, or an operand after `--`, without a complete command before it. */
function refuseWithoutCommand(leading: readonly string[], rest: readonly string[], commands: readonly Spec[]): void {
  for (const arg of flagsIn(rest)) {
    const [option = ''] = arg.split('=')
    const isShort = Object.values<OptionSpec>(commonOptions).some(({ short }) => option === `-${short}`)
    if (option.startsWith('-') && !isShort && !optionNames().includes(option.slice(2))) throw unknownOption(option)
  }
  const operand = rest[flagsIn(rest).length + 1]
  if (operand !== undefined) commandOf([...leading, operand].join(' '), commands)
}

const optionNames = (command?: Spec): string[] => [
  ...Object.keys({ ...commonOptions, ...command?.options }),
  ...['help', ...(command ? [] : ['version'])],
]

/** Converts an error of the library. The library names the flag or operand only in the quotes of its message. */
function usageErrorOf({ code, message }: CommanderError, command: Spec, args: readonly string[]): UsageError {
  const subject = /'(.*)'/s.exec(message)?.[1] ?? ''
  if (code === 'commander.missingArgument') {
    const operand = texts.operands[subject as Operand]
    return new UsageError(fill(texts.usage.operandNeeded, { operand }), command.name)
  }
  const [option = ''] = subject.split('=')
  const name = option.replace(/^-+/, '')
  if (optionNames(command).includes(name)) return new UsageError(fill(texts.usage.noValue, { option }), command.name)
  const before = valuedOption(args[args.indexOf(subject) - 1], command)
  if (before) return new UsageError(fill(texts.usage.valueNeeded, { option: `--${before}` }), command.name)
  return unknownOption(option, command)
}

/** Returns the name of the flag in an argument, if the flag takes a value. */
function valuedOption(arg: string | undefined, command: Spec): string | undefined {
  const specs: OptionSpecs = { ...command.options, ...commonOptions }
  const isMeant = ([name, { type, short }]: [string, OptionSpec]) =>
    type !== 'flag' && (arg === `--${name}` || arg === `-${short}`)
  return Object.entries(specs).find(isMeant)?.[0]
}

function unknownOption(option: string, command?: Spec): UsageError {
  const meant = nearest(option.replace(/^-+/, ''), optionNames(command))
  const operandHint = command && command.operands.length > 0 ? ` ${texts.usage.operandWithDash}` : ''
  const hint = meant === undefined ? operandHint : ` ${fill(texts.usage.didYouMean, { meant: `--${meant}` })}`
  return new UsageError(fill(texts.usage.unknownOption, { option }) + hint, command?.name)
}

/** Creates the command line for the library, which reads arguments and writes help. */
function programOf(commands: readonly Spec[], terminal: Terminal, run: (found: Invocation) => void): Command {
  const program = new Program('quartermaster')
    .usage(texts.help.line)
    .description(texts.help.title)
    .helpCommand(false)
    .optionsGroup(texts.help.everywhere)
    .helpOption('-h, --help', texts.help.help)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.line(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
    })
    .addHelpText('after', ({ command }) => endOfHelp(command.createHelp(), terminal.columns))
  for (const [name, spec] of Object.entries(commonOptions)) program.addOption(new Flag(name, spec))
  program.optionsGroup(texts.help.own).version(version, '-V, --version', texts.help.version)
  for (const command of commands) addCommand(program, command, terminal.columns, run)
  return program
}

function addCommand(program: Command, command: Spec, width: number, run: (found: Invocation) => void): void {
  const { summary, about, examples } = texts.commands[command.name as keyof typeof texts.commands]
  const [last = '', group] = command.name.split(' ').toReversed()
  const specs: OptionSpecs = { ...command.options, ...commonOptions }
  const leaf = groupOf(program, group)
    .command(last)
    .usage([...command.operands.map((operand) => `<${operand}>`), texts.help.options].join(' '))
    .summary(summary)
    .description([summary, ...about].join('\n\n'))
    .optionsGroup(texts.help.own)
    .addHelpText('after', ({ command: one }) => endOfCommandHelp(one.createHelp(), width, examples))
    .allowExcessArguments()
    .action(() => {
      const surplus = leaf.args[command.operands.length]
      if (surplus !== undefined) throw new UsageError(fill(texts.usage.surplus, { operand: surplus }), command.name)
      run({ command, operands: leaf.args, values: valuesOf(leaf.opts(), specs, command) })
    })
  for (const operand of command.operands) leaf.argument(`<${operand}>`, texts.operandHelp[operand as Operand])
  for (const [name, spec] of Object.entries(specs))
    leaf.addOption(new Flag(name, spec, command).hideHelp(name in commonOptions || name.startsWith('no-')))
}

function groupOf(program: Command, name: string | undefined): Command {
  if (name === undefined) return program
  const known = program.commands.find((one) => one.name() === name)
  return known ?? program.command(name).usage(texts.help.line).addHelpText('after', `\n${texts.help.more}`)
}

/**
 * A flag as an option of the library. A value that starts with a dash needs an equals sign, because it may be the next
 * flag: the library requires that only for optional values. All values are kept, so that a second value can be refused.
 */
class Flag extends Option {
  constructor(name: string, spec: OptionSpec, command?: Spec) {
    const short = spec.short === undefined ? '' : `-${spec.short}, `
    super([`${short}--${name}`, spec.value].filter(Boolean).join(' '), helpOf(name, spec, command))
    if (command && `no-${name}` in command.options) this.flags += `, --no-${name}`
    this.optional = this.required
    this.required = false
    if (this.optional)
      this.argParser((value, previous: true | readonly string[] | undefined) =>
        previous === true ? previous : [...(previous ?? []), value],
      )
  }

  /** Values have the flag's own name; the library's names have no dashes. */
  override attributeName(): string {
    return this.name()
  }
}

/** The help of a flag, with its choices and its environment variable. */
export function helpOf(name: string, { choices }: OptionSpec, command: Spec | undefined): string {
  const own: Readonly<Record<string, string>> = texts.optionsOf[command?.name as keyof typeof texts.optionsOf] ?? {}
  const help = own[name] ?? texts.options[name as OptionName]
  const variable = settingVariables[name as SettingName]
  return `${help}${choices ? `: ${choices.join(', ')}` : ''}${variable === undefined ? '' : ` (${variable})`}`
}

function valuesOf(read: Readonly<Record<string, unknown>>, specs: OptionSpecs, command: Spec): Invocation['values'] {
  const values = Object.entries(specs).filter(([name]) => read[name] !== undefined)
  return Object.fromEntries(
    values.map(([name, spec]) => [name, readValue(`--${name}`, spec, read[name], command.name)]),
  )
}

/** One value from all values of a flag. Throws {@link UsageError}. */
function readValue(option: string, { type, choices }: OptionSpec, read: unknown, command: string): Value {
  if (type === 'flag') return true
  if (!Array.isArray(read)) throw new UsageError(fill(texts.usage.valueNeeded, { option }), command)
  if (type === 'list') return read
  const [value = '', second] = read
  if (second !== undefined) throw new UsageError(fill(texts.usage.twice, { option }), command)
  if (choices && !choices.includes(value))
    throw new UsageError(fill(texts.usage.noChoice, { option, value, choices: choices.join(', ') }))
  if (type !== 'number') return value
  if (/^-?\d+(\.\d+)?$/.test(value) && Number.isFinite(Number(value))) return Number(value)
  throw new UsageError(fill(texts.usage.noNumber, { option, value }), command)
}

/** Longer names of flags and commands get their own line. */
const longestName = 28

/** The library's help, with the whole name of every command in a group. */
class CommandHelp extends Help {
  override visibleCommands({ commands }: Command): Command[] {
    return commands.flatMap((one) => (one.commands.length > 0 ? one.commands : [one]))
  }
  override subcommandTerm(command: Command): string {
    const group = command.parent?.parent ? `${command.parent.name()} ` : ''
    return group + command.name()
  }
  override padWidth(command: Command, helper: Help): number {
    return Math.min(longestName, super.padWidth(command, helper))
  }
  override formatItem(term: string, width: number, description: string, helper: Help): string {
    if (term.length <= width) return super.formatItem(term, width, description, helper)
    return `  ${term}\n${super.formatItem('', width, description, helper)}`
  }
}

/** A command of the library, with our help. */
class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name)
  }
  override createHelp(): Help {
    return Object.assign(new CommandHelp(), this.configureHelp())
  }
}

/** Returns the end of the general help: connection, exit codes, first steps. */
function endOfHelp(help: Help, width: number): string {
  help.prepareContext({ helpWidth: width })
  const exits = Object.entries(exitCodes).map(([name, code]) =>
    help.formatItem(String(code), 3, texts.exits[name as ExitName], help),
  )
  const settings = texts.help.settingsText.map((text) => paragraph(help, width, text))
  return [
    '',
    texts.help.settings,
    settings.join('\n\n'),
    '',
    texts.help.exits,
    ...exits,
    '',
    texts.help.begin,
    ...texts.help.beginText.map((line) => `  ${line}`),
    '',
    texts.help.more,
  ].join('\n')
}

/** Returns the end of one command's help. Examples are never wrapped, because people copy them. */
function endOfCommandHelp(help: Help, width: number, examples: readonly Example[]): string {
  return [
    '',
    texts.help.examples,
    ...examples.flatMap(({ does, command }) => [`  # ${does}`, `  quartermaster ${command}`]),
    '',
    help.boxWrap(texts.help.common, width),
  ].join('\n')
}
interface Example {
  readonly does: string
  readonly command: string
}

function paragraph(help: Help, width: number, text: string): string {
  const lines = text.startsWith('quartermaster ') ? text : help.boxWrap(text, width - 2)
  return lines.replace(/^/gm, '  ')
}
