import { z } from 'zod'
import { cards, type ReassignForm } from '../../cards/index.ts'
import {
  because,
  type Fault,
  fault,
  openStage,
  ProvisioningError,
  type Request,
  referenceOf,
  undecided,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, requestId } from '../define-card-action.ts'
import { statusOf } from '../requests/actions.ts'
import { whyNot } from './override.ts'

/** What an input gives; what is no text was not given. */
const input = z
  .string()
  .catch('')
  .transform((text) => text.trim())

/** Replaces an approver. The card becomes the status card, or returns with the mistakes. */
export const reassignAsAdmin = defineCardAction({
  verb: 'admin.reassign',
  forAdmins: true,
  data: z.object({ requestId, from: input, to: input, comment }),
  async handle(turn, { requestId, from, to, comment }) {
    const { provisioning, actor } = turn
    const asked = { to, comment, ...(from !== '' && { from }) }
    const faults = isId(to)
      ? await faultsOf(() => provisioning.reassign(actor, { requestId, ...asked }))
      : [nobodyChosen]
    if (faults.length === 0) return statusOf(turn, requestId)
    const request = await provisioning.readRequest(actor, { requestId })
    if (isDone(request, asked, actor.id)) return statusOf(turn, requestId)
    const people = isId(to) ? await provisioning.findColleagues(actor, { typed: to }) : []
    const values = { from, to: people.length > 0 ? to : '' }
    return reassignForm(turn, request, { values, people, comment, faults })
  },
})

const nobodyChosen = fault('/to', 'required', because('deciderRequired'))

/** What is wrong with what was filled in; nothing when it was taken. Throws any other refusal. */
async function faultsOf(act: () => Promise<unknown>): Promise<readonly Fault[]> {
  try {
    await act()
    return []
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'validation-failed') throw error
    return error.faults
  }
}

/** A second click on the same card finds what it wanted. */
const isDone = ({ approvals }: Request, { to, from }: { to: string; from?: string }, byId: string): boolean =>
  openStage(approvals)?.reassigned?.some(
    (one) => one.to.id === to && one.by.id === byId && (from === undefined || one.from.some(({ id }) => id === from)),
  ) ?? false

/** The form to reassign. A notice if no decision is pending, or if the admin is the requester. */
export async function reassignForm(
  { actor, viewer }: Turn,
  request: Request,
  given: Partial<Omit<ReassignForm, 'request'>> = {},
): Promise<Reply> {
  const about = { reference: referenceOf(request), requestId: request.requestId }
  if (request.requester.id === actor.id) return { card: cards.notice({ code: 'ownReassign', ...about }, viewer) }
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  if (!stage) return { card: cards.notice(whyNot({ code: 'already-ended' }, request), viewer) }
  const { people = [], isChoice = false, values = { from: '', to: '' }, comment = '' } = given
  const { remarks = [], faults = [], attention } = given
  const isAsked = undecided(stage).some(({ id }) => id === values.from)
  const kept = { from: isAsked ? values.from : '', to: isId(values.to) ? values.to : '' }
  const form = { request, attention, people, isChoice, values: kept, comment, remarks, faults }
  return { card: cards.adminReassign(form, viewer) }
}

const isId = (value: string): boolean => z.uuid().safeParse(value).success
