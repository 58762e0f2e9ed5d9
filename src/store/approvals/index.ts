/** Delegations: the people who decide for absent approvers. */
import { type Delegation, type DelegationStore, delegation } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long ended delegations are kept, in days, so that explanations of decisions can name them. */
const keptDays = 90

interface Row {
  readonly body: unknown
  readonly ended_at: Date | null
}

export function createDelegationStore(database: Database): DelegationStore {
  const read = async (sql: string, values: readonly unknown[]): Promise<Delegation[]> => {
    const { rows } = await database.query<Row>(sql, values)
    return rows.map(({ body, ended_at }) =>
      delegation.parse({ ...Object(body), endedAt: ended_at?.toISOString() ?? null }),
    )
  }
  // Ends an expired delegation too, but does not return it, and leaves its end for `takeEnded`.
  const end = async (tenantId: string, personId: string, at: string): Promise<Delegation | undefined> => {
    const ended = await read(
      `UPDATE delegations SET ended_at = $3,
         end_noted_at = CASE WHEN until > $3::timestamptz THEN $3::timestamptz ELSE end_noted_at END
       WHERE tenant_id = $1 AND person_id = $2 AND ended_at IS NULL RETURNING body, ended_at`,
      [tenantId, personId, at],
    )
    return ended.find(({ until }) => Date.parse(until) > Date.parse(at))
  }
  return {
    async put(added) {
      const { delegationId, tenantId, person, delegate, until, from, endedAt } = added
      // A person has one delegation, and concurrent transactions do not see each other's.
      await database.hold([`delegation of ${person.id}`])
      const former = await end(tenantId, person.id, from)
      await database.query(
        `INSERT INTO delegations (delegation_id, tenant_id, person_id, delegate_id, until, ended_at, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [delegationId, tenantId, person.id, delegate.id, until, endedAt, JSON.stringify(added)],
      )
      return former
    },
    end,
    takeEnded: (tenantId, at, most) =>
      read(
        `UPDATE delegations SET end_noted_at = $2 WHERE delegation_id IN (
           SELECT delegation_id FROM delegations
           WHERE tenant_id = $1 AND end_noted_at IS NULL AND (ended_at IS NOT NULL OR until <= $2)
           ORDER BY until, delegation_id LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING body, ended_at`,
        [tenantId, at, most],
      ),
    async running(tenantId, at, { from, most }) {
      const isRunning = 'tenant_id = $1 AND ended_at IS NULL AND until > $2'
      const { rows } = await database.query<{ total: number }>(
        `SELECT count(*)::int AS total FROM delegations WHERE ${isRunning}`,
        [tenantId, at],
      )
      const total = rows[0]?.total ?? 0
      const lastPage = Math.max(0, Math.ceil(total / most) - 1)
      const first = Math.min(Math.floor(from / most), lastPage) * most
      const delegations = await read(
        `SELECT body, ended_at FROM delegations WHERE ${isRunning} ORDER BY until, delegation_id LIMIT $3 OFFSET $4`,
        [tenantId, at, most, first],
      )
      return { delegations, from: first, total }
    },
    ofPerson: async (tenantId, personId, at) =>
      (
        await read(
          `SELECT body, ended_at FROM delegations
           WHERE tenant_id = $1 AND person_id = $2 AND ended_at IS NULL AND until > $3`,
          [tenantId, personId, at],
        )
      )[0],
    toPerson: (tenantId, personId, at) =>
      read(
        `SELECT body, ended_at FROM delegations
         WHERE tenant_id = $1 AND delegate_id = $2 AND ended_at IS NULL AND until > $3 ORDER BY until LIMIT 50`,
        [tenantId, personId, at],
      ),
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM delegations WHERE until < $1 AND end_noted_at IS NOT NULL', [before])
    },
    // UNION omits rows that were found already, so a circle of delegations ends.
    reaching: (tenantId, personIds, at) =>
      read(
        `WITH RECURSIVE away AS (
           SELECT delegation_id, delegate_id, body, ended_at FROM delegations
             WHERE tenant_id = $1 AND person_id = ANY($2::uuid[]) AND ended_at IS NULL AND until > $3
           UNION SELECT next.delegation_id, next.delegate_id, next.body, next.ended_at FROM delegations next
             JOIN away ON next.person_id = away.delegate_id
             WHERE next.tenant_id = $1 AND next.ended_at IS NULL AND next.until > $3)
         SELECT body, ended_at FROM away ORDER BY delegation_id`,
        [tenantId, personIds, at],
      ),
  }
}
