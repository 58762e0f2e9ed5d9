import type { ChatPaceStore, ChatTraffic } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** Longer than the longest window of the connector's limits: what is older limits nothing. */
const keptMilliseconds = 2 * 3_600_000
const nothing: ChatTraffic = { sent: [], waiting: [], heldUntil: 0 }

/**
 * What chats were sent lately. On a server it stands in the store, by the server's clock, since all replicas write to the
 * same chats; the embedded store belongs to one process, whose memory is enough, and quicker.
 */
export function createChatPace(database: Database, now: () => number = Date.now): ChatPaceStore {
  return database.engine === 'server' ? chatPaceInStore(database) : chatPaceInMemory(now)
}

export function chatPaceInMemory(now: () => number): ChatPaceStore {
  const chats = new Map<string, { traffic: ChatTraffic; at: number }>()
  return {
    async change(conversationId, decide) {
      const at = now()
      const { traffic, result } = decide(chats.get(conversationId)?.traffic ?? nothing, at)
      chats.set(conversationId, { traffic, at })
      return result
    },
    async forgetOld() {
      for (const [id, { at }] of chats) if (at < now() - keptMilliseconds) chats.delete(id)
    },
  }
}

function chatPaceInStore(database: Database): ChatPaceStore {
  return {
    async change(conversationId, decide) {
      return database.transaction(async () => {
        // The row is locked from here on, and the time is that of the lock. Losing the last moments in a crash of the
        // server costs nothing that the connector would not tell us by a 429.
        const { rows } = await database.query<{ body: ChatTraffic; now: number }>(
          `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
           INSERT INTO chat_pace (conversation_id, body) SELECT $1, $2 FROM quick
           ON CONFLICT (conversation_id) DO UPDATE SET updated_at = now()
           RETURNING body, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
          [conversationId, JSON.stringify(nothing)],
        )
        const row = rows[0] ?? { body: nothing, now: Date.now() }
        const { traffic, result } = decide(row.body, row.now)
        await database.query('UPDATE chat_pace SET body = $2 WHERE conversation_id = $1', [
          conversationId,
          JSON.stringify(traffic),
        ])
        return result
      })
    },
    async forgetOld() {
      await database.query(`DELETE FROM chat_pace WHERE updated_at < now() - $1 * interval '1 millisecond'`, [
        keptMilliseconds,
      ])
    },
  }
}
