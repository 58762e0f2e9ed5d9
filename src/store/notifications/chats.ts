import {
  type ChatPaceStore,
  type ChatTraffic,
  type Conversation,
  type ConversationStore,
  cardKey,
  type SentCard,
  type SentCards,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'
import { createSendingRecords } from './sending-records.ts'

interface Row {
  tenant_id: string
  person_id: string
  conversation_id: string
  reference: unknown
  locale: string
  time_zone: string
  closed_why: string | null
}
const conversationColumns = 'tenant_id, person_id, conversation_id, reference, locale, time_zone, closed_why'

/** The personal chats with the bot, one for each person. Every message of the person updates and reopens it. */
export function createConversationStore(database: Database): ConversationStore {
  return {
    async put(one) {
      const { rows } = await database.query<{ is_new: boolean }>(
        `WITH before AS (SELECT closed_at FROM conversations WHERE tenant_id = $1 AND person_id = $2)
         INSERT INTO conversations (tenant_id, person_id, conversation_id, reference, locale, time_zone)
         VALUES ($1, $2, $3, $4, coalesce(nullif($5, ''), 'en'), coalesce(nullif($6, ''), 'UTC'))
         ON CONFLICT (tenant_id, person_id) DO UPDATE
         SET conversation_id = excluded.conversation_id, reference = excluded.reference,
             locale = coalesce(nullif($5, ''), conversations.locale),
             time_zone = coalesce(nullif($6, ''), conversations.time_zone),
             closed_at = NULL, closed_why = NULL, updated_at = now()
         RETURNING (xmax = 0 OR EXISTS (SELECT 1 FROM before WHERE closed_at IS NOT NULL)) AS is_new`,
        [one.tenantId, one.personId, one.conversationId, JSON.stringify(one.reference), one.locale, one.timeZone],
      )
      return rows[0]?.is_new === true
    },
    async add(one) {
      const { rowCount } = await database.query(
        `INSERT INTO conversations (tenant_id, person_id, conversation_id, reference, locale, time_zone)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, person_id) DO NOTHING`,
        [one.tenantId, one.personId, one.conversationId, JSON.stringify(one.reference), one.locale, one.timeZone],
      )
      return rowCount === 1
    },
    async lastReference(tenantId) {
      const { rows } = await database.read<Pick<Row, 'reference'>>(
        `SELECT reference FROM conversations WHERE tenant_id = $1 AND closed_at IS NULL AND reference <> 'null'
         ORDER BY updated_at DESC LIMIT 1`,
        [tenantId],
      )
      return rows[0]?.reference
    },
    async close({ tenantId, personId, conversationId }, why, at) {
      const { rowCount } = await database.query(
        `UPDATE conversations SET closed_at = $4, closed_why = $5
         WHERE tenant_id = $1 AND person_id = $2 AND conversation_id = $3 AND closed_at IS NULL`,
        [tenantId, personId, conversationId, at, why],
      )
      return rowCount === 1
    },
    async ofPerson(tenantId, personId) {
      const { rows } = await database.read<Row>(
        `SELECT ${conversationColumns} FROM conversations WHERE tenant_id = $1 AND person_id = $2`,
        [tenantId, personId],
      )
      return rows[0] && read(rows[0])
    },
  }
}

const read = (row: Row): Conversation => ({
  tenantId: row.tenant_id,
  personId: row.person_id,
  conversationId: row.conversation_id,
  reference: row.reference,
  locale: row.locale,
  timeZone: row.time_zone,
  ...(row.closed_why !== null && { closed: row.closed_why }),
})

interface CardRow {
  request_id: string
  person_id: string
  key: string
  conversation_id: string
  activity_id: string | null
  state: SentCard['state']
  updated_at: Date
  bundle_id: string | null
  shown: string | null
  job_id: string | null
}
const cardColumns =
  'request_id, person_id, key, conversation_id, activity_id, state, updated_at, bundle_id, shown, job_id'

export function createSentCards(database: Database): SentCards {
  const sending = createSendingRecords(database, 'sent_cards', 'request_id')
  return {
    async ofRequest(requestId) {
      const { rows } = await database.read<CardRow>(
        `SELECT ${cardColumns} FROM sent_cards WHERE request_id = $1 ORDER BY updated_at`,
        [requestId],
      )
      return rows.flatMap((row) => readCard(row) ?? [])
    },
    async find(requestId, personId, key) {
      const { rows } = await database.read<CardRow>(
        `SELECT ${cardColumns} FROM sent_cards WHERE request_id = $1 AND person_id = $2 AND key = $3`,
        [requestId, personId, key],
      )
      return rows[0] && readCard(rows[0])
    },
    async claim(card) {
      const { rowCount } = await database.query(
        `INSERT INTO sent_cards (request_id, person_id, key, conversation_id, activity_id, state, bundle_id, shown, job_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (request_id, person_id, key) DO NOTHING`,
        valuesOf(card),
      )
      return rowCount === 1
    },
    takeOver: ({ requestId, personId, key }, change) => sending.takeOver([requestId, personId, key], change),
    release: ({ requestId, personId, key }, job) => sending.release([requestId, personId, key], job),
    async put(card) {
      await database.query(
        `INSERT INTO sent_cards (request_id, person_id, key, conversation_id, activity_id, state, bundle_id, shown, job_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (request_id, person_id, key) DO UPDATE
         SET conversation_id = excluded.conversation_id, activity_id = excluded.activity_id, state = excluded.state,
             bundle_id = excluded.bundle_id, shown = excluded.shown, job_id = excluded.job_id, updated_at = now()`,
        valuesOf(card),
      )
    },
    async bundle(cards) {
      // Sorted, because two processes that store the same cards in different orders would wait for each other.
      const { rows } = await database.query<{ request_id: string }>(
        `INSERT INTO sent_cards AS card (request_id, person_id, key, conversation_id, activity_id, state, bundle_id)
         SELECT request_id, person_id, key, conversation_id, activity_id, state, bundle_id
         FROM jsonb_to_recordset($1::jsonb) AS bundled (request_id uuid, person_id uuid, key text, conversation_id text,
           activity_id text, state text, bundle_id uuid)
         ORDER BY request_id, key
         ON CONFLICT (request_id, person_id, key) DO UPDATE
         SET conversation_id = excluded.conversation_id, activity_id = excluded.activity_id, state = excluded.state,
             bundle_id = excluded.bundle_id, shown = NULL, updated_at = now()
         WHERE card.state = 'withdrawn'
         RETURNING request_id`,
        [JSON.stringify(cards.map(bundledRow))],
      )
      return rows.map(({ request_id }) => request_id)
    },
    async noteShown({ requestId, personId, key, activityId }, shown) {
      await database.query(
        `UPDATE sent_cards SET shown = $5 WHERE request_id = $1 AND person_id = $2 AND key = $3 AND activity_id = $4`,
        [requestId, personId, key, activityId, shown],
      )
    },
    async forgetActivity({ requestId, personId, activityId }) {
      await database.query(
        'UPDATE sent_cards SET activity_id = NULL WHERE request_id = $1 AND person_id = $2 AND activity_id = $3',
        [requestId, personId, activityId],
      )
    },
    async remove(requestId, personId, key) {
      await database.query('DELETE FROM sent_cards WHERE request_id = $1 AND person_id = $2 AND key = $3', [
        requestId,
        personId,
        key,
      ])
    },
    async ofBundle(bundleId) {
      const { rows } = await database.read<CardRow>(`SELECT ${cardColumns} FROM sent_cards WHERE bundle_id = $1`, [
        bundleId,
      ])
      return rows.flatMap((row) => readCard(row) ?? [])
    },
    async dropBundle(bundleId) {
      const { rows } = await database.query<CardRow>(
        `DELETE FROM sent_cards WHERE bundle_id = $1 AND state = 'bundled' RETURNING ${cardColumns}`,
        [bundleId],
      )
      return rows.flatMap((row) => readCard(row) ?? [])
    },
    async ofPerson(personId, requestIds) {
      const { rows } = await database.read<CardRow>(
        `SELECT ${cardColumns} FROM sent_cards WHERE request_id = ANY($2::uuid[]) AND person_id = $1`,
        [personId, requestIds],
      )
      return rows.flatMap((row) => readCard(row) ?? [])
    },
    async unsentLinks({ tenantId, personId, since, most }) {
      const { rows } = await database.read<{ request_id: string }>(unsentLinks, [
        ...[tenantId, personId, since.toISOString(), most],
      ])
      return rows.map(({ request_id }) => request_id)
    },
    async roomInBundles({ tenantId, personId, since, most }) {
      const { rows } = await database.read<{ room: number }>(roomInBundles, [
        ...[tenantId, personId, since.toISOString(), most],
      ])
      return rows[0]?.room ?? 0
    },
  }
}

/** The newest requests of one person only, because older ones have been announced. A batch has a summary instead. */
const ended = `
  SELECT request_id, number, body -> 'followUp' AS follow_up, body ->> 'reducedAt' AS reduced_at FROM requests
  WHERE tenant_id = $1 AND requester_id = $2 AND status = 'succeeded' AND NOT body ? 'batch' ORDER BY number DESC LIMIT 500`

const unsentLinks = `
  SELECT request_id FROM (${ended}) AS ended
  WHERE reduced_at IS NULL AND follow_up ->> 'state' = 'announced' AND (follow_up ->> 'at')::timestamptz >= $3
    AND NOT EXISTS (
      SELECT FROM sent_cards card
      WHERE card.request_id = ended.request_id AND card.person_id = $2 AND card.key = 'outcome:succeeded')
  ORDER BY number LIMIT $4`

/** A bundle without a record of its notice waits. */
const roomInBundles = `
  SELECT coalesce(sum(greatest($4 - links, 0)), 0)::integer AS room FROM (
    SELECT count(*) AS links FROM (${ended}) AS ended JOIN sent_cards card USING (request_id)
    WHERE card.person_id = $2 AND card.key = 'outcome:succeeded' AND card.state = 'bundled' AND NOT EXISTS (
      SELECT FROM notices WHERE tenant_id = $1 AND person_id = $2 AND key = 'links:' || card.bundle_id)
    GROUP BY card.bundle_id HAVING min(card.updated_at) >= $3) AS waiting`

const valuesOf = (card: SentCard): unknown[] => [
  ...[card.requestId, card.personId, card.key, card.conversationId, card.activityId, card.state],
  ...[card.bundleId ?? null, card.shown ?? null, card.job ?? null],
]

/** A card of a bundle as a record of JSON. */
const bundledRow = (card: SentCard) => ({
  ...{ request_id: card.requestId, person_id: card.personId, key: card.key, conversation_id: card.conversationId },
  ...{ activity_id: card.activityId, state: card.state, bundle_id: card.bundleId },
})

/** Undefined for a card of an unknown kind, which another version of the service sent. */
function readCard(row: CardRow): SentCard | undefined {
  const key = cardKey.safeParse(row.key)
  if (!key.success) return undefined
  return {
    requestId: row.request_id,
    personId: row.person_id,
    key: key.data,
    conversationId: row.conversation_id,
    activityId: row.activity_id,
    state: row.state,
    updatedAt: row.updated_at,
    ...(row.bundle_id !== null && { bundleId: row.bundle_id }),
    ...(row.shown !== null && { shown: row.shown }),
    ...(row.job_id !== null && { job: row.job_id }),
  }
}

/** Longer than the longest window of the connector's limits. */
const keptMilliseconds = 2 * 3_600_000
const nothing: ChatTraffic = { sent: [], waiting: [], heldUntil: 0 }

/**
 * The recent traffic of chats. On a server it is in the store, by the server's clock, because all replicas write to the same
 * chats. The embedded store belongs to one process, so that process keeps it in memory, which is faster.
 */
export const createChatPace = (database: Database): ChatPaceStore =>
  database.engine === 'server' ? chatPaceInStore(database) : chatPaceInMemory(Date.now)

export function chatPaceInMemory(now: () => number): ChatPaceStore {
  const chats = new Map<string, { traffic: ChatTraffic; at: number }>()
  return {
    async change(conversationId, decide) {
      const at = now()
      const { traffic, result } = decide(chats.get(conversationId)?.traffic ?? nothing, at)
      chats.set(conversationId, { traffic, at })
      return result
    },
    async count(conversationId, milliseconds) {
      const at = now()
      const { traffic } = chats.get(conversationId) ?? { traffic: nothing }
      const sent = [...traffic.sent.filter((one) => one > at - milliseconds), at]
      chats.set(conversationId, { traffic: { ...traffic, sent }, at })
    },
    async forgetOld() {
      for (const [id, { at }] of chats) if (at < now() - keptMilliseconds) chats.delete(id)
    },
  }
}

/** The server's time in milliseconds since 1970. */
const serverTime = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
// If a crash of the server loses the last moments, the connector answers 429.
const quick = `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))`

function chatPaceInStore(database: Database): ChatPaceStore {
  return {
    async change(conversationId, decide) {
      return database.endingWith(async () => {
        // Locks the row; the time is that of the lock.
        const { rows } = await database.query<{ body: ChatTraffic; now: number }>(
          `${quick}
           INSERT INTO chat_pace (conversation_id, body) SELECT $1, $2 FROM quick
           ON CONFLICT (conversation_id) DO UPDATE SET updated_at = now()
           RETURNING body, ${serverTime} AS now`,
          [conversationId, JSON.stringify(nothing)],
        )
        const row = rows[0] ?? { body: nothing, now: Date.now() }
        const { traffic, result } = decide(row.body, row.now)
        return async () => {
          await database.query('UPDATE chat_pace SET body = $2 WHERE conversation_id = $1', [
            conversationId,
            JSON.stringify(traffic),
          ])
          return result
        }
      })
    },
    async count(conversationId, milliseconds) {
      await database.query(
        `${quick}
         INSERT INTO chat_pace AS chat (conversation_id, body)
         SELECT $1, jsonb_set($2::jsonb, '{sent}', jsonb_build_array(${serverTime})) FROM quick
         ON CONFLICT (conversation_id) DO UPDATE SET updated_at = now(), body = jsonb_set(chat.body, '{sent}', (
           SELECT coalesce(jsonb_agg(at) FILTER (WHERE at::bigint > ${serverTime} - $3), '[]')
           FROM jsonb_array_elements(chat.body -> 'sent') AS at) || jsonb_build_array(${serverTime}))`,
        [conversationId, JSON.stringify(nothing), milliseconds],
      )
    },
    async forgetOld() {
      await database.query(`DELETE FROM chat_pace WHERE updated_at < now() - $1 * interval '1 millisecond'`, [
        keptMilliseconds,
      ])
    },
  }
}
