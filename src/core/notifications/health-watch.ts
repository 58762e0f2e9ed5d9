import { setTimeout } from 'node:timers/promises'
import { adminsOf } from '../approvals/index.ts'
import {
  currentHealth,
  type HealthPart,
  type HealthPartName,
  type SeenProcess,
  silentAfterSeconds,
  unjudgedParts,
} from '../operations/index.ts'
import {
  type HealthNoticeKey,
  type HealthTurn,
  type JobOrder,
  noticeOrder,
  type SystemContext,
} from '../shared/index.ts'
import {
  afterPartsCheck,
  brokenOf,
  type ConfirmTimes,
  earliest,
  type FoundParts,
  firstBroken,
  isLongAgo,
  moreNotice,
  namedMoments,
  unused,
} from './broken-parts.ts'
import type {
  BrokenParts,
  HealthWatch,
  HealthWatchStore,
  NoticeOrder,
  NoticeStore,
  NotificationPorts,
  WatchOfParts,
} from './ports.ts'
import { foundParts, type HealthCheck, redReportsAfter, redReportsOf } from './red-reports.ts'

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

const isCredential = (name: HealthPartName): boolean => name === 'certificate' || name === 'botSecret'

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
  watch.red.parts.every(({ name }) => isCredential(name))

/** Returns the result after one more check, and the notices for admins. `before` is undefined for the first check ever. */
export function afterCheck(
  before: HealthWatch | undefined,
  check: HealthCheck,
  times: ConfirmTimes = watchTimes,
): { readonly watch: HealthWatch; readonly notices: readonly HealthNoticeKey[] } {
  const reports = redReportsAfter(redReportsOf(before), check)
  const named = namedMoments([before, before?.credentials])
  const next = (known: WatchOfParts | undefined, isOf: (name: HealthPartName) => boolean) =>
    afterCheckOf(known, { ...foundParts(reports, check, isOf), named }, times)
  const isEarlier = isOfCredentials(before)
  const credentials = next(isEarlier ? before : before?.credentials, isCredential)
  const others = next(isEarlier ? undefined : before, (name) => !isCredential(name))
  // Both have the same key if they turned red, or well, at the same check: then one card names both.
  const isApart = (key: HealthNoticeKey) => credentials.watch.state === 'well' && !others.notices.includes(key)
  const ofCredentials = credentials.notices.map((key) => (isApart(key) ? (`${key}${alone}` as HealthNoticeKey) : key))
  const notices = new Set([...others.notices, ...ofCredentials])
  return { watch: { ...others.watch, credentials: credentials.watch, reports }, notices: [...notices] }
}

interface AfterCheck {
  readonly watch: WatchOfParts
  readonly notices: readonly HealthNoticeKey[]
}

function afterCheckOf(before: WatchOfParts | undefined, check: FoundParts, times: ConfirmTimes): AfterCheck {
  const known = before ?? { state: 'well', since: check.at, turning: null, red: null }
  return known.state === 'red' ? afterRed(known, check, times) : afterWell(known, check, times)
}

/** Returns the result after one more check while the service counts as well. */
function afterWell(
  known: WatchOfParts,
  { at, red: found, named }: FoundParts,
  { confirmAfter }: ConfirmTimes,
): AfterCheck {
  if (found.length === 0) return { watch: { ...known, turning: null }, notices: [] }
  const turning = earliest([known.turning], at)
  // Another process may have found a part healthy between two checks of this process that found it red.
  const first = earliest([turning, ...found.map(({ since }) => since)], at)
  if (!isLongAgo(first, at, confirmAfter)) return { watch: { ...known, turning }, notices: [] }
  const since = unused(turning, named, at)
  const parts = found.map(({ part }) => part)
  const broken = firstBroken(parts, since)
  return { watch: { state: 'red', since, turning: null, red: { since, parts }, broken }, notices: [redNotice(since)] }
}

/** Returns the result after one more check of a trouble, with the notices about its single parts. */
function afterRed(known: WatchOfParts, check: FoundParts, times: ConfirmTimes): AfterCheck {
  const { at, red: found, held, unjudged } = check
  const { broken, notices } = afterPartsCheck(brokenOf(known), check, times)
  const watch = withFurther({ ...known, broken }, broken)
  const isBroken = (name: HealthPartName) => broken.red.some(({ part }) => part.name === name)
  // A part that is red only in an earlier check of another process has no card, so nobody waits for its end.
  if (found.length > 0 || held.some(isBroken)) return { watch: { ...watch, turning: null }, notices }
  // A check that cannot judge all broken parts neither ends nor interrupts the healthy time.
  if (unjudged.some(isBroken)) return { watch, notices }
  const turning = earliest([known.turning], at)
  if (!isLongAgo(turning, at, times.wellAfter)) return { watch: { ...watch, turning }, notices }
  const since = known.red?.since ?? known.since
  return { watch: { ...watch, state: 'well', since: turning, turning: null }, notices: [wellNotice(since)] }
}

/** Adds the parts that turned red later to all parts that were red. */
function withFurther(watch: WatchOfParts, { red: broken }: BrokenParts): WatchOfParts {
  if (!watch.red) return watch
  const { parts } = watch.red
  const further = broken.map(({ part }) => part).filter(({ name }) => !parts.some((part) => part.name === name))
  return { ...watch, red: { ...watch.red, parts: [...parts, ...further] } }
}

/** The cards about one time of trouble are named by when it began. */
export const redNotice = (since: string) => `health:red:${since}` as const
export const wellNotice = (since: string) => `health:well:${since}` as const

/** The card to admins when the health changes. */
export interface HealthNotice {
  readonly kind: 'health'
  /** `more`: further parts turned red. `less`: parts are healthy again while others are red. */
  readonly turned: HealthTurn
  /** When the parts turned red, and when they were healthy again (ISO 8601); null: not yet. */
  readonly since: string
  readonly until: string | null
  /** The parts that the card is about. */
  readonly parts: readonly HealthPart[]
  /** The other parts that are red; only for `more` and `less`. */
  readonly others: readonly HealthPart[]
}

/** Returns the content of a card about the last trouble; undefined: the card is about an earlier one, or it is over. */
function healthNotice(
  watch: WatchOfParts,
  { turned, since: named }: { readonly turned: HealthTurn; readonly since: string },
): HealthNotice | undefined {
  const { state, since, red } = watch
  if (!red || (turned === 'well') !== (state === 'well')) return undefined
  const { red: broken, recovered } = brokenOf(watch)
  const redNow = (but: readonly HealthPart[]) =>
    broken.flatMap(({ part, turning }) => (turning === null && !but.includes(part) ? [part] : []))
  if (turned === 'more') {
    const parts = broken.flatMap((one) => (one.since === named ? [one.part] : []))
    if (parts.length === 0) return undefined
    return { kind: 'health', turned, since: named, until: null, parts, others: redNow(parts) }
  }
  if (turned === 'less') {
    const over = recovered.filter(({ until }) => until === named)
    const [first] = over.map((one) => one.since).sort()
    if (first === undefined) return undefined
    const parts = over.map(({ part }) => part)
    return { kind: 'health', turned, since: first, until: named, parts, others: redNow([]) }
  }
  if (red.since !== named) return undefined
  const parts = turned === 'red' ? broken.map(({ part }) => part) : red.parts
  return { kind: 'health', turned, since: named, until: turned === 'well' ? since : null, parts, others: [] }
}

/**
 * Returns what the card says now. Only people who got a card that something is broken get the card that it works again, or
 * that a part of it does.
 */
export async function readHealthNotice(
  { healthWatch, notices }: { readonly healthWatch: HealthWatchStore; readonly notices: NoticeStore },
  order: NoticeOrder,
  { turned, since }: { readonly turned: HealthTurn; readonly since: string },
): Promise<HealthNotice | undefined> {
  const watch = await healthWatch.find(order.tenantId)
  const named = since.replace(alone, '')
  const watches = [named === since ? watch : undefined, watch?.credentials].filter((of) => of !== undefined)
  const [content, ...more] = watches.flatMap((of) => healthNotice(of, { turned, since: named }) ?? [])
  if (!content) return undefined
  const same = [content, ...more.filter(({ until }) => until === content.until)]
  const whole = {
    ...content,
    parts: same.flatMap(({ parts }) => parts),
    others: same.flatMap(({ others }) => others),
  }
  if (turned === 'red' || turned === 'more') return whole
  const earlier = watches.flatMap((of) => {
    const { red, recovered } = brokenOf(of)
    return [...(of.red ? [redNotice(of.red.since)] : []), ...[...red, ...recovered].map((one) => moreNotice(one.since))]
  })
  for (const notice of new Set(earlier)) if (await notices.find({ ...order, notice })) return whole
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

/**
 * Watches the health of the service for all processes: each check reads and writes the shared result. `processId`: this
 * process, as its heartbeats name it.
 */
export function createHealthWatcher(
  context: SystemContext<NotificationPorts>,
  processId: string,
  times: WatchTimes = watchTimes,
): HealthWatcher {
  const { ports, settings } = context
  const { tenantId } = settings
  const adminIds = adminIdsOf(context)
  const startedAt = ports.clock.now().getTime()

  /** The new result and the cards about it are stored in one transaction. */
  const keep = (check: Omit<HealthCheck, 'processIds'>, known: readonly string[]) =>
    ports.work.transaction(async () => {
      const before = await ports.healthWatch.lock(tenantId)
      const processIds = (await ports.processes.list()).filter(mayCheck).map((one) => one.processId)
      const { watch, notices } = afterCheck(before, { ...check, processIds }, times)
      await ports.healthWatch.put(tenantId, watch)
      if (notices.length === 0) return
      // The trouble may be the directory, so admins who are known already do not wait for it.
      const orders = notices.flatMap((notice): JobOrder[] => [
        { name: 'tell-admins', payload: { v: 1, notice } },
        ...known.map((personId) => noticeOrder(tenantId, personId, notice)),
      ])
      await ports.jobs.enqueue(orders)
    })

  return {
    async check() {
      const turn = times.checkEvery * 1000
      const at = new Date(Math.floor(ports.clock.now().getTime() / turn) * turn).toISOString()
      const starts = ports.clock.now().getTime() - startedAt >= quietAfterStart
      const report = await currentHealth(context, { starts })
      const parts = report.parts.filter(({ state }) => state === 'red')
      await keep({ at, parts, unjudged: unjudgedParts(report), processId }, await adminIds())
    },
  }
}

/** Whether a process may still take a turn. */
const mayCheck = ({ works, silentSeconds }: SeenProcess): boolean => works && silentSeconds <= silentAfterSeconds

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
