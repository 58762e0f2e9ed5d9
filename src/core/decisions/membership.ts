import { z } from 'zod'
import { type ApprovalStage, everAsked, openStage, voicesOf } from '../approvals/index.ts'
import { auditRefusals, awayOf, type Request, type SentCard } from '../requests/index.ts'
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
import { commented, type Decide, recordApproval, recordRejection } from './decision.ts'
import { delegationsOf, realign, realignment } from './delegation.ts'
import { hasReassigned, otherAdmins } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'

/** `stage`: the one that the card showed. A decision of an earlier stage decides no later one. */
const input = commented.extend({ stage: z.int().optional() })

/** Approves, by somebody who is still in the group that was asked, owns it, or is an admin. A refusal is written down. */
export const approve = defineUseCase({
  permission: 'request.decide',
  input,
  handle: (context: Context<DecisionPorts>, decision) =>
    auditRefusals(context, decision.requestId, 'approve', () => whileMember(context, decision, recordApproval)),
})

/** Rejects, by the same people. The comment is required. A refusal is written down. */
export const reject = defineUseCase({
  permission: 'request.decide',
  input,
  handle: (context: Context<DecisionPorts>, decision) =>
    auditRefusals(context, decision.requestId, 'reject', () => whileMember(context, decision, recordRejection)),
})

/**
 * The directory is asked before the decision, since nothing is asked in a transaction. Who is away, and who is back, counts at
 * the click, whatever became of the job that writes it down.
 */
async function whileMember(
  context: Context<DecisionPorts>,
  { stage, ...decision }: z.output<typeof input>,
  decide: Decide,
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
  return decide(context, decision, { lapsed, away: later, stage, otherAdmins: others })
}

/**
 * Those for whom somebody would decide, themselves among them, but does not: whoever was asked as a member or owner of a group, or
 * as an admin, and is none any more, speaks for nobody, nor does their delegate; and the delegate of somebody who is gone, or
 * blocked, for nobody either. Who was asked since an approver did not decide has a word of their own. The directory is asked anew.
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
  const voices = voicesOf(stage, personId, at).map(({ id }) => id)
  const between = (stage.standIns ?? []).flatMap(({ by }) => (by ? [by.id] : []))
  const [gone, unasked] = await Promise.all([
    among(between, async (id) => !(await canDecide(ports, id))),
    membership
      ? among(
          [personId, ...voices, ...between].filter((id) => membership.people.includes(id)),
          async (id) => !(await isStillAsked(ports, settings, membership, id)),
        )
      : [],
  ])
  const lapsed = new Set([...gone, ...unasked])
  return voices.filter((id) => !speaksFor(stage, lapsed, personId, id))
}

/** Those of some ids of which something is true. */
async function among(ids: readonly string[], isTrue: (id: string) => Promise<boolean>): Promise<string[]> {
  const all = [...new Set(ids)]
  const answers = await Promise.all(all.map(isTrue))
  return all.filter((_, index) => answers[index])
}

/** Whether the directory still says that somebody has an account that can sign in. */
async function canDecide({ directory }: DecisionPorts, personId: string): Promise<boolean> {
  const found = await directory.person(personId)
  return found !== undefined && !found.isBlocked && !found.unread
}

/**
 * Whether there is a way from an approver to whoever would decide for them: asked in their place, or chosen by somebody who was,
 * none of them lapsed. A delegate was chosen by who is away, and a manager for being one, whatever they are a member of.
 */
function speaksFor(
  stage: ApprovalStage,
  lapsed: ReadonlySet<string>,
  personId: string,
  voice: string,
  visited: readonly string[] = [],
): boolean {
  if (personId === voice) return !lapsed.has(voice)
  const ways = (stage.standIns ?? []).filter(({ person, insteadOf }) => {
    return person.id === personId && insteadOf.includes(voice) && !visited.includes(personId)
  })
  return ways.some(({ as, by }) =>
    by ? speaksFor(stage, lapsed, by.id, voice, [...visited, personId]) : as === 'manager' || !lapsed.has(personId),
  )
}

/** Whether somebody is still in one of the groups that were asked, owns one, or is an admin. `anew`: not from the cache of a minute. */
async function isStillAsked(
  { directory }: DecisionPorts,
  settings: Settings,
  { groups, owned = [], admins = false }: NonNullable<ApprovalStage['membership']>,
  personId: string,
  { anew }: { readonly anew: boolean } = { anew: true },
): Promise<boolean> {
  const allGroups = [...groups, ...(admins ? settings.admins : [])]
  if (admins && settings.admins.includes(personId)) return true
  if (allGroups.length > 0) {
    const now = await directory.groupsOf(personId, { anew })
    if (allGroups.some((id) => now.has(id))) return true
  }
  const owners = await Promise.all(owned.map((id) => directory.ownersOf(id)))
  return owners.flat().some(({ id }) => id === personId)
}

/** What a card needed its person to be, and they no longer are. */
export type LostRight = 'admin' | 'approver'

type CardOf = Pick<SentCard, 'personId' | 'key'>

/**
 * The right that a card of a request needs and its person has lost; undefined if they may see the card. The directory is asked
 * only about admins, and about approvers who were found through a group. Throws `unavailable` while it does not answer: then
 * nobody knows, and nothing fresh is shown.
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

/** What a card needs its person to be; undefined for requesters, whose cards are about their own request. */
function rightFor({ requester, approvals }: Request, personId: string, key: CardKey): LostRight | undefined {
  const { kind } = cardSubject(key)
  if (kind === 'stuck' || kind === 'webhook') return 'admin'
  if (personId === requester.id) return undefined
  if (isForApprover(key)) return 'approver'
  if (kind === 'outcome' || kind === 'late') return 'admin'
  return everAsked(approvals).some(({ id }) => id === personId) ? 'approver' : 'admin'
}

/** Whether somebody is an admin now: an account of our own that can sign in. Throws `unavailable`. */
export async function isAdminStill(context: SystemContext<DecisionPorts>, personId: string): Promise<boolean> {
  const { settings } = context
  try {
    return (await actorFor(context, { tenantId: settings.tenantId, id: personId })).isAdmin
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'forbidden') return false
    throw error
  }
}

/** False for people who were asked only through groups, or as admins, and who left all of these before they decided. */
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
    // A delegate or manager decides for somebody else, whatever groups they are in themselves.
    if (standIns.some(({ person, by, as }) => person.id === personId && (by !== undefined || as === 'manager')))
      return true
    if (await isStillAsked(ports, settings, membership, personId, { anew: false })) return true
  }
  return false
}

/**
 * Takes a card that was clicked off the list of those kept up to date, if its person has lost the right that it needed; then
 * says which.
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

/** The same for a card of the actor. */
export const withdrawOwnCard = defineUseCase({
  permission: 'request.list',
  input: z.object({ requestId: z.uuid(), activityId: z.string() }),
  handle: (context: Context<DecisionPorts>, card): Promise<LostRight | undefined> =>
    withdrawCard(context, { ...card, personId: context.actor.id }),
})
