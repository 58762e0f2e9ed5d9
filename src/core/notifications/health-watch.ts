import { z } from 'zod'
import { type HealthPart, healthPart } from '../operations/index.ts'
import type { NoticeOrder, NoticeStore } from '../requests/index.ts'
import type { NoticeKey } from '../shared/index.ts'

/** When admins are notified about the health of the service. All in seconds. */
export const watchTimes = {
  /** The length of a turn. Each turn checks once, and the check counts as made when its turn began. */
  checkEvery: 20,
  /** The service counts as red once two checks in a row, this far apart, have found something red. */
  confirmAfter: 20,
  /** The service counts as well once every check for this long has found nothing red, so that a trouble that comes and goes is one trouble. */
  wellAfter: 60,
} as const
export type WatchTimes = { readonly [K in keyof typeof watchTimes]: number }

/** One check of the service's health. */
export interface HealthCheck {
  readonly at: string
  /** The red parts. */
  readonly parts: readonly HealthPart[]
}

const watchOfParts = z.object({
  state: z.enum(['well', 'red']),
  /** Since when: the first check that found it. */
  since: z.iso.datetime(),
  /** When a check found a change that no other check has confirmed yet; null: the last check found no change. */
  turning: z.iso.datetime().nullable(),
  /** The last time that it was red: since when, which names the cards about it, and what was wrong. A part that only another version knows is left out. */
  red: z
    .object({
      since: z.iso.datetime(),
      parts: z.array(z.unknown()).transform((parts) => parts.flatMap((part) => healthPart.safeParse(part).data ?? [])),
    })
    .nullable(),
})
type WatchOfParts = z.output<typeof watchOfParts>

/**
 * The result of all checks so far. While it is red, admins have been notified. `credentials`: that of the certificate and the
 * bot's secret, whose expiry is red for days: together with other parts it would hide their trouble, or be hidden by it.
 */
export const healthWatch = watchOfParts.extend({ credentials: watchOfParts.optional() })
export type HealthWatch = z.output<typeof healthWatch>

const isCredential = ({ name }: HealthPart): boolean => name === 'certificate' || name === 'botSecret'

/** Ends the key of a card that credentials are well again: other parts may have turned red at the same check and be well later. */
const alone = '/credentials'

/** Whether a result is that of credentials: earlier versions kept one result of all parts, and credentials were the red ones. */
const isOfCredentials = (watch: HealthWatch | undefined): boolean =>
  watch?.red != null &&
  watch.credentials === undefined &&
  watch.red.parts.length > 0 &&
  watch.red.parts.every(isCredential)

/** Returns the result after one more check, and what admins are to be told. `before` is undefined for the first check ever. */
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
): { readonly watch: WatchOfParts; readonly tell: NoticeKey | undefined } {
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

/** The result of the checks, shared by all processes. */
export interface HealthWatchStore {
  find(tenantId: string): Promise<HealthWatch | undefined>
  /** Reads the result and locks it until the transaction ends. */
  lock(tenantId: string): Promise<HealthWatch | undefined>
  put(tenantId: string, watch: HealthWatch): Promise<void>
}

/** The card to admins when the service turns red, and when it is well again. */
export interface HealthNotice {
  readonly kind: 'health'
  readonly turned: 'red' | 'well'
  /** When it turned red, and when it was well again (ISO 8601); null: it is not yet. */
  readonly since: string
  readonly until: string | null
  /** What was wrong. */
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
