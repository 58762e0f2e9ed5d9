import type { ConversationState, StatePropertyAccessor, TurnContext } from 'botbuilder'
import { DialogSet, type DialogState as DialogStack } from 'botbuilder-dialogs'
import { cards } from '../cards/index.ts'
import { from, ProvisioningError } from '../core/index.ts'
import { cardActions } from './actions/index.ts'
import { helpCommand } from './commands/help.ts'
import { hear, isAdminTalk, nearest } from './commands/index.ts'
import { notAdmin } from './define-command.ts'
import { deliver } from './deliver.ts'
import { type DialogState, isDialogVerb, stateAfter } from './dialog-steps.ts'
import { Listener } from './listener.ts'
import { plainText } from './mentions.ts'
import { RequestDialog } from './request-dialog.ts'
import { noteCommand, noteOutcome, tellingOf } from './told-turns.ts'
import {
  type BotServices,
  type Click,
  clickOf,
  isAutomatic,
  isForAdmins,
  type Reply,
  type Turn,
  turnOf,
  typedByButton,
} from './turn.ts'

/** The bot: finds out what was said or clicked, and hands it to the one value that knows what to do. */
export class Bot {
  readonly #listener: Listener
  readonly #conversationState: ConversationState
  readonly #stack: StatePropertyAccessor<DialogStack>
  readonly #dialogs: DialogSet
  readonly #services: BotServices

  constructor(services: BotServices, conversationState: ConversationState) {
    this.#listener = new Listener(services)
    this.#services = services
    this.#conversationState = conversationState
    this.#stack = conversationState.createProperty('dialog')
    this.#dialogs = new DialogSet(this.#stack).add(new RequestDialog())
  }

  /** Runs one turn. Never throws: what goes wrong is answered. */
  run(context: TurnContext): Promise<void> {
    const turn = () => this.#listener.onTurn(context, () => this.#dispatch(context))
    const caller = context.activity.from?.aadObjectId
    return from({ from: 'chat', caller }, () => tellingOf(context, this.#services, turn))
  }

  async #dispatch(context: TurnContext): Promise<void> {
    const { activity } = context
    const click = clickOf(activity)
    if (click) return this.#click(context, click)
    if (activity.type === 'message') return this.#message(context, typedByButton(activity) ?? plainText(activity))
    if (activity.type === 'installationUpdate' && activity.action === 'add') return this.#welcome(context)
    noteOutcome(context, 'ignored')
  }

  async #click(context: TurnContext, click: Click): Promise<void> {
    // What a client sends by itself, when it shows a card, may only read; a decision takes somebody's click.
    if (isAutomatic(context.activity) && !click.verb.endsWith('.refresh'))
      throw new ProvisioningError('validation-failed', 'This card does nothing by itself.')
    if (isDialogVerb(click.verb)) return this.#continueDialog(context)
    const action = cardActions.get(click.verb)
    if (!action) throw new ProvisioningError('validation-failed', 'This button is not known any more.')
    return deliver(context, await action.run(turnOf(context), click.data))
  }

  async #message(context: TurnContext, text: string): Promise<void> {
    const turn = turnOf(context)
    const heard = hear(text)
    if (!heard) return deliver(context, notUnderstood(turn, text))
    noteCommand(context, heard.command.words)
    if (heard.command.forAdmins && !isForAdmins(turn.actor)) noteOutcome(context, 'refused')
    const reply = await heard.command.run(turn, heard.argument)
    await deliver(context, reply)
    const state = stateAfter(reply)
    if (state) await this.#standAt(context, state)
  }

  /** The first words in a new chat: what the bot can do. */
  async #welcome(context: TurnContext): Promise<void> {
    return deliver(context, await helpCommand.run(turnOf(context), ''))
  }

  async #continueDialog(context: TurnContext): Promise<void> {
    const dialogs = await this.#dialogs.createContext(context)
    // What another version of the bot has left on the stack is no reason not to go on.
    if (dialogs.stack.some(({ id }) => !this.#dialogs.find(id))) dialogs.stack.splice(0)
    if (dialogs.activeDialog) await dialogs.continueDialog()
    else await dialogs.beginDialog('request')
    // Where no dialog stands nothing is kept, so that a click which leaves it at that writes nothing.
    if (dialogs.stack.length === 0) await this.#stack.delete(context)
    await this.#saveCursor(context)
  }

  /** A command that opens a form begins the dialog anew, wherever an earlier one stood. */
  async #standAt(context: TurnContext, state: DialogState): Promise<void> {
    const dialogs = await this.#dialogs.createContext(context)
    dialogs.stack.splice(0)
    dialogs.stack.push({ id: 'request', state })
    await this.#saveCursor(context)
  }

  /** Writes the cursor if it has moved. By now everything is done and answered, and no click depends on it. */
  async #saveCursor(context: TurnContext): Promise<void> {
    try {
      await this.#conversationState.saveChanges(context)
    } catch (error) {
      this.#services.log.warn({ err: error }, 'where a dialog stands was not saved')
    }
  }
}

/** No dead end: the nearest command. Who is no admin is told so, whatever was to follow. */
function notUnderstood(turn: Turn, text: string): Reply {
  const forAdmin = isForAdmins(turn.actor)
  if (isAdminTalk(text) && !forAdmin) return notAdmin(turn)
  return { card: cards.notice({ code: 'unknownCommand', suggestion: nearest(text, forAdmin) }, turn.viewer) }
}
