import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Actor,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  inAdvance,
  notFound,
  ProvisioningError,
  refuseFields,
} from '../shared/index.ts'
import { snapshot } from '../templates/index.ts'
import { comparedWithBasis } from './basis.ts'
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
import { isForMailboxPlan, type Plan } from './plan.ts'
import { AlreadySubmitted, type RequestPorts, type SentCard } from './ports.ts'
import { evaluate, namedTemplate, type Resource } from './preview.ts'
import { fingerprintOf, refuseRepeat } from './repeats.ts'
import { type BasedOn, type DraftBasis, type Request, transition } from './request.ts'
import { siteOf } from './site-plan.ts'
import { openFaults, quotaFaults } from './template-rules.ts'

interface Submission {
  /** The id of the new request. A second submission with the same id returns the same request. */
  readonly requestId: string
  readonly resource: Resource
  readonly body: unknown
  readonly reason?: string
  readonly channel: Request['channel']
  /** Whether an equal body that the person sent recently throws `duplicate-request`. */
  readonly refusesRepeats?: boolean
  /** A failed request of the same person whose name was taken. It ends when this one is stored. */
  readonly replaces?: string | undefined
  /** The earlier request of the same person that this one is based on. */
  readonly basedOn?: DraftBasis | undefined
  /** The batch and row that the request comes from. */
  readonly batch?: { readonly batchId: string; readonly row: string }
  /** The card in chat that becomes the request's status card. */
  readonly statusCard?: Pick<SentCard, 'conversationId' | 'activityId'>
  /** Further writes of the caller, in the same transaction. */
  readonly alsoWrite?: () => Promise<void>
}

/** The number of attempts to derive a name if other requests take names at the same time. The last name is unique. */
const triesForAName = 3

/**
 * Accepts a request: checks the body, holds the name and stores the request with its audit entry and jobs in one transaction.
 * Throws `validation-failed` with the fields, `name-taken`, `too-many-open-requests` or `unavailable`.
 */
export async function submit(context: Context<RequestPorts>, submission: Submission): Promise<Request> {
  const { ports, settings, actor } = context
  const { requestId, resource, body, replaces } = submission
  const isNew = async () =>
    submission.refusesRepeats && (await refuseRepeat(context, requestId, fingerprintOf(resource, body)))
  // A known request is returned even if an equal body was sent too. A server gets these reads in one round trip.
  const checked = inAdvance(isNew())
  const named = inAdvance(namedTemplate(context, body))
  const known = await ports.requests.find(requestId)
  if (known) return own(known, actor)
  for (let attempt = 1; ; attempt += 1) {
    await (attempt === 1 ? checked : isNew())
    const crowded = attempt === triesForAName
    const template = attempt === 1 ? await named : undefined
    const evaluation = await evaluate(
      { ports, settings, actor, requestId, replaces, isSubmission: true, crowded, ...(template && { template }) },
      resource,
      body,
    )
    if (!evaluation.ok) return refuse(evaluation.faults)
    const { plan } = evaluation
    const wish = { ...plan, reason: reasonFor(plan, submission) }
    const basedOn = await comparedWithBasis(context, submission.basedOn, wish)
    try {
      return await ports.work.endingWith(() => store(context, submission, plan, basedOn))
    } catch (error) {
      if (error instanceof AlreadySubmitted) return existing(context, requestId)
      if (!(error instanceof NameLost)) throw error
      // The next attempt finds the name taken, and derives or suggests another one. The last attempt gives up.
      if (crowded) return refuse([fault(error.pointer, 'name-taken', because('nameLost', { name: error.message }), '')])
    }
  }
}

/**
 * `requestId`: the id of the new request; a repeated call with it returns the same request. `refusesRepeats`: refuses an equal
 * body (`duplicate-request`), for calls without such an id.
 */
const input = z.object({
  body: z.unknown(),
  requestId: z.uuid().default(() => randomUUID()),
  refusesRepeats: z.boolean().default(false),
})

/** Submits a request for a site by REST. */
export const submitSite = defineUseCase({
  permission: 'request.create',
  input,
  handle: (context: Context<RequestPorts>, order): Promise<Request> =>
    submit(context, { ...order, resource: 'site', channel: 'rest' }),
})

/** Submits a request for a mailbox by REST. */
export const submitMailbox = defineUseCase({
  permission: 'request.create',
  input,
  handle: (context: Context<RequestPorts>, order): Promise<Request> =>
    submit(context, { ...order, resource: 'mailbox', channel: 'rest' }),
})

/** Thrown inside the transaction: a name of the plan has been taken since the check. */
class NameLost extends Error {
  readonly pointer: string
  constructor(name: string, { names }: Plan) {
    super(name)
    this.pointer = names.find((one) => one.name === name)?.pointer ?? ''
  }
}

/**
 * Writes everything about the request of a plan, and returns the function that stores the request itself. Throws {@link NameLost}
 * to roll back.
 */
async function store(
  context: Context<RequestPorts>,
  submission: Submission,
  plan: Plan,
  basedOn?: BasedOn,
): Promise<() => Promise<Request>> {
  const { ports, settings, actor } = context
  const { requestId, statusCard } = submission
  if (submission.replaces) await endReplaced(context, submission.replaces, requestId)
  const at = ports.clock.now().toISOString()
  const resource = isForMailboxPlan(plan) ? mailboxOf(plan, ports) : siteOf(plan, actor.id)
  const draft = { ...newRequest(plan, actor, submission, at), ...resource, ...(basedOn && { basedOn }) }
  const names = plan.names.map(({ name }) => name)
  const reserved = ports.reservations.reserve(actor.tenantId, names, requestId)
  const checked = inAdvance(checkAgain(context, submission, draft, plan))
  const [[lost], away] = await Promise.all([reserved, awayOf(ports, draft, at)])
  if (lost !== undefined) throw new NameLost(lost, plan)
  await checked
  const request = withOpenStage(draft, settings, away, at)
  const jobs = request.status === 'queued' ? jobsOfQueued(request, settings) : jobsOfOpenStage(request)
  if (statusCard) {
    await ports.sentCards.put({ requestId, personId: actor.id, key: 'status', state: 'sent', ...statusCard })
    // The answer to the click updates the card. This job does it if the answer is lost.
    jobs.push(refreshCardsOrder(request, 'status'))
  }
  const audit = [entry(request, actor, request.status, timelineData(request, submission)), ...openStageEntries(request)]
  await Promise.all([record(context, { request, audit, jobs }), submission.alsoWrite?.()])
  // All other submissions of the tenant wait from this statement to the commit.
  return () => ports.requests.insert(request)
}

/**
 * Checks again while no other submission that counts for the same limits can be stored: of concurrent equal bodies, the first one
 * is accepted. A server gets these statements together with the first ones of the transaction.
 */
async function checkAgain(
  context: Context<RequestPorts>,
  { refusesRepeats, requestId, batch }: Submission,
  { fingerprint = '', status }: Pick<Request, 'fingerprint' | 'status'>,
  { template }: Plan,
): Promise<void> {
  const { ports, settings, actor } = context
  const { openPerPerson, resources } = template.quota
  const isLimited = settings.openRequestsPerPerson > 0 || openPerPerson !== undefined
  const held = ports.work.hold([
    // Applications have no limit of open requests.
    ...(isLimited && actor.clientId === undefined ? [`open requests of ${actor.id}`] : []),
    ...(resources === undefined ? [] : [`resources of ${template.id}`]),
    ...(refusesRepeats ? [`requests of ${actor.id} with ${fingerprint}`] : []),
  ])
  // The pending requests of a batch count as one.
  const but = status === 'pendingApproval' ? batch?.batchId : undefined
  const [, quota, open] = await Promise.all([
    held,
    // The replaced request has ended.
    quotaFaults({ ports, actor, requestId, replaces: undefined }, template),
    openFaults(ports, settings, actor, but),
    refusesRepeats && refuseRepeat(context, requestId, fingerprint),
  ])
  if (quota.length > 0) refuse(quota)
  if (open.length === 0) return
  // Another call with the same id may have stored the request that reached the limit.
  if (await ports.requests.find(requestId)) throw new AlreadySubmitted()
  for (const { reason } of open) throw new ProvisioningError('too-many-open-requests', reason)
}

/** Returns the data of a new request's entry: its origin, and the parts of its policy that people may ask about. */
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

/** Ends the failed request that a new one replaces. Does not change a request in another state. */
async function endReplaced(context: Context<RequestPorts>, replaced: string, by: string) {
  const { actor } = context
  await changeRequest(context, replaced, (request, at) => {
    if (request.status !== 'failed' || request.requester.id !== actor.id) return undefined
    const next = { ...transition(request, 'cancelled', at), cancelledBy: asPerson(actor) }
    return { request: next, audit: [entry(next, actor, 'cancelled', { data: { replacedBy: by } })] }
  })
}

/** Returns the fields of all requests. */
function newRequest(plan: Plan, actor: Actor, submission: Submission, at: string) {
  const { approvals, policy, passedOver = [] } = plan
  const status = approvals.length > 0 ? ('pendingApproval' as const) : ('queued' as const)
  return {
    v: 1 as const,
    requestId: submission.requestId,
    // The store sets it.
    number: 0,
    tenantId: actor.tenantId,
    template: snapshot(plan.template),
    ...(plan.typedName !== undefined && { typedName: plan.typedName }),
    around: plan.around,
    ...(passedOver.length > 0 && { passedOver: [...passedOver] }),
    status,
    requester: asPerson(actor),
    ...(plan.guests && { guests: [...plan.guests] }),
    channel: submission.channel,
    ...(submission.channel === 'rest' && { fingerprint: fingerprintOf(submission.resource, submission.body) }),
    reason: reasonFor(plan, submission),
    ...(submission.batch && { batch: submission.batch }),
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

/** Returns the reason of the body; without one, the reason of the form. */
const reasonFor = (plan: Plan, { reason = '' }: Submission): string => plan.reason || reason

async function existing({ ports, actor }: Context<RequestPorts>, requestId: string): Promise<Request> {
  const request = await ports.requests.find(requestId)
  if (!request) throw new Error(`Request ${requestId} was neither inserted nor found.`)
  return own(request, actor)
}

function own(request: Request, actor: Actor): Request {
  if (request.requester.id !== actor.id || request.tenantId !== actor.tenantId) throw notFound()
  return request
}

/** Throws the faults: a taken name alone is a conflict with an existing resource (409), all other faults are invalid (422). */
const refuse = (faults: readonly Fault[]): never =>
  refuseFields(faults, faults.every(({ code }) => code === 'name-taken') ? 'name-taken' : 'validation-failed')
