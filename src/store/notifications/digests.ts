import type { Conversation, DigestStore } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

interface Chat {
  readonly person_id: string
  readonly locale: string
  readonly time_zone: string
}

/** Only what waits is read, by its index. */
const awaited = `
  SELECT chat.person_id, chat.locale, chat.time_zone FROM conversations chat
  WHERE chat.tenant_id = $1 AND chat.closed_at IS NULL
    AND chat.person_id IN (
      SELECT unnest(waiting_for) FROM requests WHERE tenant_id = $1 AND status = 'pendingApproval')
    AND NOT EXISTS (
      SELECT FROM digest_choices chosen
      WHERE chosen.tenant_id = $1 AND chosen.person_id = chat.person_id AND NOT chosen.is_on)
  ORDER BY chat.person_id`

/** Who has chosen whether to have a summary each day. */
export function createDigestStore(database: Database): DigestStore {
  return {
    async choose(tenantId, personId, isOn, at) {
      await database.query(
        `INSERT INTO digest_choices (tenant_id, person_id, is_on, chosen_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, person_id) DO UPDATE SET is_on = excluded.is_on, chosen_at = excluded.chosen_at`,
        [tenantId, personId, isOn, at.toISOString()],
      )
    },
    async without(tenantId, personIds) {
      const { rows } = await database.query<{ person_id: string }>(
        'SELECT person_id FROM digest_choices WHERE tenant_id = $1 AND person_id = ANY($2::uuid[]) AND NOT is_on',
        [tenantId, personIds],
      )
      return new Set(rows.map(({ person_id }) => person_id))
    },
    async awaited(tenantId) {
      const { rows } = await database.query<Chat>(awaited, [tenantId])
      return rows.map(({ person_id: personId, locale, time_zone: timeZone }) => {
        return { personId, locale, timeZone } satisfies Pick<Conversation, 'personId' | 'locale' | 'timeZone'>
      })
    },
  }
}
