import { z } from 'zod'
import { personOrMembers } from '../approvals/index.ts'
import { isAdminStill } from '../decisions/index.ts'
import { type ErasureNotice, erasureNotice } from '../privacy/index.ts'
import { isAtWork } from '../requests/index.ts'
import { isDirectoryAway, type JobPayload, type NoticeKey, type Settings, tellOrder } from '../shared/index.ts'
import { type DigestNotice, readDigestNotice } from './digest.ts'
import { type HealthNotice, readHealthNotice } from './health-notice.ts'
import type { NotificationPorts, Outbox } from './ports.ts'

/** What a card says that tells of no one request. */
export type NoticeContent = HealthNotice | ErasureNotice | DigestNotice

/** Which one, for whom. */
export type NoticeOrder = Omit<JobPayload<'tell'>, 'v'>
export interface SentNotice {
  /** `sending` without an end, and `unknown`: whether it arrived is not known. */
  readonly state: 'sending' | 'sent' | 'unknown'
  readonly updatedAt: Date
}
/** Which of them are on their way, or were sent. */
export interface NoticeStore {
  find(order: NoticeOrder): Promise<SentNotice | undefined>
  /** Writes one that is about to be sent; false when it is known already, so that of two at work one sends. */
  claim(order: NoticeOrder): Promise<boolean>
  put(order: NoticeOrder, state: SentNotice['state']): Promise<void>
  remove(order: NoticeOrder): Promise<void>
  forgetOld(at: Date): Promise<void>
}

/** What each kind of them says now; undefined: there is nothing to say any more. */
const contents = {
  health: (ports: NotificationPorts, _: Settings, order: NoticeOrder): Promise<NoticeContent | undefined> =>
    readHealthNotice(ports, order),
  erased: (ports: NotificationPorts, _: Settings, order: NoticeOrder): Promise<NoticeContent | undefined> =>
    erasureNotice(ports, order),
  digest: readDigestNotice,
}
const kindOf = (notice: NoticeKey) => z.enum(['health', 'erased', 'digest']).parse(notice.split(':')[0])

/**
 * Sends one such card to one person, once; where the process died while it went out, or its answer was lost, once more at most.
 * `attempt` is the job's, 1 for the first. Who has no chat with the bot, or closed it, is not told. Throws what makes sense to try
 * again.
 */
export async function deliverNotice(
  ports: NotificationPorts,
  settings: Settings,
  outbox: Outbox,
  order: NoticeOrder,
  attempt: number,
): Promise<void> {
  const conversation = await ports.conversations.ofPerson(order.tenantId, order.personId)
  if (!conversation || conversation.closed !== undefined) return
  const before = await ports.notices.find(order)
  if (before && (before.state !== 'sending' || (attempt === 1 && isAtWork(before, ports.clock.now())))) return
  if (!(await mayBeTold(ports, settings, order))) return
  const content = await contents[kindOf(order.notice)](ports, settings, order)
  if (!content || (!before && !(await ports.notices.claim(order)))) return
  const result = await outbox.tell(conversation, content, order.notice).catch(async (error: unknown) => {
    if (!before) await ports.notices.remove(order)
    throw error
  })
  if (result.state === 'unknown' && !before) throw new Error(`the answer to the card ${order.notice} was lost`)
  await ports.notices.put(order, result.state === 'sent' ? 'sent' : 'unknown')
  if (result.state === 'undeliverable' && result.closed)
    await ports.conversations.close(conversation, result.why, ports.clock.now())
}

/**
 * Whether such a card is still for somebody: health and erasures are for admins, and a summary sees to that itself. While the
 * directory does not answer, what may be its own trouble is told to the admins who were known.
 */
async function mayBeTold(
  ports: NotificationPorts,
  settings: Settings,
  { personId, notice }: NoticeOrder,
): Promise<boolean> {
  const kind = kindOf(notice)
  if (kind === 'digest') return true
  return isAdminStill(ports, settings, personId).catch((error: unknown) => {
    if (kind === 'health' && isDirectoryAway(error)) return true
    throw error
  })
}

/** One such card for each admin. Who is an admin is asked now, so a former one is told nothing. */
export async function tellAdminsAll(ports: NotificationPorts, settings: Settings, notice: NoticeKey): Promise<void> {
  const { tenantId } = settings
  const people = (await Promise.all(settings.admins.map((id) => personOrMembers(ports, id)))).flat()
  await ports.jobs.enqueue([...new Set(people.map(({ id }) => id))].map((id) => tellOrder(tenantId, id, notice)))
}
