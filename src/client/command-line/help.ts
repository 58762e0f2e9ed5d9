import { Command, Help } from 'commander'
import { type ExitName, exitCodes } from './exit-codes.ts'
import { words } from './words.ts'

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
