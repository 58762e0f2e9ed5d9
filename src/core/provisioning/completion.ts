import { system } from '../audit/index.ts'
import type { DecisionPorts } from '../decisions/index.ts'
import {
  changeRequest,
  directoryPoll,
  entry,
  isForMailbox,
  notifyRequester,
  pollTimes,
  type Request,
} from '../requests/index.ts'
import { type SystemContext, TenantError } from '../shared/index.ts'

/**
 * Completes a request after its verified provisioning webhook. Only this function or {@link pollDirectory} notifies the
 * requester once that the resource is ready (DESIGN §5). The job that creates the resource never does.
 */
export async function completeByWebhook(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  url: string,
): Promise<void> {
  await announce(context, requestId, 'webhook', url)
}

/**
 * Polls whether the resource is visible: for a site, whether the directory has its group; for a mailbox, which has no
 * group, the state of its request. If it is not visible, orders the next poll. `poll` counts from 0. After the fast
 * polls the request is late. Throws an error of the directory that may end, so that the queue repeats the poll. Returns
 * any other error of the directory, and each one in the `lastAttempt`: only the next poll may find the resource.
 */
export async function pollDirectory(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  poll: number,
  lastAttempt = false,
): Promise<TenantError | undefined> {
  const { ports, settings } = context
  const request = await ports.requests.find(requestId)
  if (!request) return undefined
  if (!mayStillBeFound(request)) return measureDelay(context, request, poll)
  if (isForMailbox(request) && request.status === 'succeeded') {
    await announce(context, requestId, 'state', undefined)
    return undefined
  }
  const found = request.status === 'succeeded' ? await findGroup(ports, requestId) : {}
  if (found.group) {
    await noteSighting(ports, request)
    await announce(context, requestId, 'poll', found.group.url)
    return undefined
  }
  const next = directoryPoll(request, poll + 1, settings, ports.clock.now())
  const jobs = next ? [next] : []
  const isLate = poll + 1 >= pollTimes(settings).fast.length && request.followUp.state !== 'late'
  // Most polls change nothing.
  if (!isLate) await ports.jobs.enqueue(jobs)
  else
    await changeRequest(context, requestId, (current, at) => {
      if (!mayStillBeFound(current) || current.followUp.state === 'late') return undefined
      const audit = [entry({ ...current, updatedAt: at }, system, 'late')]
      return { request: { ...current, followUp: { state: 'late' } }, audit, jobs }
    })
  // The next poll is ordered. So an outage leaves no dead letters.
  if (found.refusal?.retryable && !lastAttempt) throw found.refusal
  return found.refusal
}

/**
 * Continues the listed polls after a webhook has completed the request. They measure how long the directory takes, for
 * the health report.
 */
async function measureDelay(
  { ports, settings }: SystemContext<ProvisioningPorts>,
  request: Request,
  poll: number,
): Promise<TenantError | undefined> {
  const { requestId, followUp } = request
  const isOfWebhook = followUp.state === 'announced' && followUp.by === 'webhook'
  if (isForMailbox(request) || !isOfWebhook || (await ports.sightings.isNoted(requestId))) return undefined
  const { group, refusal } = await findGroup(ports, requestId)
  if (group) {
    await noteSighting(ports, request)
    return undefined
  }
  const next = directoryPoll(request, poll + 1, settings, ports.clock.now())
  if (next && poll + 1 < pollTimes(settings).all.length) await ports.jobs.enqueue([next])
  return refusal
}

/** Records how long the directory took to show the group. */
async function noteSighting(ports: ProvisioningPorts, { requestId, tenantId, steps }: Request): Promise<void> {
  const createdAt = steps.find(({ name }) => name === 'link-group')?.finishedAt
  if (!createdAt) return
  const seenAt = ports.clock.now()
  const seconds = Math.max(0, (seenAt.getTime() - Date.parse(createdAt)) / 1000)
  await ports.sightings.note({ tenantId, requestId, seenAt, seconds })
}

/**
 * Searches the group of a request. Returns an error of the directory as `refusal`, so that it is logged and the polls
 * continue.
 */
async function findGroup(
  ports: ProvisioningPorts,
  requestId: string,
): Promise<{ group?: ProvisionedGroup | undefined; refusal?: TenantError }> {
  try {
    return { group: await ports.directory.findProvisionedGroup(requestId) }
  } catch (error) {
    if (error instanceof TenantError) return { refusal: error }
    throw error
  }
}
type ProvisionedGroup = NonNullable<Awaited<ReturnType<ProvisioningPorts['directory']['findProvisionedGroup']>>>

const mayStillBeFound = ({ status, followUp }: Request): boolean =>
  followUp.state !== 'announced' && (status === 'queued' || status === 'provisioning' || status === 'succeeded')

async function announce(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  by: 'webhook' | 'poll' | 'state',
  found: string | undefined,
): Promise<void> {
  const { ports } = context
  await changeRequest(context, requestId, (request, at) => {
    if (request.status !== 'succeeded' || request.followUp.state === 'announced') return undefined
    const known = isForMailbox(request) ? [] : [found, request.resource?.url]
    const { siteRoot, otherSiteOrigins = [] } = ports.tenant
    const origins = [new URL(siteRoot).origin, ...otherSiteOrigins]
    const url = known.find((one) => origins.some((origin) => one?.startsWith(`${origin}/`)))
    const next: Request = {
      ...request,
      updatedAt: at,
      followUp: { state: 'announced', by, at, ...(url !== undefined && { url }) },
    }
    return { request: next, audit: [entry(next, system, 'announced', { data: { by } })], jobs: [notifyRequester(next)] }
  })
}

/** How long the directory takes to show a created resource; for a site, its security group. */
export interface DirectorySightings {
  /** Stores when a request's group was first visible. `seconds`: since its creation. */
  note(sighting: { tenantId: string; requestId: string; seenAt: Date; seconds: number }): Promise<void>
  isNoted(requestId: string): Promise<boolean>
  /** Returns the number of measurements since a moment, and the median and 95th percentile of the delays. */
  delay(tenantId: string, since: Date): Promise<{ seen: number; p50Seconds: number; p95Seconds: number }>
  forgetOld(at: Date): Promise<void>
}

/** The created resources that no longer exist. */
export interface GoneResources {
  /**
   * Returns requests of a template whose resource may have been deleted or restored, by number. `hour`: only a
   * twenty-fourth of them, another one for each hour of the day.
   */
  toCheck(query: {
    readonly tenantId: string
    readonly templateId: string
    readonly endedBefore: Date
    readonly hour: number | undefined
    readonly after: number
    readonly limit: number
  }): Promise<Request[]>
  /** Stores which requests still have their resource. */
  note(tenantId: string, at: Date, exists: ReadonlyMap<string, boolean>): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface ProvisioningPorts extends DecisionPorts {
  readonly sightings: DirectorySightings
  readonly goneResources: GoneResources
}
