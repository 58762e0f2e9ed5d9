import { type ChatPaceStore, type ChatTraffic, PutOff } from '../../core/index.ts'
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

/** The time-out of one message, in milliseconds. After it, the connector's answer counts as lost. */
export const longestCall = 15_000

/** A ticket to send one message now, or the wait until the next attempt, in milliseconds. */
export type Entry = { readonly ticket: number } | { readonly wait: number }

/** The interval between messages to a chat with a long queue, in milliseconds. */
const steadySpacing = 30_000 / 45
/** The time after which a message that is not sent loses its position in the queue, in milliseconds. */
const patience = 10_000

/**
 * Takes a ticket for one message if the limits allow it now. A message counts from now until one window after its call
 * ends, because it may arrive at any time during the call. Messages that have to wait form a queue, and each gets its
 * own time, so that they do not all return at once. `what` identifies the message.
 */
export function enter(
  traffic: ChatTraffic,
  now: number,
  what: string,
  limits: readonly Limit[] = ownLimits,
): { traffic: ChatTraffic; result: Entry } {
  const sent = recent(traffic.sent, now)
  const line = traffic.waiting.filter(([, due]) => due > now - patience)
  const { wait, spacing } = waitFor(sent, now, limits)
  const free = Math.max(wait, traffic.heldUntil - now)
  if (free <= 0) {
    const ticket = now + longestCall
    const waiting = line.filter(([one]) => one !== what)
    return { traffic: { ...traffic, sent: [...sent, ticket], waiting }, result: { ticket } }
  }
  const place = line.findIndex(([one]) => one === what)
  const ahead = place < 0 ? line.length : place
  const due = now + Math.ceil(free + ahead * spacing)
  const waiting = place < 0 ? [...line, [what, due] as const] : line.with(place, [what, due])
  return { traffic: { ...traffic, sent, waiting }, result: { wait: due - now } }
}

/** Ends the call of a ticket. `hold`: the pause that the connector requires for this chat, in milliseconds. */
export function leave(traffic: ChatTraffic, now: number, ticket: number, hold = 0): ChatTraffic {
  const place = traffic.sent.indexOf(ticket)
  const sent = place < 0 ? [...traffic.sent, now] : traffic.sent.with(place, now)
  return { ...traffic, sent, heldUntil: Math.max(traffic.heldUntil, now + hold) }
}

/** Counts an answer of a turn. Answers do not wait. */
export const noteAnswer = (traffic: ChatTraffic, now: number): ChatTraffic => ({
  ...traffic,
  sent: [...recent(traffic.sent, now), now],
})

const longestWindow = Math.max(...teamsLimits.map(({ milliseconds }) => milliseconds))
const recent = (sent: readonly number[], now: number): number[] => sent.filter((at) => at > now - longestWindow)

/**
 * Returns the wait until every window allows a message, and the interval between waiting messages: the rate of the
 * window that blocks them. Assumes that running calls end about now.
 */
function waitFor(sent: readonly number[], now: number, limits: readonly Limit[]): { wait: number; spacing: number } {
  const latestFirst = sent.map((at) => Math.min(at, now)).sort((one, other) => other - one)
  return limits.reduce(
    (longest, { milliseconds, count }) => {
      const blocking = latestFirst[count - 1]
      const wait = blocking === undefined ? 0 : Math.max(0, blocking + milliseconds + 1 - now)
      return wait > longest.wait ? { wait, spacing: Math.max(steadySpacing, milliseconds / count) } : longest
    },
    { wait: 0, spacing: steadySpacing },
  )
}

/** Keeps the messages to each chat below the connector's limits. */
export function createPacedChats(store: ChatPaceStore, log: Pick<Log, 'warn'>) {
  const logUnsaved = (error: unknown) => log.warn({ err: error }, 'the count of messages to a chat was not saved')
  return {
    /**
     * Runs one call that writes into a chat; `what` identifies the message. Throws `PutOff` if the limits do not allow
     * it now. `holdOf` returns the pause in milliseconds that the connector requires after an error.
     */
    async write<T>(
      conversationId: string,
      what: string,
      call: () => Promise<T>,
      holdOf: (error: unknown) => number,
    ): Promise<T> {
      const entry = await store.change(conversationId, (traffic, now) => enter(traffic, now, what))
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
      store
        .change(conversationId, (traffic, now) => ({ traffic: noteAnswer(traffic, now), result: undefined }))
        .catch(logUnsaved)
    },
  }
}
export type PacedChats = ReturnType<typeof createPacedChats>
