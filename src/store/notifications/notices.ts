import type { NoticeStore, SentNotice } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** For how many days it is known that one was sent: longer than any job that may still send it lives. */
const keptDays = 100

/** Which cards that tell of no one request are on their way, or were sent. */
export function createNoticeStore(database: Database): NoticeStore {
  return {
    async find({ tenantId, personId, notice }) {
      const { rows } = await database.query<{ state: SentNotice['state']; at: Date }>(
        'SELECT state, updated_at AS at FROM notices WHERE tenant_id = $1 AND person_id = $2 AND key = $3',
        [tenantId, personId, notice],
      )
      const [row] = rows
      return row && { state: row.state, updatedAt: row.at }
    },
    async claim({ tenantId, personId, notice }) {
      const { rowCount } = await database.query(
        `INSERT INTO notices (tenant_id, person_id, key, state) VALUES ($1, $2, $3, 'sending')
         ON CONFLICT (tenant_id, person_id, key) DO NOTHING`,
        [tenantId, personId, notice],
      )
      return rowCount === 1
    },
    async put({ tenantId, personId, notice }, state) {
      await database.query(
        `INSERT INTO notices (tenant_id, person_id, key, state) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, person_id, key) DO UPDATE SET state = excluded.state, updated_at = now()`,
        [tenantId, personId, notice, state],
      )
    },
    async remove({ tenantId, personId, notice }) {
      const values = [tenantId, personId, notice]
      await database.query('DELETE FROM notices WHERE tenant_id = $1 AND person_id = $2 AND key = $3', values)
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM notices WHERE updated_at < $1', [before])
    },
  }
}
