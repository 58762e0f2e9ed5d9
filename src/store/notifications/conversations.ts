import type { Conversation, ConversationStore } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

interface Row {
  tenant_id: string
  person_id: string
  conversation_id: string
  reference: unknown
  locale: string
  time_zone: string
  closed_why: string | null
}

/** The personal chats that the bot knows: one a person, refreshed and opened by everything they say. */
export function createConversationStore(database: Database): ConversationStore {
  return {
    async put(one) {
      const { rows } = await database.query<{ is_new: boolean }>(
        `WITH before AS (SELECT closed_at FROM conversations WHERE tenant_id = $1 AND person_id = $2)
         INSERT INTO conversations (tenant_id, person_id, conversation_id, reference, locale, time_zone) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, person_id) DO UPDATE
         SET conversation_id = excluded.conversation_id, reference = excluded.reference, locale = excluded.locale,
             time_zone = excluded.time_zone, closed_at = NULL, closed_why = NULL, updated_at = now()
         RETURNING (xmax = 0 OR EXISTS (SELECT 1 FROM before WHERE closed_at IS NOT NULL)) AS is_new`,
        [one.tenantId, one.personId, one.conversationId, JSON.stringify(one.reference), one.locale, one.timeZone],
      )
      return rows[0]?.is_new === true
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
      const { rows } = await database.query<Row>(
        'SELECT * FROM conversations WHERE tenant_id = $1 AND person_id = $2',
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
