import { distance } from 'fastest-levenshtein'
import { type Command, commandRegistry } from '../define-command.ts'
import { helpCommand } from './help.ts'
import { newCommand, newSiteCommand } from './new.ts'
import { approvalsCommand, cancelCommand, myRequestsCommand, statusCommand } from './requests.ts'

/** Every command, in the order in which they are tried. The manifest's menu is made from it. */
export const commands = commandRegistry(
  newSiteCommand,
  newCommand,
  myRequestsCommand,
  approvalsCommand,
  statusCommand,
  cancelCommand,
  helpCommand,
)

export interface Heard {
  readonly command: Command
  readonly argument: string
}

/** The command that was typed, in any case, and what follows it; undefined for words that nobody knows. */
export function hear(text: string): Heard | undefined {
  const typed = text.trim().replace(/\s+/g, ' ')
  for (const command of commands) {
    for (const words of [command.words, ...command.also]) {
      if (typed.toLowerCase() === words) return { command, argument: '' }
      if (typed.toLowerCase().startsWith(`${words} `)) return { command, argument: typed.slice(words.length + 1) }
    }
  }
  return undefined
}

/** The command that is spelt most like what was typed. */
export function nearest(text: string): string {
  const typed = text.trim().toLowerCase().slice(0, 40)
  const known = commands.flatMap((command) =>
    [command.words, ...command.also].map((words) => ({ words, means: command.words })),
  )
  const ranked = known.map(({ words, means }) => ({
    means,
    far: Math.min(distance(typed, words), distance(typed.slice(0, words.length), words) + 1),
  }))
  return ranked.sort((one, other) => one.far - other.far)[0]?.means ?? 'help'
}
