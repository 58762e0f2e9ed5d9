import { type AuditAction, type AuditEntry, system } from '../audit/index.ts'
import { isForMailbox, type Problem, problemOf, type Request, referenceOf } from '../requests/index.ts'
import { mailboxDetails } from '../resources/index.ts'
import { because, isTerminal, type SystemContext } from '../shared/index.ts'
import { templateSnapshot } from '../templates/index.ts'
import type { PrivacyPorts, RetentionStart } from './ports.ts'

/** Requests per query, and the maximum number of requests of one run: the others wait for the next hour. */
const pageSize = 100
const maxOfRun = 20_000
const dayMilliseconds = 86_400_000

/**
 * Removes the details of requests that ended before the organisation's retention, each in a transaction of its own. Before
 * the first run, only announces it. Returns the number of requests. A failure does not stop the others; the first error is thrown at the end.
 */
export async function reduceOld(
  { ports, settings }: SystemContext<PrivacyPorts>,
  stopping: AbortSignal,
): Promise<number> {
  const { tenantId, retentionDays } = settings
  if (retentionDays === undefined) {
    await ports.retention.forgetStart(tenantId)
    return 0
  }
  const before = new Date(ports.clock.now().getTime() - retentionDays * dayMilliseconds)
  if (!(await hasRetentionStarted({ ports, settings }, { days: retentionDays, before }))) return 0
  const failed = new Map<string, unknown>()
  let count = 0
  while (count < maxOfRun && !stopping.aborted) {
    const due = await ports.retention.due({ tenantId, before, but: [...failed.keys()], limit: pageSize })
    if (due.length === 0) break
    for (const requestId of due) {
      if (stopping.aborted) break
      await reduceOne(ports, requestId).then(
        () => (count += 1),
        (error: unknown) => failed.set(requestId, error),
      )
    }
  }
  if (failed.size > 0) throw [...failed.values()][0]
  return count
}

async function reduceOne(ports: PrivacyPorts, requestId: string): Promise<void> {
  await ports.work.transaction(async () => {
    const request = await ports.requests.lock(requestId)
    if (!request || request.reducedAt !== undefined || !isTerminal(request.status)) return
    await writeAside(ports, request, reduced(request, ports.clock.now().toISOString()), 'reduced')
    await ports.retention.forgetParts(requestId)
  })
}

/**
 * Stores a change of a request with its entry. Keeps the time of the last update, so that nobody is notified.
 * Call it in the transaction that has locked the request.
 */
export async function writeAside(
  ports: PrivacyPorts,
  before: Request,
  to: Request,
  action: AuditAction,
): Promise<void> {
  const after = { ...to, version: before.version + 1 }
  const { requestId, tenantId } = before
  const at = ports.clock.now().toISOString()
  const entry: AuditEntry = { requestId, tenantId, at, actor: system, action }
  await ports.requests.update(after)
  await ports.audit.append([entry], { version: after.version, before, after })
}

/**
 * Returns the parts of an ended request that the audit needs: its kind, states and times, requester, approvers and
 * resource. Removes all texts that people wrote.
 */
export function reduced(request: Request, at: string): Request {
  const bare = {
    reducedAt: at,
    reason: '',
    cancelComment: '',
    checks: [],
    policy: undefined,
    typedName: undefined,
    fingerprint: undefined,
    around: undefined,
    passedOver: undefined,
    guests: undefined,
    addressConflict: undefined,
    addressChanges: undefined,
    // The caller chose the key of the row.
    batch: request.batch && { ...request.batch, row: '' },
    template: bareTemplate(request),
    approvals: request.approvals.map(bareStage),
    steps: request.steps.map((step) => ({ ...step, ...(step.problem && { problem: bareProblem(step.problem) }) })),
    problem: request.problem && bareProblem(request.problem),
    ...(request.basedOn && { basedOn: bareBasis(request.basedOn) }),
  }
  return isForMailbox(request)
    ? { ...request, ...bare, ...bareMailbox(request) }
    : { ...request, ...bare, ...bareSite(request) }
}

/**
 * A site without its details. Its name becomes its address if it was created, else the reference. The address that the tenant's
 * own naming policy made stays, so that others do not get it too soon.
 */
function bareSite(request: Exclude<Request, { address: string }>) {
  const { alias, progress, requester } = request
  const isCreated = isAnyCreated(request)
  const { createdAs } = progress
  const owners = request.owners.filter(({ id }) => id === requester.id)
  const details = { description: '', alias: '', owners: [], metadata: {}, labelId: '' }
  const displayName = (isCreated && alias) || referenceOf(request)
  return {
    details: { ...details, displayName },
    owners,
    people: undefined,
    alias: isCreated ? alias : '',
    progress: isCreated ? { ...progress, createdAs: createdAs && { ...createdAs, displayName: createdAs.alias } } : {},
  }
}

function bareMailbox(request: Extract<Request, { address: string }>) {
  const isCreated = isAnyCreated(request)
  const address = isCreated ? request.address : ''
  const name = mailboxDetails.shape.name.safeParse(address.split('@')[0]).data ?? referenceOf(request).toLowerCase()
  const displayName = isCreated ? name : referenceOf(request)
  return {
    details: mailboxDetails.parse({ name, displayName }),
    people: [],
    address,
    aliasAddress: '',
    progress: isCreated ? request.progress : {},
  }
}

/** Whether any part was created: an abandoned resource still exists. */
const isAnyCreated = ({ steps }: Request): boolean => steps.some(({ status }) => status === 'done')

const bareTemplate = ({ template: { id, version, kind, name } }: Request) =>
  templateSnapshot.parse({ id, version, kind, name })

const bareProblem = ({ code, step }: Problem): Problem =>
  problemOf(code, because('detailsRemoved'), step === undefined ? {} : { step })

const bareBasis = ({ requestId, reference, how, ended }: NonNullable<Request['basedOn']>) => ({
  requestId,
  reference,
  how,
  changed: [],
  ...(ended && { ended: { status: ended.status, ...(ended.by && { by: ended.by }) } }),
})

function bareStage(stage: Request['approvals'][number]): Request['approvals'][number] {
  const { membership: _, unreachable: __, ...kept } = stage
  return {
    ...kept,
    decisions: stage.decisions.map(({ comment: _, ...decision }) => decision),
    ...(stage.reassigned && { reassigned: stage.reassigned.map(({ comment: _, ...one }) => one) }),
  }
}

/** How long before its first run retention is announced, in hours: admins can still turn it off. */
const retentionNoticeHours = 72

/**
 * Returns the start of retention for the requests that it would reduce now, and whether it is new: retention
 * removes something for the first time, or after fewer days than before.
 */
function startFor(
  known: RetentionStart | undefined,
  { days, count, at }: { readonly days: number; readonly count: number; readonly at: Date },
): { readonly start: RetentionStart | undefined; readonly isNew: boolean } {
  if (known && known.days <= days) return { start: { ...known, days }, isNew: false }
  // Without anything to remove there is nothing to announce. Later requests have their announcement when they are due.
  if (count === 0) return { start: undefined, isNew: false }
  const startsAt = new Date(at.getTime() + retentionNoticeHours * 3_600_000).toISOString()
  return { start: { days, startsAt, count }, isNew: true }
}

/** Whether retention may remove requests that ended so many days ago. Announces its start to the admins first, once. */
async function hasRetentionStarted(
  { ports, settings: { tenantId } }: SystemContext<PrivacyPorts>,
  { days, before }: { readonly days: number; readonly before: Date },
): Promise<boolean> {
  const at = ports.clock.now()
  return ports.work.transaction(async () => {
    const known = await ports.retention.start(tenantId)
    const count = known && known.days <= days ? known.count : await ports.retention.count({ tenantId, before })
    const { start, isNew } = startFor(known, { days, count, at })
    // Another process may store its start at the same time. Only one of them announces it.
    if (start && !isSame(start, known)) {
      if (!(await ports.retention.putStart(tenantId, start, known))) return false
      if (isNew)
        await ports.jobs.enqueue([{ name: 'tell-admins', payload: { v: 1, notice: `retention:${start.startsAt}` } }])
    }
    return start !== undefined && Date.parse(start.startsAt) <= at.getTime()
  })
}

const isSame = (one: RetentionStart, other: RetentionStart | undefined): boolean =>
  one.days === other?.days && one.startsAt === other.startsAt

/** The card to admins before retention removes anything. */
export interface RetentionNotice extends RetentionStart {
  readonly kind: 'retention'
}

/** Returns the content of the card about a start; undefined: retention is off, or has another start now. */
export async function readRetentionNotice(
  { ports, settings }: SystemContext<PrivacyPorts>,
  startsAt: string,
): Promise<RetentionNotice | undefined> {
  if (settings.retentionDays === undefined) return undefined
  const start = await ports.retention.start(settings.tenantId)
  return start?.startsAt === startsAt ? { kind: 'retention', ...start } : undefined
}
