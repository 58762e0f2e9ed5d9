import type { ConversationState, TurnContext } from 'botbuilder'
// The package's index loads recognisers of numbers and dates in all languages: 18 MB of heap that no dialog here needs.
import { Dialog, type DialogTurnResult, DialogTurnStatus } from 'botbuilder-dialogs/lib/dialog.js'
import type { DialogContext } from 'botbuilder-dialogs/lib/dialogContext.js'
import { DialogSet } from 'botbuilder-dialogs/lib/dialogSet.js'
import { because, from, ProvisioningError } from '../../core/index.ts'
import { cursorAfter, isDialogVerb } from '../drafts/index.ts'
import { cardActions } from '../registry.ts'
import { welcome } from '../shared/index.ts'
import { interpret, notUnderstood } from './interpret.ts'
import { Listener } from './listener.ts'
import { deliver } from './respond.ts'
import { type BotServices, clickOf, isAutomatic, isForAdmins, localeOf, type Reply, textOf, turnOf } from './turn.ts'
import { measureTurn, noteCommand, noteOutcome } from './turn-metrics.ts'

/** Answers messages and clicks, in the request dialog and outside of it. */
export class Bot {
  readonly #listener: Listener
  readonly #conversationState: ConversationState
  readonly #dialogs: DialogSet
  readonly #requestDialog = new RequestDialog()
  readonly #services: BotServices

  constructor(services: BotServices, conversationState: ConversationState) {
    this.#listener = new Listener(services)
    this.#services = services
    this.#conversationState = conversationState
    this.#dialogs = new DialogSet(conversationState.createProperty('dialog')).add(this.#requestDialog)
  }

  /** Runs one turn and answers its errors. Throws only if the chat does not accept the answer. */
  run(context: TurnContext): Promise<void> {
    const turn = () => this.#listener.onTurn(context, () => this.#dispatch(context))
    const caller = context.activity.from?.aadObjectId
    return from({ from: 'chat', caller }, () => measureTurn(context, this.#services, turn))
  }

  async #dispatch(context: TurnContext): Promise<void> {
    const { activity } = context
    const click = clickOf(activity)
    if (click) {
      // A client sends some clicks itself when it shows a card. These may only read.
      if (isAutomatic(activity) && !click.verb.endsWith('.refresh'))
        throw new ProvisioningError('validation-failed', because('cardWithoutAction'))
      if (isDialogVerb(click.verb)) return this.#inDialog(context, (dialogs) => this.#continue(dialogs))
    } else if (activity.type === 'message') {
      const command = interpret(textOf(activity), localeOf(activity))?.command
      if (command) noteCommand(context, command.name)
      if (command?.forAdmins && !isForAdmins(turnOf(context).actor)) noteOutcome(context, 'refused')
      if (command?.startsDialog) return this.#inDialog(context, (dialogs) => this.#restart(dialogs))
    } else if (activity.type === 'installationUpdate' && activity.action === 'add') {
      return deliver(context, await welcome(turnOf(context)))
    } else {
      return noteOutcome(context, 'ignored')
    }
    const reply = await replyTo(context)
    if (reply.isRefusal) noteOutcome(context, 'refused')
    return deliver(context, reply)
  }

  /** Ends an open dialog, whose draft stays in the store, and starts the dialog with a command. */
  async #restart(dialogs: DialogContext): Promise<DialogTurnResult> {
    await dialogs.cancelAllDialogs()
    return dialogs.beginDialog(this.#requestDialog.id)
  }

  /** Continues the open dialog after a click. If the card's dialog has ended, starts one. */
  async #continue(dialogs: DialogContext): Promise<DialogTurnResult> {
    // Another version may have stored the state, with dialogs that this version does not have.
    if (dialogs.stack.some(({ id }) => !dialogs.findDialog(id))) await dialogs.cancelAllDialogs()
    const result = await dialogs.continueDialog()
    return result.status === DialogTurnStatus.empty ? dialogs.beginDialog(this.#requestDialog.id) : result
  }

  /** Runs a turn of the dialog and saves a changed cursor. Writes nothing if no dialog was open or is open now. */
  async #inDialog(context: TurnContext, run: (dialogs: DialogContext) => Promise<DialogTurnResult>): Promise<void> {
    const dialogs = await this.#dialogs.createContext(context)
    const wasOpen = dialogs.stack.length > 0
    await run(dialogs)
    if (!wasOpen && dialogs.stack.length === 0) return
    try {
      await this.#conversationState.saveChanges(context)
    } catch (error) {
      // The turn is answered, and no click depends on the cursor.
      this.#services.log.warn({ err: error }, "the dialog's cursor was not saved")
    }
  }
}

/**
 * Leads a person from the choice of a template to a submitted request. A `new …` command starts the dialog, and so does
 * a click on a card whose dialog has ended. Each click names its draft, so clicks work on older cards, after a restart
 * and in any order. The dialog's state is only a cursor. The dialog ends with the id of the submitted request, or
 * without a result.
 */
export class RequestDialog extends Dialog {
  constructor() {
    super('request')
  }

  override beginDialog(dc: DialogContext): Promise<DialogTurnResult> {
    return this.#answer(dc)
  }

  override continueDialog(dc: DialogContext): Promise<DialogTurnResult> {
    return this.#answer(dc)
  }

  async #answer(dc: DialogContext): Promise<DialogTurnResult> {
    const reply = await replyTo(dc.context)
    await deliver(dc.context, reply)
    const cursor = cursorAfter(reply)
    if (!cursor) return dc.endDialog(reply.at?.step === 'submitted' ? reply.at.requestId : undefined)
    if (dc.activeDialog) dc.activeDialog.state = cursor
    return Dialog.EndOfTurn
  }
}

/** Runs the command or the action of an activity. Throws `validation-failed` for an unknown verb. */
async function replyTo(context: TurnContext): Promise<Reply> {
  const { activity } = context
  const turn = turnOf(context)
  const click = clickOf(activity)
  if (!click) {
    const text = textOf(activity)
    const typed = interpret(text, turn.viewer.locale)
    return typed ? typed.command.run(turn, typed.argument) : notUnderstood(turn, text)
  }
  const action = cardActions.get(click.verb)
  if (!action) throw new ProvisioningError('validation-failed', because('buttonUnknown'))
  return action.run(turn, click.data)
}
