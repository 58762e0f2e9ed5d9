import { type DeliveryStore, delivery } from '../core/index.ts'
import type { Database } from './database.ts'

/** How long an ended delivery is kept, in days. */
const keptDays = 90

/** Webhooks on their way, with what became of each. */
export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    async insert(one) {
      await database.query(
        'INSERT INTO deliveries (delivery_id, request_id, status, updated_at, body) VALUES ($1, $2, $3, $4, $5)',
        [one.deliveryId, one.requestId, one.status, one.updatedAt, JSON.stringify(one)],
      )
    },
    async find(deliveryId) {
      const { rows } = await database.query<{ body: unknown }>('SELECT body FROM deliveries WHERE delivery_id = $1', [
        deliveryId,
      ])
      return rows[0] && delivery.parse(rows[0].body)
    },
    async update(one) {
      await database.query('UPDATE deliveries SET status = $2, updated_at = $3, body = $4 WHERE delivery_id = $1', [
        one.deliveryId,
        one.status,
        one.updatedAt,
        JSON.stringify(one),
      ])
    },
    async forgetOld(at) {
      await database.query(
        `DELETE FROM deliveries WHERE status <> 'pending' AND updated_at < $1::timestamptz - make_interval(days => $2)`,
        [at, keptDays],
      )
    },
  }
}
