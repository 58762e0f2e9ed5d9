import {
  type ErasureCounts,
  type KnownPerson,
  type Person,
  type RetentionStore,
  withoutPerson,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'
import { hasAny, patternsOf } from '../shared/index.ts'

type Forgotten = Omit<ErasureCounts, 'requests' | 'entries'>

/** Forgets what is a person's alone, and takes them out of copies of what is others', in one transaction. */
export function forgetPerson(database: Database, tenantId: string, person: KnownPerson): Promise<Forgotten> {
  return database.transaction(async () => {
    const values = [tenantId, person.id]
    const remove = async (sql: string): Promise<number> => (await database.query(sql, values)).rowCount
    const own = 'tenant_id = $1 AND person_id = $2'
    // While it is known which chat is theirs.
    const chats = await forgetChat(database, tenantId, person)
    const drafts = await remove(`DELETE FROM drafts WHERE ${own}`)
    const delegations = await remove(
      'DELETE FROM delegations WHERE tenant_id = $1 AND (person_id = $2 OR delegate_id = $2)',
    )
    const batches = await remove(`DELETE FROM batches WHERE ${own}`)
    const copies =
      (await remove(`DELETE FROM notices WHERE ${own}`)) +
      (await remove(`DELETE FROM digest_choices WHERE ${own}`)) +
      (await remove('DELETE FROM sent_cards WHERE $1::uuid IS NOT NULL AND person_id = $2')) +
      (await remove('DELETE FROM idempotency_keys WHERE tenant_id = $1 AND person_id = $2')) +
      (await remove('DELETE FROM export_tickets WHERE tenant_id = $1 AND (issued_by = $2 OR person_id = $2)')) +
      (await redactCopies(database, person))
    return { drafts, delegations, batches, chats, copies }
  })
}

/** Where their chat is, what was said in it lately, and the state of its dialog. */
async function forgetChat(database: Database, tenantId: string, { id }: Person): Promise<number> {
  const { rows } = await database.query<{ chat: string; account: string | null }>(
    `DELETE FROM conversations WHERE tenant_id = $1 AND person_id = $2
     RETURNING conversation_id AS chat, reference -> 'user' ->> 'id' AS account`,
    [tenantId, id],
  )
  const chats = rows.map(({ chat }) => chat)
  const keys = [...chats, ...rows.flatMap(({ account }) => (account ? [account] : [])), id]
  const gone = [
    await database.query('DELETE FROM inbox WHERE conversation_id = ANY($1)', [chats]),
    await database.query('DELETE FROM chat_pace WHERE conversation_id = ANY($1)', [chats]),
    await database.query(
      `DELETE FROM bot_state WHERE EXISTS (SELECT FROM unnest($1::text[]) AS their (part)
         WHERE position(their.part in key) > 0 OR position(their.part in body::text) > 0)`,
      [keys],
    ),
  ]
  return rows.length + gone.reduce((sum, { rowCount }) => sum + rowCount, 0)
}

/** Columns that keep copies of what others were told, or who wrote what. `id` is what finds the row again. */
const copied = [
  { table: 'inbox', column: 'answer' },
  { table: 'idempotency_keys', column: 'answer' },
  { table: 'batch_rows', column: 'body' },
  { table: 'batch_rows', column: 'problem' },
  { table: 'batches', column: 'body' },
  { table: 'drafts', column: 'body' },
  { table: 'deliveries', column: 'body' },
  { table: 'template_versions', column: 'changed_by' },
  { table: 'template_versions', column: 'body' },
  { table: 'bot_state', column: 'body' },
] as const

async function redactCopies(database: Database, person: KnownPerson): Promise<number> {
  let count = 0
  for (const { table, column } of copied) {
    const { rows } = await database.query<{ place: string; value: unknown }>(
      `SELECT ctid::text AS place, ${column} AS value FROM ${table}
       WHERE ${hasAny(`${column}::text`, '$1')} FOR UPDATE`,
      [patternsOf(person)],
    )
    for (const { place, value } of rows) {
      const left = JSON.stringify(withoutPerson(value, person))
      if (left === JSON.stringify(value)) continue
      await database.query(`UPDATE ${table} SET ${column} = $2 WHERE ctid = $1::tid`, [place, left])
      count += 1
    }
  }
  return count
}

/** What has ended long ago, by the index of migration 17. */
export function createRetentionStore(database: Database): RetentionStore {
  return {
    async due({ tenantId, before, but, limit }) {
      const { rows } = await database.query<{ id: string }>(
        `SELECT request_id AS id FROM requests
         WHERE tenant_id = $1 AND body ->> 'finishedAt' IS NOT NULL AND body ->> 'reducedAt' IS NULL
           AND (body ->> 'finishedAt') COLLATE "C" < $2 AND request_id <> ALL($3::uuid[])
         ORDER BY (body ->> 'finishedAt') COLLATE "C" LIMIT ${Number(limit)}`,
        [tenantId, before.toISOString(), but],
      )
      return rows.map(({ id }) => id)
    },
    async forgetParts(requestId) {
      await database.query('DELETE FROM sent_cards WHERE request_id = $1', [requestId])
      await database.query('DELETE FROM drafts WHERE request_id = $1', [requestId])
      await database.query(`DELETE FROM deliveries WHERE request_id = $1 AND status <> 'pending'`, [requestId])
    },
  }
}
