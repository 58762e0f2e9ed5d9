import type { NoticeCode } from '../../cards/index.ts'
import { type Command, notAdmin, showNotice, undefinedIfNotFound } from '../define.ts'
import { openMeant, openNamed } from '../drafts/index.ts'
import { commands, nearestCommand, parseCommand } from '../registry.ts'
import { statusOf } from '../requests/index.ts'
import { showHelp } from '../shared/index.ts'
import { type AnsweredQuestion, isOtherTask, type Meaning, meaningOf } from './sentences/index.ts'
import { isForAdmins, type Reply, type Turn } from './turn.ts'

/** A typed text as a command that runs. */
export interface Typed {
  readonly command: Pick<Command, 'name' | 'startsDialog' | 'forAdmins' | 'run'>
  readonly argument: string
}

/**
 * Returns the command of a text: a typed command with its argument, or the meaning of a sentence. Undefined if the text is
 * neither. `locale`: of the person who typed it.
 */
export function interpret(text: string, locale: string): Typed | undefined {
  const typed = parseCommand(text, locale)
  const isComplete = ({ command, argument }: Typed & { command: Command }) =>
    argument === '' || command.forAdmins || command.accepts(argument)
  if (typed && isComplete(typed)) return typed
  const meaning = isForAdminsOnly(text) ? undefined : meaningOf(text)
  return (meaning && commandOf(meaning, text)) ?? typed
}

function commandOf(meaning: Meaning, text: string): Typed | undefined {
  if (meaning.does === 'command') {
    const command = commands.find(({ name }) => name === meaning.command)
    // A sentence can name the request.
    const isNamed = command?.name === 'status' || command?.name === 'cancel'
    return command && { command, argument: meaning.argument === '' && isNamed ? text : meaning.argument }
  }
  const startsDialog = meaning.does === 'new'
  return {
    command: { name: nameOf[meaning.does], startsDialog, forAdmins: false, run: (turn) => answer(turn, meaning, text) },
    argument: '',
  }
}

/** The names of these answers in metrics. */
const nameOf = { new: 'new', greeting: 'help', thanks: 'thanks', question: 'help' } as const

/** The answers to questions. */
const answerTo = {
  duration: 'howLong',
  approvers: 'whoApproves',
  change: 'cannotChange',
} as const satisfies Record<AnsweredQuestion, NoticeCode>

async function answer(turn: Turn, meaning: Exclude<Meaning, { does: 'command' }>, text: string): Promise<Reply> {
  if (meaning.does === 'new') return (await openMeant(turn, meaning)) ?? notUnderstood(turn, text)
  if (meaning.does === 'question')
    return showNotice(turn, { code: answerTo[meaning.about], people: await turn.core.listHelpers(turn.actor) })
  return meaning.does === 'greeting' ? showHelp(turn) : showNotice(turn, { code: 'thanks' })
}

const isForAdminsOnly = (text: string): boolean => /^admin/i.test(text.trim())

/** With a number, a misspelt decision shows the request and its buttons. */
const decisions: ReadonlySet<string> = new Set(['approve', 'reject'])

/**
 * Opens the form of a template that the text names. Otherwise, suggests a command with a similar spelling; otherwise, shows the
 * help. A person without admin rights who types an admin command gets a refusal instead. A person who can request nothing yet
 * gets the help, which names the admins.
 */
export async function notUnderstood(turn: Turn, text: string): Promise<Reply> {
  const isAdmin = isForAdmins(turn.actor)
  if (isForAdminsOnly(text) && !isAdmin) return notAdmin(turn)
  const opened = await openNamed(turn, text)
  if (opened) return opened
  const nearest = isOtherTask(text) ? undefined : nearestCommand(text, isAdmin, turn.viewer.locale)
  const number = /^\p{L}+[\s#]+(\d{3,9})(?!\d)/u.exec(text.trim())?.[1]
  if (number !== undefined && nearest && decisions.has(nearest.name)) {
    const reference = `REQ-${number}`
    const request = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
    if (request) return statusOf(turn, request.requestId)
  }
  const usable = await turn.core.listUsableTemplates(turn.actor)
  if (!nearest || usable.length === 0) return showHelp(turn, { isUnclear: true })
  return showNotice(turn, { code: codeFor(nearest), suggestion: nearest.name })
}

/** The commands that need a request number. Their suggestion shows an example. */
const numbered: readonly string[] = ['cancel', 'nudge']

function codeFor({ name, changes }: Command): NoticeCode {
  if (numbered.includes(name)) return 'unknownNumbered'
  return changes ? 'unknownChange' : 'unknownCommand'
}
