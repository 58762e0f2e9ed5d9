import { createHmac } from 'node:crypto'
import type { AddressStore } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/**
 * Addresses that were in use, as HMAC-SHA-256 with a key made of the audit's, which is outside of the store: without the key nobody
 * finds out which addresses these were, not even by trying all names.
 */
export function createFormerAddresses(database: Database, auditKey: Uint8Array): AddressStore {
  const key = createHmac('sha256', auditKey).update('former addresses').digest()
  const digest = (tenantId: string, text: string): string =>
    createHmac('sha256', key).update(`${tenantId}\n${text.toLowerCase()}`).digest('base64url')
  const notedOn = (tenantId: string): string => `addresses-noted:${tenantId}`
  return {
    async note(tenantId, day, held) {
      const holders = new Map(held.map((one) => [digest(tenantId, one.key), digest(tenantId, one.holder)]))
      // In one order, so that two processes that write the same addresses do not each wait for the other.
      await database.query(
        `INSERT INTO former_addresses AS known (tenant_id, address, holder, last_day)
         SELECT $1, address, holder, $4::date FROM unnest($2::text[], $3::text[]) AS seen (address, holder) ORDER BY address
         ON CONFLICT (tenant_id, address) DO UPDATE SET holder = excluded.holder, last_day = excluded.last_day
         WHERE known.last_day < excluded.last_day OR known.holder <> excluded.holder`,
        [tenantId, [...holders.keys()], [...holders.values()], day],
      )
    },
    async find(tenantId, keys) {
      const { rows } = await database.query<{ holder: string; day: string }>(
        'SELECT holder, last_day::text AS day FROM former_addresses WHERE tenant_id = $1 AND address = ANY($2)',
        [tenantId, keys.map((one) => digest(tenantId, one))],
      )
      return rows.map(({ holder, day }) => ({ lastDay: day, isHolder: (id) => digest(tenantId, id) === holder }))
    },
    async notedOn(tenantId) {
      const { rows } = await database.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [
        notedOn(tenantId),
      ])
      return rows[0]?.value ?? ''
    },
    async finish(tenantId, day, keptSince) {
      await database.query('DELETE FROM former_addresses WHERE tenant_id = $1 AND last_day <= $2::date', [
        tenantId,
        keptSince,
      ])
      await database.query(
        `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [notedOn(tenantId), day],
      )
    },
  }
}
