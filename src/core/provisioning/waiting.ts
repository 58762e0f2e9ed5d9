import { system } from '../audit/index.ts'
import {
  type Change,
  changeRequest,
  entry,
  isForMailbox,
  lateSeconds,
  notifyLate,
  type Request,
  type RequestStep,
  withStep,
} from '../requests/index.ts'
import { jobId, type SystemContext, TenantError } from '../shared/index.ts'
import type { ProvisioningPorts } from './ports.ts'
import type { Waiting } from './step.ts'

/** How long a step of a mailbox may wait before it fails. Seconds; Microsoft names no bound. */
const longestMailboxWait = 15 * 60
/** The same for a site. On a bad day SharePoint takes hours. */
export const longestSiteWait = 48 * 3600
/** The longest time between two polls. Seconds; shorter than the watchdog's deadline, since each late poll is a sign of life. */
export const longestInterval = 15 * 60

/**
 * Returns the seconds until the next poll of a step of a site that has waited for `waited` seconds. The intervals grow with
 * the wait, from `asked` to {@link longestInterval}. A poll falls on the moment when the step becomes late, and one on the
 * end of the wait, unless the tenant asks for more time.
 */
export function pollAfter(waited: number, asked: number): number {
  const interval = Math.min(waited / 10, longestInterval)
  const toEnd = (waited < lateSeconds ? lateSeconds : longestSiteWait) - waited
  return Math.max(asked, Math.min(interval, Math.max(toEnd, 1)))
}

/**
 * Keeps what a waiting step has to keep, notifies people once when it is late, and orders the next poll. Throws what ends
 * the request when the step has waited for too long. Returns the request with what was kept if the step continues at once
 * (0 seconds); else undefined.
 */
export async function waits(
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
  const kept =
    (waiting.made || waiting.why || isLate) &&
    (await changeRequest(context, requestId, (current, at) => {
      const step = current.steps.find((one) => one.name === name)
      if (current.status !== 'provisioning' || !step || step.status === 'done') return undefined
      return waitingChange(current, step, waiting, { at, isLate })
    }))
  if (waiting.made && waiting.retryAfterSeconds === 0) return kept || undefined
  if (waited > (isForMailbox(request) ? longestMailboxWait : longestSiteWait)) throw waitedTooLong(request, waiting)
  const asked = waiting.retryAfterSeconds
  const seconds = isForMailbox(request) ? asked : pollAfter(waited, asked)
  const startAfter = new Date(now.getTime() + Math.ceil(seconds * 1000))
  // With the present moment: a process whose clock is behind runs a poll too early, and then orders the same moment again.
  const id = jobId('provision', requestId, now.toISOString(), startAfter.toISOString())
  await ports.jobs.enqueue([{ name: 'provision', payload: { v: 1, requestId }, id, startAfter }])
  return undefined
}

/** What a poll changes: what the step keeps, why it waits, and that it is late. */
function waitingChange(
  current: Request,
  step: RequestStep,
  { made, why }: Waiting,
  { at, isLate }: { readonly at: string; readonly isLate: boolean },
): Change {
  const kept = made ? made(current) : current
  if (!why && !isLate) return { request: kept, audit: [] }
  const problem = why && { ...why, step: step.name }
  // A late poll moves `updatedAt`, so the watchdog sees that the work is alive.
  const next = withStep(
    kept,
    step.name,
    { ...(problem && { problem }), ...(isLate && { lateAt: step.lateAt ?? at }) },
    at,
  )
  if (!isLate || step.lateAt !== undefined) return { request: next, audit: [] }
  const audit = [entry(next, system, 'delayed', { data: { step: step.name, ...why } })]
  return { request: next, audit, jobs: notifyLate(next) }
}

function waitedTooLong(request: Request, { why }: Waiting): TenantError {
  if (isForMailbox(request))
    return new TenantError('not-ready', 'It was created but did not become ready in 15 minutes.', { retryable: false })
  if (why) return new TenantError(why.code, `${why.detail} It was tried for 48 hours.`, { retryable: false })
  return new TenantError(
    'site-not-ready',
    'SharePoint did not complete the site in 48 hours. It may still do so: retry the request later, and the retry adopts the site. If no site appears, open a support request with Microsoft and give the address.',
    { retryable: false },
  )
}
