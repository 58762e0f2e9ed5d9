import { Dialog, type DialogContext, type DialogTurnResult } from 'botbuilder-dialogs'
import { z } from 'zod'
import { cardActions } from './actions/index.ts'
import { newSiteCommand } from './commands/new.ts'
import { deliver } from './deliver.ts'
import { clickOf, type Reply, turnOf } from './turn.ts'

/** The steps of asking for something, as data: the verbs that belong to each, in the order in which people go. */
export const dialogSteps = {
  choose: ['request.choose'],
  details: ['request.review', 'request.cancel'],
  review: ['request.submit', 'request.edit', 'request.cancel'],
} as const
export type DialogStep = keyof typeof dialogSteps

/** What botbuilder keeps of the dialog: a cursor and nothing else, since what was filled in is a draft in the store. */
const dialogState = z.discriminatedUnion('step', [
  z.object({ v: z.literal(1), step: z.literal('choose') }),
  z.object({ v: z.literal(1), step: z.literal('details'), requestId: z.uuid() }),
  z.object({ v: z.literal(1), step: z.literal('review'), requestId: z.uuid() }),
])
type DialogState = z.output<typeof dialogState>

/** Whether a verb is a step of the request dialog. */
export const isDialogVerb = (verb: string): boolean =>
  Object.values(dialogSteps).some((verbs) => verbs.some((known) => known === verb))

/**
 * Walks a person from choosing a template to a submitted request. A click names its draft, so it works whatever the
 * dialog last knew: from an older card, after a restart, or in another order. The dialog ends with the request's id when
 * it is submitted, and with nothing when it is discarded.
 */
export class RequestDialog extends Dialog {
  constructor(id = 'request') {
    super(id)
  }

  override async beginDialog(dc: DialogContext): Promise<DialogTurnResult> {
    if (clickOf(dc.context.activity)) return this.continueDialog(dc)
    const reply = await newSiteCommand.run(turnOf(dc.context), '')
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
    const { at } = reply
    if (at === undefined || at.step === 'submitted' || at.step === 'discarded') {
      return dc.endDialog(at?.step === 'submitted' ? at.requestId : undefined)
    }
    const state: DialogState =
      at.step === 'choose' ? { v: 1, step: 'choose' } : { v: 1, step: at.step, requestId: at.requestId }
    if (dc.activeDialog) dc.activeDialog.state = state
    return Dialog.EndOfTurn
  }
}
