import { z } from 'zod'
import { type ExportTickets, exportFormats, exportKinds, linkMinutes, type StoredTicket } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** For how many hours a ticket is kept after its end, so that its link is answered "used" or "expired". */
const keptHours = 24

const row = z
  .object({
    ...{ hash: z.string(), tenantId: z.string(), what: z.enum(exportKinds), format: z.enum(exportFormats) },
    ...{ from: z.string(), to: z.string(), personId: z.string().nullable(), by: z.string() },
    ...{ issuedAt: z.date(), until: z.date(), usedAt: z.date().nullable() },
  })
  .transform(({ personId, ...ticket }): StoredTicket => ({ ...ticket, ...(personId !== null && { personId }) }))

/** The tickets of links to exports. */
export function createExportTickets(database: Database): ExportTickets {
  return {
    async issue(tickets) {
      for (const { hash, tenantId, what, format, from, to, personId, by, issuedAt, until } of tickets)
        await database.query(
          `INSERT INTO export_tickets
             (hash, tenant_id, what, format, from_day, to_day, person_id, issued_by, issued_at, until)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [hash, tenantId, what, format, from, to, personId ?? null, by, issuedAt, until],
        )
    },
    async find(hash) {
      const { rows } = await database.query(
        `SELECT hash, tenant_id AS "tenantId", what, format, from_day AS "from", to_day AS "to", person_id AS "personId",
           issued_by AS "by", issued_at AS "issuedAt", until, used_at AS "usedAt"
         FROM export_tickets WHERE hash = $1`,
        [hash],
      )
      return rows[0] === undefined ? undefined : row.parse(rows[0])
    },
    async use(hash, at) {
      const { rowCount } = await database.query(
        `UPDATE export_tickets SET used_at = $2
         WHERE hash = $1 AND used_at IS NULL AND until > $2 AND issued_at > $2 - make_interval(mins => ${linkMinutes})`,
        [hash, at],
      )
      return rowCount === 1
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptHours * 3_600_000)
      await database.query('DELETE FROM export_tickets WHERE until < $1', [before])
    },
  }
}
