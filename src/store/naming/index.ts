/** Names: reservations, the numbers in names, and former addresses. */
import { createHmac, createSecretKey } from 'node:crypto'
import type { AddressStore, NameCounters, Reservations } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** Compares names without case, as addresses are. The store's own `lower` depends on its locale. */
const folded = (name: string): string => name.toLowerCase()

/** Names that are reserved for requests that have not ended. */
export function createReservations(database: Database): Reservations {
  return {
    async reserve(tenantId, names, requestId) {
      // In one order, so that two requests for the same names cannot deadlock.
      const { rows } = await database.query<{ name: string; request_id: string }>(
        `INSERT INTO reservations (tenant_id, name, request_id)
         SELECT DISTINCT $1::uuid, name, $3::uuid FROM unnest($2::text[]) AS name ORDER BY 2
         ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING name, request_id`,
        [tenantId, names.map(folded), requestId],
      )
      const held = new Set(rows.filter(({ request_id }) => request_id !== requestId).map(({ name }) => name))
      return names.filter((name) => held.has(folded(name)))
    },
    async holder(tenantId, name) {
      const { rows } = await database.read<{ request_id: string }>(
        'SELECT request_id FROM reservations WHERE tenant_id = $1 AND name = $2',
        [tenantId, folded(name)],
      )
      return rows[0]?.request_id
    },
    async release(requestId) {
      await database.query('DELETE FROM reservations WHERE request_id = $1', [requestId])
    },
  }
}

/** The numbers in names. One statement takes a number, so concurrent callers get different numbers. */
export function createNameCounters(database: Database): NameCounters {
  return {
    async last(tenantId, scope) {
      const { rows } = await database.read<{ last_number: number }>(
        'SELECT last_number FROM name_counters WHERE tenant_id = $1 AND scope = $2',
        [tenantId, scope],
      )
      return rows[0]?.last_number ?? 0
    },
    async next(tenantId, scope) {
      const { rows } = await database.query<{ last_number: number }>(
        `INSERT INTO name_counters (tenant_id, scope, last_number) VALUES ($1, $2, 1)
         ON CONFLICT (tenant_id, scope) DO UPDATE SET last_number = name_counters.last_number + 1 RETURNING last_number`,
        [tenantId, scope],
      )
      if (!rows[0]) throw new Error('the store returned no number')
      return rows[0].last_number
    },
  }
}

/**
 * Addresses that were in use, as HMAC-SHA-256. Its key is derived from the audit's key, which is outside of the store:
 * without it nobody can find the addresses, not even by trying all names.
 */
export function createFormerAddresses(database: Database, auditKey: Uint8Array): AddressStore {
  const key = createSecretKey(createHmac('sha256', auditKey).update('former addresses').digest())
  const digest = (tenantId: string, text: string): string =>
    createHmac('sha256', key).update(`${tenantId}\n${text.toLowerCase()}`).digest('base64url')
  const notedOn = (tenantId: string): string => `addresses-noted:${tenantId}`
  return {
    async note(tenantId, day, held) {
      const holders = new Map(held.map((one) => [digest(tenantId, one.key), digest(tenantId, one.holder)]))
      // In one order, so that two processes that write the same addresses cannot deadlock.
      await database.query(
        `INSERT INTO former_addresses AS known (tenant_id, address, holder, last_day)
         SELECT $1, address, holder, $4::date FROM unnest($2::text[], $3::text[]) AS current (address, holder) ORDER BY address
         ON CONFLICT (tenant_id, address) DO UPDATE SET holder = excluded.holder, last_day = excluded.last_day
         WHERE known.last_day < excluded.last_day OR known.holder <> excluded.holder`,
        [tenantId, [...holders.keys()], [...holders.values()], day],
      )
    },
    async find(tenantId, keys) {
      const { rows } = await database.read<{ holder: string; day: string }>(
        'SELECT holder, last_day::text AS day FROM former_addresses WHERE tenant_id = $1 AND address = ANY($2)',
        [tenantId, keys.map((one) => digest(tenantId, one))],
      )
      return rows.map(({ holder, day }) => ({ lastDay: day, isHolder: (id) => digest(tenantId, id) === holder }))
    },
    async notedOn(tenantId) {
      const { rows } = await database.read<{ value: string }>('SELECT value FROM settings WHERE name = $1', [
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
