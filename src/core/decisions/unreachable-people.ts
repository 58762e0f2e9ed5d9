import { type ApprovalStage, openStage, withStage } from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import { changeRequest, entry, type Request } from '../requests/index.ts'
import {
  type CardKey,
  isForApprover,
  type JobOrder,
  jobId,
  type Person,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import type { ChatRefusal, Conversation, DecisionPorts } from './ports.ts'

/** The audit action for a card that does not reach its person; `data` is `{person, card, why}`. */
export const undelivered = 'not-told'

/**
 * Records that a person's chat rejects a card. The chat gets no more cards until the person comes back, and the request's
 * timeline names the person and the card. For an approver, the stage records it too, the admins are notified once for each
 * request, and the timers look for a stand-in at once. A repeat has no effect.
 */
export async function recordUndelivered(
  context: SystemContext<DecisionPorts>,
  request: Request,
  conversation: Conversation,
  key: CardKey,
  { why, closed }: Pick<ChatRefusal, 'why' | 'closed'>,
): Promise<void> {
  const { ports } = context
  const { requestId } = request
  const { personId } = conversation
  const at = ports.clock.now()
  await ports.work.transaction(async () => {
    if (closed) await ports.conversations.close(conversation, why, at)
    await ports.sentCards.remove(requestId, personId, key)
    const person = personIn(request, personId)
    if (!person || (await isNoted(ports, requestId, personId, key))) return
    const data = { person, card: key, why }
    if (isForApprover(key) && (await noteApprover(context, request, person, data))) return
    const line = entry({ ...request, updatedAt: at.toISOString() }, system, undelivered, { data })
    await ports.audit.append([line], { version: request.version })
  })
}

/** True if the stage waits for this person. Then the stage records that they are unreachable, and the jobs are ordered. */
async function noteApprover(
  context: SystemContext<DecisionPorts>,
  { requestId }: Request,
  person: Person,
  data: { card: CardKey; why: string },
): Promise<boolean> {
  let isNoted = false
  await changeRequest(context, requestId, (request, at) => {
    const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    const next = stage && withUnreachable(stage, [person], at, data.why)
    if (!stage || !next || next === stage) return undefined
    isNoted = true
    const changed = { ...withStage(request, next), updatedAt: at }
    const line = entry(changed, system, undelivered, { data: { ...data, person, stage: stage.stage } })
    const jobs: JobOrder[] = [
      { name: 'notify-admins', payload: { v: 1, requestId, card: 'status' }, id: jobId('unreachable', requestId) },
      {
        name: 'tend-approval',
        payload: { v: 1, requestId, stage: stage.stage },
        // A person can become reachable and unreachable again.
        id: jobId('tend-approval', requestId, stage.stage, person.id, at),
      },
    ]
    return { request: changed, audit: [line], jobs }
  })
  return isNoted
}

/** Removes somebody from a stage's unreachable people: the card has reached them. */
export async function reached(
  context: SystemContext<DecisionPorts>,
  request: Request,
  personId: string,
): Promise<void> {
  const isLost = (one: Request): boolean =>
    openStage(one.approvals)?.unreachable?.some(({ person }) => person.id === personId) ?? false
  if (request.status !== 'pendingApproval' || !isLost(request)) return
  await changeRequest(context, request.requestId, (now, at) => {
    const stage = openStage(now.approvals)
    const person = stage?.unreachable?.find((one) => one.person.id === personId)?.person
    if (now.status !== 'pendingApproval' || !stage || !person) return undefined
    const unreachable = stage.unreachable?.filter((one) => one.person.id !== personId) ?? []
    const changed = { ...withStage(now, { ...stage, unreachable }), updatedAt: at }
    return { request: changed, audit: [entry(changed, system, 'reached', { data: { stage: stage.stage, person } })] }
  })
}

/**
 * Returns the requester, an approver or a stand-in; undefined for an admin without a role in the request: only the log names
 * them.
 */
function personIn({ requester, approvals }: Request, id: string): Person | undefined {
  const standIns = approvals.flatMap((stage) => stage.standIns ?? []).map(({ person }) => person)
  const people = [requester, ...approvals.flatMap(({ approvers }) => approvers), ...standIns]
  const person = people.find((one) => one.id === id)
  return person && { id, displayName: person.displayName, userPrincipalName: person.userPrincipalName }
}

async function isNoted(ports: DecisionPorts, requestId: string, personId: string, key: CardKey): Promise<boolean> {
  const timeline = await ports.audit.timeline(requestId)
  return timeline.some(({ action, data }) => {
    const person = data?.['person']
    const sameCard = action === undelivered && data?.['card'] === key
    return sameCard && typeof person === 'object' && person !== null && 'id' in person && person.id === personId
  })
}

/** Why a person without a chat cannot be notified. */
const noChat = 'NoChat'

/** A stage with more unreachable people; the same value if it has them already. */
export function withUnreachable(
  stage: ApprovalStage,
  people: readonly Person[],
  at: string,
  why: string = noChat,
): ApprovalStage {
  const known = new Set(stage.unreachable?.map(({ person }) => person.id))
  const added = people.filter(({ id }) => !known.has(id)).map((person) => ({ person, why, at }))
  return added.length === 0 ? stage : { ...stage, unreachable: [...(stage.unreachable ?? []), ...added] }
}

/** Used until the person's first activity, which contains their language and time zone. */
const unknownPlace = { locale: 'en', timeZone: 'UTC' }

/**
 * Returns a person's chat, open or closed; undefined: there is no chat. A chat that only Microsoft 365 knows (a setup policy
 * installed the app before the service ran, or the store was lost) is stored, and missed cards are ordered. `install`:
 * installs the app if the person does not have it. Throws a retryable `TenantError` if Microsoft Graph does not answer.
 */
export async function chatOf(
  { ports }: SystemContext<DecisionPorts>,
  tenantId: string,
  personId: string,
  how = { install: false },
): Promise<Conversation | undefined> {
  const known = await ports.conversations.ofPerson(tenantId, personId)
  if (known) return known
  const conversationId = await ports.tenant.findChat(personId, how)
  if (conversationId === undefined) return undefined
  await ports.work.transaction(async () => {
    const isNew = await ports.conversations.add({
      tenantId,
      personId,
      conversationId,
      reference: null,
      ...unknownPlace,
    })
    if (isNew) await ports.jobs.enqueue([{ name: 'catch-up', payload: { v: 1, tenantId, personId } }])
  })
  return ports.conversations.ofPerson(tenantId, personId)
}

/** Returns a person's chat; undefined also if Microsoft Graph does not answer. Does not install the app. */
export async function chatIfFound(
  context: SystemContext<DecisionPorts>,
  tenantId: string,
  personId: string,
): Promise<Conversation | undefined> {
  return chatOf(context, tenantId, personId).catch((error: unknown) => {
    if (error instanceof TenantError && error.retryable) return undefined
    throw error
  })
}
