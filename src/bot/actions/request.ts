import { z } from 'zod'
import { cards, decidesNow, formInputIds, withdrawnCode } from '../../cards/index.ts'
import { openStage, openStates, ProvisioningError, type Request, referenceOf } from '../../core/index.ts'
import { chooseOf, newWords } from '../commands/new.ts'
import { defineCardAction, requestId, version } from '../define-card-action.ts'
import { showStep } from '../dialog-steps.ts'
import type { Reply, Turn } from '../turn.ts'

/** Opens the form of a template, or shows what a command offers. Drafts that were begun before are left as they are. */
export const chooseTemplate = defineCardAction({
  verb: 'request.choose',
  data: z.union([z.object({ templateId: z.uuid() }), z.object({ of: z.enum(newWords) })]),
  async handle(turn, asked) {
    if ('of' in asked) return chooseOf(turn, asked.of)
    return showStep(await turn.provisioning.drafts.open(turn.actor, asked.templateId), turn)
  },
})

/** Goes on with a draft where it was left. */
export const continueRequest = defineCardAction({
  verb: 'request.continue',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) => showStep(await turn.provisioning.drafts.continue(turn.actor, requestId), turn),
})

/** Takes the filled form, to be looked at once more and sent. */
export const reviewRequest = defineCardAction({
  verb: 'request.review',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.provisioning.drafts.review(turn.actor, requestId, version, values), turn)
  },
})

/** Takes the form as far as it is filled in, and says what comes of its names. */
export const checkNames = defineCardAction({
  verb: 'request.check',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.provisioning.drafts.checkNames(turn.actor, requestId, version, values), turn)
  },
})

/** Takes the form as far as it is filled in, right or wrong, and keeps it for later. */
export const keepRequest = defineCardAction({
  verb: 'request.keep',
  data: z.looseObject({ requestId, version }),
  async handle(turn, { requestId, version, ...inputs }) {
    const values = await filledIn(turn, requestId, inputs)
    return showStep(await turn.provisioning.drafts.keep(turn.actor, requestId, version, values), turn)
  },
})

/**
 * Of what a click brought, only the inputs that the form has. Clients leave empty inputs out, so one that is missing was
 * emptied, unless none came at all: then the click was not on a form, and what is kept stays.
 */
async function filledIn({ provisioning, actor }: Turn, requestId: string, inputs: Readonly<Record<string, unknown>>) {
  const { template } = await provisioning.drafts.read(actor, requestId)
  const asked = template ? formInputIds(template) : []
  const isForm = asked.some((id) => Object.hasOwn(inputs, id))
  return isForm ? Object.fromEntries(asked.map((id) => [id, typed(inputs[id])])) : {}
}

/** Submits what was reviewed: one request for one draft, however often it is clicked. */
export const submitRequest = defineCardAction({
  verb: 'request.submit',
  data: z.object({ requestId, version }),
  async handle(turn, { requestId, version }) {
    const { conversationId, clickedActivityId } = turn
    const statusCard = clickedActivityId === undefined ? undefined : { conversationId, activityId: clickedActivityId }
    return showStep(await turn.provisioning.drafts.submit(turn.actor, requestId, version, statusCard), turn)
  },
})

/** Back to the form; from a request that came to nothing, a new form with what it asked for. */
export const editRequest = defineCardAction({
  verb: 'request.edit',
  data: z.object({ requestId, version: version.optional() }),
  async handle(turn, { requestId, version }) {
    const { provisioning, actor } = turn
    if (version !== undefined) return showStep(await provisioning.drafts.edit(actor, requestId, version), turn)
    const again = await provisioning.drafts.again(actor, requestId)
    return again.step === 'submitted' ? statusOf(turn, requestId) : showStep(again, turn)
  },
})

/** A new form like a request that was made; of any other request where it stands. */
export const askAgain = defineCardAction({
  verb: 'request.again',
  data: z.object({ requestId }),
  async handle(turn, { requestId }) {
    const another = await turn.provisioning.drafts.another(turn.actor, requestId)
    return another.step === 'submitted' ? statusOf(turn, requestId) : showStep(another, turn)
  },
})

/** Discards a draft, or cancels the request that it has become. */
export const cancelRequest = defineCardAction({
  verb: 'request.cancel',
  data: z.object({ requestId }),
  async handle(turn, { requestId }) {
    const draft = await turn.provisioning.drafts.discard(turn.actor, requestId).catch(ifNotFound)
    if (draft?.step === 'discarded') return showStep(draft, turn)
    await turn.provisioning.cancel(turn.actor, requestId)
    return statusOf(turn, requestId)
  },
})

/** Reads the present state, and changes nothing. */
export const refreshRequest = defineCardAction({
  verb: 'request.refresh',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => unlessWithdrawn(turn, requestId, () => statusOf(turn, requestId)),
})

/** Reminds those whose decision is waited for. */
export const nudgeRequest = defineCardAction({
  verb: 'request.nudge',
  data: z.object({ requestId }),
  handle: (turn, { requestId }) => nudged(turn, requestId),
})

/** Reminds, and shows how the request stands then; where nobody is waited for any more, only that. Too early, it leads back to it. */
export async function nudged(turn: Turn, requestId: string) {
  const { provisioning, actor, viewer } = turn
  try {
    await provisioning.nudge(actor, requestId)
  } catch (error) {
    if (!(error instanceof ProvisioningError)) throw error
    if (error.code === 'nudged-already') {
      const reference = referenceOf(await provisioning.read(actor, requestId))
      return { card: cards.notice({ code: 'nudgedAlready', ...error.context, requestId, reference }, viewer) }
    }
    if (error.code !== 'already-ended') throw error
  }
  return statusOf(turn, requestId)
}

/** The same card with who did what, when and with which words: that is read only for whoever asks for it. */
export const showTimeline = defineCardAction({
  verb: 'request.timeline',
  data: z.object({ requestId }),
  handle: async (turn, { requestId }) => statusCard(turn, await turn.provisioning.read(turn.actor, requestId), true),
})

/** The status card of a request; the decision card, when it waits for this person. */
export async function statusOf(turn: Turn, requestId: string, form?: { comment: string; commentMissing: boolean }) {
  const request = await turn.provisioning.read(turn.actor, requestId)
  const isRequester = request.requester.id === turn.actor.id
  const stage = openStage(request.approvals)
  if (stage && !isRequester && decidesNow(request, turn.viewer)) {
    const keep = { requestId, key: `approval:${stage.stage}` as const }
    return { card: cards.approval(request, turn.viewer, form), keep }
  }
  return statusCard(turn, request, false)
}

/**
 * A status card that is asked for has the timeline on it, folded or open. Cards that are delivered, and kept up to date from
 * then on, are many: on those the same button asks for it, so that each delivery costs no further read, and whoever has
 * unfolded it finds the button in its place after the next one.
 */
async function statusCard({ provisioning, actor, viewer }: Turn, request: Request, isOpen: boolean): Promise<Reply> {
  const { requestId } = request
  const entries = await provisioning.timeline(actor, requestId)
  const isRequester = request.requester.id === actor.id
  const ended = !openStates.includes(request.status)
  return {
    card: cards.requestStatus(request, viewer, { entries, isOpen }),
    ...(!ended || isRequester ? { keep: { requestId, key: 'status' as const } } : {}),
  }
}

/** Updates a clicked card. A person who has lost the right that the card needs gets a card without data. */
export async function unlessWithdrawn(turn: Turn, requestId: string, show: () => Promise<Reply>): Promise<Reply> {
  const { provisioning, actor, viewer, clickedActivityId: activityId } = turn
  const lost = activityId && (await provisioning.withdrawClicked(actor, requestId, activityId))
  return lost ? { card: cards.notice({ code: withdrawnCode[lost] }, viewer) } : show()
}

/** An input's value as text; Teams sends text, other clients may send what they have. */
const typed = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)

function ifNotFound(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'not-found') return undefined
  throw error
}
