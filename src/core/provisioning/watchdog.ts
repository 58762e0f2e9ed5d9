import { openStage } from '../approvals/index.ts'
import { system } from '../audit/index.ts'
import { noteExpired } from '../decisions/index.ts'
import {
  attentionOf,
  type Change,
  changeRequest,
  deadlines,
  directoryPoll,
  entry,
  type Request,
  withOpenStage,
} from '../requests/index.ts'
import { type JobOrder, jobId, notifyAdminsOrder, type Settings, type SystemContext } from '../shared/index.ts'
import type { ProvisioningPorts } from './completion.ts'

/** After the listed polls the directory is polled every hour, so until then a created resource is not overdue. */
const polledSeconds = 3600
/** The most requests of one run; the next run, a minute later, handles the others. */
const mostOfARun = 100

/**
 * Finds requests that have been in their state for longer than its deadline, whatever happened to their job: enqueues the job
 * again, once per deadline, and notifies the admins once. Each writes an entry `overdue` into the request's timeline, by
 * which the next run knows. Leaves out queued requests whose job is under way (`underWay`: ids). Orders the timers of open
 * stages that have none (all but `timed`: ids), and records ended delegations. Returns the requests that failed; they do not
 * stop the others.
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
    askedBefore: before(deadlines.pendingApproval),
    madeBefore: before(polledSeconds),
    underWay,
    limit: mostOfARun,
  })
  const failures: { requestId: string; error: unknown }[] = []
  for (const { requestId, version } of overdue) {
    await changeRequest(context, requestId, (request, at) =>
      request.version === version ? overdueChange(request, settings, at) : undefined,
    ).catch((error: unknown) => failures.push({ requestId, error }))
  }
  for (const requestId of await ports.requests.waitingBut(settings.tenantId, timed, mostOfARun))
    await orderTimers(context, requestId).catch((error: unknown) => failures.push({ requestId, error }))
  await noteExpired(ports, settings.tenantId)
  return failures
}

/**
 * Orders the job for the timers of a stage that has none: the job was given up or lost, or an earlier version without timers
 * wrote the stage, which then gets its times now. Once a day, so that a failing job is not given up every minute.
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

/** Changes only the timeline, so that the request stays as old as it is. */
function overdueChange(request: Request, settings: Settings, at: string): Change | undefined {
  const attention = attentionOf(request, new Date(at))
  // For a late site people were notified, and the next poll is ordered.
  if (!attention || attention.why === 'late') return undefined
  const { requestId, status } = request
  const { since } = attention
  const card = `stuck:${status}:${since}` as const
  const audit = [entry({ ...request, updatedAt: at }, system, 'overdue', { data: { status, since } })]
  return { request, audit, jobs: [...jobsAgain(request, settings, at), notifyAdminsOrder(requestId, card)] }
}

/** The jobs that should be under way. Safe if the old job is only slow; a pending decision has no job. */
function jobsAgain(request: Request, settings: Settings, at: string): JobOrder[] {
  const { requestId, status } = request
  if (status === 'pendingApproval') return []
  const poll = directoryPoll(request, 0, settings)
  if (status === 'succeeded') return poll ? [{ ...poll, id: jobId('look', requestId, 'overdue', at) }] : []
  const work: JobOrder = {
    name: 'provision',
    payload: { v: 1, requestId },
    id: jobId('provision', requestId, 'overdue', at),
  }
  // With its usual id, so that a first poll that has run does not run again.
  return poll ? [work, poll] : [work]
}
