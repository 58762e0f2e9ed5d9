import { system } from '../audit/index.ts'
import {
  anotherAlias,
  anotherName,
  type Change,
  changedNames,
  changeRequest,
  entry,
  isTakenName,
  nextStep,
  notifyAdminsOfOutcome,
  notifyRequester,
  PeopleUnavailable,
  type Problem,
  pollOfLate,
  type Request,
  type RequestStep,
  refuseName,
  transition,
  withStep,
} from '../requests/index.ts'
import { ProvisioningError, type SystemContext, TenantError } from '../shared/index.ts'
import type { ProvisioningPorts } from './ports.ts'
import { checkFault, type Done, takeStep, type Waiting, withResource } from './step.ts'
import { waits } from './waiting.ts'

export interface Run {
  /** True when the queue will not try again, so a failure is final. */
  readonly lastAttempt: boolean
  readonly signal: AbortSignal
}

/**
 * Makes what a request asks for, step by step. Each step's end is stored before the next begins, and each step looks
 * before it creates, so this may be killed and run again at any point. A step that only has to wait puts the job off
 * instead of holding it. Throws what is worth another attempt; anything else ends in the state `failed`.
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

/** Moves a queued request to `provisioning`; one that is there already goes on where it was. */
function begin(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<Request | undefined> {
  return changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'queued') return undefined
    const begun = { ...transition(request, 'provisioning', at), startedAt: request.startedAt ?? at }
    const next = { ...begun, followUp: { state: 'waiting' as const } }
    return { request: next, audit: [entry(next, system, 'provisioning')] }
  })
}

/**
 * The request after the step; undefined when the step has to wait and the job was put off. A killed process may leave two
 * jobs for one request (the interrupted one and the one it had put off), so whoever comes second to a step's end finds
 * it done and writes nothing.
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
  const begun = await changeRequest(context, requestId, (current, at) => {
    const { problem, ...known } = current.steps.find((one) => one.name === name) ?? step
    // Looking again at a step that only waits is no attempt of its own, and nothing that a card would show.
    if (isOver(current, name) || (known.status === 'running' && !problem)) return undefined
    const started = {
      ...known,
      status: 'running' as const,
      attempts: known.attempts + 1,
      startedAt: known.startedAt ?? at,
    }
    const steps = current.steps.map((one) => (one.name === name ? started : one))
    return { request: { ...current, steps, updatedAt: at }, audit: [] }
  })
  if (!begun || isOver(begun, name)) return begun
  await refuseName(context, begun, name)
  const result = await takeStep(ports, begun, name, signal).catch((error: unknown) => {
    if (lastAttempt && name === 'wait-for-site' && error instanceof TenantError && error.retryable) return outage(error)
    throw error
  })
  if (!result.done) return waits(context, begun, name, result)
  return changeRequest(context, requestId, (current, at) =>
    isOver(current, name) ? undefined : ended(current, name, result, at),
  )
}

/**
 * An outage that outlasts the attempts of one poll is no end of a site: SharePoint still creates it. So it only puts off
 * the next poll, until the longest wait is over.
 */
const outage = ({ code, message, retryAfterSeconds = 30 }: TenantError): Waiting => ({
  done: false,
  retryAfterSeconds,
  why: { code, detail: message },
})

/** The end of a step. A ready check that found something wrong is the end of the request, with what was made kept. */
function ended(current: Request, name: RequestStep['name'], { made, checks }: Done, at: string): Change {
  const known = { ...made(current), ...(checks && { checks: [...checks] }) }
  const problem = checks && checkFault(name, checks)
  if (problem) return failed(withStep(known, name, { status: 'failed', problem }, at), problem, at)
  const next = withStep(known, name, { status: 'done', finishedAt: at }, at)
  const names = name === 'create-site' ? changedNames(next) : undefined
  const renamed = names ? [entry(next, system, 'renamed', { data: { ...names } })] : []
  return { request: next, audit: [entry(next, system, `step:${name}`), ...renamed] }
}

/** Whether another run has done the step, or ended the request, meanwhile. */
const isOver = (request: Request, name: RequestStep['name']): boolean =>
  request.status !== 'provisioning' || request.steps.some((step) => step.name === name && step.status === 'done')

function succeed(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<Request | undefined> {
  const { settings } = context
  return changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'provisioning') return undefined
    const made = withResource(request)
    const next = { ...transition(made, 'succeeded', at), problem: null }
    const { resource } = made
    const audit = [entry(next, system, 'succeeded', { ...(resource && { data: resource }) })]
    return { request: next, audit, jobs: pollOfLate(next, settings) }
  })
}

/** Notes why a step stopped. Worth another attempt: throws on, so the queue tries again. Otherwise the request fails. */
async function stopped(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  step: RequestStep | undefined,
  error: unknown,
  run: Run,
): Promise<void> {
  const problem = await withSuggestion(context, requestId, problemOf(error, step))
  const again = !run.lastAttempt && !(error instanceof TenantError && !error.retryable)
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'provisioning' || (step && isOver(request, step.name))) return undefined
    const noted = step ? withStep(request, step.name, { status: again ? 'running' : 'failed', problem }, at) : request
    return again ? { request: noted, audit: [] } : failed(noted, problem, at)
  })
  if (again) throw error
}

/** A name that turned out to be somebody else's comes with one that is free, if the tenant can be asked for one. */
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
  return suggestion === '' ? problem : { ...problem, detail: `${problem.detail} ${suggestion} is free.`, suggestion }
}

/** The end of a request that could not be made: told to the requester, and to the admins, who can go on from here. */
function failed(request: Request, problem: Problem, at: string): Change {
  const next = { ...transition(request, 'failed', at), problem }
  const audit = [entry(next, system, 'failed', { data: problem })]
  return { request: next, audit, jobs: [notifyRequester(next), notifyAdminsOfOutcome(next)] }
}

/** Ends a request whose job the queue has given up, so that it does not stay in the making with nobody at it. */
export async function giveUp(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<void> {
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'queued' && request.status !== 'provisioning') return undefined
    const begun = request.status === 'queued' ? transition(request, 'provisioning', at) : request
    const step = nextStep(begun)
    const problem = problemOf(undefined, step)
    const end = failed(step ? withStep(begun, step.name, { status: 'failed', problem }, at) : begun, problem, at)
    // Of one that was never begun the timeline tells both moves.
    return begun === request ? end : { ...end, audit: [entry(begun, system, 'provisioning'), ...end.audit] }
  })
}

/** A refusal of the tenant is told in its words; anything unforeseen stays opaque and is in the log. */
function problemOf(error: unknown, step: RequestStep | undefined): Problem {
  const where = step && { step: step.name }
  const people = error instanceof PeopleUnavailable && { people: error.people }
  if (error instanceof TenantError) return { code: error.code, detail: error.message, ...where, ...people }
  return { code: 'unexpected', detail: 'Something went wrong that we did not foresee. The log tells more.', ...where }
}
