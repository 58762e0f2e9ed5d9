import { Dialog, type DialogContext, type DialogTurnResult } from 'botbuilder-dialogs'
import { deliver } from '../channel/deliver.ts'
import { replyTo } from '../channel/reply-to.ts'
import { cursorAfter } from './dialog-steps.ts'

/**
 * Takes a person from choosing a template to a submitted request. A `new …` command starts it, and so does a click on a
 * card whose dialog has ended. Each click names its draft, so it works on an older card, after a restart or in another
 * order: the dialog's state is a cursor, and no click depends on it. The dialog ends with the id of the submitted
 * request, or without a result.
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
