import { type TemplateStore, template } from '../core/index.ts'
import type { Database } from './database.ts'

export function createTemplateStore(database: Database): TemplateStore {
  return {
    async list(tenantId) {
      const { rows } = await database.query<{ body: unknown }>('SELECT body FROM templates WHERE tenant_id = $1', [
        tenantId,
      ])
      const all = rows.map(({ body }) => template.parse(body))
      return all.sort((one, other) => one.order - other.order || one.name.localeCompare(other.name))
    },
    async find(tenantId, id) {
      const { rows } = await database.query<{ body: unknown }>(
        'SELECT body FROM templates WHERE tenant_id = $1 AND template_id::text = lower($2)',
        [tenantId, id],
      )
      return rows[0] && template.parse(rows[0].body)
    },
    async put(tenantId, one, expected) {
      const { rowCount } = await database.query(
        `INSERT INTO templates (tenant_id, template_id, version, body) SELECT $1, $2, $3, $4 WHERE $5 = 0
         ON CONFLICT (tenant_id, template_id) DO NOTHING`,
        [tenantId, one.id, one.version, JSON.stringify(one), expected],
      )
      if (rowCount === 1) return true
      const updated = await database.query(
        'UPDATE templates SET version = $3, body = $4 WHERE tenant_id = $1 AND template_id = $2 AND version = $5 AND $5 > 0',
        [tenantId, one.id, one.version, JSON.stringify(one), expected],
      )
      return updated.rowCount === 1
    },
    async forgetOld(at) {
      await database.query(
        `UPDATE templates SET body = jsonb_set(body, '{webhook,formerSecrets}', coalesce((
           SELECT jsonb_agg(former) FROM jsonb_array_elements(body -> 'webhook' -> 'formerSecrets') AS former
           WHERE (former ->> 'until')::timestamptz > $1), '[]'))
         WHERE EXISTS (
           SELECT FROM jsonb_array_elements(body -> 'webhook' -> 'formerSecrets') AS former
           WHERE (former ->> 'until')::timestamptz <= $1)`,
        [at],
      )
    },
  }
}
