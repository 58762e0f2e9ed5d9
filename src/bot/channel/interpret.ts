import { type Command, notAdmin, showNotice, undefinedIfNotFound } from '../define.ts'
import { openMeant } from '../drafts/index.ts'
import { commands, nearestCommand, parseCommand } from '../registry.ts'
import { statusOf } from '../requests/index.ts'
import { showHelp } from '../shared/index.ts'
import { isOtherTask, type Meaning, meaningOf } from './sentences/index.ts'
import { isForAdmins, type Reply, type Turn } from './turn.ts'

/** A typed text as a command that runs. */
export interface Typed {
  readonly command: Pick<Command, 'name' | 'startsDialog' | 'forAdmins' | 'run'>
  readonly argument: string
}

/**
 * Returns the command of a text: a typed command with its argument, or the meaning of a sentence. Undefined if the text is
 * neither.
 */
export function interpret(text: string): Typed | undefined {
  const typed = parseCommand(text)
  const isComplete = ({ command, argument }: Typed & { command: Command }) =>
    argument === '' || command.forAdmins || command.accepts(argument)
  if (typed && isComplete(typed)) return typed
  const meaning = isForAdminsOnly(text) ? undefined : meaningOf(text)
  return (meaning && commandOf(meaning, text)) ?? typed
}

function commandOf(meaning: Meaning, text: string): Typed | undefined {
  if (meaning.does === 'command') {
    const command = commands.find(({ name }) => name === meaning.command)
    return command && { command, argument: meaning.argument }
  }
  const startsDialog = meaning.does === 'new'
  return {
    command: { name: nameOf[meaning.does], startsDialog, forAdmins: false, run: (turn) => answer(turn, meaning, text) },
    argument: '',
  }
}

/** The names of these answers in metrics. */
const nameOf = { new: 'new', greeting: 'help', thanks: 'thanks' } as const

async function answer(turn: Turn, meaning: Exclude<Meaning, { does: 'command' }>, text: string): Promise<Reply> {
  if (meaning.does === 'new') return (await openMeant(turn, meaning)) ?? notUnderstood(turn, text)
  return meaning.does === 'greeting' ? showHelp(turn) : showNotice(turn, { code: 'thanks' })
}

const isForAdminsOnly = (text: string): boolean => /^admin/i.test(text.trim())

/** With a number, a misspelt decision shows the request and its buttons. */
const decisions: ReadonlySet<string> = new Set(['approve', 'reject'])

/**
 * Suggests a command with a similar spelling; otherwise, shows the help. A person without admin rights who types an admin
 * command gets a refusal instead. A person who can request nothing yet gets the help, which names the admins.
 */
export async function notUnderstood(turn: Turn, text: string): Promise<Reply> {
  const isAdmin = isForAdmins(turn.actor)
  if (isForAdminsOnly(text) && !isAdmin) return notAdmin(turn)
  const nearest = isOtherTask(text) ? undefined : nearestCommand(text, isAdmin)
  const number = /^\p{L}+[\s#]+(\d{3,9})(?!\d)/u.exec(text.trim())?.[1]
  if (number !== undefined && nearest && decisions.has(nearest.name)) {
    const reference = `REQ-${number}`
    const request = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
    if (request) return statusOf(turn, request.requestId)
  }
  const usable = await turn.core.listUsableTemplates(turn.actor)
  if (!nearest || usable.length === 0) return showHelp(turn, { isUnclear: true })
  return showNotice(turn, { code: nearest.changes ? 'unknownChange' : 'unknownCommand', suggestion: nearest.name })
}
