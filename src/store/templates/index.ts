/** Templates with their versions. */
import {
  showTemplateToAdmin,
  type Template,
  type TemplateChange,
  type TemplateStore,
  template,
  templateVersion,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** Maximum number of cached templates. */
const keptParsed = 500
/** In both statements the fifth value is the template's previous version; 0 for a new template. */
const inserted = `INSERT INTO templates (tenant_id, template_id, version, body)
  SELECT $1::uuid, $2::uuid, $3::integer, $4::jsonb WHERE $5::integer = 0
  ON CONFLICT (tenant_id, template_id) DO NOTHING`
const updated = `UPDATE templates SET version = $3::integer, body = $4::jsonb
  WHERE tenant_id = $1::uuid AND template_id = $2::uuid AND version = $5::integer`

interface VersionRow {
  readonly version: number
  readonly body: unknown
  readonly by: unknown
  readonly at: Date | null
}

const mark = `xmin::text || ' ' || ctid::text`

/**
 * Templates as whole aggregates. `find` caches parsed templates while their row is unchanged: every request reads its
 * template, and templates rarely change.
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
      // The row's transaction and position: every change of the row changes them.
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
    async put(tenantId, one, expected, { by, at }: TemplateChange = { by: null, at: new Date() }) {
      const written = expected === 0 ? inserted : updated
      const { rowCount } = await database.query(
        `WITH written AS (${written} RETURNING tenant_id, template_id, version)
         INSERT INTO template_versions (tenant_id, template_id, version, body, changed_by, changed_at)
         SELECT tenant_id, template_id, version, $6::jsonb, $7::jsonb, $8::timestamptz FROM written`,
        [
          ...[tenantId, one.id, one.version, JSON.stringify(one), expected],
          ...[JSON.stringify(showTemplateToAdmin(one)), by && JSON.stringify(by), at.toISOString()],
        ],
      )
      return rowCount === 1
    },
    async versions(tenantId, id, limit) {
      const { rows } = await database.query<VersionRow>(
        `SELECT version, body, changed_by AS by, changed_at AS at FROM template_versions
         WHERE tenant_id = $1 AND template_id = $2 ORDER BY version DESC LIMIT $3`,
        [tenantId, id, limit],
      )
      return rows.map(({ at, ...row }) => templateVersion.parse({ ...row, at: at === null ? null : at.toISOString() }))
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

/** Freezes a value, because callers share it. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
