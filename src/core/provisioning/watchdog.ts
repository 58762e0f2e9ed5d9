import { openStage } from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import { attentionOf, auditExpiredDelegations, deadlines } from '../decisions/index.ts'
import {
  type Change,
  changeRequest,
  directoryPoll,
  entry,
  pollsEndAfter,
  type Request,
  singlePoll,
  withOpenStage,
} from '../requests/index.ts'
import { type JobOrder, jobId, notifyAdminsOrder, type Settings, type SystemContext } from '../shared/index.ts'
import type { ProvisioningPorts } from './completion.ts'

/** A created resource is not overdue before the hourly polls, which follow the listed polls. */
const polledSeconds = 3600
/** The maximum number of requests of one run. The next run, a minute later, handles the others. */
const maxOfARun = 100

/**
 * Finds requests that have been in their state for longer than its deadline. Enqueues the job again, once per deadline,
 * and notifies the admins once. An entry `overdue` in the request's timeline records each of these actions for the next
 * run. Skips queued requests whose job is running (`underWay`: ids). Orders the timers of open stages without timers
 * (all except `timed`: ids), and records ended delegations. Returns the requests whose check failed; they do not stop
 * the others.
 */
export async function watch(
  context: SystemContext<ProvisioningPorts>,
  underWay: readonly string[],
  timed: readonly string[],
): Promise<{ requestId: string; error: unknown }[]> {
  const { ports, settings } = context
  const now = ports.clock.now().getTime()
  const before = (seconds: number) => new Date(now - seconds * 1000)
  const overdue = await ports.requests.overdue({
    tenantId: settings.tenantId,
    queuedBefore: before(deadlines.queued),
    provisioningBefore: before(deadlines.provisioning),
    submittedBefore: before(deadlines.pendingApproval),
    createdBefore: before(polledSeconds),
    polledBefore: before(pollsEndAfter(settings)),
    underWay,
    limit: maxOfARun,
  })
  const failures: { requestId: string; error: unknown }[] = []
  for (const { requestId, version } of overdue) {
    await changeRequest(context, requestId, (request, at) =>
      request.version === version ? overdueChange(request, settings, at) : undefined,
    ).catch((error: unknown) => failures.push({ requestId, error }))
  }
  for (const requestId of await ports.requests.waitingBut(settings.tenantId, timed, maxOfARun))
    await orderTimers(context, requestId).catch((error: unknown) => failures.push({ requestId, error }))
  await auditExpiredDelegations(ports, settings.tenantId)
  return failures
}

/**
 * Orders the timers of a stage without timers: the job became a dead letter or was lost, or an earlier version wrote
 * the stage. Orders them once a day, so that a failing job does not become a dead letter every minute.
 */
async function orderTimers(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<void> {
  const { ports, settings } = context
  await ports.work.transaction(async () => {
    const request = await changeRequest(context, requestId, (before, at) => {
      const timed = withOpenStage(before, settings, [], at)
      if (timed === before) return undefined
      return { request: timed, audit: [entry({ ...timed, updatedAt: at }, system, 'timed')] }
    })
    const stage = request?.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    if (!stage) return
    const day = ports.clock.now().toISOString().slice(0, 10)
    const id = jobId('tend-approval', requestId, stage.stage, 'forgotten', day)
    await ports.jobs.enqueue([{ name: 'tend-approval', payload: { v: 1, requestId, stage: stage.stage }, id }])
  })
}

/** Adds an entry to the timeline without a change of `updatedAt`. */
function overdueChange(request: Request, settings: Settings, at: string): Change | undefined {
  const attention = attentionOf(request, new Date(at))
  // People were notified about a late site, and its next poll is ordered.
  if (!attention || attention.why === 'late') return undefined
  const { requestId, status } = request
  const { since } = attention
  const card = `stuck:${status}:${since}` as const
  const audit = [entry({ ...request, updatedAt: at }, system, 'overdue', { data: { status, since } })]
  return { request, audit, jobs: [...jobsAgain(request, settings, at), notifyAdminsOrder(requestId, card)] }
}

/**
 * Returns the jobs that should be running. A second job is safe if the first is only slow. A pending decision has no
 * job.
 */
function jobsAgain(request: Request, settings: Settings, at: string): JobOrder[] {
  const { requestId, status } = request
  if (status === 'pendingApproval') return []
  // The next poll of this kind comes with the next run of the watchdog.
  const single = jobId('look', requestId, 'overdue', at)
  const poll = status === 'succeeded' ? singlePoll(request, settings, single, at) : directoryPoll(request, 0, settings)
  // The usual id prevents a second run of the first poll.
  const polls = poll ? [poll] : []
  if (status === 'succeeded') return polls
  return [
    { name: 'provision', payload: { v: 1, requestId }, id: jobId('provision', requestId, 'overdue', at) },
    ...polls,
  ]
}
