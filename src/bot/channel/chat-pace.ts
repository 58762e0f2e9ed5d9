import { type CardRank, type ChatPaceStore, type ChatTraffic, PutOff } from '../../core/index.ts'
import type { Log } from './turn.ts'

/** At most `count` messages in any `milliseconds`. */
export interface Limit {
  readonly milliseconds: number
  readonly count: number
}

/** Teams' limits for a bot in one chat (learn.microsoft.com, "Optimize your bot with rate limiting in Teams"). */
export const teamsLimits: readonly Limit[] = [
  { milliseconds: 1000, count: 7 },
  { milliseconds: 2000, count: 8 },
  { milliseconds: 30_000, count: 60 },
  { milliseconds: 3_600_000, count: 1800 },
]

/** The limits of proactive messages. The rest is reserved for answers, which are never delayed. */
export const ownLimits: readonly Limit[] = [
  { milliseconds: 1000, count: 5 },
  { milliseconds: 2000, count: 6 },
  { milliseconds: 30_000, count: 45 },
  { milliseconds: 3_600_000, count: 1500 },
]

/**
 * The limits of updates, counted over all messages: cards that a chat already has leave most of the room to new cards.
 */
export const updateLimits: readonly Limit[] = [
  { milliseconds: 1000, count: 3 },
  { milliseconds: 2000, count: 3 },
  { milliseconds: 30_000, count: 15 },
  { milliseconds: 3_600_000, count: 1000 },
]

/**
 * The limits of updates that shrink a card to one line, counted over all messages. The steps of a request can use up the limits of
 * updates, and then the chat would show its finished request twice for half a minute. New cards keep a third of their room.
 */
export const shrinkLimits: readonly Limit[] = updateLimits.map((limit) =>
  limit.milliseconds === 30_000 ? { ...limit, count: 30 } : limit,
)

/** The ranks of cards, the first to send first, and their limits. */
const ranks = { first: ownLimits, new: ownLimits, update: updateLimits } as const satisfies Record<
  CardRank,
  readonly Limit[]
>
const order = Object.keys(ranks) as CardRank[]
const limitsOf = (rank: CardRank = 'new', isShort = false): readonly Limit[] => (isShort ? shrinkLimits : ranks[rank])

/** The time-out of one message, in milliseconds. After it, the connector's answer counts as lost. */
export const longestCall = 15_000

/** A ticket to send one message now, or the wait until the next attempt, in milliseconds. */
export type Entry = { readonly ticket: number } | { readonly wait: number }

/** The shortest interval between waiting messages, in milliseconds, so that they do not all return at once. */
const spacing = 2000 / 6
/** The time after which a message that is not sent loses its position in the queue, in milliseconds. */
const patience = 10_000

/**
 * A message that replaces others asks again after this time, in milliseconds, or a tenth of its wait. Its turn comes earlier than
 * was expected when cards that wait before it become links of a bundle.
 */
const bundleAsksAgain = 2000

/**
 * One message to a chat. `what` identifies it; `instead` names waiting messages that it replaces; `isShort`: an update that shrinks
 * a card to one line.
 */
export interface Message {
  readonly what: string
  readonly rank: CardRank
  readonly isShort?: boolean
  readonly instead?: readonly string[] | undefined
}

/**
 * Takes a ticket for one message if the limits allow it now and no message of an earlier rank waits. A message counts from
 * now until one window after its call ends, because it may arrive at any time during the call. Messages that have to wait
 * form a queue by rank, and each gets its own time. Updates that shrink a card come before other updates.
 */
export function enter(
  traffic: ChatTraffic,
  now: number,
  { what, rank, isShort = false, instead = [] }: Message,
  limits: readonly Limit[] = limitsOf(rank, isShort),
): { traffic: ChatTraffic; result: Entry } {
  const sent = recent(traffic.sent, now)
  const line = traffic.waiting.filter(([one, due]) => due > now - patience && !instead.includes(one))
  const place = line.findIndex(([one]) => one === what)
  const isDue = place >= 0 && (line[place]?.[1] ?? now) <= now
  const ahead = line.filter(([, , of = 'new', isShortToo = false], index) => {
    if (index === place) return false
    if (of !== rank) return order.indexOf(of) < order.indexOf(rank)
    if (isShortToo !== isShort) return isShortToo
    // A message that returns in time may pass others of its rank that are late, or their turns would be lost.
    return !isDue && (place < 0 || index < place)
  })
  const due = turnOf(sent, Math.max(now, traffic.heldUntil), now, [
    ...ahead.map(([, , of, isShortToo]) => limitsOf(of, isShortToo)),
    limits,
  ])
  if (due <= now) {
    const ticket = now + longestCall
    const waiting = line.filter(([one]) => one !== what)
    return { traffic: { ...traffic, sent: [...sent, ticket], waiting }, result: { ticket } }
  }
  const wait = Math.ceil(due - now)
  const own = isShort ? ([what, now + wait, rank, true] as const) : ([what, now + wait, rank] as const)
  const waiting = place < 0 ? [...line, own] : line.with(place, own)
  const asksAgain = Math.max(bundleAsksAgain, Math.ceil(wait / 10), traffic.heldUntil - now)
  return {
    traffic: { ...traffic, sent, waiting },
    result: { wait: instead.length > 0 ? Math.min(wait, asksAgain) : wait },
  }
}

/**
 * Returns the time of the last of several messages that are sent one after the other from `from` on, each within its own
 * limits. Assumes that running calls end about now.
 */
function turnOf(sent: readonly number[], from: number, now: number, queue: readonly (readonly Limit[])[]): number {
  const times = sent.map((at) => Math.min(at, now)).sort((one, other) => one - other)
  let turn = from
  for (const [index, limits] of queue.entries()) {
    const room = Math.max(
      from,
      ...limits.map((limit) => (times.at(-limit.count) ?? Number.NEGATIVE_INFINITY) + limit.milliseconds + 1),
    )
    turn = index === 0 ? room : Math.max(room, turn > now ? turn + spacing : turn)
    times.push(turn)
  }
  return turn
}

/** Ends the call of a ticket. `hold`: the pause that the connector requires for this chat, in milliseconds. */
export function leave(traffic: ChatTraffic, now: number, ticket: number, hold = 0): ChatTraffic {
  const place = traffic.sent.indexOf(ticket)
  const sent = place < 0 ? [...traffic.sent, now] : traffic.sent.with(place, now)
  return { ...traffic, sent, heldUntil: Math.max(traffic.heldUntil, now + hold) }
}

const longestWindow = Math.max(...teamsLimits.map(({ milliseconds }) => milliseconds))
const recent = (sent: readonly number[], now: number): number[] => sent.filter((at) => at > now - longestWindow)

/** Keeps the messages to each chat below the connector's limits. */
export function createPacedChats(store: ChatPaceStore, log: Pick<Log, 'warn'>) {
  const logUnsaved = (error: unknown) => log.warn({ err: error }, 'the count of messages to a chat was not saved')
  return {
    /**
     * Runs one call that writes into a chat. Throws `PutOff` if the limits or more important messages do not allow it
     * now. `holdOf` returns the pause in milliseconds that the connector requires after an error.
     */
    async write<T>(
      conversationId: string,
      message: Message,
      call: () => Promise<T>,
      holdOf: (error: unknown) => number,
    ): Promise<T> {
      const entry = await store.change(conversationId, (traffic, now) => enter(traffic, now, message))
      if ('wait' in entry) throw new PutOff('the chat reached its message limit', entry.wait)
      let hold = 0
      try {
        return await call()
      } catch (error) {
        hold = holdOf(error)
        throw error
      } finally {
        // A ticket that is not released expires at the time-out of its call.
        await store
          .change(conversationId, (traffic, now) => ({
            traffic: leave(traffic, now, entry.ticket, hold),
            result: undefined,
          }))
          .catch(logUnsaved)
      }
    },

    /** Counts an answer of a turn. The turn does not wait for it. */
    noteAnswer(conversationId: string): void {
      store.count(conversationId, longestWindow).catch(logUnsaved)
    },
  }
}
export type PacedChats = ReturnType<typeof createPacedChats>
