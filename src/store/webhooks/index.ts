/** Webhooks: deliveries with their attempts, and the status of receivers. */
import {
  type Delivery,
  type DeliveryCounts,
  type DeliveryQuery,
  type DeliveryStore,
  delivery,
  type WebhookEndpointStore,
  webhookEndpoint,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** How long an ended delivery is kept, in days. */
const keptDays = 90

/** Deliveries of webhooks with their results. */
export function createDeliveryStore(database: Database): DeliveryStore {
  const one = async (deliveryId: string, more = ''): Promise<Delivery | undefined> => {
    const { rows } = await database.query<{ body: unknown }>(
      `SELECT body FROM deliveries WHERE delivery_id = $1 ${more}`,
      [deliveryId],
    )
    return rows[0] && delivery.parse(rows[0].body)
  }
  return {
    async insert(one) {
      await database.query(
        'INSERT INTO deliveries (delivery_id, request_id, status, updated_at, body) VALUES ($1, $2, $3, $4, $5)',
        [one.deliveryId, one.requestId, one.status, one.updatedAt, JSON.stringify(one)],
      )
    },
    find: (deliveryId) => one(deliveryId),
    lock: (deliveryId) => one(deliveryId, 'FOR UPDATE'),
    async update(one) {
      await database.query('UPDATE deliveries SET status = $2, updated_at = $3, body = $4 WHERE delivery_id = $1', [
        one.deliveryId,
        one.status,
        one.updatedAt,
        JSON.stringify(one),
      ])
    },
    async list(query) {
      const { where, values } = conditions(query)
      const { rows } = await database.query<{ body: unknown }>(
        `SELECT body FROM deliveries WHERE ${where}
         ORDER BY ${query.oldestFirst ? 'created_at, delivery_id' : 'created_at DESC, delivery_id DESC'}
         LIMIT ${Number(query.limit)}`,
        values,
      )
      return rows.map(({ body }) => delivery.parse(body))
    },
    async tally(tenantId, since) {
      const { rows } = await database.query<{ templateId: string | null; status: Delivery['status']; n: number }>(
        `SELECT template_id AS "templateId", status, count(*)::int AS n FROM deliveries
         WHERE tenant_id = $1 AND status <> 'pending' AND updated_at >= $2 GROUP BY 1, 2
         UNION ALL
         SELECT template_id, status, count(*)::int FROM deliveries
         WHERE tenant_id = $1 AND status = 'pending' GROUP BY 1, 2`,
        [tenantId, since],
      )
      const counts = new Map<string | null, DeliveryCounts>()
      for (const { templateId, status, n } of rows) {
        const { delivered = 0, failed = 0, pending = 0 } = counts.get(templateId) ?? {}
        counts.set(templateId, { ...{ delivered, failed, pending }, [status]: n })
      }
      return counts
    },
    async countFailed(tenantId, templateId, limit) {
      const { where, values } = conditions({ tenantId, templateId, status: 'failed', limit })
      const { rows } = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM (SELECT 1 FROM deliveries WHERE ${where} LIMIT ${Number(limit)}) AS counted`,
        values,
      )
      return rows[0]?.n ?? 0
    },
    async forgetOld(at) {
      await database.query(
        `DELETE FROM deliveries WHERE status <> 'pending' AND updated_at < $1::timestamptz - make_interval(days => $2)`,
        [at, keptDays],
      )
    },
  }
}

function conditions({ tenantId, status, templateId, requestId, waitsAfter, after }: DeliveryQuery) {
  const values: unknown[] = [tenantId]
  const clauses = ['tenant_id = $1']
  const wanted = { status, template_id: templateId, request_id: requestId }
  for (const [column, value] of Object.entries(wanted)) {
    if (value === undefined) continue
    if (value === null) {
      clauses.push(`${column} IS NULL`)
      continue
    }
    values.push(value)
    clauses.push(`${column} = $${values.length}`)
  }
  if (waitsAfter) {
    values.push(waitsAfter)
    clauses.push(`(body->>'nextAttemptAt')::timestamptz > $${values.length}`)
  }
  if (after) {
    values.push(after.createdAt, after.deliveryId)
    clauses.push(`(created_at, delivery_id) < ($${values.length - 1}, $${values.length}::uuid)`)
  }
  return { where: clauses.join(' AND '), values }
}

/** The status of receivers: a row for each receiver that has failed since its template was last written. */
export function createWebhookEndpointStore(database: Database): WebhookEndpointStore {
  const read = async (endpointId: string, more = '') => {
    const { rows } = await database.query<{ body: unknown }>(
      `SELECT body FROM webhook_endpoints WHERE endpoint_id = $1 ${more}`,
      [endpointId],
    )
    return rows[0] && webhookEndpoint.parse(rows[0].body)
  }
  return {
    find: (endpointId) => read(endpointId),
    async troubled(tenantId) {
      const { rows } = await database.query<{ body: unknown }>(
        `SELECT body FROM webhook_endpoints
         WHERE tenant_id = $1 AND (body->>'failingSince' IS NOT NULL OR body->>'disabledAt' IS NOT NULL)`,
        [tenantId],
      )
      return rows.map(({ body }) => webhookEndpoint.parse(body))
    },
    async lock(one) {
      await database.query(
        `INSERT INTO webhook_endpoints (endpoint_id, tenant_id, template_id, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (endpoint_id) DO NOTHING`,
        [one.endpointId, one.tenantId, one.templateId, JSON.stringify(one)],
      )
      return (await read(one.endpointId, 'FOR UPDATE')) ?? one
    },
    async update(one) {
      await database.query('UPDATE webhook_endpoints SET body = $2 WHERE endpoint_id = $1', [
        one.endpointId,
        JSON.stringify(one),
      ])
    },
    async forget(tenantId, templateId) {
      await database.query('DELETE FROM webhook_endpoints WHERE tenant_id = $1 AND template_id = $2', [
        tenantId,
        templateId,
      ])
    },
  }
}
