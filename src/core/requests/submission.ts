import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { lastDecision } from '../approvals/index.ts'
import {
  type Actor,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  notFound,
  ProvisioningError,
  refuseFields,
} from '../shared/index.ts'
import { snapshot } from '../templates/index.ts'
import {
  awayOf,
  changeRequest,
  entry,
  jobsOfOpenStage,
  jobsOfQueued,
  openStageEntries,
  record,
  refreshCardsOrder,
  withOpenStage,
} from './change.ts'
import { mailboxOf } from './mailbox-plan.ts'
import { isForMailboxPlan, isRecord, type Plan } from './plan.ts'
import type { RequestPorts, SentCard } from './ports.ts'
import { evaluate, type Resource } from './preview.ts'
import { fingerprintOf, refuseRepeat } from './repeats.ts'
import { type BasedOn, type DraftBasis, endings, type Request, transition } from './request.ts'
import { siteOf } from './site-plan.ts'
import { quotaFaults, tooManyOpen } from './template-rules.ts'

interface Submission {
  /** The id that the request will have; submitting the same id again gives the same request. */
  readonly requestId: string
  readonly resource: Resource
  readonly body: unknown
  readonly reason?: string
  readonly channel: Request['channel']
  /** Throws `duplicate-request` if the person has sent an equal body lately. */
  readonly refusesRepeats?: boolean
  /** A request of the same person that failed since its name was somebody else's: it ends when this one is stored. */
  readonly replaces?: string | undefined
  /** An earlier request of the same person that this one takes up again. */
  readonly basedOn?: DraftBasis | undefined
  /** The batch that it is a row of. */
  readonly batch?: { readonly batchId: string; readonly row: string }
  /** The card in chat that becomes the request's status card. */
  readonly statusCard?: Pick<SentCard, 'conversationId' | 'activityId'>
  /** Further writes of the caller, in the same transaction. */
  readonly along?: () => Promise<void>
}

/** How often a derived name is derived again after somebody else took it in the same moment. The last one is unique. */
const triesForAName = 3

/**
 * Accepts a request: checks everything, keeps its name and stores it with its audit entry and its jobs in one
 * transaction. Throws `validation-failed` naming the fields, `name-taken`, `too-many-open-requests` or `unavailable`.
 */
export async function submit(context: Context<RequestPorts>, submission: Submission): Promise<Request> {
  const { ports, settings, actor } = context
  const known = await ports.requests.find(submission.requestId)
  if (known) return own(known, actor)
  const { requestId, resource, body, replaces } = submission
  for (let attempt = 1; ; attempt += 1) {
    if (submission.refusesRepeats) await refuseRepeat(context, requestId, fingerprintOf(resource, body))
    const crowded = attempt === triesForAName
    const evaluation = await evaluate(
      { ports, settings, actor, requestId, replaces, isSubmission: true, crowded },
      resource,
      body,
    )
    if (!evaluation.ok) return refuse(evaluation.faults)
    const { plan } = evaluation
    const wish = { ...plan, reason: reasonFor(plan, submission) }
    const basedOn = await comparedWithBasis(context, submission.basedOn, wish)
    try {
      return await ports.work.transaction(() => store(context, submission, plan, basedOn))
    } catch (error) {
      if (error instanceof AlreadySubmitted) return existing(context, requestId)
      if (!(error instanceof NameLost)) throw error
      // The next attempt finds the name held and derives or suggests another one. The last attempt gives up.
      if (crowded) return refuse([fault(error.pointer, 'name-taken', because('nameLost', { name: error.message }), '')])
    }
  }
}

/**
 * `requestId`: the id that the request will have, so that a repeated call gives the same request. `refusesRepeats`: without
 * such an id an equal body is refused (`duplicate-request`).
 */
const input = z.object({
  body: z.unknown(),
  requestId: z.uuid().default(() => randomUUID()),
  refusesRepeats: z.boolean().default(false),
})

/** Submits a request for a site, as the REST API does. */
export const submitSite = defineUseCase({
  permission: 'request.create',
  input,
  handle: (context: Context<RequestPorts>, order): Promise<Request> =>
    submit(context, { ...order, resource: 'site', channel: 'rest' }),
})

/** Submits a request for a mailbox, as the REST API does. */
export const submitMailbox = defineUseCase({
  permission: 'request.create',
  input,
  handle: (context: Context<RequestPorts>, order): Promise<Request> =>
    submit(context, { ...order, resource: 'mailbox', channel: 'rest' }),
})

/** Thrown inside the transaction: a name of the plan was taken since the plan was made. */
class NameLost extends Error {
  readonly pointer: string
  constructor(name: string, { names }: Plan) {
    super(name)
    this.pointer = names.find((one) => one.name === name)?.pointer ?? ''
  }
}

/** Thrown inside the transaction: the same id was submitted in the same moment, and that one holds. */
class AlreadySubmitted extends Error {}

/** Stores the request of a plan. Throws {@link NameLost} or {@link AlreadySubmitted}, so that nothing is kept. */
async function store(
  context: Context<RequestPorts>,
  submission: Submission,
  plan: Plan,
  basedOn?: BasedOn,
): Promise<Request> {
  const { ports, settings, actor } = context
  const { requestId, statusCard } = submission
  if (submission.replaces) await endReplaced(context, submission.replaces, requestId)
  const [lost] = await ports.reservations.reserve(
    actor.tenantId,
    plan.names.map(({ name }) => name),
    requestId,
  )
  if (lost !== undefined) throw new NameLost(lost, plan)
  const at = ports.clock.now().toISOString()
  const resource = isForMailboxPlan(plan) ? mailboxOf(plan, ports) : siteOf(plan, actor.id)
  const draft = { ...newRequest(plan, actor, submission, at), ...resource, ...(basedOn && { basedOn }) }
  const request = withOpenStage(draft, settings, await awayOf(ports, draft, at), at)
  const jobs = request.status === 'queued' ? jobsOfQueued(request, settings) : jobsOfOpenStage(request)
  if (statusCard) {
    await ports.sentCards.put({ requestId, personId: actor.id, key: 'status', state: 'sent', ...statusCard })
    // The answer to the click brings the card up to date, unless it is lost.
    jobs.push(refreshCardsOrder(request, 'status'))
  }
  const audit = [entry(request, actor, request.status, timelineData(request, submission)), ...openStageEntries(request)]
  await record(context, { request, audit, jobs })
  await submission.along?.()
  // Last, since all submissions of the tenant wait for each other from here on.
  const stored = await ports.requests.insert(request)
  if (!stored) throw new AlreadySubmitted()
  // Of equal bodies that came at once, the one that got here first holds.
  if (submission.refusesRepeats && stored.fingerprint) await refuseRepeat(context, requestId, stored.fingerprint)
  await refuseTooMany(context)
  // Checked again under the lock of the number, so that no other request comes between. The replaced request has ended.
  const quota = await quotaFaults({ ports, actor, requestId, replaces: undefined }, plan.template)
  if (quota.length > 0) refuse(quota)
  return stored
}

/** What the timeline says of a new request: where it comes from, and what of its policy people may wonder about. */
function timelineData(
  { basedOn, approvals, policy }: Request,
  { batch }: Submission,
): { data?: Record<string, unknown> } {
  const toAdmins = approvals.flatMap(({ stage, resolvedTo, resolvedFor }) =>
    resolvedTo ? [{ stage, resolvedTo, resolvedFor }] : [],
  )
  const { requestId, reference, how, changed } = basedOn ?? {}
  const data = {
    ...(basedOn && { basedOn: { requestId, reference, how, changed } }),
    ...(toAdmins.length > 0 && { approvals: toAdmins }),
    ...(policy && { policy }),
    ...(batch && { batch }),
  }
  return Object.keys(data).length > 0 ? { data } : {}
}

/** Ends the failed request that a new one replaces. Leaves a request unchanged that is no longer failed. */
async function endReplaced(context: Context<RequestPorts>, replaced: string, by: string) {
  const { actor } = context
  await changeRequest(context, replaced, (request, at) => {
    if (request.status !== 'failed' || request.requester.id !== actor.id) return undefined
    const next = { ...transition(request, 'cancelled', at), cancelledBy: asPerson(actor) }
    return { request: next, audit: [entry(next, actor, 'cancelled', { data: { replacedBy: by } })] }
  })
}

/** What every request has, whatever it asks for. */
function newRequest(plan: Plan, actor: Actor, submission: Submission, at: string) {
  const { approvals, policy } = plan
  const status = approvals.length > 0 ? ('pendingApproval' as const) : ('queued' as const)
  return {
    v: 1 as const,
    requestId: submission.requestId,
    // Given by the store.
    number: 0,
    tenantId: actor.tenantId,
    template: snapshot(plan.template),
    ...(plan.typedName !== undefined && { typedName: plan.typedName }),
    around: plan.around,
    status,
    requester: asPerson(actor),
    ...(plan.guests && { guests: [...plan.guests] }),
    channel: submission.channel,
    ...(submission.channel === 'rest' && { fingerprint: fingerprintOf(submission.resource, submission.body) }),
    reason: reasonFor(plan, submission),
    approvals: [...approvals],
    ...(policy && { policy: [...policy] }),
    checks: [],
    problem: null,
    cancelledBy: null,
    cancelComment: '',
    followUp: { state: 'none' as const },
    submittedAt: at,
    updatedAt: at,
    queuedAt: status === 'queued' ? at : null,
    startedAt: null,
    finishedAt: null,
    version: 1,
  }
}

/** The reason from the body; without one, the reason of the form. */
const reasonFor = (plan: Plan, { reason = '' }: Submission): string => plan.reason || reason

/** Counts the new one too. The limit is for people: an application has many to ask for. */
async function refuseTooMany({ ports, settings, actor }: Context<RequestPorts>): Promise<void> {
  const limit = settings.openRequestsPerPerson
  if (limit === 0 || actor.clientId !== undefined) return
  if ((await ports.requests.countOpen(actor.tenantId, actor.id)) <= limit) return
  throw new ProvisioningError('too-many-open-requests', tooManyOpen(limit))
}

async function existing({ ports, actor }: Context<RequestPorts>, requestId: string): Promise<Request> {
  const request = await ports.requests.find(requestId)
  if (!request) throw new Error(`request ${requestId} was neither inserted nor found`)
  return own(request, actor)
}

function own(request: Request, actor: Actor): Request {
  if (request.requester.id !== actor.id || request.tenantId !== actor.tenantId) throw notFound()
  return request
}

/** A taken name alone is a conflict with what exists (409); anything else is the body's fault (422). */
const refuse = (faults: readonly Fault[]): never =>
  refuseFields(faults, faults.every(({ code }) => code === 'name-taken') ? 'name-taken' : 'validation-failed')

/** What is asked for, whether it is a request already or still a plan. */
export type Wish = Pick<Request, 'details' | 'reason' | 'typedName'>

/** Compares a wish with the earlier request of the same person. Undefined if that request no longer exists. */
export async function comparedWithBasis(
  { ports, actor }: Context<RequestPorts>,
  basis: DraftBasis | undefined,
  wish: Wish,
): Promise<BasedOn | undefined> {
  const earlier = basis && (await ports.requests.find(basis.requestId))
  if (!earlier || earlier.requester.id !== actor.id || earlier.tenantId !== actor.tenantId) return undefined
  const ended = z.enum(endings).safeParse(earlier.status).data
  const changed = changedInputs(earlier, wish)
  return { ...basis, changed, ...(ended && { ended: { status: ended, ...quoteOf(earlier) } }) }
}

/** Who ended it who was not the requester, and what they wrote. */
function quoteOf({ status, approvals, cancelledBy, cancelComment, requester }: Request) {
  const decision = status === 'rejected' ? lastDecision(approvals) : undefined
  const by = decision?.by ?? (status === 'cancelled' && cancelledBy?.id !== requester.id ? cancelledBy : undefined)
  const comment = decision?.comment ?? (by ? cancelComment : '')
  return { ...(by && { by }), ...(comment !== '' && { comment }) }
}

/** Ids of the inputs in which two wishes differ, as the forms name them: `owners`, `metadata.costCentre`. */
function changedInputs(before: Wish, after: Wish): string[] {
  const [was, is] = [wishOf(before), wishOf(after)]
  const inputs = new Set([...was.keys(), ...is.keys()])
  return [...inputs].filter((input) => (was.get(input) ?? '') !== (is.get(input) ?? ''))
}

/** A wish by its inputs, so that what means the same is the same text, in whatever order it was given. */
function wishOf({ details, reason, typedName }: Wish): Map<string, string> {
  const wish = new Map<string, string>()
  // A name that the naming policy made of another one is compared as it was typed.
  const typed = { ...details, displayName: typedName ?? details.displayName, reason }
  for (const [field, value] of Object.entries(typed)) {
    if (field === 'permissions' && isRecord(value))
      for (const [level, ids] of byLevel(value)) wish.set(`${field}.${level}`, textOf(ids))
    else if (isRecord(value))
      for (const [key, inner] of Object.entries(value)) wish.set(`${field}.${key}`, textOf(inner))
    else wish.set(field, field === 'autoMapping' ? textOf(value === false ? 'off' : '') : textOf(value))
  }
  return wish
}

function byLevel(permissions: Record<string, unknown>): Map<string, string[]> {
  const levels = new Map<string, string[]>()
  for (const [id, level] of Object.entries(permissions))
    levels.set(String(level), [...(levels.get(String(level)) ?? []), id])
  return levels
}

/** A box that nobody ticked is as good as none. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).toSorted().join('\n')
  return value === undefined || value === null || value === false ? '' : String(value)
}
