import type { BotStateStore, Inbox } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

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

/** How long a heard activity is remembered, in hours. Channels repeat within minutes. */
const rememberedHours = 48

/** A claim without an answer after this long is of a process that died; the channel's next delivery is heard. Seconds. */
const abandonedSeconds = 30

/** Activities that have been heard, so that one delivered twice has its effect once (reliability F7). */
export function createInbox(database: Database): Inbox {
  // Each turn does this, and losing the last moments of it in a crash means hearing an activity once more, which
  // drafts, versions and decisions take: so these commits, and no others, do not wait for the disk.
  const quick = `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))`
  return {
    async claim({ channel, conversationId, activityId }) {
      const { rowCount } = await database.query(
        `${quick}
         INSERT INTO inbox (channel, conversation_id, activity_id) SELECT $1, $2, $3 FROM quick
         ON CONFLICT (channel, conversation_id, activity_id) DO UPDATE SET received_at = now()
         WHERE inbox.answer IS NULL AND inbox.received_at < now() - make_interval(secs => $4)`,
        [channel, conversationId, activityId, abandonedSeconds],
      )
      return rowCount === 1
    },
    async answer({ channel, conversationId, activityId }) {
      const { rows } = await database.query<{ answer: unknown }>(
        'SELECT answer FROM inbox WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3',
        [channel, conversationId, activityId],
      )
      return rows[0]?.answer ?? undefined
    },
    async remember({ channel, conversationId, activityId }, answer) {
      await database.query(
        `${quick}
         UPDATE inbox SET answer = $4 FROM quick WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3`,
        [channel, conversationId, activityId, JSON.stringify(answer)],
      )
    },
    async release({ channel, conversationId, activityId }) {
      await database.query('DELETE FROM inbox WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3', [
        channel,
        conversationId,
        activityId,
      ])
    },
    async forgetOld() {
      await database.query(`DELETE FROM inbox WHERE received_at < now() - make_interval(hours => $1)`, [
        rememberedHours,
      ])
    },
  }
}
