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
import type { ProvisioningPorts } from './ports.ts'

/** What was made is looked for every hour once the listed looks are over, so until then nobody need look after it. */
const lookedForSeconds = 3600
/** The most requests that one run sees to; the others' turn comes a minute later. */
const mostOfARun = 100

/**
 * Looks for requests that have been in their state for longer than its deadline, so that none is forgotten whatever
 * became of its job: the job is enqueued anew, once per deadline, and the admins are told once. Each is a line of the
 * request's timeline (`overdue`), which is also how the next run knows. A queued request whose job is still under way
 * (`underWay`: ids) only waits for its turn. Stages that wait and that nobody looks after (all but `lookedAfter`: ids) are looked after
 * again, and delegations that are over are recorded. Returns the requests that could not be seen to, which keep no other from it.
 */
export async function watch(
  context: SystemContext<ProvisioningPorts>,
  underWay: readonly string[],
  lookedAfter: readonly string[],
): Promise<{ requestId: string; error: unknown }[]> {
  const { ports, settings } = context
  const now = ports.clock.now().getTime()
  const before = (seconds: number) => new Date(now - seconds * 1000)
  const overdue = await ports.requests.overdue({
    tenantId: settings.tenantId,
    queuedBefore: before(deadlines.queued),
    provisioningBefore: before(deadlines.provisioning),
    askedBefore: before(deadlines.pendingApproval),
    madeBefore: before(lookedForSeconds),
    underWay,
    limit: mostOfARun,
  })
  const failures: { requestId: string; error: unknown }[] = []
  for (const { requestId, version } of overdue) {
    await changeRequest(context, requestId, (request, at) =>
      request.version === version ? overdueChange(request, settings, at) : undefined,
    ).catch((error: unknown) => failures.push({ requestId, error }))
  }
  for (const requestId of await ports.requests.waitingBut(settings.tenantId, lookedAfter, mostOfARun))
    await lookAfter(context, requestId).catch((error: unknown) => failures.push({ requestId, error }))
  await noteExpired(ports, settings.tenantId)
  return failures
}

/**
 * Orders a look after a stage that none is ordered for: it was given up, or lost, or the stage was begun or written by a version that
 * knows no times. Then it gets them now. One a day: a look that nobody can make is not given up every minute.
 */
async function lookAfter(context: SystemContext<ProvisioningPorts>, requestId: string): Promise<void> {
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

/** Nothing of the request changes but its timeline, so that it stays as old as it is. */
function overdueChange(request: Request, settings: Settings, at: string): Change | undefined {
  const attention = attentionOf(request, new Date(at))
  // Who has to know that SharePoint takes long was notified, and its next poll is ordered.
  if (!attention || attention.why === 'late') return undefined
  const { requestId, status } = request
  const { since } = attention
  const card = `stuck:${status}:${since}` as const
  const audit = [entry({ ...request, updatedAt: at }, system, 'overdue', { data: { status, since } })]
  return { request, audit, jobs: [...jobsAnew(request, settings, at), notifyAdminsOrder(requestId, card)] }
}

/** What should be under way. It is safe if the old job is only slow; a decision is nobody's job. */
function jobsAnew(request: Request, settings: Settings, at: string): JobOrder[] {
  const { requestId, status } = request
  if (status === 'pendingApproval') return []
  const look = directoryPoll(request, 0, settings)
  if (status === 'succeeded') return look ? [{ ...look, id: jobId('look', requestId, 'overdue', at) }] : []
  const work: JobOrder = {
    name: 'provision',
    payload: { v: 1, requestId },
    id: jobId('provision', requestId, 'overdue', at),
  }
  // Under its usual id: a first look that was made already is not made again.
  return look ? [work, look] : [work]
}
