import { z } from 'zod'
import { everAsked } from '../approvals/index.ts'
import type { Request, SentCard } from '../requests/index.ts'
import {
  actorFor,
  asking,
  type CardKey,
  type Context,
  cardSubject,
  defineUseCase,
  isForApprover,
  ProvisioningError,
  type SystemContext,
} from '../shared/index.ts'
import { isStillAsked } from './membership.ts'
import type { DecisionPorts } from './ports.ts'

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
  const asked = approvals.filter(({ approvers, standIns = [] }) =>
    [...approvers, ...standIns.map(({ person }) => person)].some(({ id }) => id === personId),
  )
  if (asked.length === 0) return true
  for (const { decisions, membership, standIns = [] } of asked) {
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
