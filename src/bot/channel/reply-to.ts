import type { Activity, TurnContext } from 'botbuilder'
import { cards } from '../../cards/index.ts'
import { ProvisioningError } from '../../core/index.ts'
import { cardActions } from '../actions.ts'
import { type Heard, hear, isAdminTalk, nearest } from '../commands.ts'
import { notAdmin } from '../define-command.ts'
import { clickOf, isForAdmins, type Reply, type Turn, textOf, turnOf } from './turn.ts'

/** The command in a message; undefined for a text that is not a command. */
export const commandIn = (activity: Activity): Heard | undefined => hear(textOf(activity))

/** Runs the command or the action of an activity. Throws `validation-failed` for an unknown verb. */
export async function replyTo(context: TurnContext): Promise<Reply> {
  const { activity } = context
  const turn = turnOf(context)
  const click = clickOf(activity)
  if (!click) {
    const typed = commandIn(activity)
    return typed ? typed.command.run(turn, typed.argument) : notUnderstood(turn, textOf(activity))
  }
  const action = cardActions.get(click.verb)
  if (!action) throw new ProvisioningError('validation-failed', 'This button is not known any more.')
  return action.run(turn, click.data)
}

/** Suggests the nearest command. A person who types an admin command and is not an admin gets the reason instead. */
function notUnderstood(turn: Turn, text: string): Reply {
  const forAdmin = isForAdmins(turn.actor)
  if (isAdminTalk(text) && !forAdmin) return notAdmin(turn)
  return { card: cards.notice({ code: 'unknownCommand', suggestion: nearest(text, forAdmin) }, turn.viewer) }
}
