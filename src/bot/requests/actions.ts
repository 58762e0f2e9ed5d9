import { z } from 'zod'
import { cards, decidesNow, formInputIds, withdrawnCode } from '../../cards/index.ts'
import { openStage, openStates, ProvisioningError, type Request, referenceOf } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, requestId, version } from '../define-card-action.ts'
import { showStep } from '../drafts/dialog-steps.ts'
import { chooseOf, newWords } from '../drafts/new.ts'

/** Opens the form of a template, or shows the templates of a command. Drafts that were begun before do not change. */
export const chooseTemplate = defineCardAction({
  verb: 'request.choose',
  data: z.union([z.object({ templateId: z.uuid() }), z.object({ of: z.enum(newWords) })]),
  async handle(turn, asked) {
    if ('of' in asked) return chooseOf(turn, asked.of)
    return showStep(await turn.core.openDraft(turn.actor, { templateId: asked.templateId }), turn)
  },
})

/** Continues a draft at its last step. */
export const continueRequest = defineCardAction({
  verb: 'request.continue',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) => showStep(await turn.core.continueDraft(turn.actor, { requestId }), turn),
})

/** Saves the completed form and shows its review. */
export const reviewRequest = defineCardAction({
  verb: 'request.review',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.core.reviewDraft(turn.actor, { requestId, version, values }), turn)
  },
})

/** Saves the form as far as it is completed, and previews the final names. */
export const checkNames = defineCardAction({
  verb: 'request.check',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.core.checkDraftNames(turn.actor, { requestId, version, values }), turn)
  },
})

/** Saves the form as far as it is completed, valid or not, for later. */
export const keepRequest = defineCardAction({
  verb: 'request.keep',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.core.keepDraft(turn.actor, { requestId, version, values }), turn)
  },
})

/**
 * The values of the form's inputs in a click. Clients leave out empty inputs, so a missing input is empty. If all are
 * missing, the click was not on a form, and the saved values stay.
 */
async function filledIn({ core, actor }: Turn, requestId: string, inputs: Readonly<Record<string, unknown>>) {
  const { template } = await core.readDraft(actor, { requestId })
  const asked = template ? formInputIds(template) : []
  const isForm = asked.some((id) => Object.hasOwn(inputs, id))
  return isForm ? Object.fromEntries(asked.map((id) => [id, typed(inputs[id])])) : {}
}

/** Submits the reviewed draft: one request for one draft, however often the button is clicked. */
export const submitRequest = defineCardAction({
  verb: 'request.submit',
  data: z.object({ requestId, version }),
  async handle(turn, { requestId, version }) {
    const { conversationId, clickedActivityId } = turn
    const statusCard = clickedActivityId === undefined ? undefined : { conversationId, activityId: clickedActivityId }
    return showStep(await turn.core.submitDraft(turn.actor, { requestId, version, statusCard }), turn)
  },
})

/** Returns to the form. From a request that ended without a resource, opens a new form with its values. */
export const editRequest = defineCardAction({
  verb: 'request.edit',
  data: z.object({ requestId, version: version.optional() }),
  async handle(turn, { requestId, version }) {
    const { core, actor } = turn
    if (version !== undefined) return showStep(await core.editDraft(actor, { requestId, version }), turn)
    const again = await core.draftFromRequest(actor, { requestId })
    return again.step === 'submitted' ? statusOf(turn, requestId) : showStep(again, turn)
  },
})

/** Opens a new form with the values of a completed request. Any other request shows its status. */
export const askAgain = defineCardAction({
  verb: 'request.again',
  data: z.object({ requestId }),
  async handle(turn, { requestId }) {
    const another = await turn.core.draftLikeRequest(turn.actor, { requestId })
    return another.step === 'submitted' ? statusOf(turn, requestId) : showStep(another, turn)
  },
})

/** Discards a draft, or cancels its request if it was submitted. */
export const cancelRequest = defineCardAction({
  verb: 'request.cancel',
  data: z.object({ requestId }),
  async handle(turn, { requestId }) {
    const draft = await turn.core.discardDraft(turn.actor, { requestId }).catch(ifNotFound)
    if (draft?.step === 'discarded') return showStep(draft, turn)
    await turn.core.cancelRequest(turn.actor, { requestId })
    return statusOf(turn, requestId)
  },
})

/** Shows the present state, and changes nothing. */
export const refreshRequest = defineCardAction({
  verb: 'request.refresh',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => unlessWithdrawn(turn, requestId, () => statusOf(turn, requestId)),
})

/** Reminds the approvers who have not decided. */
export const nudgeRequest = defineCardAction({
  verb: 'request.nudge',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => nudged(turn, requestId),
})

/** Reminds the approvers and shows the request's status. A notice says when it is too early for another reminder. */
export async function nudged(turn: Turn, requestId: string) {
  const { core, actor, viewer } = turn
  try {
    await core.nudge(actor, { requestId })
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error
    if (error.code === 'nudged-already') {
      const reference = referenceOf(await core.readRequest(actor, { requestId }))
      return { card: cards.notice({ code: 'nudgedAlready', ...error.context, requestId, reference }, viewer) }
    }
    if (error.code !== 'already-ended') throw error
  }
  return statusOf(turn, requestId)
}

/** Shows the status card with its timeline open. */
export const showTimeline = defineCardAction({
  verb: 'request.timeline',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) => statusCard(turn, await turn.core.readRequest(turn.actor, { requestId }), true),
})

/** The status card of a request; the decision card if this person has to decide. */
export async function statusOf(turn: Turn, requestId: string, form?: { comment: string; commentMissing: boolean }) {
  const request = await turn.core.readRequest(turn.actor, { requestId })
  const isRequester = request.requester.id === turn.actor.id
  const stage = openStage(request.approvals)
  if (stage && !isRequester && decidesNow(request, turn.viewer)) {
    const keep = { requestId, key: `approval:${stage.stage}` as const }
    return { card: cards.approval(request, turn.viewer, form), keep }
  }
  return statusCard(turn, request, false)
}

/**
 * A status card that a person requests contains the timeline, folded or open. Delivered cards are many and are kept up
 * to date: they contain only a button for the timeline, so that no delivery needs another read.
 */
async function statusCard({ core, actor, viewer }: Turn, request: Request, isOpen: boolean): Promise<Reply> {
  const { requestId } = request
  const entries = await core.readTimeline(actor, { requestId })
  const isRequester = request.requester.id === actor.id
  const ended = !openStates.includes(request.status)
  return {
    card: cards.requestStatus(request, viewer, { entries, isOpen }),
    ...(!ended || isRequester ? { keep: { requestId, key: 'status' as const } } : {}),
  }
}

/** Updates a clicked card. A person who has lost the right that the card needs gets a card without data. */
export async function unlessWithdrawn(turn: Turn, requestId: string, show: () => Promise<Reply>): Promise<Reply> {
  const { core, actor, viewer, clickedActivityId: activityId } = turn
  const lost = activityId && (await core.withdrawOwnCard(actor, { requestId, activityId }))
  return lost ? { card: cards.notice({ code: withdrawnCode[lost] }, viewer) } : show()
}

/** An input's value as text. Teams sends text, other clients may send other types. */
const typed = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)

function ifNotFound(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'not-found') return undefined
  throw error
}
