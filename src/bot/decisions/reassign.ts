import { z } from 'zod'
import { cardsFor, type ReassignForm, type ReassignRemark } from '../../cards/index.ts'
import {
  because,
  type Fault,
  fault,
  openStage,
  type Person,
  type Request,
  referenceOf,
  undecided,
} from '../../core/index.ts'
import { isId, type Reply, type Turn } from '../channel/turn.ts'
import { type FoundPeople, peopleMeant } from '../channel/typed-arguments.ts'
import { comment, defineCardAction, input, isRefusal, requestId, showNotice } from '../define.ts'
import { defineAdminVerb, statusOf } from '../requests/index.ts'
import { whyNot } from './override.ts'

/**
 * `admin reassign REQ-1042 Omar Haddad`: opens the form, with the person if the name is clear. The click reassigns the
 * request.
 */
export const adminReassignCommand = defineAdminVerb('reassign', async (turn, request, typed) => {
  const { people, isSure } = await findPeople(turn, typed)
  const attention = await attentionOf(turn, request)
  // The form offers to replace an approver who cannot decide.
  const values = { from: attention?.people?.[0]?.id ?? '', to: people.length === 1 ? (people[0]?.id ?? '') : '' }
  const remarks = typed === '' ? [] : remarksOf(turn, request, typed, people, isSure)
  return showForm(turn, request, { attention, people, isChoice: people.length > 1, values, remarks })
})

/** Returns why the request is stuck; undefined if it is not among the first stuck requests. */
async function attentionOf({ core, actor }: Turn, { requestId, status }: Request) {
  if (status !== 'pendingApproval') return undefined
  const { entries } = await core.readStuck(actor)
  return entries.find(({ request }) => request.requestId === requestId)?.attention
}

/** Finds the people that a text can mean. "me" is the admin, who may take over another person's request. */
async function findPeople(turn: Turn, typed: string): Promise<FoundPeople> {
  if (typed === '') return { people: [], isSure: false }
  if (/^(me|myself)$/i.test(typed)) return { people: [turn.actor], isSure: true }
  return peopleMeant(turn, typed.replace(/^to /i, ''))
}

function remarksOf(
  { actor }: Turn,
  { requester, approvals }: Request,
  typed: string,
  people: readonly Person[],
  isSure: boolean,
): ReassignRemark[] {
  const [only, ...others] = people
  if (!only) return [{ words: 'nobody', typed }]
  if (others.length > 0) return [{ words: 'several', typed }]
  if (only.id === requester.id) return [{ words: 'requester', typed }]
  const isApprover = openStage(approvals)?.approvers.some(({ id }) => id === only.id) ?? false
  if (isApprover) return [{ words: 'asked', typed: only.displayName }]
  if (only.id === actor.id) return [{ words: 'yourself', typed }]
  return isSure ? [] : [{ words: 'check', typed: `${only.displayName} (${only.userPrincipalName})` }]
}

/** Replaces an approver. The card becomes the status card, or returns with the mistakes. */
export const reassignAsAdmin = defineCardAction({
  verb: 'admin.reassign',
  forAdmins: true,
  data: z.object({ requestId, from: input, to: input, comment }),
  async handle(turn, { requestId, from, to, comment }) {
    const { core, actor } = turn
    const change = { to, comment, ...(from !== '' && { from }) }
    const faults = isId(to)
      ? await faultsOf(() => core.reassign(actor, { requestId, ...change }))
      : [fault('/to', 'required', because('deciderRequired'))]
    if (faults.length === 0) return statusOf(turn, requestId)
    const request = await core.readRequest(actor, { requestId })
    if (isDone(request, change, actor.id)) return statusOf(turn, requestId)
    const people = isId(to) ? await core.findColleagues(actor, { typed: to }) : []
    const values = { from, to: people.length > 0 ? to : '' }
    return showForm(turn, request, { values, people, comment, faults })
  },
})

/** Returns the faults of the input; empty if the core accepted it. Throws any other refusal. */
async function faultsOf(act: () => Promise<unknown>): Promise<readonly Fault[]> {
  try {
    await act()
    return []
  } catch (error) {
    if (!isRefusal(error, 'validation-failed')) throw error
    return error.faults
  }
}

/** Whether an earlier click on the same card has made this change. */
const isDone = ({ approvals }: Request, { to, from }: { to: string; from?: string }, byId: string): boolean =>
  openStage(approvals)?.reassigned?.some(
    (one) => one.to.id === to && one.by.id === byId && (from === undefined || one.from.some(({ id }) => id === from)),
  ) ?? false

/** Shows the form to reassign a request; a notice if no decision is pending or the admin is the requester. */
async function showForm(
  turn: Turn,
  request: Request,
  form: Partial<Omit<ReassignForm, 'request'>> & Pick<ReassignForm, 'values' | 'people'>,
): Promise<Reply> {
  const { actor, viewer } = turn
  const about = { reference: referenceOf(request), requestId: request.requestId }
  if (request.requester.id === actor.id) return showNotice(turn, { code: 'ownReassign', ...about })
  const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
  if (!stage) return showNotice(turn, whyNot({ code: 'already-ended' }, request))
  const { values, attention } = form
  const isPending = undecided(stage).some(({ id }) => id === values.from)
  const kept = { from: isPending ? values.from : '', to: isId(values.to) ? values.to : '' }
  const defaults = { isChoice: false, comment: '', remarks: [], faults: [] }
  return { card: cardsFor(viewer).adminReassign({ request, ...defaults, ...form, attention, values: kept }, viewer) }
}
