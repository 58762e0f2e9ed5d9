import { personOrMembers } from '../approvals/index.ts'
import { type HealthReport, readHealth } from '../operations/index.ts'
import type { Conversation } from '../requests/index.ts'
import { isStoreAway, type Settings, tellOrder } from '../shared/index.ts'
import { healthNotice } from './health-notice.ts'
import {
  afterLook,
  type ByHandNote,
  type ByHandNotes,
  type HealthLook,
  type HealthWatch,
  redNotice,
  type WatchTimes,
  watchTimes,
} from './health-watch.ts'
import { deliverNotice, type NoticeOrder } from './notices.ts'
import type { NotificationPorts, Outbox } from './ports.ts'

/** What the process that looks knows by heart, for when the store is away. */
interface Memory {
  /** When the store was last there. */
  readonly seenAt: string
  readonly watch: HealthWatch
  readonly chats: readonly Conversation[]
}
/** What admins were told while the store was away, until the store knows it too; and who is still to be told. */
interface ToldByHand extends ByHandNote {
  readonly waiting: readonly Conversation[]
}

/** What came of a look: this process looked, another one does, or the store is away. */
export type LookResult = 'looked' | 'anothers' | 'away'

export interface HealthWatcher {
  /** One look, to be made again and again, one after the other. Throws what is nobody's trouble but ours. */
  look(): Promise<LookResult>
  /** Lets another process look at once. */
  leave(): Promise<void>
}

interface ByHand {
  /** This process. */
  readonly holder: string
  /** Sends without the store. */
  readonly byHand: Outbox
  readonly notes: ByHandNotes
  readonly times?: WatchTimes
}

/**
 * Looks after the health of the service, in one of all processes, and has admins told when it turns.
 */
export function createHealthWatcher(
  ports: NotificationPorts,
  settings: Settings,
  { holder, byHand, notes, times = watchTimes }: ByHand,
): HealthWatcher {
  const { tenantId } = settings
  const { healthWatch } = ports
  let memory: Memory | undefined
  let byHandSoFar: ToldByHand | undefined
  let isNoteRead = false
  let untold: readonly NoticeOrder[] = []
  const chats = chatsOfAdmins(ports, settings)

  async function look(): Promise<LookResult> {
    const at = ports.clock.now().toISOString()
    try {
      await settleNotes()
      if (!(await healthWatch.hold(tenantId, holder, times.heldFor))) {
        memory = undefined
        return 'anothers'
      }
      const report = await readHealth(ports, settings)
      // Whoever was asked for a report while the store went away has looked at nothing.
      const { watch, tell } = await turnOf(report, at)
      memory = { watch, seenAt: at, chats: await chats().catch(() => memory?.chats ?? []) }
      // Where nobody works on jobs, nobody would send the card: so it is sent from here, and is no job's any more.
      if (tell && standsStill(report))
        untold = memory.chats.map(({ personId }) => ({ tenantId, personId, notice: tell }))
      await tellUntold()
      return 'looked'
    } catch (error) {
      if (!isStoreAway(error)) throw error
      if (memory) await lookWithoutStore(memory, at)
      return 'away'
    }
  }

  /** What was told by hand, by this process or by one that ended before it could say so, goes into the store. */
  async function settleNotes(): Promise<void> {
    const note = byHandSoFar ?? (isNoteRead ? undefined : await notes.read().catch(() => undefined))
    isNoteRead = true
    if (!note) return
    byHandSoFar ??= { ...note, waiting: [] }
    await keepTold(note)
    await notes.write(null).catch(() => undefined)
    byHandSoFar = undefined
  }

  /** A queue that stands still may take no orders either: then the turn is kept without one. */
  const turnOf = (report: HealthReport, at: string) =>
    turn(lookOf(report, at)).catch((error: unknown) => {
      if (isStoreAway(error) || !standsStill(report)) throw error
      return turn(lookOf(report, at), false)
    })

  /** The turn and the order to tell of it stand or fall together. */
  const turn = (seen: HealthLook, orders = true) =>
    ports.work.transaction(async () => {
      const before = await healthWatch.lock(tenantId)
      const after = afterLook(before, seen, times)
      await healthWatch.put(tenantId, after.watch)
      const { tell } = after
      if (tell === undefined || !orders) return after
      // The directory may be the trouble, so those who are known to be admins do not wait for it.
      const known = (memory?.chats ?? []).map(({ personId }) => tellOrder(tenantId, personId, tell))
      await ports.jobs.enqueue([{ name: 'tell-admins', payload: { v: 1, notice: tell } }, ...known])
      return after
    })

  /** Whom the chat did not take it for is told at the next look: a job that saw it on its way has left it to us. */
  async function tellUntold(): Promise<void> {
    const results = await Promise.allSettled(untold.map((order) => deliverNotice(ports, settings, byHand, order, 1)))
    untold = untold.filter((_, place) => results[place]?.status === 'rejected')
  }

  async function lookWithoutStore(known: Memory, at: string): Promise<void> {
    const parts = [{ name: 'database', state: 'red', says: 'silent', sinceAt: known.seenAt } as const]
    const { watch, tell } = afterLook(known.watch, { at, isRed: true, parts }, times)
    memory = { ...known, watch }
    if (tell !== undefined) byHandSoFar = { watch, told: [], waiting: known.chats }
    if (byHandSoFar && byHandSoFar.waiting.length > 0) byHandSoFar = await tellWaiting(byHandSoFar)
  }

  /** Who could not be told is told at the next look, if it is still so. */
  async function tellWaiting(order: ToldByHand): Promise<ToldByHand> {
    const content = healthNotice(order.watch, 'red')
    if (!content) return order
    const sendings = order.waiting.map(async (chat) => {
      const result = await byHand.tell(chat, content, redNotice(content.since)).catch(() => undefined)
      return { chat, state: result?.state }
    })
    const sent = await Promise.all(sendings)
    const told = sent.flatMap(({ chat, state }): ByHandNote['told'] =>
      state === 'sent' || state === 'unknown' ? [[chat.personId, state]] : [],
    )
    const waiting = sent.flatMap(({ chat, state }) => (state === undefined ? [chat] : []))
    const after = { watch: order.watch, told: [...order.told, ...told], waiting }
    // On a disk that takes nothing it is known to this process alone.
    await notes.write({ watch: after.watch, told: after.told }).catch(() => undefined)
    return after
  }

  /** What was told by hand becomes what the store knows, so that whoever looks next tells when all is well again. */
  const keepTold = ({ watch, told }: ByHandNote) =>
    ports.work.transaction(async () => {
      const stored = await healthWatch.lock(tenantId)
      // Another process may have seen red meanwhile: its card would be the second one. Or it has kept this already.
      const isKept = stored?.state === 'red' || stored?.red?.since === watch.red?.since
      const known = stored && isKept ? stored : watch
      if (known !== stored) await healthWatch.put(tenantId, known)
      for (const [personId, state] of told)
        await ports.notices.put({ tenantId, personId, notice: redNotice(known.red?.since ?? known.since) }, state)
    })

  return { look, leave: () => healthWatch.release(tenantId, holder) }
}

const lookOf = ({ state, parts }: HealthReport, at: string): HealthLook => ({
  at,
  isRed: state === 'red',
  parts: parts.filter((part) => part.state === 'red'),
})

const standsStill = ({ parts }: HealthReport): boolean =>
  parts.some(({ name, state }) => state === 'red' && (name === 'processes' || name === 'queue' || name === 'watchdog'))

/** For how long it is not asked again who the admins are, in milliseconds: a look asks no more of the directory than it must. */
const adminsKeptFor = 300_000

/**
 * The chats of all admins, as they are now; who is an admin is what the directory said within five minutes, or last. If it has said
 * nothing yet, it is whoever the settings name themselves.
 */
function chatsOfAdmins(ports: NotificationPorts, { admins, tenantId }: Settings): () => Promise<Conversation[]> {
  let known: { readonly at: number; readonly ids: readonly string[] } | undefined
  const idsOfAdmins = async (): Promise<readonly string[]> => {
    const at = ports.clock.now().getTime()
    if (known && at - known.at < adminsKeptFor) return known.ids
    const people = (await Promise.all(admins.map((id) => personOrMembers(ports, id)))).flat()
    const ids = [...new Set(people.map(({ id }) => id))]
    known = { at, ids }
    return ids
  }
  return async () => {
    const ids = await idsOfAdmins().catch(() => known?.ids ?? admins)
    const chats = await Promise.all(ids.map((id) => ports.conversations.ofPerson(tenantId, id)))
    return chats.flatMap((chat) => (chat && chat.closed === undefined ? [chat] : []))
  }
}
