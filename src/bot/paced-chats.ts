import { type ChatPaceStore, PutOff } from '../core/index.ts'
import { enter, leave, noteAnswer } from './chat-pace.ts'
import type { Log } from './turn.ts'

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
