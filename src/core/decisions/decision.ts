import { z } from 'zod'
import {
  alreadyDecided,
  type Decision,
  type Delegation,
  decide,
  lastDecision,
  openStage,
  representedBy,
} from '../approvals/index.ts'
import {
  authorize,
  type Change,
  changeRequest,
  entry,
  isForMailbox,
  jobsOfOpenStage,
  jobsOfQueued,
  notifyAdminsOfOutcome,
  notifyRequester,
  openStageEntries,
  type Request,
  type RequestStep,
  singlePoll,
  statusFacts,
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
import { attentionOf } from './attention.ts'
import { ownReassigned, refuseAlone } from './own-reassignment.ts'
import type { DecisionPorts } from './ports.ts'

/** The longest comment, in characters. */
export const longestComment = 500

/**
 * `attempt` identifies the call. A client that got no answer repeats the call with the same `attempt`: a repeat changes
 * nothing and returns the present request. The same decision with another `attempt` is another decision.
 */
export const commented = z.object({
  requestId: z.uuid(),
  comment: z.string().optional(),
  attempt: z.string().optional(),
})

/** The facts found before a decision, because a transaction does not call the directory. */
interface CheckedFacts {
  /** The people who are no longer approvers, according to the directory. */
  readonly lapsed: readonly string[]
  /** The delegations of the next approvers. */
  readonly away: readonly Delegation[]
  /** The stage on the person's card: a second click on it cannot decide another stage. */
  readonly stage?: number | undefined
  /** The other admins, if the actor has reassigned a stage of the request; undefined: they were not looked up. */
  readonly otherAdmins?: readonly Person[] | undefined
}
export type Decide = (
  context: Context<DecisionPorts>,
  decision: z.output<typeof commented>,
  checked?: CheckedFacts,
) => Promise<Request>
const nothingChecked: CheckedFacts = { lapsed: [], away: [] }

/** Records an approval; the last one that is needed queues the request. */
export const recordApproval: Decide = (context, { requestId, comment = '', attempt }, checked = nothingChecked) =>
  changeOnce(context, { requestId, attempt }, (request, at) =>
    decided(request, context.settings, context.actor, { decision: 'approved', comment, at }, checked),
  )

/** Records a rejection, which ends the request. The comment is required: the requester will read it. */
export const recordRejection: Decide = (context, { requestId, comment = '', attempt }, checked = nothingChecked) =>
  changeOnce(context, { requestId, attempt }, (request, at) => {
    authorize(context.actor, 'request.decide', request)
    const isOpen = request.status === 'pendingApproval' && !isDecided(request, checked.stage)
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
      checked,
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
      // The created resource stays in the tenant, and only an admin can remove it.
      const admins = request.steps.some(({ status }) => status === 'done') ? [notifyAdminsOfOutcome(next)] : []
      const jobs = [...requester, ...admins]
      return { request: next, audit: [entry(next, actor, 'cancelled', { comment })], jobs }
    })
  },
})

/**
 * Retries a request for an admin. A failed request is queued again and continues at the failed step; after a failed ready check,
 * at the steps that fix it. A stuck request, or one that was created and not announced, gets a new job. This is safe even if the
 * old job is only slow.
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
      // A request that waits for approval can also become queued, but not by a retry.
      if (request.status !== 'failed')
        throw new ProvisioningError('illegal-transition', because('notRetryable', statusFacts(request)))
      const next = requeued(request, at)
      return {
        request: next,
        audit: [entry(next, actor, 'queued', { comment })],
        jobs: jobsOfQueued(next, settings),
      }
    })
  },
})

/** Returns a failed request that continues at the step that failed. */
export function requeued(request: Request, at: string): Request {
  const repeated = new Set<string>(request.checks.filter(isFault).map(({ name }) => checkSteps[name]))
  const steps = request.steps.map((step) =>
    step.status === 'done' && !repeated.has(step.name) ? step : restarted(step),
  )
  const followUp = { state: 'none' as const }
  return { ...transition(withFreshWaits(request), 'queued', at), steps, checks: [], problem: null, followUp }
}

/** Whether an admin can retry a request: it failed, is stuck, or was created and not announced. */
export function isRetryable(request: Request, now: Date): boolean {
  const remedies = attentionOf(request, now)?.remedies ?? []
  return request.status === 'failed' || remedies.some((remedy) => remedy === 'retry' || remedy === 'look')
}

/** Returns the job that should be running: provisioning or a directory poll; undefined for a failed request. */
function restartJob(request: Request, settings: Settings, at: string): JobOrder | undefined {
  const { requestId, status } = request
  // Several clicks within a minute order one job.
  const id = jobId('restart', requestId, at.slice(0, 16))
  if (status === 'queued' || status === 'provisioning') return { name: 'provision', payload: { v: 1, requestId }, id }
  // The polls that are due continue anyway.
  return status === 'succeeded' ? singlePoll(request, settings, id, at) : undefined
}

/** A step without its start time, so that its time limit begins again. */
const restarted = ({ name, attempts }: RequestStep): RequestStep => ({ name, status: 'pending', attempts })

/** Resets the time limits of waits, and keeps what the steps have created. */
function withFreshWaits(request: Request): Request {
  const cleared = { checkedSince: undefined, heldSince: undefined }
  if (!isForMailbox(request)) return { ...request, progress: { ...request.progress, ...cleared } }
  return { ...request, progress: { ...request.progress, ...cleared, triedAgain: undefined } }
}

/**
 * Runs `changeRequest` once for each attempt. An attempt that is refused or changes nothing is not recorded, so it can be
 * repeated. Throws `not-found`.
 */
export async function changeOnce(
  context: SystemContext<DecisionPorts>,
  { requestId, attempt }: { requestId: string; attempt: string | undefined },
  apply: (request: Request, at: string) => Change | undefined,
): Promise<Request> {
  const { ports } = context
  const request = await ports.work.transaction(async () => {
    if (attempt === undefined) return changeRequest(context, requestId, apply)
    const before = await ports.requests.lock(requestId)
    const timeline = before ? await ports.audit.timeline(requestId) : []
    if (timeline.some((line) => line.attempt === attempt)) return before
    return changeRequest(context, requestId, (now, at) => {
      const change = apply(now, at)
      return change && ofAttempt(attempt, change)
    })
  })
  if (!request) throw notFound()
  return request
}

/** Adds the attempt to the audit entries of the person. */
const ofAttempt = (attempt: string, change: Change): Change => ({
  ...change,
  audit: change.audit.map((line) => ('id' in line.actor ? { ...line, attempt } : line)),
})

function decided(
  request: Request,
  settings: Settings,
  actor: Actor,
  { decision, comment, at }: { decision: Decision['decision']; comment: string; at: string },
  checked: CheckedFacts,
): Change {
  const { away, stage } = checked
  authorize(actor, 'request.decide', request)
  if (request.status !== 'pendingApproval') throw ended(request)
  if (isDecided(request, stage)) throw alreadyDecided(request.approvals.filter((one) => one.stage === stage))
  const { lapsed, ownReassignment } = withoutOwn(request, actor.id, at, checked)
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
 * Adds the approvers whose part the person has reassigned to themselves to `lapsed`, if there are other admins. Throws
 * `second-admin-needed` if the person can then decide nothing. Without other admins the decision counts and is marked.
 */
function withoutOwn(
  { approvals }: Request,
  personId: string,
  at: string,
  { lapsed, otherAdmins }: CheckedFacts,
): { readonly lapsed: readonly string[]; readonly ownReassignment?: true } {
  const open = openStage(approvals)
  const own = open ? ownReassigned(open, personId, at).filter(({ id }) => !lapsed.includes(id)) : []
  if (!open || own.length === 0) return { lapsed }
  if (otherAdmins?.length === 0) return { lapsed, ownReassignment: true }
  const refused = [...lapsed, ...own.map(({ id }) => id)]
  if (representedBy(open, personId, at).every(({ id }) => refused.includes(id))) refuseAlone(otherAdmins)
  return { lapsed: refused }
}

/** Whether the stage of a person's card has been decided and a later stage is open. */
const isDecided = ({ approvals }: Request, stage: number | undefined): boolean =>
  stage !== undefined && stage < (openStage(approvals)?.stage ?? 0)

/** Returns the error of a late decision: somebody has decided, or the request ended without a decision. */
export function ended(request: Request): ProvisioningError {
  const withoutDecision: readonly RequestState[] = ['cancelled', 'expired']
  if (!withoutDecision.includes(request.status)) return alreadyDecided(request.approvals)
  return new ProvisioningError('already-ended', because('nothingToDecide', statusFacts(request)))
}
