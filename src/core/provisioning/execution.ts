import { system } from '../audit/index.ts'
import { requeued } from '../decisions/index.ts'
import {
  anotherAlias,
  anotherName,
  type Change,
  changedNames,
  changeRequest,
  entry,
  isTakenName,
  jobsOfQueued,
  nextStep,
  notifyAdminsOfOutcome,
  notifyRequester,
  PeopleUnavailable,
  type Problem,
  pollOfLate,
  problemOf,
  type Request,
  type RequestStep,
  refuseName,
  shownProblemOf,
  transition,
  withStep,
} from '../requests/index.ts'
import {
  asWritten,
  because,
  hasLeft,
  type JobOrder,
  jobId,
  ProvisioningError,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import type { ProvisioningPorts } from './completion.ts'
import { checkFault, type Done, deferStep, runTenantStep, type Waiting, withResource } from './step.ts'

export interface Run {
  /** Whether this is the queue's last attempt, so that a failure is final. */
  readonly lastAttempt: boolean
  readonly signal: AbortSignal
}

/**
 * Creates the resource of a request, step by step. Stores the end of each step before the next starts, and each step
 * checks before it creates, so a run can be killed and repeated at any point. A step that has to wait defers the job.
 * Throws retryable errors; other errors end in the state `failed`.
 */
export async function provision(context: SystemContext<ProvisioningPorts>, requestId: string, run: Run): Promise<void> {
  let request = await begin(context, requestId)
  while (request?.status === 'provisioning') {
    const step = nextStep(request)
    try {
      request = step ? await runStep(context, request, step, run) : await succeed(context, requestId)
    } catch (error) {
      await stopped(context, requestId, step, error, run)
      return
    }
    if (!request) return
  }
}

/** Moves a queued request to `provisioning`. A request in that state continues. */
function begin(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<Request | undefined> {
  return changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'queued') return undefined
    const started = { ...transition(request, 'provisioning', at), startedAt: request.startedAt ?? at }
    const next = { ...started, followUp: { state: 'waiting' as const } }
    return { request: next, audit: [entry(next, system, 'provisioning')] }
  })
}

/**
 * Returns the request after the step; undefined if the step has to wait and the job was deferred. A killed process may
 * leave two jobs for one request: the interrupted job and its deferred job. The second finds the step done and writes
 * nothing.
 */
async function runStep(
  context: SystemContext<ProvisioningPorts>,
  request: Request,
  step: RequestStep,
  { lastAttempt, signal }: Run,
): Promise<Request | undefined> {
  const { ports } = context
  const { requestId } = request
  const { name } = step
  const started = await changeRequest(context, requestId, (current, at) => {
    const { problem, ...known } = current.steps.find((one) => one.name === name) ?? step
    // Another poll of a waiting step is no attempt, and no card shows it.
    if (isOver(current, name) || (known.status === 'running' && !problem)) return undefined
    const running = {
      ...known,
      status: 'running' as const,
      attempts: known.attempts + 1,
      startedAt: known.startedAt ?? at,
    }
    const steps = current.steps.map((one) => (one.name === name ? running : one))
    return { request: { ...current, steps, updatedAt: at }, audit: [] }
  })
  if (!started || isOver(started, name)) return started
  await refuseName(context, started, name)
  const result = await runTenantStep(ports, started, name, signal).catch((error: unknown) => {
    const isFinal = lastAttempt && !hasLeft(signal)
    if (isFinal && name === 'wait-for-site' && error instanceof TenantError && error.retryable) return outage(error)
    throw error
  })
  if (!result.done) return deferStep(context, started, name, result)
  return changeRequest(context, requestId, (current, at) =>
    isOver(current, name) ? undefined : ended(current, name, result, at),
  )
}

/**
 * Defers the next poll of a site after an outage that is longer than the attempts of one poll. SharePoint still creates
 * the site, so the request fails only after the longest wait.
 */
const outage = ({ code, reason, retryAfterSeconds = 30 }: TenantError): Waiting => ({
  done: false,
  retryAfterSeconds,
  why: { code, reason },
})

/** Stores the end of a step. A ready check with faults ends the request, and the created resource stays. */
function ended(current: Request, name: RequestStep['name'], { made, checks }: Done, at: string): Change {
  const known = { ...made(current), ...(checks && { checks: [...checks] }) }
  const problem = checks && checkFault(name, checks)
  if (problem) return failed(withStep(known, name, { status: 'failed', problem }, at), problem, at)
  const next = withStep(known, name, { status: 'done', finishedAt: at }, at)
  const names = name === 'create-site' ? changedNames(next) : undefined
  const renamed = names ? [entry(next, system, 'renamed', { data: { ...names } })] : []
  return { request: next, audit: [entry(next, system, `step:${name}`), ...renamed] }
}

/** Whether another run has completed the step or ended the request in the meantime. */
const isOver = (request: Request, name: RequestStep['name']): boolean =>
  request.status !== 'provisioning' || request.steps.some((step) => step.name === name && step.status === 'done')

function succeed(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<Request | undefined> {
  const { settings } = context
  return changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'provisioning') return undefined
    const completed = withResource(request)
    const next = { ...transition(completed, 'succeeded', at), problem: null }
    const { resource } = completed
    const audit = [entry(next, system, 'succeeded', { ...(resource && { data: resource }) })]
    return { request: next, audit, jobs: pollOfLate(next, settings) }
  })
}

/**
 * Records why a step stopped. Throws retryable errors to the queue; after other errors the request fails. Records nothing if
 * this process has to leave the job, because the job runs again.
 */
async function stopped(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  step: RequestStep | undefined,
  error: unknown,
  run: Run,
): Promise<void> {
  if (hasLeft(run.signal)) throw error
  const problem = await withSuggestion(context, requestId, problemOfError(error, step))
  const again = !run.lastAttempt && !(error instanceof TenantError && !error.retryable)
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'provisioning' || (step && isOver(request, step.name))) return undefined
    const stepped = step ? withStep(request, step.name, { status: again ? 'running' : 'failed', problem }, at) : request
    return again ? { request: stepped, audit: [] } : failed(stepped, problem, at)
  })
  if (again) throw error
}

/** Adds a free name to a problem about a taken name, if the tenant answers. */
async function withSuggestion(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  problem: Problem,
): Promise<Problem> {
  const { ports } = context
  const another = isTakenName(problem)
    ? { 'name-taken': anotherName, 'alias-taken': anotherAlias }[problem.code]
    : undefined
  const request = another && (await ports.requests.find(requestId))
  if (!request) return problem
  const suggestion = await another(context, request).catch((error: unknown) => {
    if (error instanceof TenantError || error instanceof ProvisioningError) return ''
    throw error
  })
  if (suggestion === '') return problem
  const { code, detail, reason = asWritten(detail), ...facts } = problem
  return problemOf(code, because('takenButFree', { reason, address: suggestion }), { ...facts, suggestion })
}

/** Fails a request. Notifies the requester, and the admins, who can retry it. */
function failed(request: Request, problem: Problem, at: string): Change {
  const next = { ...transition(request, 'failed', at), problem }
  const audit = [entry(next, system, 'failed', { data: shownProblemOf(problem) })]
  return { request: next, audit, jobs: [notifyRequester(next), notifyAdminsOfOutcome(next)] }
}

/** The wait before the service retries a request whose process was killed in each attempt, in milliseconds. */
const retryInterruptedAfter = 3_600_000

/**
 * Fails a request whose job the queue has given up, so that it does not stay in `provisioning` without a job. `interrupted`:
 * its process was killed in each attempt. The cause may be over after an hour, so the request is then retried, once.
 */
export async function giveUp(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  why: keyof typeof givenUp,
): Promise<void> {
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'queued' && request.status !== 'provisioning') return undefined
    const started = request.status === 'queued' ? transition(request, 'provisioning', at) : request
    const step = nextStep(started)
    const problem = problemOf(why, because(givenUp[why]), step && { step: step.name })
    const end = failed(step ? withStep(started, step.name, { status: 'failed', problem }, at) : started, problem, at)
    // The timeline of a request that never started gets both changes of state.
    const whole = started === request ? end : { ...end, audit: [entry(started, system, 'provisioning'), ...end.audit] }
    return why === 'interrupted' && request.retryAt === undefined ? retriedLater(whole, at) : whole
  })
}

/** Adds the automatic retry to the failure of a request. */
function retriedLater({ request, audit, jobs = [] }: Change, at: string): Change {
  const { requestId } = request
  const startAfter = new Date(Date.parse(at) + retryInterruptedAfter)
  const id = jobId('retry-interrupted', requestId)
  const retry: JobOrder = { name: 'retry-interrupted', payload: { v: 1, requestId }, id, startAfter }
  return { request: { ...request, retryAt: startAfter.toISOString() }, audit, jobs: [...jobs, retry] }
}

/** Retries a request that failed because its process was killed in each attempt, unless somebody has acted meanwhile. */
export async function retryInterrupted(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<void> {
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'failed' || request.problem?.code !== 'interrupted') return undefined
    const next = requeued(request, at)
    const audit = [entry(next, system, 'queued', { data: { why: 'interrupted' } })]
    return { request: next, audit, jobs: jobsOfQueued(next, context.settings) }
  })
}

const givenUp = { interrupted: 'stepInterrupted', unexpected: 'stepUnforeseen' } as const

/**
 * Returns the problem for an error. A refusal of the tenant keeps its reason. The text of an unexpected error is only
 * in the log.
 */
function problemOfError(error: unknown, step: RequestStep | undefined): Problem {
  const where = step && { step: step.name }
  const people = error instanceof PeopleUnavailable && { people: error.people }
  if (error instanceof TenantError) return problemOf(error.code, error.reason, { ...where, ...people })
  return problemOf('unexpected', because(givenUp.unexpected), where)
}
