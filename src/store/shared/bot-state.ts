import type { BotStateStore } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** How long the state of a conversation that nobody continues is kept, in days. */
const keptDays = 90

/** botbuilder's state, kept so that a restart in mid-conversation is not noticed. */
export function createBotState(database: Database): BotStateStore {
  return {
    async read(keys) {
      const { rows } = await database.query<{ key: string; body: unknown }>(
        'SELECT key, body FROM bot_state WHERE key = ANY($1)',
        [keys],
      )
      return Object.fromEntries(rows.map(({ key, body }) => [key, body]))
    },
    async write(changes) {
      for (const [key, body] of Object.entries(changes)) {
        await database.query(
          `INSERT INTO bot_state (key, body) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET body = excluded.body, updated_at = now()`,
          [key, JSON.stringify(body)],
        )
      }
    },
    async delete(keys) {
      await database.query('DELETE FROM bot_state WHERE key = ANY($1)', [keys])
    },
    async forgetOld(at) {
      await database.query('DELETE FROM bot_state WHERE updated_at < $1::timestamptz - make_interval(days => $2)', [
        at,
        keptDays,
      ])
    },
  }
}
