import { system } from '../audit/index.ts'
import {
  type Change,
  changeRequest,
  customAttributesOf,
  entry,
  isForMailbox,
  lateSeconds,
  notifyLate,
  type Problem,
  problemOf,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
  type RequestStep,
  withPeopleOfToday,
  withStep,
} from '../requests/index.ts'
import {
  type Check,
  isFault,
  type MailboxStepInput,
  mailboxStep,
  type SiteStepInput,
  type StepResult,
  siteStep,
} from '../resources/index.ts'
import { because, jobId, type Reason, type SystemContext, TenantError } from '../shared/index.ts'
import type { ProvisioningPorts } from './completion.ts'

/** A completed step: what it adds to the request, and the results of a ready check. */
export interface Done {
  readonly done: true
  readonly made: (current: Request) => Request
  readonly checks?: readonly Check[]
}
/** A step that has to wait, and its additions to the request until then. */
export interface Waiting {
  readonly done: false
  readonly retryAfterSeconds: number
  readonly made?: (current: Request) => Request
  /** The reason of the wait, for admins. */
  readonly why?: { readonly code: string; readonly reason: Reason }
}

/**
 * Runs one step of a request in the tenant, with the current names of its people. Throws `PeopleUnavailable` before any
 * change if a person may not get the access that the step gives.
 */
export async function runTenantStep(
  ports: ProvisioningPorts,
  stored: Request,
  name: RequestStep['name'],
  signal: AbortSignal,
): Promise<Done | Waiting> {
  const request = await withPeopleOfToday(ports, stored, name)
  if (isForMailbox(request)) {
    const result = await ports.tenant.mailboxSteps[mailboxStep.parse(name)](mailboxInput(request, signal))
    return adding(result, (current, made) =>
      isForMailbox(current) ? { ...current, progress: { ...current.progress, ...made } } : current,
    )
  }
  const result = await ports.tenant.siteSteps[siteStep.parse(name)](siteInput(request, signal))
  return adding(result, (current, made) =>
    isForMailbox(current) ? current : { ...current, progress: { ...current.progress, ...made } },
  )
}

/** Turns the result of a step into a change of the request, which may have changed in the meantime. */
function adding<P>(result: StepResult<P>, add: (current: Request, made: Partial<P>) => Request): Done | Waiting {
  if (result.done) {
    const { made, checks } = result
    return { done: true, made: (current) => add(current, made), ...(checks && { checks }) }
  }
  const { retryAfterSeconds, made, why } = result
  const kept = made && { made: (current: Request) => add(current, made) }
  return { done: false, retryAfterSeconds, ...kept, ...(why && { why }) }
}

function siteInput(request: RequestForSite, signal: AbortSignal): SiteStepInput {
  const { requestId, kind, alias, owners, requester, progress, details } = request
  const { displayName, description, labelId } = details
  return { requestId, kind, displayName, description, alias, owners, requester, labelId, progress, signal }
}

function mailboxInput(request: RequestForMailbox, signal: AbortSignal): MailboxStepInput {
  const { requestId, kind, details, people, address, aliasAddress, template, startedAt, submittedAt, progress } =
    request
  const access = people.flatMap((person) => {
    const level = details.permissions[person.id] ?? 'None'
    return level === 'None' ? [] : [{ person, level }]
  })
  return {
    requestId,
    kind,
    address,
    aliasAddress,
    details,
    access,
    customAttributes: customAttributesOf(template, details),
    startedAt: new Date(startedAt ?? submittedAt),
    progress,
    signal,
  }
}

/** Returns the request with its resource after all steps are done. */
export function withResource(request: Request): Request {
  const missing = () => new Error(`request ${request.requestId} has completed all steps but has no resource`)
  if (isForMailbox(request)) {
    const { mailboxId } = request.progress
    if (!mailboxId) throw missing()
    return { ...request, resource: { address: request.address, mailboxId } }
  }
  const { url, siteId, groupId, securityGroupId } = request.progress
  if (!url || !siteId || !securityGroupId) throw missing()
  return { ...request, resource: { url, siteId, groupId: groupId ?? null, securityGroupId } }
}

/** Returns the faults of a ready check as the problem of the request; undefined without faults. */
export function checkFault(step: RequestStep['name'], checks: readonly Check[]): Problem | undefined {
  const wrong = checks.filter(isFault)
  if (wrong.length === 0) return undefined
  const faults = wrong.map(({ name, reason }) =>
    reason ? because('checkFault', { check: name, fault: reason }) : name,
  )
  return problemOf('ready-check', because('checksFailed', { faults: { parts: faults, between: '; ' } }), { step })
}

/** The longest wait of a mailbox step before it fails, in seconds. Microsoft documents no limit. */
const longestMailboxWait = 15 * 60
/** The longest wait of a site step, in seconds. SharePoint sometimes takes hours. */
export const longestSiteWait = 48 * 3600
/**
 * The longest time between two polls, in seconds. Shorter than the watchdog's deadline, which each late poll renews.
 */
export const longestInterval = 15 * 60

/**
 * Returns the seconds until the next poll of a site step that has waited for `waited` seconds. The intervals grow with
 * the wait, from `requested` seconds to {@link longestInterval}. One poll is at the moment when the step becomes late,
 * and one at the end of the wait, unless the tenant requires more time.
 */
export function pollAfter(waited: number, requested: number): number {
  const interval = Math.min(waited / 10, longestInterval)
  const toEnd = (waited < lateSeconds ? lateSeconds : longestSiteWait) - waited
  return Math.max(requested, Math.min(interval, Math.max(toEnd, 1)))
}

/**
 * Stores the additions of a waiting step, notifies people once when the step is late, and orders the next poll. Throws
 * the error that ends the request if the step has waited too long. Returns the request if the step continues at once (0
 * seconds); else undefined.
 */
export async function deferStep(
  context: SystemContext<ProvisioningPorts>,
  request: Request,
  name: RequestStep['name'],
  waiting: Waiting,
): Promise<Request | undefined> {
  const { ports } = context
  const { requestId } = request
  const now = ports.clock.now()
  const started = request.steps.find((step) => step.name === name)?.startedAt
  const waited = started === undefined ? 0 : (now.getTime() - Date.parse(started)) / 1000
  const isLate = !isForMailbox(request) && waited >= lateSeconds
  // Most polls have nothing to write.
  const updated =
    (waiting.made || waiting.why || isLate) &&
    (await changeRequest(context, requestId, (current, at) => {
      const step = current.steps.find((one) => one.name === name)
      if (current.status !== 'provisioning' || !step || step.status === 'done') return undefined
      return waitingChange(current, step, waiting, { at, isLate })
    }))
  if (waiting.made && waiting.retryAfterSeconds === 0) return updated || undefined
  if (waited > (isForMailbox(request) ? longestMailboxWait : longestSiteWait)) throw waitedTooLong(request, waiting)
  const { retryAfterSeconds } = waiting
  const seconds = isForMailbox(request) ? retryAfterSeconds : pollAfter(waited, retryAfterSeconds)
  const startAfter = new Date(now.getTime() + Math.ceil(seconds * 1000))
  // A process whose clock is slow runs a poll too early. With the time in the job's id, the process can order the same poll again.
  const id = jobId('provision', requestId, now.toISOString(), startAfter.toISOString())
  await ports.jobs.enqueue([{ name: 'provision', payload: { v: 1, requestId }, id, startAfter }])
  return undefined
}

/** Returns the change by a poll: additions of the step, the reason of the wait, and the delay. */
function waitingChange(
  current: Request,
  step: RequestStep,
  { made, why }: Waiting,
  { at, isLate }: { readonly at: string; readonly isLate: boolean },
): Change {
  const kept = made ? made(current) : current
  if (!why && !isLate) return { request: kept, audit: [] }
  const problem = why && problemOf(why.code, why.reason, { step: step.name })
  // A late poll updates `updatedAt`, so that the watchdog sees progress.
  const next = withStep(
    kept,
    step.name,
    { ...(problem && { problem }), ...(isLate && { lateAt: step.lateAt ?? at }) },
    at,
  )
  if (!isLate || step.lateAt !== undefined) return { request: next, audit: [] }
  const told = problem && { code: problem.code, detail: problem.detail }
  const audit = [entry(next, system, 'delayed', { data: { step: step.name, ...told } })]
  return { request: next, audit, jobs: notifyLate(next) }
}

function waitedTooLong(request: Request, { why }: Waiting): TenantError {
  if (isForMailbox(request)) return new TenantError('not-ready', because('mailboxNotReady'), { retryable: false })
  if (why) return new TenantError(why.code, because('retriedTooLong', { reason: why.reason }), { retryable: false })
  return new TenantError('site-not-ready', because('siteNotReady'), { retryable: false })
}
