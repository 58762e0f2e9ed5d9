import { z } from 'zod'
import type { HealthPart } from '../operations/index.ts'
import { type HealthWatch, redNotice, wellNotice } from './health-watch.ts'
import type { NoticeOrder } from './notices.ts'
import type { NotificationPorts } from './ports.ts'

/** How the service does, to admins: it turned red, or it is well again. */
export interface HealthNotice {
  readonly kind: 'health'
  readonly turned: 'red' | 'well'
  /** When it turned red, and when it was well again (ISO 8601); null: it is not yet. */
  readonly since: string
  readonly until: string | null
  /** What was wrong. */
  readonly parts: readonly HealthPart[]
}

/** What a card about the last trouble says; undefined: it is of an earlier one, or is over. */
export function healthNotice(
  { state, since, red }: HealthWatch,
  turned: HealthNotice['turned'],
): HealthNotice | undefined {
  if (!red || (turned === 'red') !== (state === 'red')) return undefined
  return { kind: 'health', turned, since: red.since, until: turned === 'well' ? since : null, parts: red.parts }
}

/** What is to be said now. That all is well again is said to those who were told that it was not. */
export async function readHealthNotice(
  { healthWatch, notices }: Pick<NotificationPorts, 'healthWatch' | 'notices'>,
  order: NoticeOrder,
): Promise<HealthNotice | undefined> {
  const watch = await healthWatch.find(order.tenantId)
  const turned = z.enum(['red', 'well']).parse(order.notice.split(':')[1])
  const content = watch && healthNotice(watch, turned)
  if (!content || order.notice !== (turned === 'red' ? redNotice : wellNotice)(content.since)) return undefined
  if (turned === 'red' || (await notices.find({ ...order, notice: redNotice(content.since) }))) return content
  return undefined
}
