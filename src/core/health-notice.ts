import { z } from 'zod'
import type { HealthPart } from './health-report.ts'
import { type HealthWatch, redNotice, wellNotice } from './health-watch.ts'
import type { NoticeOrder } from './notices.ts'
import type { Ports } from './ports.ts'

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
function healthNotice({ state, since, red }: HealthWatch, turned: HealthNotice['turned']): HealthNotice | undefined {
  if (!red || (turned === 'red') !== (state === 'red')) return undefined
  return { kind: 'health', turned, since: red.since, until: turned === 'well' ? since : null, parts: red.parts }
}

/** Returns what the card says now. Only people who got the card that something is broken get the card that all works again. */
export async function readHealthNotice(
  { healthWatch, notices }: Pick<Ports, 'healthWatch' | 'notices'>,
  order: NoticeOrder,
): Promise<HealthNotice | undefined> {
  const watch = await healthWatch.find(order.tenantId)
  const turned = z.enum(['red', 'well']).parse(order.notice.split(':')[1])
  const content = watch && healthNotice(watch, turned)
  if (!content || order.notice !== (turned === 'red' ? redNotice : wellNotice)(content.since)) return undefined
  if (turned === 'red' || (await notices.find({ ...order, notice: redNotice(content.since) }))) return content
  return undefined
}
