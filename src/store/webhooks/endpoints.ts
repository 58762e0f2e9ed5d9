import { type WebhookEndpointStore, webhookEndpoint } from '../../core/index.ts'
import type { Database } from '../database/database.ts'

/** How receivers of webhooks do: a row for each that has failed since its template was last written. */
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
