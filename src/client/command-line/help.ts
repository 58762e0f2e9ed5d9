import type { Command, OptionSpecs } from './define-command.ts'
import { type ExitName, exitCodes } from './exit-codes.ts'
import { commonOptions, type Operand } from './parse.ts'
import { type SettingName, settingVariables } from './settings.ts'
import { words } from './words.ts'

type CommandName = keyof typeof words.commands
type OptionName = keyof typeof words.options

/** What `--help` says: of one command, of those that begin with a word, or of all. */
export function helpOf(said: string, commands: readonly Command[]): string[] {
  const command = commands.find((one) => one.words === said)
  if (command) return helpOfCommand(command)
  const some = commands.filter((one) => said === '' || one.words.startsWith(`${said} `))
  return said === '' ? helpOfAll(some) : [...listOf(some), '', words.help.more]
}

const textsOf = ({ words: name }: Command) => words.commands[name as CommandName]

function helpOfAll(commands: readonly Command[]): string[] {
  return [
    words.help.title,
    '',
    words.help.usage,
    ...indented([words.help.line]),
    '',
    words.help.commands,
    ...listOf(commands),
    '',
    words.help.everywhere,
    ...optionLines(commonOptions),
    '',
    words.help.settings,
    ...indented(words.help.settingsText),
    '',
    words.help.exits,
    ...columns(Object.entries(exitCodes).map(([name, code]) => [String(code), words.exits[name as ExitName]])),
    '',
    words.help.begin,
    ...indented(words.help.beginText),
    '',
    words.help.more,
  ]
}

function helpOfCommand(command: Command): string[] {
  const { summary, about, examples } = textsOf(command)
  const operands = command.operands.map((name) => ` <${name}>`).join('')
  const hasOptions = Object.keys(command.options).length > 0
  return [
    summary,
    ...(about.length > 0 ? ['', ...about] : []),
    '',
    words.help.usage,
    `  quartermaster ${command.words}${operands}${hasOptions ? ` ${words.help.options}` : ''}`,
    ...(command.operands.length > 0
      ? ['', ...columns(command.operands.map((name) => [`<${name}>`, words.operandHelp[name as Operand]]))]
      : []),
    ...(hasOptions ? ['', words.help.own, ...optionLines(command.options, command.words)] : []),
    '',
    words.help.examples,
    ...examples.flatMap(({ does, command: line }) => [`  # ${does}`, `  quartermaster ${line}`]),
    '',
    words.help.common,
  ]
}

const listOf = (commands: readonly Command[]): string[] =>
  columns(commands.map((command) => [command.words, textsOf(command).summary]))

/** A flag and what it is for; the variable that says the same. What has no help of its own is told beside its opposite. */
function optionLines(options: OptionSpecs, command = ''): string[] {
  const own: Readonly<Record<string, string>> = words.optionsOf[command as keyof typeof words.optionsOf] ?? {}
  const shown = Object.entries(options).filter(([, { help }]) => help !== '')
  return columns(
    shown.map(([name, spec]) => {
      const short = spec.short === undefined ? '' : `-${spec.short}, `
      const value = spec.value === undefined ? '' : ` ${spec.value}`
      const opposite = Object.hasOwn(options, `no-${name}`) ? `, --no-${name}` : ''
      const variable = settingVariables[name as SettingName]
      const choices = spec.choices === undefined ? '' : `: ${spec.choices.join(', ')}`
      const help = `${spec.help ?? own[name] ?? words.options[name as OptionName]}${choices}`
      return [`${short}--${name}${value}${opposite}`, variable === undefined ? help : `${help} (${variable})`]
    }),
  )
}

/** Two columns; a first that is long stands on a line of its own. */
function columns(rows: readonly (readonly [string, string])[] | string[][]): string[] {
  const width = Math.min(28, Math.max(...rows.map(([first = '']) => first.length)))
  return rows.flatMap(([first = '', second = '']) =>
    first.length > width
      ? [`  ${first}`, `  ${' '.repeat(width)}  ${second}`]
      : [`  ${first.padEnd(width)}  ${second}`],
  )
}
const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)
