import { cardKey, type SentCard, type SentCards } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

interface Row {
  request_id: string
  person_id: string
  key: string
  conversation_id: string
  activity_id: string | null
  state: SentCard['state']
  updated_at: Date
}

export function createSentCards(database: Database): SentCards {
  return {
    async ofRequest(requestId) {
      const { rows } = await database.query<Row>('SELECT * FROM sent_cards WHERE request_id = $1 ORDER BY updated_at', [
        requestId,
      ])
      return rows.flatMap((row) => read(row) ?? [])
    },
    async find(requestId, personId, key) {
      const { rows } = await database.query<Row>(
        'SELECT * FROM sent_cards WHERE request_id = $1 AND person_id = $2 AND key = $3',
        [requestId, personId, key],
      )
      return rows[0] && read(rows[0])
    },
    async claim(card) {
      const { rowCount } = await database.query(
        `INSERT INTO sent_cards (request_id, person_id, key, conversation_id, activity_id, state) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (request_id, person_id, key) DO NOTHING`,
        [card.requestId, card.personId, card.key, card.conversationId, card.activityId, card.state],
      )
      return rowCount === 1
    },
    async put(card) {
      await database.query(
        `INSERT INTO sent_cards (request_id, person_id, key, conversation_id, activity_id, state) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (request_id, person_id, key) DO UPDATE
         SET conversation_id = excluded.conversation_id, activity_id = excluded.activity_id, state = excluded.state, updated_at = now()`,
        [card.requestId, card.personId, card.key, card.conversationId, card.activityId, card.state],
      )
    },
    async remove(requestId, personId, key) {
      await database.query('DELETE FROM sent_cards WHERE request_id = $1 AND person_id = $2 AND key = $3', [
        requestId,
        personId,
        key,
      ])
    },
  }
}

/** Undefined for a card that another version of the service sent: it keeps nobody from the cards that this one knows. */
function read(row: Row): SentCard | undefined {
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
  }
}
