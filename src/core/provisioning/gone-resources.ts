import { countingStates, isForMailbox, type Request } from '../requests/index.ts'
import { type SystemContext, TenantError } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import type { ProvisioningPorts } from './completion.ts'

/** Requests per query and per call for mailboxes. */
const pageSize = 100
/** A new resource may not be visible everywhere yet. Milliseconds. */
const visibleAfter = 3_600_000
/** A template with a larger quota is never checked completely in one run: each site needs one or two calls. */
const maxOfRun = 500

/** After this many failed lookups of a template, its other resources keep their last result until the next run. */
const maxFailures = 3

/**
 * Records which resources of templates with a quota no longer exist, and which were restored. Each run checks all resources
 * of a template whose quota is used up, and a twenty-fourth of the others: call it every hour. A resource that cannot be
 * looked up keeps its last result and does not stop the other lookups. Throws the first error of the directory at the end.
 */
export async function noteGoneResources(
  context: SystemContext<ProvisioningPorts>,
  stopping: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  for (const template of await context.ports.templates.list(context.settings.tenantId)) {
    if (stopping.aborted) break
    failures.push(...(await noteOfTemplate(context, template, stopping)))
  }
  if (failures.length > 0) throw failures[0]
}

/** Checks the resources of one template, and returns the errors of the directory. */
async function noteOfTemplate(
  { ports, settings: { tenantId } }: SystemContext<ProvisioningPorts>,
  { id: templateId, quota: { resources: most } }: Template,
  stopping: AbortSignal,
): Promise<readonly unknown[]> {
  if (most === undefined) return []
  const now = ports.clock.now()
  const endedBefore = new Date(now.getTime() - visibleAfter)
  const used = await ports.requests.countOfTemplate({ tenantId, templateId, states: countingStates, but: [], most })
  const hour = used === most && most <= maxOfRun ? undefined : now.getUTCHours()
  const failures: unknown[] = []
  let after = 0
  while (!stopping.aborted && failures.length < maxFailures) {
    const page = await ports.goneResources.toCheck({
      ...{ tenantId, templateId, endedBefore, hour },
      ...{ after, limit: pageSize },
    })
    const exists = await existing(ports, page, stopping, failures)
    await ports.goneResources.note(tenantId, now, exists)
    const last = page.at(-1)
    if (!last || page.length < pageSize) break
    after = last.number
  }
  return failures
}

/**
 * Returns whether each request still has its resource. Leaves out requests without an answer, and adds the errors to `failures`.
 */
async function existing(
  ports: ProvisioningPorts,
  requests: readonly Request[],
  stopping: AbortSignal,
  failures: unknown[],
): Promise<Map<string, boolean>> {
  const lookUp = <T>(question: () => Promise<T>) => question().catch((error: unknown) => void failures.push(error))
  const accounts = requests.flatMap((request) => (isForMailbox(request) ? (request.progress.userId ?? []) : []))
  const found = accounts.length > 0 ? await lookUp(() => answered(() => ports.directory.people(accounts))) : []
  const exists = new Map<string, boolean>()
  for (const request of requests) {
    if (stopping.aborted || failures.length >= maxFailures) break
    const answer = isForMailbox(request)
      ? request.progress.userId === undefined
        ? undefined
        : found?.some(({ id }) => id === request.progress.userId)
      : await lookUp(() => siteExists(ports, request))
    if (answer !== undefined) exists.set(request.requestId, answer)
  }
  return exists
}

/** Finds a team site by its group, which keeps its id when it is renamed, and a communication site by its address. */
async function siteExists(ports: ProvisioningPorts, request: Exclude<Request, { address: string }>) {
  const { directory } = ports
  const { groupId, createdAs } = request.progress
  if (groupId !== undefined) return answered(async () => (await directory.groupName(groupId)) !== undefined)
  const address = createdAs?.alias ?? request.alias
  if (address === '') return undefined
  const last = await ports.requests.lastCreated(request.tenantId, { alias: address }, request.requestId)
  // The address was free for the later site, so this site had been deleted.
  if (last && endOf(last) > endOf(request)) return false
  return answered(async () => !(await directory.isSiteAddressFree(address)))
}

const endOf = ({ finishedAt, updatedAt }: Request): string => finishedAt ?? updatedAt

/** Returns the answer of the directory; undefined if the directory refuses to give one. */
async function answered<T>(question: () => Promise<T>): Promise<T | undefined> {
  try {
    return await question()
  } catch (error) {
    if (error instanceof TenantError && !error.retryable) return undefined
    throw error
  }
}
