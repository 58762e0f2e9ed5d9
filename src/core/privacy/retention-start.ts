import type { SystemContext } from '../shared/index.ts'
import type { PrivacyPorts, RetentionStart } from './ports.ts'

/** How long before its first run retention is announced, in hours: admins can still turn it off. */
export const retentionNoticeHours = 72

/**
 * Returns the start of retention for the requests that it would reduce now, and whether it is new: retention
 * removes something for the first time, or after fewer days than before.
 */
export function startFor(
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
export async function hasRetentionStarted(
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
