import type { Conversation, ConversationStore } from '../core/index.ts'
import type { Database } from './database.ts'

interface Row {
  tenant_id: string
  person_id: string
  conversation_id: string
  reference: unknown
  locale: string
  time_zone: string
}

/** The personal chats that the bot knows: one a person, refreshed by everything they say. */
export function createConversationStore(database: Database): ConversationStore {
  return {
    async put(one) {
      const { rows } = await database.query<{ is_new: boolean }>(
        `INSERT INTO conversations (tenant_id, person_id, conversation_id, reference, locale, time_zone) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, person_id) DO UPDATE
         SET conversation_id = excluded.conversation_id, reference = excluded.reference, locale = excluded.locale,
             time_zone = excluded.time_zone, updated_at = now()
         RETURNING (xmax = 0) AS is_new`,
        [one.tenantId, one.personId, one.conversationId, JSON.stringify(one.reference), one.locale, one.timeZone],
      )
      return rows[0]?.is_new === true
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
})
