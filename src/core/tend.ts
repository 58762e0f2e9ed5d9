import { type ApprovalStage, waitingFor } from './approval-stage.ts'
import { type Due, dueOf, nextLook, outOfReach, reachableBy, waitingStage, withStage } from './approval-time.ts'
import { asking } from './approvers.ts'
import { askApprovers, type Change, changeRequest, entry, reachLook, stageLook, tellRequester } from './change.ts'
import { delegationsOf, realignment } from './delegation.ts'
import { type AuditEntry, type JobOrder, type JobPayload, jobId, system } from './events.ts'
import type { Ports, Settings } from './ports.ts'
import { type Request, transition } from './request.ts'
import type { Person } from './resource.ts'
import { type Candidate, candidatesFor, withCandidates } from './stand-ins.ts'

/** Why a person without a chat cannot be told. */
const noChat = 'NoChat'

/**
 * Looks after a stage that waits: reminds, asks others in the place of those who do not decide or cannot be told, warns, and in the
 * end expires the request; then orders the next look. All that was missed is made up for by the look that comes. Doing
 * it twice is doing it once.
 */
export async function tendStage(ports: Ports, settings: Settings, order: JobPayload<'tend-approval'>): Promise<void> {
  const { requestId, stage: number, look } = order
  const request = await ports.requests.find(requestId)
  const stage = waitingStage(request, number)
  if (!request || !stage) return
  const at = ports.clock.now().toISOString()
  const due = dueOf(stage, at)
  const unheard = due.reach ? await withoutChat(ports, request, stage, at) : []
  const known = withUnreachable(stage, unheard, at)
  const silent = due.expire ? [] : due.escalate ? waitingFor([known]) : outOfReach(known)
  // Stand-ins do not need stand-ins of their own, but those they stand in for do.
  const voiceless = known.approvers.filter(({ id }) => silent.some((one) => one.id === id))
  const candidates =
    voiceless.length > 0 ? await asking(() => candidatesFor(ports, settings, request, known, voiceless)) : []
  const away = await delegationsOf(ports, request, at)
  await ports.work.transaction(async () => {
    const now = await ports.requests.lock(requestId)
    const open = waitingStage(now, number)
    if (!now || !open) return
    const tended = tend(now, open, { due: dueOf(open, at), unheard, candidates, at })
    if (tended) await changeRequest(ports, settings, requestId, () => tended)
    const aligned = realignment(tended?.request ?? now, away, at)
    if (aligned) await changeRequest(ports, settings, requestId, () => aligned)
    const after = waitingStage(tended?.request ?? now, number)
    if (after && look !== undefined) await ports.jobs.enqueue(stageLook(now, after, nextLook(after, at), look + 1))
  })
}

interface Facts {
  readonly due: Due
  readonly unheard: readonly Person[]
  readonly candidates: readonly Candidate[]
  readonly at: string
}

/** What a look comes to; undefined when nothing is to be done. Pure. */
export function tend(
  request: Request,
  stage: ApprovalStage,
  { due, unheard, candidates, at }: Facts,
): Change | undefined {
  if (due.expire) {
    const ended = transition(request, 'expired', at)
    const data = { stage: stage.stage, waitedFor: waitingFor([stage]) }
    return { request: ended, audit: [entry(ended, system, 'expired', { data })], jobs: [tellRequester(ended)] }
  }
  const reached = withUnreachable(stage, unheard, at)
  const asked = withCandidates(reached, candidates, due.escalate ? 'escalated' : 'unreachable', at)
  const next: ApprovalStage = {
    ...asked,
    ...(due.escalate && { escalatedAt: at }),
    ...(due.warn && { warnedAt: at }),
    ...(due.remind && { reminders: [...(asked.reminders ?? []), { at, by: null }] }),
  }
  const after = { ...withStage(request, next), updatedAt: at }
  const told = toldOf(after, stage, next, candidates, due)
  if (told.length === 0) return undefined
  const jobs = [
    ...askApprovers(after),
    ...(candidates.length > 0 ? reachLook(after, next, at) : []),
    ...(due.remind || due.warn ? remindApprovers(after, next) : []),
    ...(due.warn ? [warnRequester(after, next)] : []),
    ...(reached === stage ? [] : [tellAdminsOfUnreachable(after)]),
  ]
  return { request: after, audit: told, jobs }
}

/** One line for each thing that was done. */
function toldOf(
  request: Request,
  before: ApprovalStage,
  { stage, unreachable = [] }: ApprovalStage,
  candidates: readonly Candidate[],
  due: Due,
): AuditEntry[] {
  const said = (action: string, data: Record<string, unknown>): AuditEntry =>
    entry(request, system, action, { data: { stage, ...data } })
  const people = waitingFor([before])
  const known = new Set(before.unreachable?.map(({ person }) => person.id))
  const lost = unreachable.filter(({ person }) => !known.has(person.id))
  const asked = [...new Map(candidates.map(({ person, as }) => [person.id, { ...person, as }])).values()]
  return [
    ...lost.map(({ person, why }) => said('not-told', { person, card: `approval:${stage}`, why })),
    ...(due.escalate || asked.length > 0
      ? [said('escalated', { why: due.escalate ? 'time' : 'unreachable', to: asked })]
      : []),
    ...(due.remind ? [said('reminded', { people })] : []),
    ...(due.warn ? [said('warned', { people, expiresAt: before.times?.expiresAt })] : []),
  ]
}

/** Those asked who have no chat with the bot by now, or none that is open, and of whom it was not noted. */
async function withoutChat(ports: Ports, request: Request, stage: ApprovalStage, at: string): Promise<Person[]> {
  const known = new Set(stage.unreachable?.map(({ person }) => person.id))
  const isDue = ({ id }: Person): boolean => (reachableBy(stage, id) ?? at) <= at
  const asked = waitingFor([stage]).filter((person) => !known.has(person.id) && isDue(person))
  const chats = await Promise.all(asked.map(({ id }) => ports.conversations.ofPerson(request.tenantId, id)))
  return asked.filter((_, index) => chats[index] === undefined || chats[index].closed !== undefined)
}

/** A stage that knows who cannot be told; the same value when it did. */
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

/** A card that reminds, for each whose decision is waited for. It can be decided on like the first one. */
export function remindApprovers({ requestId, approvals }: Request, stage: ApprovalStage): JobOrder[] {
  const count = (stage.reminders?.length ?? 0) + (stage.warnedAt === undefined ? 0 : 1)
  const card = `reminder:${stage.stage}:${count}` as const
  return waitingFor(approvals).map(({ id }) => ({
    name: 'notify',
    payload: { v: 1, requestId, personId: id, card },
    id: jobId('notify', requestId, id, card),
  }))
}

function warnRequester({ requestId, requester }: Request, { stage }: ApprovalStage): JobOrder {
  const card = `warning:${stage}` as const
  return {
    name: 'notify',
    payload: { v: 1, requestId, personId: requester.id, card },
    id: jobId('notify', requestId, requester.id, card),
  }
}

const tellAdminsOfUnreachable = ({ requestId }: Request): JobOrder => ({
  name: 'notify-admins',
  payload: { v: 1, requestId, card: 'status' },
  id: jobId('unreachable', requestId),
})
