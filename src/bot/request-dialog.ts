import { Dialog, type DialogContext, type DialogTurnResult } from 'botbuilder-dialogs'
import { cardActions } from './actions/index.ts'
import { chooseAny } from './commands/new.ts'
import { deliver } from './deliver.ts'
import { type DialogState, dialogState, isDialogVerb, stateAfter } from './dialog-steps.ts'
import { clickOf, type Reply, turnOf } from './turn.ts'

/**
 * Walks a person from choosing a template to a submitted request. A click names its draft, so it works whatever the
 * dialog last knew: from an older card, after a restart, or in another order. The cursor is kept all the same, and
 * decides nothing: it is how botbuilder knows that a dialog is open in this chat, how it ends with a result (the request's
 * id, or nothing when it was discarded), and how `botbuilder-testing` drives it.
 */
export class RequestDialog extends Dialog {
  constructor(id = 'request') {
    super(id)
  }

  override async beginDialog(dc: DialogContext): Promise<DialogTurnResult> {
    if (clickOf(dc.context.activity)) return this.continueDialog(dc)
    const reply = await chooseAny(turnOf(dc.context))
    return this.#show(dc, reply)
  }

  override async continueDialog(dc: DialogContext): Promise<DialogTurnResult> {
    const click = clickOf(dc.context.activity)
    if (!click) return this.beginDialog(dc)
    const action = isDialogVerb(click.verb) ? cardActions.get(click.verb) : undefined
    if (!action) return Dialog.EndOfTurn
    return this.#show(dc, await action.run(turnOf(dc.context), click.data))
  }

  /** Where the dialog stands in this conversation; undefined when what is kept is not of this version. */
  static stateOf(dc: DialogContext): DialogState | undefined {
    return dialogState.safeParse(dc.activeDialog?.state).data
  }

  async #show(dc: DialogContext, reply: Reply): Promise<DialogTurnResult> {
    await deliver(dc.context, reply)
    const state = stateAfter(reply)
    if (!state) return dc.endDialog(reply.at?.step === 'submitted' ? reply.at.requestId : undefined)
    if (dc.activeDialog) dc.activeDialog.state = state
    return Dialog.EndOfTurn
  }
}
