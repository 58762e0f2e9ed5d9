import { z } from 'zod'
import { type ApprovalStage, nextLook, openStage, undecided, withStage } from '../approvals/index.ts'
import {
  approvalTimer,
  askApprovers,
  auditRefusals,
  authorize,
  type Change,
  changeRequest,
  entry,
  type Request,
} from '../requests/index.ts'
import {
  type Actor,
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  notFound,
  type Person,
  ProvisioningError,
  refuseFields,
  type SystemContext,
} from '../shared/index.ts'
import { remindApprovers } from './approval-timers.ts'
import { changeOnce, ended, longestComment } from './decision.ts'
import { colleagueOf, delegationsOf, realignment } from './delegation.ts'
import { lapsedOf } from './membership.ts'
import { otherAdmins } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'

/** Who is asked instead; `from` is left out where it can only be one: the approver who gives it away, or the only one who has not decided. */
const input = z.object({
  requestId: z.uuid(),
  to: z.string(),
  from: z.string().optional(),
  comment: z.string().optional(),
  attempt: z.string().optional(),
})
type Reassignment = Omit<z.output<typeof input>, 'requestId' | 'attempt'>

/**
 * Asks somebody else instead of an approver who has not decided and who then no longer decides. An approver gives away their own
 * part; an admin anybody's, but not of their own request. A repeat of the same `attempt` is given the request as it is now. Refuses as
 * `validation-failed` at `/to` or `/from`.
 */
export const reassign = defineUseCase({
  permission: 'request.reassign',
  input,
  handle: (context: Context<DecisionPorts>, order) =>
    auditRefusals(context, order.requestId, 'reassign', () => askInstead(context, order)),
})

async function askInstead(
  context: Context<DecisionPorts>,
  { requestId, attempt, ...order }: z.output<typeof input>,
): Promise<Request> {
  const { ports, actor } = context
  const before = await ports.requests.find(requestId)
  if (!before) throw notFound()
  authorize(actor, 'request.reassign', before)
  refuseOwn(before, actor)
  await refuseLapsed(context, before, actor)
  const faults: Fault[] = []
  const to = await asking(() => colleagueOf(ports, { id: '' }, order.to, faults))
  if (!to || faults.length > 0) return refuseFields(faults)
  const isAlone = !actor.isAdmin || (await otherAdmins(context, before, actor.id)).length === 0
  const number = openStage(before.approvals)?.stage ?? 1
  const hasCard = (await ports.sentCards.find(requestId, to.id, `approval:${number}`)) !== undefined
  const request = await changeOnce(context, { requestId, attempt }, (request, at) =>
    reassigned(request, actor, { ...order, to, hasCard, isAlone }, at),
  )
  await align(context, request)
  return request
}

/** A requester does not choose who decides. */
function refuseOwn({ requester }: Request, actor: Actor): void {
  if (requester.id === actor.id) throw new ProvisioningError('self-approval', because('ownRequestReassigned'))
}

/** People who left the group that was asked cannot reassign either. */
async function refuseLapsed(context: SystemContext<DecisionPorts>, request: Request, actor: Actor): Promise<void> {
  const { ports } = context
  if (actor.isAdmin || request.status !== 'pendingApproval') return
  const at = ports.clock.now().toISOString()
  const lapsed = await asking(() => lapsedOf(context, request, actor.id, at))
  if (lapsed.includes(actor.id)) throw new ProvisioningError('not-an-approver', because('approverNoMore'))
}

/** `hasCard`: from when they were asked before. `isAlone`: there is no other admin, or none is needed. */
interface ReassignedTo {
  readonly to: Person
  readonly hasCard: boolean
  readonly isAlone: boolean
}

function reassigned(
  request: Request,
  actor: Actor,
  { to, from, comment = '', hasCard, isAlone }: Omit<Reassignment, 'to'> & ReassignedTo,
  at: string,
): Change {
  authorize(actor, 'request.reassign', request)
  if (request.status !== 'pendingApproval') throw ended(request)
  const stage = openStage(request.approvals)
  if (!stage) throw ended(request)
  const former = givenAway(stage, actor, from)
  const name = to.displayName
  if (to.id === request.requester.id) refuseFields([fault('/to', 'asked-for-it', because('personRequested', { name }))])
  if (stage.approvers.some(({ id }) => id === to.id))
    refuseFields([fault('/to', 'already-asked', because('personAsked', { name }))])
  if (stage.decisions.some(({ by }) => by.id === to.id))
    refuseFields([fault('/to', 'already-asked', because('personDecided', { name }))])
  const by = asPerson(actor)
  const remark = comment.trim().slice(0, longestComment)
  const needsSecondAdmin = !isAlone && former.id !== by.id
  const record = {
    from: [former],
    to,
    by,
    at,
    ...(remark && { comment: remark }),
    ...(needsSecondAdmin && { needsSecondAdmin: true as const }),
  }
  const changed = inPlaceOf(stage, former, to, record)
  const next = { ...withStage(request, changed), updatedAt: at }
  const data = { stage: stage.stage, from: [former], to }
  const audit = [entry(next, actor, 'reassigned', { comment: remark, data })]
  const jobs = [
    ...askApprovers(next),
    // Who was asked before has a card from then, which comes to life far up in their chat: nobody would see that.
    ...(hasCard ? remindApprovers(next, changed, [to]) : []),
    ...approvalTimer(next, changed, nextLook(changed, at)),
  ]
  return { request: next, audit, jobs }
}

/** Whose part it is. */
function givenAway(stage: ApprovalStage, actor: Actor, from: string | undefined): Person {
  const open = undecided(stage)
  const own = open.find(({ id }) => id === actor.id)
  if (!actor.isAdmin) {
    if (!own || (from !== undefined && from !== own.id))
      throw new ProvisioningError('not-an-approver', because('onlyOwnPart'))
    return own
  }
  const only = open.length === 1 ? open[0] : own
  const found = from === undefined ? only : open.find(({ id }) => id === from)
  if (found) return found
  const names = open.map(({ displayName }) => displayName)
  return refuseFields([
    from === undefined
      ? fault('/from', 'required', because('severalUndecided', { names }))
      : fault('/from', 'not-asked', because('notWaitedFor', { names })),
  ])
}

/**
 * The new approver is asked as a person, and nobody stands in for the former one any more. Where all have to approve they go on
 * standing in for others; else their own word is all they have.
 */
function inPlaceOf(
  stage: ApprovalStage,
  from: Person,
  to: Person,
  record: NonNullable<ApprovalStage['reassigned']>[number],
): ApprovalStage {
  const isFormer = ({ id }: Person): boolean => id === from.id
  const standIns = (stage.standIns ?? [])
    .map((one) => ({ ...one, insteadOf: one.insteadOf.filter((id) => id !== from.id) }))
    .filter(({ insteadOf, person }) => insteadOf.length > 0 && (stage.rule === 'all' || person.id !== to.id))
  const { standIns: _, ...bare } = stage
  return {
    ...bare,
    approvers: stage.approvers.map((one) => (isFormer(one) ? to : one)),
    reassigned: [...(stage.reassigned ?? []), record],
    ...(standIns.length > 0 && { standIns }),
    ...(stage.membership && {
      membership: {
        ...stage.membership,
        people: stage.membership.people.filter((id) => id !== from.id && id !== to.id),
      },
    }),
    ...(stage.unreachable && { unreachable: stage.unreachable.filter(({ person }) => !isFormer(person)) }),
  }
}

/** Who is asked now may be away themselves. */
async function align(context: SystemContext<DecisionPorts>, request: Request): Promise<void> {
  const { ports } = context
  const at = ports.clock.now().toISOString()
  const away = await delegationsOf(ports, request, at)
  if (away.length === 0) return
  await changeRequest(context, request.requestId, (now) => realignment(now, away, at))
}
