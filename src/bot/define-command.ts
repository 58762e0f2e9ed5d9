import type { z } from 'zod'
import { cards } from '../cards/index.ts'
import { isForAdmins, type Reply, type Turn } from './channel/turn.ts'

/** A command as the dispatcher and the manifest use it. */
export interface Command {
  /** The text that people type, such as `status`; arguments follow it. */
  readonly words: string
  /** Other words for the same, such as `hi` for `help`. */
  readonly also: readonly string[]
  /** Texts that mean the command only if nothing follows them, such as `admin`. */
  readonly alone: readonly string[]
  /** Place in Teams' command menu, 1 first; null = not in the menu. Its description is in `cards/strings`. */
  readonly menu: number | null
  /** Only admins see it and may run it. */
  readonly forAdmins: boolean
  /** Its card is a step of the request dialog. */
  readonly startsDialog: boolean
  run(turn: Turn, argument: string): Promise<Reply>
}

/** Defines a command: its words, the schema of its argument and its handler. */
export function defineCommand<S extends z.ZodType>(command: {
  words: string
  also?: readonly string[]
  alone?: readonly string[]
  menu?: number
  forAdmins?: boolean
  startsDialog?: boolean
  argument: S
  handle(turn: Turn, argument: z.output<S>): Promise<Reply>
  /** Answers an invalid argument. */
  otherwise(turn: Turn, argument: string): Promise<Reply>
}): Command {
  const { words, also = [], alone = [], menu = null, forAdmins = false, startsDialog = false } = command
  return {
    words,
    also,
    alone,
    menu,
    forAdmins,
    startsDialog,
    async run(turn, argument) {
      if (forAdmins && !isForAdmins(turn.actor)) return notAdmin(turn)
      const parsed = command.argument.safeParse(argument)
      return parsed.success ? command.handle(turn, parsed.data) : command.otherwise(turn, argument)
    },
  }
}

/** The answer to an admin command from a person who is not an admin. */
export const notAdmin = ({ viewer }: Turn): Reply => ({ card: cards.notice({ code: 'notAdmin' }, viewer) })

/** All commands, the longest words first, so `new site` is tried before `new`. Throws if two have the same words. */
export function commandRegistry(...commands: readonly Command[]): readonly Command[] {
  const seen = new Set<string>()
  for (const words of commands.flatMap((command) => [command.words, ...command.also, ...command.alone])) {
    if (seen.has(words)) throw new Error(`two commands answer to "${words}"`)
    seen.add(words)
  }
  return [...commands].sort((one, other) => other.words.length - one.words.length)
}
