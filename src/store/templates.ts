import { type Template, type TemplateStore, template } from '../core/index.ts'
import type { Database } from './database.ts'

/** How many templates are kept parsed. */
const keptParsed = 500
const mark = `xmin::text || ' ' || ctid::text`

/**
 * Templates as whole aggregates. One that was read before is not sent and parsed again while its row is the same: every
 * request asks for its template, and templates hardly change.
 */
export function createTemplateStore(database: Database): TemplateStore {
  const parsed = new Map<string, { readonly mark: string; readonly template: Template }>()
  return {
    async list(tenantId) {
      const { rows } = await database.query<{ body: unknown }>('SELECT body FROM templates WHERE tenant_id = $1', [
        tenantId,
      ])
      const all = rows.map(({ body }) => template.parse(body))
      return all.sort((one, other) => one.order - other.order || one.name.localeCompare(other.name))
    },
    async find(tenantId, id) {
      const key = `${tenantId} ${id.toLowerCase()}`
      const known = parsed.get(key)
      // The transaction that wrote the row as it is, and where it put it: any change of it shows.
      const { rows } = await database.query<{ mark: string; body: unknown }>(
        `SELECT ${mark} AS mark, CASE WHEN ${mark} = $3 THEN NULL ELSE body END AS body
         FROM templates WHERE tenant_id = $1 AND template_id::text = lower($2)`,
        [tenantId, id, known?.mark ?? ''],
      )
      const [row] = rows
      if (!row) return undefined
      if (known?.mark === row.mark) return known.template
      const read = frozen(template.parse(row.body))
      if (parsed.size >= keptParsed) parsed.clear()
      parsed.set(key, { mark: row.mark, template: read })
      return read
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

/** Whoever is given it shares it with others. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
