import { z } from 'zod'
import { formInputIds, wholeValue } from '../../cards/index.ts'
import { type DraftView, longestName } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, input, pageStart, requestId, undefinedIfNotFound, version } from '../define.ts'
import { cancelOnceConfirmed, statusOf } from '../requests/index.ts'
import { showStep } from './dialog-steps.ts'
import { chooseOf, newCommandNames, showDrafts } from './new.ts'

/** The name in a new form, which the person typed before they chose the template. */
const newName = input.transform((name) => name.slice(0, longestName.displayName).toWellFormed())

/** Opens the form of a template, or shows the templates of a command. Earlier drafts do not change. */
const chooseTemplate = defineCardAction({
  verb: 'request.choose',
  data: z.union([
    z.object({ templateId: z.uuid(), displayName: newName }),
    z.object({ of: z.enum(newCommandNames), displayName: newName }),
  ]),
  async handle(turn, choice) {
    if ('of' in choice) return chooseOf(turn, choice.of, choice.displayName)
    return showStep(await turn.core.openDraft(turn.actor, choice), turn)
  },
})

/** Continues a draft at its last step. Undo restores a discarded draft. */
const continueDraft = defineCardAction({
  verb: 'request.continue',
  data: z.object({ requestId, restore: z.literal([true, 'true']).optional() }),
  handle: async (turn, { requestId, restore }) =>
    showStep(await turn.core.continueDraft(turn.actor, { requestId, restore: restore !== undefined }), turn),
})

/** Shows another page of the person's drafts, on the same card. */
const pageDrafts = defineCardAction({
  verb: 'drafts.page',
  data: z.object({ from: pageStart }),
  handle: (turn, { from }) => showDrafts(turn, from),
})

/** The data of a click on a form: the draft and the form's inputs. */
const form = z.looseObject({ requestId, version })

/** Saves the completed form and shows its review. */
const reviewDraft = defineCardAction({
  verb: 'request.review',
  sendsForm: true,
  data: form,
  handle: async (turn, click) => showStep(await turn.core.reviewDraft(turn.actor, await completed(turn, click)), turn),
})

/** Saves an incomplete form, and previews the final names. */
const checkNames = defineCardAction({
  verb: 'request.check',
  sendsForm: true,
  data: form,
  handle: async (turn, click) =>
    showStep(await turn.core.checkDraftNames(turn.actor, await completed(turn, click)), turn),
})

/** Saves an incomplete form, valid or not, for later. */
const keepDraft = defineCardAction({
  verb: 'request.keep',
  sendsForm: true,
  data: form,
  handle: async (turn, click) => showStep(await turn.core.keepDraft(turn.actor, await completed(turn, click)), turn),
})

/** Adds the person to the people who can open the mailbox. */
const joinDraft = defineCardAction({
  verb: 'request.join',
  sendsForm: true,
  data: form,
  handle: async (turn, click) => showStep(await turn.core.joinDraft(turn.actor, await completed(turn, click)), turn),
})

/**
 * Returns the draft and the values of the form's inputs in a click. Clients omit empty inputs, so a missing input with a
 * saved value was cleared. A missing input without one may be newer than the form, so the template's default applies. If
 * all inputs are missing, the click was not on a form, and the saved values stay.
 */
async function completed({ core, actor }: Turn, { requestId, version, ...inputs }: z.output<typeof form>) {
  const { draft, template } = await core.readDraft(actor, { requestId })
  const ids = template ? formInputIds(template) : []
  const isForm = ids.some((id) => Object.hasOwn(inputs, id))
  const filled = ids.filter((id) => isForm && (Object.hasOwn(inputs, id) || Object.hasOwn(draft.values, id)))
  const values = filled.map((id) => [id, wholeValue(textOf(inputs[id]), draft.values[id])])
  return { requestId, version, values: Object.fromEntries(values) }
}

/** Returns an input's value as text. Teams sends text, other clients may send other types. */
const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** Submits the reviewed draft: one request for one draft, however often the button is clicked. */
const submitDraft = defineCardAction({
  verb: 'request.submit',
  data: z.object({ requestId, version }),
  async handle(turn, { requestId, version }) {
    const { conversationId, clickedActivityId } = turn
    const statusCard = clickedActivityId === undefined ? undefined : { conversationId, activityId: clickedActivityId }
    return showStep(await turn.core.submitDraft(turn.actor, { requestId, version, statusCard }), turn)
  },
})

/** Returns to the form. If the request ended without a resource, opens the form with its values to send it again. */
const editDraft = defineCardAction({
  verb: 'request.edit',
  data: z.object({ requestId, version: version.optional() }),
  async handle(turn, { requestId, version }) {
    const { core, actor } = turn
    if (version !== undefined) return showStep(await core.editDraft(actor, { requestId, version }), turn)
    return showInstead(turn, requestId, await core.draftFromRequest(actor, { requestId }))
  },
})

/** Opens a new form with the values of a completed request. Any other request shows its status. */
const repeatRequest = defineCardAction({
  verb: 'request.again',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) =>
    showInstead(turn, requestId, await turn.core.draftLikeRequest(turn.actor, { requestId })),
})

/**
 * Shows a draft or another request instead of the clicked card of a request. A late update of this card would overwrite the form
 * that the person fills in.
 */
async function showInstead(turn: Turn, requestId: string, view: DraftView): Promise<Reply> {
  const shownId = view.step === 'submitted' ? view.request.requestId : undefined
  const reply = await (shownId === undefined ? showStep(view, turn) : statusOf(turn, shownId))
  const { core, actor, clickedActivityId: activityId } = turn
  if (shownId !== requestId && activityId !== undefined) await core.forgetCard(actor, { requestId, activityId })
  return reply
}

/**
 * Discards a draft. Undo restores it with the inputs of the form that was clicked. If the draft was submitted, cancels its
 * request after a confirmation.
 */
const cancelDraft = defineCardAction({
  verb: 'request.cancel',
  // Only a form sends its version and its inputs.
  data: z.looseObject({
    requestId,
    version: version.optional(),
    confirmed: z.literal([true, 'true']).optional(),
  }),
  async handle(turn, { requestId, version, confirmed, ...inputs }) {
    const draft = await discarded(turn, { ...inputs, requestId, version }).catch(undefinedIfNotFound)
    if (draft?.step === 'discarded') return showStep(draft, turn)
    const request = await turn.core.readRequest(turn.actor, { requestId })
    return cancelOnceConfirmed(turn, request, confirmed !== undefined)
  },
})

async function discarded(turn: Turn, { version, ...click }: { requestId: string; version: number | undefined }) {
  const { requestId } = click
  const answers = version === undefined ? { requestId } : await completed(turn, { ...click, version })
  return turn.core.discardDraft(turn.actor, answers)
}

export const draftActions = [
  chooseTemplate,
  continueDraft,
  pageDrafts,
  reviewDraft,
  checkNames,
  keepDraft,
  joinDraft,
  submitDraft,
  editDraft,
  repeatRequest,
  cancelDraft,
]
