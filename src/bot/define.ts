/** Definitions of card actions and commands, and the input schemas that several of them share. */
import { z } from 'zod'
import { cards, type Notice } from '../cards/index.ts'
import { because, type Deciding, type ErrorCode, longestComment, ProvisioningError } from '../core/index.ts'
import { isForAdmins, type Reply, type Turn } from './channel/turn.ts'

/** An action as the dispatcher uses it: a verb, and a function that checks the click's data and runs the action. */
export interface CardAction {
  readonly verb: string
  readonly decides?: Deciding
  run(turn: Turn, raw: unknown): Promise<Reply>
}

/** Defines a click: its verb, the schema of its data and its handler. Invalid data changes nothing. */
export function defineCardAction<S extends z.ZodType>(action: {
  verb: string
  /** It decides a request, so an attempt by a person who may not use the service is audited. */
  decides?: Deciding
  /** Anybody else is refused before the data is read, so that the answer reveals nothing. */
  forAdmins?: boolean
  data: S
  handle(turn: Turn, data: z.output<S>): Promise<Reply>
}): CardAction {
  return {
    verb: action.verb,
    ...(action.decides && { decides: action.decides }),
    async run(turn, raw) {
      // Before the data is read: the answer tells others nothing about it. The core checks each use case again.
      if (action.forAdmins && !isForAdmins(turn.actor)) throw new ProvisioningError('forbidden', because('adminOnly'))
      const parsed = action.data.safeParse(raw)
      if (!parsed.success)
        throw new ProvisioningError(
          'validation-failed',
          because('clickInvalid', { verb: action.verb, faults: z.prettifyError(parsed.error) }),
        )
      return action.handle(turn, parsed.data)
    },
  }
}

/** All actions by verb. Throws if two have the same verb. */
export function cardActionRegistry(...actions: readonly CardAction[]): ReadonlyMap<string, CardAction> {
  const byVerb = new Map<string, CardAction>()
  for (const action of actions) {
    if (byVerb.has(action.verb)) throw new Error(`two card actions answer to ${action.verb}`)
    byVerb.set(action.verb, action)
  }
  return byVerb
}

/** How people call a command, and who may use it. */
interface CommandNames {
  /** The text that people type, such as `status`; arguments follow it. */
  readonly words: string
  /** Other words for the same, such as `hi` for `help`. */
  readonly also?: readonly string[]
  /** Texts that mean the command only if nothing follows them, such as `admin`. */
  readonly alone?: readonly string[]
  /** Place in Teams' command menu, 1 first; null = not in the menu. Its description is in `cards/strings`. */
  readonly menu?: number | null
  /** Only admins see it and may run it. */
  readonly forAdmins?: boolean
  /** Its card is a step of the request dialog. */
  readonly startsDialog?: boolean
}

/** A command as the dispatcher and the manifest use it. */
export interface Command extends Required<CommandNames> {
  run(turn: Turn, argument: string): Promise<Reply>
}

/** Defines a command: its words, the schema of its argument and its handler. */
export function defineCommand<S extends z.ZodType>(
  command: CommandNames & {
    argument: S
    handle(turn: Turn, argument: z.output<S>): Promise<Reply>
    /** Answers an invalid argument. */
    otherwise(turn: Turn, argument: string): Promise<Reply>
  },
): Command {
  const { words, also = [], alone = [], menu = null, forAdmins = false, startsDialog = false } = command
  return {
    words,
    also,
    alone,
    menu,
    forAdmins,
    startsDialog,
    async run(turn, argument) {
      // People who are no admins get a card instead of help with the argument. The core checks each use case again.
      if (forAdmins && !isForAdmins(turn.actor)) return notAdmin(turn)
      const parsed = command.argument.safeParse(argument)
      return parsed.success ? command.handle(turn, parsed.data) : command.otherwise(turn, argument)
    },
  }
}

/** Defines a command that shows a card and ignores its argument. */
export function defineShowCommand({ show, ...names }: CommandNames & { show(turn: Turn): Promise<Reply> }): Command {
  return defineCommand({
    ...names,
    argument: z.string(),
    handle: (turn) => show(turn),
    otherwise: (turn) => show(turn),
  })
}

/** All commands, the longest words first, so `new site` is tried before `new`. Throws if two have the same words. */
export function commandRegistry(...commands: readonly Command[]): readonly Command[] {
  const known = new Set<string>()
  for (const words of commands.flatMap((command) => [command.words, ...command.also, ...command.alone])) {
    if (known.has(words)) throw new Error(`two commands answer to "${words}"`)
    known.add(words)
  }
  return [...commands].sort((one, other) => other.words.length - one.words.length)
}

/** A reply that is a notice. */
export const showNotice = ({ viewer }: Pick<Turn, 'viewer'>, notice: Notice): Reply => ({
  card: cards.notice(notice, viewer),
})

/** The answer to an admin command from a person who is not an admin. */
export const notAdmin = (turn: Turn): Reply => showNotice(turn, { code: 'notAdmin' })

/** Whether an error is a refusal of the core with one of these codes. */
export const isRefusal = (error: unknown, ...codes: readonly ErrorCode[]): error is ProvisioningError =>
  error instanceof ProvisioningError && codes.includes(error.code)

/** Turns `not-found` into undefined, for `catch`. Throws any other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!isRefusal(error, 'not-found')) throw error
}

export const requestId = z.uuid()
/** A number from 1. Some clients turn numbers into text. */
export const version = z.coerce.number().int().min(1)
/** The stage that a card is about; cards of older versions do not name it. */
export const stage = version.optional()
/** The index of the first row of a page. */
export const pageStart = z.coerce.number().int().min(0).max(999_999).default(0)
/** The text of an input, trimmed; empty for any other type. */
export const input = z
  .string()
  .catch('')
  .transform((text) => text.trim())
/** The input limits the length. If a client sends a longer comment anyway, its end is cut off. */
export const comment = input.transform((text) => text.slice(0, longestComment).toWellFormed())
