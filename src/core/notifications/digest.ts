import { z } from 'zod'
import { adminsOf, askedSince, openStage } from '../approvals/index.ts'
import { chatIfFound, havingDigest } from '../decisions/index.ts'
import { currentHealth, type HealthState, type QueueEntry, readStuck } from '../operations/index.ts'
import type { Conversation, NoticeOrder, Request } from '../requests/index.ts'
import {
  type Actor,
  actorFor,
  type Context,
  dayIn,
  defineUseCase,
  momentOf,
  ProvisioningError,
  type SystemContext,
  tellOrder,
  weekdayOf,
  weekOf,
} from '../shared/index.ts'
import type { NotificationPorts } from './ports.ts'

/** What waits for somebody's decision, and since when they are asked (ISO 8601). */
export interface AwaitedEntry {
  readonly request: Request
  readonly since: string
}
/** What is open for somebody: one card each day in place of a reminder for each. */
export interface Digest {
  /** The longest wait first; `more`: there are more than anybody counts. */
  readonly approvals: { readonly entries: readonly AwaitedEntry[]; readonly more: boolean }
  /** Of an admin: what is stuck, those that failed among it, jobs that were given up, and how the service does. */
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
  readonly standing: DigestStanding
  readonly isAdmin: boolean
}
/** Whether somebody has it, and at which hour of their day; null = nobody of the organisation has. */
export interface DigestStanding {
  readonly hour: number | null
  readonly isOn: boolean
}

/** More that wait for one person are not counted. */
const mostAwaited = 100

/** What is open for somebody; with `by` only what was open by then, so that what came after the morning waits for the next. */
export async function digestOf(context: Context<NotificationPorts>, by?: Date): Promise<Digest> {
  const { ports, actor } = context
  const { tenantId, id: approverId, isAdmin } = actor
  const query = { tenantId, approverId, status: 'pendingApproval', limit: mostAwaited + 1, oldestFirst: true } as const
  const waiting = await ports.requests.list(query)
  const entries = waiting
    .slice(0, mostAwaited)
    .map((request) => ({ request, since: sinceAsked(request, approverId) }))
    .filter(({ since }) => by === undefined || Date.parse(since) <= by.getTime())
    .sort((one, other) => one.since.localeCompare(other.since))
  const approvals = { entries, more: waiting.length > mostAwaited }
  return isAdmin ? { approvals, admin: await readForAdmin(context) } : { approvals }
}

/** What is open for the actor now. */
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
  const [stuck, { failed = 0 }, { state }] = await Promise.all([
    readStuck.handle(context, {}),
    ports.requests.countByState(actor.tenantId, ['failed']),
    currentHealth(context),
  ])
  const { count, entries, deadLetters = 0 } = stuck
  return { stuck: count, failed, givenUp: deadLetters, entries, health: state }
}

/** Whether there is nothing to say. */
export const isNothing = ({ approvals, admin }: Digest): boolean =>
  approvals.entries.length === 0 &&
  (admin === undefined || (admin.stuck === 0 && admin.givenUp === 0 && admin.health === 'green'))

/** Whether somebody has it. */
async function standingOf(
  context: SystemContext<NotificationPorts>,
  { tenantId, id }: Pick<Actor, 'tenantId' | 'id'>,
): Promise<DigestStanding> {
  const { settings } = context
  const have = await havingDigest(context, tenantId, [id])
  return { hour: settings.digest?.hour ?? null, isOn: have.has(id) }
}

/** Whether the actor has it. */
export const readDigestStanding = defineUseCase({
  permission: 'digest.read',
  input: z.object({}),
  handle: (context: Context<NotificationPorts>): Promise<DigestStanding> => standingOf(context, context.actor),
})

/** Switches it on or off for somebody; doing it twice is doing it once. Where nobody has it there is nothing to choose. */
export const chooseDigest = defineUseCase({
  permission: 'digest.choose',
  input: z.object({ isOn: z.boolean() }),
  async handle(context: Context<NotificationPorts>, { isOn }): Promise<DigestStanding> {
    const { ports, settings, actor } = context
    if (settings.digest) await ports.digests.choose(actor.tenantId, actor.id, isOn, ports.clock.now())
    return standingOf(context, actor)
  },
})

/** What the card of a day says when it is sent; undefined: nothing is open, nobody wants it any more, or the day is over. */
export async function readDigestNotice(
  context: SystemContext<NotificationPorts>,
  { tenantId, personId }: Pick<NoticeOrder, 'tenantId' | 'personId'>,
  day: string,
): Promise<DigestNotice | undefined> {
  const { ports } = context
  const chat = await ports.conversations.ofPerson(tenantId, personId)
  const standing = await standingOf(context, { tenantId, id: personId })
  if (!chat || !standing.isOn || standing.hour === null || dayIn(ports.clock.now(), chat.timeZone) !== day)
    return undefined
  const actor = await actorFor(context, { tenantId, id: personId }).catch(unlessForbidden)
  if (!actor) return undefined
  const digest = await digestOf({ ...context, actor }, momentOf(day, standing.hour, chat.timeZone))
  return isNothing(digest) ? undefined : { kind: 'digest', digest, standing, isAdmin: actor.isAdmin }
}

/** Whoever is let into nothing any more is told nothing. */
function unlessForbidden(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.code === 'forbidden')) throw error
}

/**
 * Orders today's card of everybody whose hour has come, once a person and day; a turn that was missed is made up for by the next one
 * of that day. On the weekend of where somebody lives none is sent. Whether there is something to say is seen when it is sent.
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
          : [tellOrder(tenantId, personId, `digest:${day}`)]
      }),
    )
  await order(await ports.digests.awaited(tenantId))
  // Last, since the directory has to say who is one.
  const admins = (await adminsOf(ports, settings)).map(({ id }) => id)
  const have = await havingDigest(context, tenantId, admins)
  // A chat that cannot be looked up now costs the others nothing: the next turn looks again.
  const chats = await Promise.all([...have].map((id) => chatIfFound(context, tenantId, id)))
  await order(chats.flatMap((chat) => (chat && chat.closed === undefined ? [chat] : [])))
}
