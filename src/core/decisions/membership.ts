import { z } from 'zod'
import { type ApprovalStage, everAsked, openStage, representedBy } from '../approvals/index.ts'
import { awayOf, type Request, type SentCard } from '../requests/index.ts'
import {
  actorFor,
  asking,
  type CardKey,
  type Context,
  cardSubject,
  checkingIdentity,
  defineUseCase,
  isForApprover,
  ProvisioningError,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import { refuseTakenAddress } from './address-conflict.ts'
import { commented, type Decide, recordApproval, recordRejection } from './decision.ts'
import { delegationsOf, realign, realignment } from './delegation.ts'
import { hasReassigned, otherAdmins } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'
import { auditRefusals } from './refused-attempts.ts'

/** `stage`: the stage on the card. A decision about an earlier stage does not decide a later one. */
const input = commented.extend({ stage: z.int().optional() })

/** Approves a request for a person who is still an approver. Refusals are in the audit. */
export const approve = defineUseCase({
  permission: 'request.decide',
  input,
  handle: (context: Context<DecisionPorts>, decision) =>
    auditRefusals(context, decision.requestId, 'approve', () =>
      whileMember(context, decision, recordApproval, (request) => refuseTakenAddress(context, request)),
    ),
})

/** Rejects a request for a person who is still an approver. The comment is required. Refusals are in the audit. */
export const reject = defineUseCase({
  permission: 'request.decide',
  input,
  handle: (context: Context<DecisionPorts>, decision) =>
    auditRefusals(context, decision.requestId, 'reject', () => whileMember(context, decision, recordRejection)),
})

/**
 * Decides after checking the directory, because a transaction does not call it. Brings the delegates up to date first: their
 * job may not have run yet.
 */
async function whileMember(
  context: Context<DecisionPorts>,
  { stage, ...decision }: z.output<typeof input>,
  decide: Decide,
  check: (request: Request) => Promise<void> = async () => undefined,
): Promise<Request> {
  const { ports, actor } = context
  const { requestId } = decision
  const before = await ports.requests.find(requestId)
  if (before?.status !== 'pendingApproval') return decide(context, decision)
  const at = ports.clock.now().toISOString()
  const [now, later] = await Promise.all([delegationsOf(ports, before, at), awayOf(ports, before, at)])
  const isBehind = realignment(before, now, at) !== undefined
  if (isBehind) await realign(context, requestId)
  const request = (isBehind ? await ports.requests.find(requestId) : before) ?? before
  const lapsed = await asking(() => checkingIdentity(() => lapsedOf(context, request, actor.id, at)))
  const others = hasReassigned(request.approvals, actor.id) ? await otherAdmins(context, request, actor.id) : undefined
  // Only a person who can decide learns about the address.
  const isEntitled = decidableBy(request, actor.id, at, lapsed)
  if (isEntitled) await check(request)
  // Only this stage was checked. If others decide it meanwhile, the decision must not count for the next stage.
  const checked = stage ?? openStage(request.approvals)?.stage
  return decide(context, decision, { lapsed, away: later, stage: checked, otherAdmins: others })
}

/** Whether a person represents an approver of the open stage whose right has not lapsed. */
function decidableBy({ approvals }: Request, personId: string, at: string, lapsed: readonly string[]): boolean {
  const stage = openStage(approvals)
  return stage !== undefined && representedBy(stage, personId, at).some(({ id }) => !lapsed.includes(id))
}

/**
 * Returns the approvers that a person can no longer represent, including this person. A person who was an approver only as a
 * member or owner of a group, or as an admin, loses this right with the membership, and so does their delegate. So does the
 * delegate of a person who is blocked or no longer in the directory. Stand-ins after an escalation keep their own right.
 * Does not use the cache of the directory.
 */
export async function lapsedOf(
  { ports, settings }: SystemContext<DecisionPorts>,
  { approvals }: Request,
  personId: string,
  at: string,
): Promise<string[]> {
  const stage = openStage(approvals)
  if (!stage) return []
  const { membership } = stage
  const represented = representedBy(stage, personId, at).map(({ id }) => id)
  const between = (stage.standIns ?? []).flatMap(({ by }) => (by ? [by.id] : []))
  const [gone, unasked] = await Promise.all([
    among(between, async (id) => !(await canDecide(ports, id))),
    membership
      ? among(
          [personId, ...represented, ...between].filter((id) => membership.people.includes(id)),
          async (id) => !(await isStillMember(ports, settings, membership, id)),
        )
      : [],
  ])
  const lapsed = new Set([...gone, ...unasked])
  return represented.filter((id) => !mayDecideFor(stage, lapsed, personId, id))
}

/** Returns the ids for which the check is true, each once. */
async function among(ids: readonly string[], isTrue: (id: string) => Promise<boolean>): Promise<string[]> {
  const all = [...new Set(ids)]
  const answers = await Promise.all(all.map(isTrue))
  return all.filter((_, index) => answers[index])
}

/** Whether a person's account is in the directory and can sign in. */
async function canDecide({ directory }: DecisionPorts, personId: string): Promise<boolean> {
  const found = await directory.person(personId)
  return found !== undefined && !found.isBlocked && !found.unread
}

/**
 * Whether a person may decide for an approver (`approverId`): directly, as a stand-in, or as a delegate in a chain of stand-ins.
 * Nobody in the chain may be in `lapsed`, except managers: their right depends on no membership.
 */
function mayDecideFor(
  stage: ApprovalStage,
  lapsed: ReadonlySet<string>,
  personId: string,
  approverId: string,
  visited: readonly string[] = [],
): boolean {
  if (personId === approverId) return !lapsed.has(approverId)
  const ways = (stage.standIns ?? []).filter(({ person, insteadOf }) => {
    return person.id === personId && insteadOf.includes(approverId) && !visited.includes(personId)
  })
  return ways.some(({ as, by }) =>
    by
      ? mayDecideFor(stage, lapsed, by.id, approverId, [...visited, personId])
      : as === 'manager' || !lapsed.has(personId),
  )
}

/** Whether a person is still a member or owner of the approvers' groups, or an admin. `uncached`: bypasses the cache of one minute. */
async function isStillMember(
  { directory }: DecisionPorts,
  settings: Settings,
  { groups, owned = [], admins = false }: NonNullable<ApprovalStage['membership']>,
  personId: string,
  { uncached }: { readonly uncached: boolean } = { uncached: true },
): Promise<boolean> {
  const allGroups = [...groups, ...(admins ? settings.admins : [])]
  if (admins && settings.admins.includes(personId)) return true
  if (allGroups.length > 0) {
    const now = await directory.groupsOf(personId, { uncached })
    if (allGroups.some((id) => now.has(id))) return true
  }
  const owners = await Promise.all(owned.map((id) => directory.ownersOf(id)))
  return owners.flat().some(({ id }) => id === personId)
}

/** The right that a card needs and its person has lost. */
export type LostRight = 'admin' | 'approver'

type CardOf = Pick<SentCard, 'personId' | 'key'>

/**
 * Returns the right that a card needs and its person has lost; undefined if they may see the card. Calls the directory only for
 * admins and for approvers found through a group. Throws `unavailable` if it does not answer: then the card shows nothing new.
 */
export async function lostRight(
  context: SystemContext<DecisionPorts>,
  request: Request,
  { personId, key }: CardOf,
): Promise<LostRight | undefined> {
  const needs = rightFor(request, personId, key)
  if (needs === 'admin') return (await isAdminStill(context, personId)) ? undefined : needs
  if (needs === 'approver') return (await asking(() => isApproverStill(context, request, personId))) ? undefined : needs
  return undefined
}

/** Returns the right that a card needs; undefined for requesters, whose cards are about their own request. */
function rightFor({ requester, approvals }: Request, personId: string, key: CardKey): LostRight | undefined {
  const { kind } = cardSubject(key)
  if (kind === 'stuck' || kind === 'webhook') return 'admin'
  if (personId === requester.id) return undefined
  if (isForApprover(key)) return 'approver'
  if (kind === 'outcome' || kind === 'late') return 'admin'
  return everAsked(approvals).some(({ id }) => id === personId) ? 'approver' : 'admin'
}

/** Whether a person is an admin now and can sign in. Throws `unavailable`. */
export async function isAdminStill(context: SystemContext<DecisionPorts>, personId: string): Promise<boolean> {
  const { settings } = context
  try {
    return (await actorFor(context, { tenantId: settings.tenantId, id: personId })).isAdmin
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'forbidden') return false
    throw error
  }
}

/** Returns false for people who were approvers only through groups or as admins, and lost all of these before they decided. */
async function isApproverStill(
  { ports, settings }: SystemContext<DecisionPorts>,
  { approvals }: Request,
  personId: string,
): Promise<boolean> {
  const stages = approvals.filter(({ approvers, standIns = [] }) =>
    [...approvers, ...standIns.map(({ person }) => person)].some(({ id }) => id === personId),
  )
  if (stages.length === 0) return true
  for (const { decisions, membership, standIns = [] } of stages) {
    if (decisions.some(({ by }) => by.id === personId) || !membership?.people.includes(personId)) return true
    // The right of a delegate or manager does not depend on their own groups.
    if (standIns.some(({ person, by, as }) => person.id === personId && (by !== undefined || as === 'manager')))
      return true
    if (await isStillMember(ports, settings, membership, personId, { uncached: false })) return true
  }
  return false
}

/**
 * Withdraws a clicked card if its person has lost the right that it needs, so that it gets no more updates. Returns this
 * right.
 */
export async function withdrawCard(
  context: SystemContext<DecisionPorts>,
  { requestId, personId, activityId }: { requestId: string; personId: string; activityId: string },
): Promise<LostRight | undefined> {
  const { ports } = context
  const request = await ports.requests.find(requestId)
  const known = request ? await ports.sentCards.ofRequest(requestId) : []
  const card = known.find((one) => one.personId === personId && one.activityId === activityId)
  if (!request || !card) return undefined
  const lost = await lostRight(context, request, card)
  if (lost) await ports.sentCards.put({ ...card, state: 'withdrawn' })
  return lost
}

/** Runs {@link withdrawCard} for a card of the actor. */
export const withdrawOwnCard = defineUseCase({
  permission: 'request.list',
  input: z.object({ requestId: z.uuid(), activityId: z.string() }),
  handle: (context: Context<DecisionPorts>, card): Promise<LostRight | undefined> =>
    withdrawCard(context, { ...card, personId: context.actor.id }),
})
