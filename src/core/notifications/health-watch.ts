import { setTimeout } from 'node:timers/promises'
import { adminsOf } from '../approvals/index.ts'
import { currentHealth, type HealthPart, type HealthReport } from '../operations/index.ts'
import type { NoticeOrder, NoticeStore } from '../requests/index.ts'
import { type JobOrder, type NoticeKey, type SystemContext, tellOrder } from '../shared/index.ts'
import type { HealthWatch, HealthWatchStore, NotificationPorts, WatchOfParts } from './ports.ts'

/** When admins are notified about the health of the service, in seconds. */
export const watchTimes = {
  /** The length of a turn. Each turn checks once, and the check has the time of the turn's beginning. */
  checkEvery: 20,
  /** The service counts as red once two checks in a row, this far apart, have found something red. */
  confirmAfter: 20,
  /**
   * The service counts as well once every check for this long has found nothing red, so that a trouble that comes and goes
   * is one trouble.
   */
  wellAfter: 60,
} as const
export type WatchTimes = { readonly [K in keyof typeof watchTimes]: number }

/** One check of the service's health. */
export interface HealthCheck {
  readonly at: string
  /** The red parts. */
  readonly parts: readonly HealthPart[]
}

const isCredential = ({ name }: HealthPart): boolean => name === 'certificate' || name === 'botSecret'

/**
 * Ends the key of a card that credentials are well again: other parts may have turned red at the same check and be well
 * later.
 */
const alone = '/credentials'

/** Whether a result is that of credentials: earlier versions kept one result of all parts, and credentials were the red ones. */
const isOfCredentials = (watch: HealthWatch | undefined): boolean =>
  watch?.red != null &&
  watch.credentials === undefined &&
  watch.red.parts.length > 0 &&
  watch.red.parts.every(isCredential)

/** Returns the result after one more check, and the notices for admins. `before` is undefined for the first check ever. */
export function afterCheck(
  before: HealthWatch | undefined,
  { at, parts }: HealthCheck,
  times: Pick<WatchTimes, 'confirmAfter' | 'wellAfter'> = watchTimes,
): { readonly watch: HealthWatch; readonly tell: readonly NoticeKey[] } {
  const next = (known: WatchOfParts | undefined, red: HealthPart[]) => afterCheckOf(known, { at, parts: red }, times)
  const isEarlier = isOfCredentials(before)
  const credentials = next(isEarlier ? before : before?.credentials, parts.filter(isCredential))
  const others = next(
    isEarlier ? undefined : before,
    parts.filter((part) => !isCredential(part)),
  )
  // Both have the same key if they turned red, or well, at the same check: then one card names both.
  const isApart = credentials.watch.state === 'well' && credentials.tell !== others.tell
  const ofCredentials = isApart && credentials.tell ? (`${credentials.tell}${alone}` as const) : credentials.tell
  const tell = new Set([others.tell, ofCredentials].filter((key) => key !== undefined))
  return { watch: { ...others.watch, credentials: credentials.watch }, tell: [...tell] }
}

function afterCheckOf(
  before: WatchOfParts | undefined,
  { at, parts }: HealthCheck,
  { confirmAfter, wellAfter }: Pick<WatchTimes, 'confirmAfter' | 'wellAfter'>,
): { readonly watch: WatchOfParts; readonly tell: Extract<NoticeKey, `health:${string}`> | undefined } {
  const isRed = parts.length > 0
  const known = before ?? { state: 'well', since: at, turning: null, red: null }
  if (isRed === (known.state === 'red')) return { watch: { ...known, turning: null }, tell: undefined }
  // One that lies ahead was written by the clock of another process, or before the clock was set back.
  const turning = known.turning !== null && Date.parse(known.turning) <= Date.parse(at) ? known.turning : at
  if (Date.parse(at) - Date.parse(turning) < (isRed ? confirmAfter : wellAfter) * 1000)
    return { watch: { ...known, turning }, tell: undefined }
  if (isRed) {
    const red = { since: turning, parts: [...parts] }
    return { watch: { state: 'red', since: turning, turning: null, red }, tell: redNotice(turning) }
  }
  const since = known.red?.since ?? known.since
  return { watch: { ...known, state: 'well', since: turning, turning: null }, tell: wellNotice(since) }
}

/** The cards about one time of trouble are named by when it began. */
export const redNotice = (since: string) => `health:red:${since}` as const
export const wellNotice = (since: string) => `health:well:${since}` as const

/** The card to admins when the service turns red, and when it is well again. */
export interface HealthNotice {
  readonly kind: 'health'
  readonly turned: 'red' | 'well'
  /** When the service turned red, and when it was healthy again (ISO 8601); null: not yet. */
  readonly since: string
  readonly until: string | null
  /** The parts that were red. */
  readonly parts: readonly HealthPart[]
}

/** Returns the content of a card about the last trouble; undefined: the card is about an earlier one, or it is over. */
function healthNotice({ state, since, red }: WatchOfParts, turned: HealthNotice['turned']): HealthNotice | undefined {
  if (!red || (turned === 'red') !== (state === 'red')) return undefined
  return { kind: 'health', turned, since: red.since, until: turned === 'well' ? since : null, parts: red.parts }
}

/** Returns what the card says now. Only people who got the card that something is broken get the card that all works again. */
export async function readHealthNotice(
  { healthWatch, notices }: { readonly healthWatch: HealthWatchStore; readonly notices: NoticeStore },
  order: NoticeOrder,
  { turned, since }: { readonly turned: HealthNotice['turned']; readonly since: string },
): Promise<HealthNotice | undefined> {
  const watch = await healthWatch.find(order.tenantId)
  const began = since.replace(alone, '')
  const [content, ...more] = [began === since ? watch : undefined, watch?.credentials].flatMap((of) => {
    const notice = of && healthNotice(of, turned)
    return notice?.since === began ? [notice] : []
  })
  if (!content) return undefined
  const same = [content, ...more.filter(({ until }) => until === content.until)]
  const whole = { ...content, parts: same.flatMap(({ parts }) => parts) }
  if (turned === 'red' || (await notices.find({ ...order, notice: redNotice(began) }))) return whole
  return undefined
}

/**
 * For how long after its start the watcher leaves the expensive checks to people who ask, in milliseconds: replicas that start
 * together would all run them at the same time, while they have other work.
 */
const quietAfterStart = 60_000

export interface HealthWatcher {
  /** Checks the health once, and orders the cards to admins if it has changed. */
  check(): Promise<void>
}

/** Watches the health of the service for all processes: each check reads and writes the shared result. */
export function createHealthWatcher(
  context: SystemContext<NotificationPorts>,
  times: WatchTimes = watchTimes,
): HealthWatcher {
  const { ports, settings } = context
  const { tenantId } = settings
  const adminIds = adminIdsOf(context)
  const startedAt = ports.clock.now().getTime()

  /** The new result and the cards about it are stored in one transaction. */
  const keep = (check: HealthCheck, known: readonly string[]) =>
    ports.work.transaction(async () => {
      const { watch, tell } = afterCheck(await ports.healthWatch.lock(tenantId), check, times)
      await ports.healthWatch.put(tenantId, watch)
      if (tell.length === 0) return
      // The trouble may be the directory, so admins who are known already do not wait for it.
      const orders = tell.flatMap((notice): JobOrder[] => [
        { name: 'tell-admins', payload: { v: 1, notice } },
        ...known.map((personId) => tellOrder(tenantId, personId, notice)),
      ])
      await ports.jobs.enqueue(orders)
    })

  return {
    async check() {
      const turn = times.checkEvery * 1000
      const at = new Date(Math.floor(ports.clock.now().getTime() / turn) * turn).toISOString()
      const starts = ports.clock.now().getTime() - startedAt >= quietAfterStart
      const report = await currentHealth(context, { starts })
      await keep(checkOf(report, at), await adminIds())
    },
  }
}

const checkOf = ({ parts }: HealthReport, at: string): HealthCheck => ({
  at,
  parts: parts.filter((part) => part.state === 'red'),
})

/** How long the ids of the admins are kept, in milliseconds, so that a check asks the directory as little as it can. */
const adminsKeptFor = 300_000

/** How long a check waits for the directory, in milliseconds: the directory may be the trouble that the check has found. */
const directoryPatience = 2000

/**
 * Returns the ids of all admins: the directory's answer of the last five minutes, or the last one. Without any, the ids that the
 * settings name. An answer that comes too late counts for the next check.
 */
function adminIdsOf({ ports, settings }: SystemContext<NotificationPorts>): () => Promise<readonly string[]> {
  let known: { readonly at: number; readonly ids: readonly string[] } | undefined
  const ask = async (): Promise<readonly string[]> => {
    const at = ports.clock.now().getTime()
    if (known && at - known.at < adminsKeptFor) return known.ids
    const ids = (await adminsOf(ports, settings)).map(({ id }) => id)
    known = { at, ids }
    return ids
  }
  const lastKnown = () => known?.ids ?? settings.admins
  return () =>
    Promise.race([ask().catch(lastKnown), setTimeout(directoryPatience, undefined, { ref: false }).then(lastKnown)])
}
