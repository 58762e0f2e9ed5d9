import { z } from 'zod'
import { adminsOf, askedSince, openStage } from '../approvals/index.ts'
import { type Conversation, chatIfFound, havingDigest } from '../decisions/index.ts'
import { currentHealth, type HealthState, isFirstRun, type QueueEntry, readStuck, worst } from '../operations/index.ts'
import type { Request } from '../requests/index.ts'
import {
  type Actor,
  actorFor,
  type Context,
  dayIn,
  defineUseCase,
  momentOf,
  noticeOrder,
  ProvisioningError,
  type SystemContext,
  weekdayOf,
  weekOf,
} from '../shared/index.ts'
import type { NoticeOrder, NotificationPorts } from './ports.ts'

/** A request that waits for a person's decision, and since when (ISO 8601). */
export interface AwaitedEntry {
  readonly request: Request
  readonly since: string
}
/** The open items of a person: one card each day instead of many reminders. */
export interface Digest {
  /** The longest wait first; `more`: there are more than are counted. */
  readonly approvals: { readonly entries: readonly AwaitedEntry[]; readonly more: boolean }
  /** For admins: stuck requests, failed ones, jobs that were given up, and the health of the service. */
  readonly admin?: {
    readonly stuck: number
    readonly failed: number
    readonly givenUp: number
    readonly entries: readonly QueueEntry[]
    readonly health: HealthState
  }
}
export interface DigestNotice {
  readonly kind: 'digest'
  readonly digest: Digest
  readonly setting: DigestSetting
  readonly isAdmin: boolean
}
/** Whether a person gets the digest, and at which hour of their day; null: the organisation has disabled it. */
export interface DigestSetting {
  readonly hour: number | null
  readonly isOn: boolean
  /** The hours until the usual reminder of a request; 0: none. Templates can set another time. */
  readonly remindAfterHours: number
}

/** The maximum number of requests that are counted for one person. */
const maxAwaited = 100
/** How many people's cards are ordered together. Answers to other people wait while one portion is ordered. */
const portion = 200

/**
 * Returns the open items of the actor. With `by`, the time of a scheduled digest, leaves out later items, which wait for the next
 * digest, and requests whose address is taken: only their requesters can continue.
 */
export async function digestOf(context: Context<NotificationPorts>, by?: Date): Promise<Digest> {
  const { ports, actor } = context
  const { tenantId, id: approverId, isAdmin } = actor
  const query = { tenantId, approverId, status: 'pendingApproval', limit: maxAwaited + 1, oldestFirst: true } as const
  const waiting = await ports.requests.list(query)
  const entries = waiting
    .slice(0, maxAwaited)
    .map((request) => ({ request, since: sinceAsked(request, approverId) }))
    .filter(({ request, since }) => by === undefined || (!request.addressConflict && Date.parse(since) <= by.getTime()))
    .sort((one, other) => one.since.localeCompare(other.since))
  const approvals = { entries, more: waiting.length > maxAwaited }
  return isAdmin ? { approvals, admin: await readForAdmin(context) } : { approvals }
}

/** Returns the open items of the actor. */
export const readDigest = defineUseCase({
  permission: 'digest.read',
  input: z.object({}),
  handle: (context: Context<NotificationPorts>): Promise<Digest> => digestOf(context),
})

function sinceAsked({ approvals, submittedAt }: Request, personId: string): string {
  const stage = openStage(approvals)
  return (stage && askedSince(stage, personId)) || submittedAt
}

async function readForAdmin(context: Context<NotificationPorts>): Promise<Digest['admin']> {
  const { ports, actor } = context
  const [stuck, { failed = 0 }, { parts }] = await Promise.all([
    readStuck.handle(context, {}),
    ports.requests.countByState(actor.tenantId, ['failed']),
    currentHealth(context),
  ])
  const { count, entries, deadLetters = 0 } = stuck
  // The first run of a check, just after a start, is no reason for a card.
  const health = worst(parts.filter((part) => !isFirstRun(part)).map(({ state }) => state))
  return { stuck: count, failed, givenUp: deadLetters, entries, health }
}

export const isEmptyDigest = ({ approvals, admin }: Digest): boolean =>
  approvals.entries.length === 0 &&
  (admin === undefined || (admin.stuck === 0 && admin.givenUp === 0 && admin.health === 'green'))

async function settingOf(
  context: SystemContext<NotificationPorts>,
  { tenantId, id }: Pick<Actor, 'tenantId' | 'id'>,
): Promise<DigestSetting> {
  const { settings } = context
  const have = await havingDigest(context, tenantId, [id])
  const { remindAfterHours } = settings.approvals
  return { hour: settings.digest?.hour ?? null, isOn: have.has(id), remindAfterHours }
}

export const readDigestSetting = defineUseCase({
  permission: 'digest.read',
  input: z.object({}),
  handle: (context: Context<NotificationPorts>): Promise<DigestSetting> => settingOf(context, context.actor),
})

/** Enables or disables the digest of the actor; does nothing if the organisation has disabled it. */
export const chooseDigest = defineUseCase({
  permission: 'digest.choose',
  input: z.object({ isOn: z.boolean() }),
  async handle(context: Context<NotificationPorts>, { isOn }): Promise<DigestSetting> {
    const { ports, settings, actor } = context
    if (settings.digest) await ports.digests.choose(actor.tenantId, actor.id, isOn, ports.clock.now())
    return settingOf(context, actor)
  },
})

/**
 * Returns the content of a day's card when it is sent; undefined: nothing is open, the digest is disabled, or the day is
 * over.
 */
export async function readDigestNotice(
  context: SystemContext<NotificationPorts>,
  { tenantId, personId }: Pick<NoticeOrder, 'tenantId' | 'personId'>,
  day: string,
): Promise<DigestNotice | undefined> {
  const { ports } = context
  const chat = await ports.conversations.ofPerson(tenantId, personId)
  const setting = await settingOf(context, { tenantId, id: personId })
  if (!chat || !setting.isOn || setting.hour === null || dayIn(ports.clock.now(), chat.timeZone) !== day)
    return undefined
  const actor = await actorFor(context, { tenantId, id: personId }).catch(unlessForbidden)
  if (!actor) return undefined
  const digest = await digestOf({ ...context, actor }, momentOf(day, setting.hour, chat.timeZone))
  return isEmptyDigest(digest) ? undefined : { kind: 'digest', digest, setting, isAdmin: actor.isAdmin }
}

/** People without access any more get no digest. */
function unlessForbidden(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.code === 'forbidden')) throw error
}

/**
 * Orders today's card of each person whose hour has come, once a day; a later run of the day makes up for a missed one. Orders
 * none on the person's weekend. The card is dropped when it is sent if nothing is open then.
 */
export async function orderDigests(context: SystemContext<NotificationPorts>): Promise<void> {
  const { ports, settings } = context
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
          : [noticeOrder(tenantId, personId, `digest:${day}`)]
      }),
    )
  const awaited = await ports.digests.awaited(tenantId)
  for (let start = 0; start < awaited.length; start += portion) await order(awaited.slice(start, start + portion))
  // Last, because only the directory knows the admins.
  const admins = (await adminsOf(ports, settings)).map(({ id }) => id)
  const have = await havingDigest(context, tenantId, admins)
  // A chat that cannot be looked up now does not stop the others: the next run tries again.
  const chats = await Promise.all([...have].map((id) => chatIfFound(context, tenantId, id)))
  await order(chats.flatMap((chat) => (chat && chat.closed === undefined ? [chat] : [])))
}
