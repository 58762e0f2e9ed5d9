import { personOrMembers } from '../approvals/index.ts'
import { havingDigest } from '../decisions/index.ts'
import type { Conversation } from '../requests/index.ts'
import { dayIn, momentOf, type Settings, tellOrder, weekdayOf, weekOf } from '../shared/index.ts'
import type { NotificationPorts } from './ports.ts'

/**
 * Orders today's card of everybody whose hour has come, once a person and day; a turn that was missed is made up for by the next one
 * of that day. On the weekend of where somebody lives none is sent. Whether there is something to say is seen when it is sent.
 */
export async function orderDigests(ports: NotificationPorts, settings: Settings): Promise<void> {
  const { tenantId, digest } = settings
  if (!digest) return
  const now = ports.clock.now()
  const order = (chats: readonly Pick<Conversation, 'personId' | 'locale' | 'timeZone'>[]) =>
    ports.jobs.enqueue(
      chats.flatMap(({ personId, locale, timeZone }) => {
        const day = dayIn(now, timeZone)
        const isFree = weekOf(locale).weekend.includes(weekdayOf(day))
        return isFree || momentOf(day, digest.hour, timeZone) > now
          ? []
          : [tellOrder(tenantId, personId, `digest:${day}`)]
      }),
    )
  await order(await ports.digests.awaited(tenantId))
  // Last, since the directory has to say who is one.
  const admins = (await Promise.all(settings.admins.map((id) => personOrMembers(ports, id)))).flat()
  const have = await havingDigest(ports, settings, tenantId, [...new Set(admins.map(({ id }) => id))])
  const chats = await Promise.all([...have].map((id) => ports.conversations.ofPerson(tenantId, id)))
  await order(chats.flatMap((chat) => (chat && chat.closed === undefined ? [chat] : [])))
}
