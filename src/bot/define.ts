/** Definitions of card actions and commands, and the input schemas that several of them share. */
import { z } from 'zod'
import { cardsFor, type Notice } from '../cards/index.ts'
import {
  because,
  type Deciding,
  type ErrorCode,
  longestComment,
  ProvisioningError,
  referencePattern,
} from '../core/index.ts'
import { withoutPoliteness } from './channel/sentences/index.ts'
import { isForAdmins, type Reply, type Turn } from './channel/turn.ts'

/** A card action for the dispatcher: a verb, and a function that checks the click's data and runs the action. */
interface CardAction {
  readonly verb: string
  readonly decides?: Deciding
  readonly sendsForm?: boolean
  run(turn: Turn, raw: unknown): Promise<Reply>
}

/** Defines a click: its verb, the schema of its data and its handler. Invalid data changes nothing. */
export function defineCardAction<S extends z.ZodType>(action: {
  verb: string
  /** The action decides a request, so the audit records an attempt by a person without access to the service. */
  decides?: Deciding
  /** The click contains a form's inputs. If its template is not available, the card stays, so that no input is lost. */
  sendsForm?: boolean
  /** Others are refused before the data is read, so that the answer reveals nothing. */
  forAdmins?: boolean
  data: S
  handle(turn: Turn, data: z.output<S>): Promise<Reply>
}): CardAction {
  return {
    verb: action.verb,
    ...(action.decides && { decides: action.decides }),
    ...(action.sendsForm && { sendsForm: true }),
    async run(turn, raw) {
      // The core checks each use case again.
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

/** Returns all actions by verb. Throws if two share a verb. */
export function cardActionRegistry(...actions: readonly CardAction[]): ReadonlyMap<string, CardAction> {
  const byVerb = new Map<string, CardAction>()
  for (const action of actions) {
    if (byVerb.has(action.verb)) throw new Error(`two card actions have the verb ${action.verb}`)
    byVerb.set(action.verb, action)
  }
  return byVerb
}

/** The names of a command, and who may use it. */
interface CommandNames {
  /** The English text that people type, such as `status`; an argument may follow. Catalogues have all names of a language. */
  readonly name: string
  /** Names that must have no argument, such as `admin`, in every language. */
  readonly alone?: readonly string[]
  /** The position in Teams' command menu, from 1; null: not in the menu. The description is in `cards/strings`. */
  readonly menu?: number | null
  /** Only admins see the command and may run it. */
  readonly forAdmins?: boolean
  /** The command's card is a step of the request dialog. */
  readonly startsDialog?: boolean
  /** The command can change something at once. It is never a suggestion that one tap runs. */
  readonly changes?: boolean
  /** The command decides a request, so the audit records an attempt by a person without access to the service. */
  readonly decides?: Deciding | undefined
}

/** A command as the dispatcher and the manifest use it. */
export interface Command extends Required<Omit<CommandNames, 'decides'>>, Pick<CommandNames, 'decides'> {
  /** Whether the command runs with this argument. Otherwise, the text can be a sentence. */
  accepts(argument: string): boolean
  run(turn: Turn, argument: string): Promise<Reply>
}

/** Defines a command: its names, the schema of its argument and its handler. */
export function defineCommand<S extends z.ZodType>(
  command: CommandNames & {
    argument: S
    handle(turn: Turn, argument: z.output<S>): Promise<Reply>
    /** Replies to a command without an argument, or with an argument that the schema rejects. */
    withoutValidArgument(turn: Turn, argument: string): Promise<Reply>
  },
): Command {
  const { name, alone = [], menu = null, forAdmins = false, startsDialog = false, changes = false } = command
  return {
    name,
    alone,
    menu,
    forAdmins,
    startsDialog,
    changes,
    decides: command.decides,
    accepts: (argument) => command.argument.safeParse(argument).success,
    async run(turn, argument) {
      // Others get a refusal instead of help with the argument. The core checks each use case again.
      if (forAdmins && !isForAdmins(turn.actor)) return notAdmin(turn)
      const parsed = command.argument.safeParse(argument)
      return parsed.success ? command.handle(turn, parsed.data) : command.withoutValidArgument(turn, argument)
    },
  }
}

/** Defines a command that shows a card and has no argument. */
export function defineShowCommand({ show, ...names }: CommandNames & { show(turn: Turn): Promise<Reply> }): Command {
  return defineCommand({
    ...names,
    // A longer text can be a sentence, such as “hello, I need a site”. Otherwise, the command ignores it.
    argument: z.literal(''),
    handle: (turn) => show(turn),
    withoutValidArgument: (turn) => show(turn),
  })
}

/** Sorts the commands by length of name, longest first: `new site` before `new`. Throws if two share a name. */
export function commandRegistry(...commands: readonly Command[]): readonly Command[] {
  const names = new Set<string>()
  for (const name of commands.flatMap((command) => [command.name, ...command.alone])) {
    if (names.has(name)) throw new Error(`two commands have the name "${name}"`)
    names.add(name)
  }
  return [...commands].sort((one, other) => other.name.length - one.name.length)
}

/** Returns a reply with a notice. */
export const showNotice = ({ viewer }: Pick<Turn, 'viewer'>, notice: Notice): Reply => ({
  card: cardsFor(viewer).notice(notice, viewer),
})

/** Returns the answer to an admin command from a person who is not an admin. */
export const notAdmin = (turn: Turn): Reply => showNotice(turn, { code: 'notAdmin' })

/** Whether an error is a refusal of the core with one of these codes. */
export const isRefusal = (error: unknown, ...codes: readonly ErrorCode[]): error is ProvisioningError =>
  error instanceof ProvisioningError && codes.includes(error.code)

/** Turns `not-found` into undefined, for `catch`. Throws any other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!isRefusal(error, 'not-found')) throw error
}

/** The number of a request, with or without polite words: “REQ-1042 please”. */
export const reference = z.string().transform(withoutPoliteness).pipe(z.string().regex(referencePattern))
export const requestId = z.uuid()
/** A number from 1. Some clients turn numbers into text. */
export const version = z.coerce.number().int().min(1)
/** The stage of a card; cards of older versions do not name it. */
export const stage = version.optional()
/** The index of the first row of a page. */
export const pageStart = z.coerce.number().int().min(0).max(999_999).default(0)
/** The text of an input, trimmed; empty for any other type. */
export const input = z
  .string()
  .catch('')
  .transform((text) => text.trim())
/** A comment. The input limits its length; a longer one from another client is cut. */
export const comment = input.transform((text) => text.slice(0, longestComment).toWellFormed())
