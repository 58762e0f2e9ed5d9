/** Forms in progress. */
import { type DraftStore, draft } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long a draft is kept after its last change, in days: an ended draft and an open draft. */
const keptDays = { ended: 30, open: 90 } as const

/** The condition of the index of migration 10. */
const isStarted = `body ->> 'begun' = 'true' AND body ->> 'step' IN ('details', 'review')`

export function createDraftStore(database: Database): DraftStore {
  return {
    async find(requestId) {
      const { rows } = await database.read<{ body: unknown }>('SELECT body FROM drafts WHERE request_id = $1', [
        requestId,
      ])
      return rows[0] && draft.parse(rows[0].body)
    },
    async listStarted(tenantId, personId, limit) {
      const { rows } = await database.read<{ body: unknown }>(
        `SELECT body FROM drafts WHERE tenant_id = $1 AND person_id = $2 AND ${isStarted}
         ORDER BY updated_at DESC LIMIT ${Number(limit)}`,
        [tenantId, personId],
      )
      return rows.map(({ body }) => draft.parse(body))
    },
    async waitingFor(tenantId, personId) {
      const { rows } = await database.read<{ approvals: boolean; drafts: boolean }>(
        // Not materialized, EXISTS would read pending requests one by one until one waits for the person.
        `WITH waiting AS MATERIALIZED (SELECT FROM requests
           WHERE tenant_id = $1 AND status = 'pendingApproval' AND waiting_for @> ARRAY[$2]::uuid[])
         SELECT EXISTS (SELECT FROM waiting) AS approvals,
           EXISTS (SELECT FROM drafts WHERE tenant_id = $1 AND person_id = $2 AND ${isStarted}) AS drafts`,
        [tenantId, personId],
      )
      return rows[0] ?? { approvals: false, drafts: false }
    },
    async insert(one) {
      const { rowCount } = await database.query(
        `INSERT INTO drafts (request_id, tenant_id, person_id, version, updated_at, body) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (request_id) DO NOTHING`,
        [one.requestId, one.tenantId, one.personId, one.version, one.updatedAt, JSON.stringify(one)],
      )
      return rowCount === 1
    },
    async update(one) {
      const { rowCount } = await database.query(
        'UPDATE drafts SET version = $2, updated_at = $3, body = $4 WHERE request_id = $1 AND version = $2 - 1',
        [one.requestId, one.version, one.updatedAt, JSON.stringify(one)],
      )
      return rowCount === 1
    },
    async forgetOld(at) {
      await database.query(
        `DELETE FROM drafts WHERE updated_at < $1::timestamptz - make_interval(days => $2)
         AND (body->>'step' IN ('submitted', 'discarded') OR updated_at < $1::timestamptz - make_interval(days => $3))`,
        [at, keptDays.ended, keptDays.open],
      )
    },
  }
}
