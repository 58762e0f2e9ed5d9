import type { ReassignRemark } from '../../cards/index.ts'
import { openStage, type Person, type Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type FoundPeople, peopleMeant } from '../channel/typed-arguments.ts'
import { defineCommand } from '../define-command.ts'
import { ifFound, referenceAndWords, which } from '../requests/admin-target.ts'
import { confirmOverride } from './override.ts'
import { reassignForm } from './reassign.ts'

/** `admin approve REQ-1042 Dana has left`: asks first. The click decides, overriding the approvers. */
export const adminApproveCommand = defineCommand({
  words: 'admin approve',
  forAdmins: true,
  argument: referenceAndWords,
  handle: (turn, { reference, words }) =>
    ifFound(turn, reference, (request) => confirmOverride(turn, request, 'approved', { comment: words })),
  otherwise: (turn) => which(turn, 'approve'),
})

/** `admin reject REQ-1042 we close this office`: asks first, as `admin approve` does. */
export const adminRejectCommand = defineCommand({
  words: 'admin reject',
  forAdmins: true,
  argument: referenceAndWords,
  handle: (turn, { reference, words }) =>
    ifFound(turn, reference, (request) => confirmOverride(turn, request, 'rejected', { comment: words })),
  otherwise: (turn) => which(turn, 'reject'),
})

/** `admin reassign REQ-1042 Omar Haddad`: opens the form, with the person if the name is clear. The click reassigns. */
export const adminReassignCommand = defineCommand({
  words: 'admin reassign',
  forAdmins: true,
  argument: referenceAndWords,
  handle: (turn, { reference, words }) => ifFound(turn, reference, (request) => reassignTo(turn, request, words)),
  otherwise: (turn) => which(turn, 'reassign'),
})

async function reassignTo(turn: Turn, request: Request, typed: string): Promise<Reply> {
  const { people, isSure } = await meant(turn, typed)
  const [only, ...others] = people
  const attention = await whatItNeeds(turn, request)
  // An approver who cannot decide is the one to replace.
  const values = { from: attention?.people?.[0]?.id ?? '', to: only && others.length === 0 ? only.id : '' }
  const remarks = typed === '' ? [] : [...remarksOf(turn, request, typed, people, isSure)]
  return reassignForm(turn, request, { attention, people, isChoice: others.length > 0, values, remarks })
}

/** Why the request is stuck, if it is among the first that are. */
async function whatItNeeds({ core, actor }: Turn, { requestId, status }: Request) {
  if (status !== 'pendingApproval') return undefined
  const { entries } = await core.readStuck(actor)
  return entries.find(({ request }) => request.requestId === requestId)?.attention
}

/** "me" is the admin: they may take it over, if it is not their own. */
async function meant(turn: Turn, typed: string): Promise<FoundPeople> {
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
  const isAsked = openStage(approvals)?.approvers.some(({ id }) => id === only.id) ?? false
  if (isAsked) return [{ words: 'asked', typed: only.displayName }]
  if (only.id === actor.id) return [{ words: 'yourself', typed }]
  return isSure ? [] : [{ words: 'check', typed: `${only.displayName} (${only.userPrincipalName})` }]
}
