import { type ChatPaceStore, type ChatTraffic, PutOff } from '../core/index.ts'
import type { Log } from './turn.ts'

/** At most `count` messages in any `milliseconds`. */
export interface Limit {
  readonly milliseconds: number
  readonly count: number
}

/** What Teams takes from one bot in one chat (learn.microsoft.com, "Optimize your bot with rate limiting in Teams"). */
export const teamsLimits: readonly Limit[] = [
  { milliseconds: 1000, count: 7 },
  { milliseconds: 2000, count: 8 },
  { milliseconds: 30_000, count: 60 },
  { milliseconds: 3_600_000, count: 1800 },
]

/** What we send of our own accord: the rest is room for answers, which nobody puts off. */
export const ownLimits: readonly Limit[] = [
  { milliseconds: 1000, count: 5 },
  { milliseconds: 2000, count: 6 },
  { milliseconds: 30_000, count: 45 },
  { milliseconds: 3_600_000, count: 1500 },
]

/** How long one message may be under way, in milliseconds: then its answer counts as lost. */
export const longestCall = 15_000

/** A place in the chat's traffic, or how long to wait for one, in milliseconds. */
export type Entry = { readonly ticket: number } | { readonly wait: number }

/** How far apart, in milliseconds, messages go to a chat that is sent to for minutes. */
const steadySpacing = 30_000 / 45
/** How long a message that does not come again keeps its place in the line, in milliseconds: nothing is left to send. */
const patience = 10_000

/**
 * Takes a place for one message, if there is room now. A message counts from now until a window after it is done, since
 * nobody knows when between the two it arrives: so the limits hold at the connector, however long calls take. Whoever has
 * to wait stands in a line, and is told to come again when it is about their turn: so they do not all come back at once.
 * `what` tells one message from another.
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

/** Ends what `enter` began. `hold`: for how long the connector wants to hear nothing more for this chat, in milliseconds. */
export function leave(traffic: ChatTraffic, now: number, ticket: number, hold = 0): ChatTraffic {
  const place = traffic.sent.indexOf(ticket)
  const sent = place < 0 ? [...traffic.sent, now] : traffic.sent.with(place, now)
  return { ...traffic, sent, heldUntil: Math.max(traffic.heldUntil, now + hold) }
}

/** Notes an answer of a turn: it counts, and waits for nothing. */
export const noteAnswer = (traffic: ChatTraffic, now: number): ChatTraffic => ({
  ...traffic,
  sent: [...recent(traffic.sent, now), now],
})

const longestWindow = Math.max(...teamsLimits.map(({ milliseconds }) => milliseconds))
const recent = (sent: readonly number[], now: number): number[] => sent.filter((at) => at > now - longestWindow)

/**
 * How long until every window has room, and how far apart those who wait come again: as the window that holds them lets them in.
 * What is under way is taken to end about now.
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

/** Keeps what we write into each chat below the connector's limits. */
export function createPacedChats(store: ChatPaceStore, log: Pick<Log, 'warn'>) {
  const notKept = (error: unknown) => log.warn({ err: error }, 'what a chat was sent was not kept')
  return {
    /**
     * Does one call that writes into a chat, if there is room; `what` tells it from others that wait. Throws `PutOff` when there is none now. `holdOf` tells from
     * a failure for how many milliseconds the connector wants to hear nothing more for this chat.
     */
    async write<T>(
      conversationId: string,
      what: string,
      call: () => Promise<T>,
      holdOf: (error: unknown) => number,
    ): Promise<T> {
      const entry = await store.change(conversationId, (traffic, now) => enter(traffic, now, what))
      if ('wait' in entry) throw new PutOff('the chat was sent enough', entry.wait)
      let hold = 0
      try {
        return await call()
      } catch (error) {
        hold = holdOf(error)
        throw error
      } finally {
        // A place that is not given back is free by itself when its call must have ended.
        await store
          .change(conversationId, (traffic, now) => ({
            traffic: leave(traffic, now, entry.ticket, hold),
            result: undefined,
          }))
          .catch(notKept)
      }
    },

    /** Counts an answer of a turn, behind its back. */
    noteAnswer(conversationId: string): void {
      store
        .change(conversationId, (traffic, now) => ({ traffic: noteAnswer(traffic, now), result: undefined }))
        .catch(notKept)
    },
  }
}
export type PacedChats = ReturnType<typeof createPacedChats>
