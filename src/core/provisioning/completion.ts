import { system } from '../audit/index.ts'
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
import type { ProvisioningPorts } from './ports.ts'

/**
 * The requester is told once that the resource is ready, and only by these two: a verified provisioning webhook, or a
 * look that finds it (DESIGN §5). The job that makes the resource never tells.
 */
export async function completeByWebhook(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  url: string,
): Promise<void> {
  await announce(context, requestId, 'webhook', url)
}

/**
 * Look number `look` whether it is there: for a site, whether the directory has its group; a mailbox has none, so its
 * request's own state tells. Not there: orders the next look; after the fast ones the request is late.
 */
export async function lookWhetherThere(
  context: SystemContext<ProvisioningPorts>,
  requestId: string,
  look: number,
): Promise<void> {
  const { ports, settings } = context
  const request = await ports.requests.find(requestId)
  if (!request) return
  if (!mayStillBeFound(request)) return seek(context, request, look)
  if (isForMailbox(request) && request.status === 'succeeded') return announce(context, requestId, 'state', undefined)
  const found = request.status === 'succeeded' ? await ask(ports, requestId) : {}
  if (found.group) {
    await noteSighting(ports, request)
    return announce(context, requestId, 'poll', found.group.url)
  }
  await changeRequest(context, requestId, (current, at) => {
    if (!mayStillBeFound(current)) return undefined
    const next = directoryPoll(current, look + 1, settings, new Date(at))
    const late = look + 1 >= pollTimes(settings).fast.length && current.followUp.state !== 'late'
    const followUp = late ? { state: 'late' as const } : current.followUp
    const audit = late ? [entry({ ...current, updatedAt: at }, system, 'late')] : []
    return { request: { ...current, followUp }, audit, jobs: next ? [next] : [] }
  })
  if (found.refusal) throw found.refusal
}

/**
 * Who was told by a webhook did not wait for the directory. How long it takes is looked at all the same, for as long as the
 * listed looks go: admins see it.
 */
async function seek(
  { ports, settings }: SystemContext<ProvisioningPorts>,
  request: Request,
  look: number,
): Promise<void> {
  const { requestId, followUp } = request
  const isOfWebhook = followUp.state === 'announced' && followUp.by === 'webhook'
  if (isForMailbox(request) || !isOfWebhook || (await ports.sightings.isNoted(requestId))) return
  if ((await ask(ports, requestId)).group) return noteSighting(ports, request)
  const next = directoryPoll(request, look + 1, settings, ports.clock.now())
  if (next && look + 1 < pollTimes(settings).all.length) await ports.jobs.enqueue([next])
}

/** Its group is there: how long that took since it was made. */
async function noteSighting(ports: ProvisioningPorts, { requestId, tenantId, steps }: Request): Promise<void> {
  const madeAt = steps.find(({ name }) => name === 'link-group')?.finishedAt
  if (!madeAt) return
  const seenAt = ports.clock.now()
  const seconds = Math.max(0, (seenAt.getTime() - Date.parse(madeAt)) / 1000)
  await ports.sightings.note({ tenantId, requestId, seenAt, seconds })
}

/** A directory that refuses or does not answer has not found it this time; the looks go on, and the log is told. */
async function ask(
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
