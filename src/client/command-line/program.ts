import { Command, CommanderError, Help, Option } from 'commander'
import type { OptionSpec, OptionSpecs, Command as Spec } from './define-command.ts'
import { type SettingName, settingVariables } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { type ExitCode, type ExitName, exitCodes, fill, nearest, UsageError, words } from './terminal.ts'

/** The version of this package; a test holds it against both package.json. */
export const version = '0.1.0'

/** What every command takes, beside `--help`. */
export const commonOptions = {
  'base-url': { type: 'text', value: '<url>' },
  'directory-url': { type: 'text', value: '<url>' },
  tenant: { type: 'text', value: '<id>' },
  'client-id': { type: 'text', value: '<id>' },
  authority: { type: 'text', value: '<url>' },
  json: { type: 'flag' },
  verbose: { type: 'flag', short: 'v' },
} as const satisfies OptionSpecs

/** A command to run, with what was typed for it. */
export interface Invocation {
  readonly command: Spec
  readonly values: Readonly<Record<string, Value>>
  readonly operands: readonly string[]
}
type Value = string | number | boolean | readonly string[]
type OptionName = keyof typeof words.options
type Operand = keyof typeof words.operands

/**
 * Reads the command line. Gives the command to run, or the exit code when help or the version was requested and written.
 * Throws {@link UsageError}, which names what is not right.
 */
export function parse(typed: readonly string[], commands: readonly Spec[], terminal: Terminal): Invocation | ExitCode {
  const args =
    typed.length === 0 ? ['--help'] : typed[0] === 'help' ? [...leadingWords(typed.slice(1)), '--help'] : typed
  const leading = leadingWords(args).map((word) => word.toLowerCase())
  const command = commandOf(leading.join(' '), commands)
  const names = command ? command.words.split(' ') : leading
  const rest = args.slice(names.length)
  // Flags count only after a command: half a command shows its help, whatever follows it.
  const isAnswered = command !== undefined || ['--version', '-V'].includes(args[0] ?? '') || rest.some(isHelp)
  let invocation: Invocation | undefined
  const program = programOf(commands, terminal, (found) => {
    invocation = found
  })
  try {
    program.parse([...names, ...(isAnswered ? rest : [])], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.done
    if (!command) return exitCodes.usage
    throw usageErrorOf(error, command)
  }
  if (!invocation) throw new Error('no command was run')
  return invocation
}

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'

function leadingWords(args: readonly string[]): readonly string[] {
  const end = args.findIndex((each) => each.startsWith('-'))
  return end < 0 ? args : args.slice(0, end)
}

/** The command that a text begins with; undefined where the text begins several. Throws {@link UsageError} for another text. */
function commandOf(text: string, commands: readonly Spec[]): Spec | undefined {
  const command = commands.find(({ words: own }) => `${text} `.startsWith(`${own} `))
  if (command || text === '' || commands.some(({ words: own }) => own.startsWith(`${text} `))) return command
  const names = commands.map(({ words: own }) => own)
  const meant = nearest(text, names) ?? nearest(text.split(' ', 2).join(' '), names)
  const hint = meant === undefined ? words.usage.seeHelp : fill(words.usage.didYouMean, { meant })
  throw new UsageError(`${fill(words.usage.unknownCommand, { said: text })} ${hint}`)
}

/** The library's errors in our words. It names what is wrong in the quotes of its message alone. */
function usageErrorOf({ code, message }: CommanderError, command: Spec): UsageError {
  const subject = /'(.*)'/s.exec(message)?.[1] ?? ''
  if (code === 'commander.missingArgument')
    return new UsageError(
      fill(words.usage.operandNeeded, { operand: words.operands[subject as Operand] }),
      command.words,
    )
  const [option = ''] = subject.split('=')
  const names = Object.keys({ ...commonOptions, ...command.options })
  const name = option.replace(/^-+/, '')
  if (names.includes(name)) return new UsageError(fill(words.usage.noValue, { option }), command.words)
  const meant = nearest(name, names)
  const hint = meant === undefined ? '' : ` ${fill(words.usage.didYouMean, { meant: `--${meant}` })}`
  return new UsageError(fill(words.usage.unknownOption, { option }) + hint, command.words)
}

/** The whole command line for the library, which reads arguments and writes help. */
function programOf(commands: readonly Spec[], terminal: Terminal, run: (found: Invocation) => void): Command {
  const program = new Program('quartermaster')
    .usage(words.help.line)
    .description(words.help.title)
    .helpCommand(false)
    .optionsGroup(words.help.everywhere)
    .helpOption('-h, --help', words.help.help)
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
  program.optionsGroup(words.help.own).version(version, '-V, --version', words.help.version)
  for (const command of commands) addCommand(program, command, terminal.columns, run)
  return program
}

function addCommand(program: Command, command: Spec, width: number, run: (found: Invocation) => void): void {
  const { summary, about, examples } = words.commands[command.words as keyof typeof words.commands]
  const [last = '', group] = command.words.split(' ').toReversed()
  const specs: OptionSpecs = { ...command.options, ...commonOptions }
  const leaf = groupOf(program, group)
    .command(last)
    .usage([...command.operands.map((operand) => `<${operand}>`), words.help.options].join(' '))
    .summary(summary)
    .description([summary, ...about].join('\n\n'))
    .optionsGroup(words.help.own)
    .addHelpText('after', ({ command: one }) => endOfCommandHelp(one.createHelp(), width, examples))
    .allowExcessArguments()
    .action(() => {
      const surplus = leaf.args[command.operands.length]
      if (surplus !== undefined) throw new UsageError(fill(words.usage.surplus, { operand: surplus }), command.words)
      run({ command, operands: leaf.args, values: valuesOf(leaf.opts(), specs, command) })
    })
  for (const operand of command.operands) leaf.argument(`<${operand}>`, words.operandHelp[operand as Operand])
  for (const [name, spec] of Object.entries(specs))
    leaf.addOption(new Flag(name, spec, command).hideHelp(name in commonOptions || name.startsWith('no-')))
}

function groupOf(program: Command, name: string | undefined): Command {
  if (name === undefined) return program
  const known = program.commands.find((one) => one.name() === name)
  return known ?? program.command(name).usage(words.help.line).addHelpText('after', `\n${words.help.more}`)
}

/**
 * A flag as an option of the library. A value that begins with a dash needs an equals sign, since it may be the next flag:
 * the library requires that only where a value is optional. All values are kept, so that a second one can be refused.
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

  /** Values are known by the flag's own name; the library's names have no dashes. */
  override attributeName(): string {
    return this.name()
  }
}

/** What a flag is for, with its choices and the variable that says the same. */
function helpOf(name: string, { choices }: OptionSpec, command: Spec | undefined): string {
  const own: Readonly<Record<string, string>> = words.optionsOf[command?.words as keyof typeof words.optionsOf] ?? {}
  const help = own[name] ?? words.options[name as OptionName]
  const variable = settingVariables[name as SettingName]
  return `${help}${choices ? `: ${choices.join(', ')}` : ''}${variable === undefined ? '' : ` (${variable})`}`
}

function valuesOf(read: Readonly<Record<string, unknown>>, specs: OptionSpecs, command: Spec): Invocation['values'] {
  const values = Object.entries(specs).filter(([name]) => read[name] !== undefined)
  return Object.fromEntries(
    values.map(([name, spec]) => [name, readValue(`--${name}`, spec, read[name], command.words)]),
  )
}

/** One value from all that were typed for a flag. Throws {@link UsageError}. */
function readValue(option: string, { type, choices }: OptionSpec, read: unknown, command: string): Value {
  if (type === 'flag') return true
  if (!Array.isArray(read)) throw new UsageError(fill(words.usage.valueNeeded, { option }), command)
  if (type === 'list') return read
  const [value = '', second] = read
  if (second !== undefined) throw new UsageError(fill(words.usage.twice, { option }), command)
  if (choices && !choices.includes(value))
    throw new UsageError(fill(words.usage.noChoice, { option, value, choices: choices.join(', ') }))
  if (type !== 'number') return value
  if (/^-?\d+(\.\d+)?$/.test(value) && Number.isFinite(Number(value))) return Number(value)
  throw new UsageError(fill(words.usage.noNumber, { option, value }), command)
}

/** A longer name of a flag or command has a line of its own. */
const longestName = 28

/** The library's help, with every command of a group by its whole name. */
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
export class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name)
  }
  override createHelp(): Help {
    return Object.assign(new CommandHelp(), this.configureHelp())
  }
}

/** What the help of all commands says after them: where the service is, the exit codes, how to begin. */
export function endOfHelp(help: Help, width: number): string {
  help.prepareContext({ helpWidth: width })
  const exits = Object.entries(exitCodes).map(([name, code]) =>
    help.formatItem(String(code), 3, words.exits[name as ExitName], help),
  )
  const settings = words.help.settingsText.map((text) => paragraph(help, width, text))
  return [
    '',
    words.help.settings,
    settings.join('\n\n'),
    '',
    words.help.exits,
    ...exits,
    '',
    words.help.begin,
    ...words.help.beginText.map((line) => `  ${line}`),
    '',
    words.help.more,
  ].join('\n')
}

/** What the help of one command says after its flags. Examples are never wrapped: people copy them. */
export function endOfCommandHelp(help: Help, width: number, examples: readonly Example[]): string {
  return [
    '',
    words.help.examples,
    ...examples.flatMap(({ does, command }) => [`  # ${does}`, `  quartermaster ${command}`]),
    '',
    help.boxWrap(words.help.common, width),
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
