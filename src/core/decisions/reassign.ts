import { z } from 'zod'
import { type ApprovalStage, isExcluded, nextTimerRun, openStage, undecided, withStage } from '../approvals/index.ts'
import {
  approvalTimer,
  askApprovers,
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
import { auditRefusals } from './refused-attempts.ts'

/** `from` may be omitted if it is clear: the approver who reassigns their own part, or the only undecided approver. */
const input = z.object({
  requestId: z.uuid(),
  to: z.string(),
  from: z.string().optional(),
  comment: z.string().optional(),
  attempt: z.string().optional(),
})
type Reassignment = Omit<z.output<typeof input>, 'requestId' | 'attempt'>

/**
 * Replaces an undecided approver by another person. An approver reassigns their own part; an admin any part, but not in their own
 * request. A repeat of the same `attempt` returns the present request. Throws `validation-failed` for `/to` or `/from`.
 */
export const reassign = defineUseCase({
  permission: 'request.reassign',
  input,
  handle: (context: Context<DecisionPorts>, order) =>
    auditRefusals(context, order.requestId, 'reassign', () => reassignPart(context, order)),
})

async function reassignPart(
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

/** Throws if the actor is the requester: requesters do not choose their approvers. */
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

/**
 * `hasCard`: the new approver has a card from an earlier time. `isAlone`: there is no other admin, or no second one is
 * needed.
 */
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
  const former = partToReassign(stage, actor, from)
  const name = to.displayName
  if (to.id === request.requester.id) refuseFields([fault('/to', 'asked-for-it', because('personRequested', { name }))])
  if (stage.approvers.some(({ id }) => id === to.id))
    refuseFields([fault('/to', 'already-asked', because('personAsked', { name }))])
  if (stage.decisions.some(({ by }) => by.id === to.id))
    refuseFields([fault('/to', 'already-asked', because('personDecided', { name }))])
  if (isExcluded(stage, to.id))
    refuseFields([fault('/to', 'already-asked', because('personApprovedEarlier', { name }))])
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
  const changed = withReplacement(stage, former, to, record)
  const next = { ...withStage(request, changed), updatedAt: at }
  const data = { stage: stage.stage, from: [former], to }
  const audit = [entry(next, actor, 'reassigned', { comment: remark, data })]
  const jobs = [
    ...askApprovers(next),
    // An old card of the new approver becomes active again far up in the chat, where nobody sees it.
    ...(hasCard ? remindApprovers(next, changed, [to]) : []),
    ...approvalTimer(next, changed, nextTimerRun(changed, at)),
  ]
  return { request: next, audit, jobs }
}

/** Returns the approver whose part is reassigned. */
function partToReassign(stage: ApprovalStage, actor: Actor, from: string | undefined): Person {
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
 * Returns a stage with the new approver, named as a person, and without stand-ins for the former one. The new approver remains a
 * stand-in for others only under the rule `all`.
 */
function withReplacement(
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

/** Adds the delegate of the new approver, who may be away. */
async function align(context: SystemContext<DecisionPorts>, request: Request): Promise<void> {
  const { ports } = context
  const at = ports.clock.now().toISOString()
  const away = await delegationsOf(ports, request, at)
  if (away.length === 0) return
  await changeRequest(context, request.requestId, (now) => realignment(now, away, at))
}
