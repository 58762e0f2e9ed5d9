/** Templates with their versions. */
import {
  frozen,
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

/** The row's transaction and position: every change of the row changes them. */
const mark = `xmin::text || ' ' || ctid::text`

interface Parsed {
  readonly mark: string
  readonly template: Template
}
interface MarkedRow {
  readonly id: string
  readonly mark: string
  /** null if the row still has the known mark. */
  readonly body: unknown
}

/**
 * Templates as whole aggregates. Caches parsed templates while their rows are unchanged: every request and most cards
 * read them, and templates rarely change.
 */
export function createTemplateStore(database: Database): TemplateStore {
  const parsed = new Map<string, Map<string, Parsed>>()

  function read(tenantId: string, known: ReadonlyMap<string, Parsed>, { id, mark, body }: MarkedRow): Template {
    const cached = known.get(id)
    if (cached?.mark === mark) return cached.template
    const fresh = frozen(template.parse(body))
    const ofTenant = parsed.get(tenantId) ?? new Map<string, Parsed>()
    if (ofTenant.size >= keptParsed) ofTenant.clear()
    parsed.set(tenantId, ofTenant.set(id, { mark, template: fresh }))
    return fresh
  }

  return {
    async list(tenantId) {
      // A copy: another call may change the cache while the statement runs.
      const known = new Map(parsed.get(tenantId))
      const { rows } = await database.read<MarkedRow>(
        `SELECT id, mark, CASE WHEN known_mark = mark THEN NULL ELSE body END AS body
         FROM (SELECT template_id AS id, ${mark} AS mark, body FROM templates WHERE tenant_id = $1) AS stored
         LEFT JOIN unnest($2::uuid[], $3::text[]) AS known (known_id, known_mark) ON known_id = id`,
        [tenantId, [...known.keys()], [...known.values()].map(({ mark }) => mark)],
      )
      const all = rows.map((row) => read(tenantId, known, row))
      return all.sort((one, other) => one.order - other.order || one.name.localeCompare(other.name))
    },
    async find(tenantId, id) {
      const cached = parsed.get(tenantId)?.get(id.toLowerCase())
      const known = new Map(cached && [[id.toLowerCase(), cached]])
      const { rows } = await database.read<MarkedRow>(
        `SELECT template_id AS id, ${mark} AS mark, CASE WHEN ${mark} = $3 THEN NULL ELSE body END AS body
         FROM templates WHERE tenant_id = $1 AND template_id::text = lower($2)`,
        [tenantId, id, cached?.mark ?? ''],
      )
      return rows[0] && read(tenantId, known, rows[0])
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
