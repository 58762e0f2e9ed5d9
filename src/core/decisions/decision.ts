import { z } from 'zod'
import {
  alreadyDecided,
  type Decision,
  type Delegation,
  decide,
  lastDecision,
  openStage,
  voicesOf,
} from '../approvals/index.ts'
import {
  attentionOf,
  authorize,
  type Change,
  changeRequest,
  directoryPoll,
  entry,
  isForMailbox,
  jobsOfOpenStage,
  jobsOfQueued,
  notifyAdminsOfOutcome,
  notifyRequester,
  openStageEntries,
  type Request,
  type RequestStep,
  referenceOf,
  transition,
  withOpenStage,
} from '../requests/index.ts'
import { checkSteps, isFault } from '../resources/index.ts'
import {
  type Actor,
  asPerson,
  because,
  type Context,
  defineUseCase,
  isTerminal,
  type JobOrder,
  jobId,
  notFound,
  type Person,
  ProvisioningError,
  type RequestState,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import { ownReassigned, refuseAlone } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'

/** The longest comment, in characters. */
export const longestComment = 500

/**
 * `attempt` names the call that asks for it. Whoever got no answer repeats the call, and what was done then is not done, nor
 * refused, again: the request is given as it is now. The same decision by another call is another decision.
 */
export const commented = z.object({
  requestId: z.uuid(),
  comment: z.string().optional(),
  attempt: z.string().optional(),
})

/** What is found out before a decision, since nothing is asked in a transaction. */
interface Beforehand {
  /** Those of whom the directory says that they are no approvers any more. */
  readonly lapsed: readonly string[]
  /** Who of those asked next is away. */
  readonly away: readonly Delegation[]
  /** The stage that whoever decides was asked about: a second click on its card decides no other one. */
  readonly stage?: number | undefined
  /** The other admins, where the actor has reassigned something of the request; undefined: they were not looked up. */
  readonly otherAdmins?: readonly Person[] | undefined
}
export type Decide = (
  context: Context<DecisionPorts>,
  decision: z.output<typeof commented>,
  beforehand?: Beforehand,
) => Promise<Request>
const nothing: Beforehand = { lapsed: [], away: [] }

/** Records an approval; the last one that is needed queues the request. */
export const recordApproval: Decide = (context, { requestId, comment = '', attempt }, beforehand = nothing) =>
  changeOnce(context, { requestId, attempt }, (request, at) =>
    decided(request, context.settings, context.actor, { decision: 'approved', comment, at }, beforehand),
  )

/** Records a rejection, which ends the request. The comment is required: the requester will read it. */
export const recordRejection: Decide = (context, { requestId, comment = '', attempt }, beforehand = nothing) =>
  changeOnce(context, { requestId, attempt }, (request, at) => {
    authorize(context.actor, 'request.decide', request)
    const isOpen = request.status === 'pendingApproval' && !isDecided(request, beforehand.stage)
    if (comment.trim() === '' && openStage(request.approvals) && isOpen) {
      throw new ProvisioningError('comment-required', because('sayWhyRejected'), {
        faults: [{ pointer: '/comment', code: 'required', reason: because('rejectionNeedsComment') }],
      })
    }
    return decided(
      request,
      context.settings,
      context.actor,
      { decision: 'rejected', comment: comment.trim(), at },
      beforehand,
    )
  })

/** Ends a request whose resource is not being created, or that has failed. */
export const cancelRequest = defineUseCase({
  permission: 'request.cancel',
  input: commented,
  handle(context: Context<DecisionPorts>, { requestId, comment = '', attempt }): Promise<Request> {
    const { actor } = context
    return changeOnce(context, { requestId, attempt }, (request, at) => {
      authorize(actor, 'request.cancel', request)
      if (isTerminal(request.status))
        throw new ProvisioningError('already-ended', because('alreadyEnded', statusFacts(request)))
      if (request.status === 'provisioning')
        throw new ProvisioningError('illegal-transition', because('beingCreated', statusFacts(request)))
      const next = { ...transition(request, 'cancelled', at), cancelledBy: asPerson(actor), cancelComment: comment }
      const requester = actor.id === request.requester.id ? [] : [notifyRequester(next)]
      // What was made stays in the tenant, and nobody else will clear it away.
      const admins = request.steps.some(({ status }) => status === 'done') ? [notifyAdminsOfOutcome(next)] : []
      const jobs = [...requester, ...admins]
      return { request: next, audit: [entry(next, actor, 'cancelled', { comment })], jobs }
    })
  },
})

/**
 * Lets an admin go on with a request that stopped. A failed one is queued again and continues at the step that failed; of
 * a ready check that found something wrong, at the steps that put it right. One that has stood still for too long, or is
 * made and was not told of, gets its job anew, which is safe if the old one is only slow.
 */
export const retryRequest = defineUseCase({
  permission: 'request.retry',
  input: commented,
  handle(context: Context<DecisionPorts>, { requestId, comment = '', attempt }): Promise<Request> {
    const { settings, actor } = context
    return changeOnce(context, { requestId, attempt }, (request, at) => {
      authorize(actor, 'request.retry', request)
      const job = isRetryable(request, new Date(at)) ? restartJob(request, settings, at) : undefined
      if (job)
        return {
          request,
          audit: [entry({ ...request, updatedAt: at }, actor, 'restarted', { comment })],
          jobs: [job],
        }
      // Also a request that waits for approval may become queued, but not by this.
      if (request.status !== 'failed')
        throw new ProvisioningError('illegal-transition', because('notRetryable', statusFacts(request)))
      const repeated = new Set<string>(request.checks.filter(isFault).map(({ name }) => checkSteps[name]))
      const steps = request.steps.map((step) =>
        step.status === 'done' && !repeated.has(step.name) ? step : restarted(step),
      )
      const followUp = { state: 'none' as const }
      const next = { ...transition(withFreshWaits(request), 'queued', at), steps, checks: [], problem: null, followUp }
      return {
        request: next,
        audit: [entry(next, actor, 'queued', { comment })],
        jobs: jobsOfQueued(next, settings),
      }
    })
  },
})

/** Whether an admin can retry a request: it failed, is stuck, or was created and not announced. */
export function isRetryable(request: Request, now: Date): boolean {
  const remedies = attentionOf(request, now)?.remedies ?? []
  return request.status === 'failed' || remedies.some((remedy) => remedy === 'retry' || remedy === 'look')
}

/** Orders the job again that should be under way: the work or a directory poll. None for a failed request. */
function restartJob(request: Request, settings: Settings, at: string): JobOrder | undefined {
  const { requestId, status } = request
  // Several clicks within a minute are one.
  const id = jobId('restart', requestId, at.slice(0, 16))
  if (status === 'queued' || status === 'provisioning') return { name: 'provision', payload: { v: 1, requestId }, id }
  const poll = status === 'succeeded' ? directoryPoll(request, 0, settings) : undefined
  return poll && { ...poll, id }
}

/** A step without its first start, so that it may wait as long again. */
const restarted = ({ name, attempts }: RequestStep): RequestStep => ({ name, status: 'pending', attempts })

/** What was made is kept; whatever was waited for may take its time again. */
function withFreshWaits(request: Request): Request {
  if (!isForMailbox(request)) return { ...request, progress: { ...request.progress, checkedSince: undefined } }
  const cleared = { checkedSince: undefined, heldSince: undefined, triedAgain: undefined }
  return { ...request, progress: { ...request.progress, ...cleared } }
}

/** The same as `changeRequest`, once for each attempt; of what is refused nothing is kept, so that it can be asked again. Throws `not-found`. */
export async function changeOnce(
  context: SystemContext<DecisionPorts>,
  { requestId, attempt }: { requestId: string; attempt: string | undefined },
  apply: (request: Request, at: string) => Change,
): Promise<Request> {
  const { ports } = context
  const request = await ports.work.transaction(async () => {
    if (attempt === undefined) return changeRequest(context, requestId, apply)
    const before = await ports.requests.lock(requestId)
    const timeline = before ? await ports.audit.timeline(requestId) : []
    if (timeline.some((line) => line.attempt === attempt)) return before
    return changeRequest(context, requestId, (now, at) => ofAttempt(attempt, apply(now, at)))
  })
  if (!request) throw notFound()
  return request
}

/** What a person did is known by the call that asked for it. */
const ofAttempt = (attempt: string, change: Change): Change => ({
  ...change,
  audit: change.audit.map((line) => ('id' in line.actor ? { ...line, attempt } : line)),
})

function decided(
  request: Request,
  settings: Settings,
  actor: Actor,
  { decision, comment, at }: { decision: Decision['decision']; comment: string; at: string },
  beforehand: Beforehand,
): Change {
  const { away, stage } = beforehand
  authorize(actor, 'request.decide', request)
  if (request.status !== 'pendingApproval') throw ended(request)
  if (isDecided(request, stage)) throw alreadyDecided(request.approvals.filter((one) => one.stage === stage))
  const { lapsed, ownReassignment } = withoutOwn(request, actor.id, at, beforehand)
  const own: Decision = {
    by: asPerson(actor),
    decision,
    at,
    ...(comment && { comment }),
    ...(ownReassignment && { ownReassignment }),
  }
  const { stages, outcome } = decide(request.approvals, request.requester.id, own, lapsed)
  const withDecision = { ...request, approvals: stages, updatedAt: at }
  const { insteadOf } = lastDecision(stages) ?? {}
  const data = { ...(insteadOf && { insteadOf }), ...(ownReassignment && { ownReassignment }) }
  const line = entry(withDecision, actor, decision, { comment, ...(Object.keys(data).length > 0 && { data }) })
  if (outcome === 'waiting') return { request: withDecision, audit: [line] }
  if (outcome === 'next-stage') {
    const opened = withOpenStage(withDecision, settings, away, at)
    return { request: opened, audit: [line, ...openStageEntries(opened)], jobs: jobsOfOpenStage(opened) }
  }
  const next = transition(withDecision, outcome === 'approved' ? 'queued' : 'rejected', at)
  if (outcome === 'rejected') return { request: next, audit: [line], jobs: [notifyRequester(next)] }
  return { request: next, audit: [line, entry(next, { kind: 'system' }, 'queued')], jobs: jobsOfQueued(next, settings) }
}

/**
 * What somebody has reassigned to themselves counts with no other admin only, and marks the decision. Where there are others it
 * does not count; throws `second-admin-needed` if nothing else is left to decide by.
 */
function withoutOwn(
  { approvals }: Request,
  personId: string,
  at: string,
  { lapsed, otherAdmins }: Beforehand,
): { readonly lapsed: readonly string[]; readonly ownReassignment?: true } {
  const open = openStage(approvals)
  const own = open ? ownReassigned(open, personId, at).filter(({ id }) => !lapsed.includes(id)) : []
  if (!open || own.length === 0) return { lapsed }
  if (otherAdmins?.length === 0) return { lapsed, ownReassignment: true }
  const refused = [...lapsed, ...own.map(({ id }) => id)]
  if (voicesOf(open, personId, at).every(({ id }) => refused.includes(id))) refuseAlone(otherAdmins)
  return { lapsed: refused }
}

/** Whether the stage that somebody was asked about has been decided, and another one's turn has come. */
const isDecided = ({ approvals }: Request, stage: number | undefined): boolean =>
  stage !== undefined && stage < (openStage(approvals)?.stage ?? 0)

/** Why a decision comes too late: somebody decided, or the request ended without one. */
export function ended(request: Request): ProvisioningError {
  const withoutDecision: readonly RequestState[] = ['cancelled', 'expired']
  if (!withoutDecision.includes(request.status)) return alreadyDecided(request.approvals)
  return new ProvisioningError('already-ended', because('nothingToDecide', statusFacts(request)))
}

const statusFacts = (request: Request) => ({ reference: referenceOf(request), status: request.status })
