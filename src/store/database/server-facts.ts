import { because, type DatabaseFacts } from '../../core/index.ts'
import type { Database } from './database.ts'
import { routeOf } from './server.ts'

interface Row {
  readonly version: string
  readonly number: number
  readonly encrypted: boolean
  readonly readOnly: boolean
  readonly createsSchemas: boolean
  readonly createsTables: boolean
  readonly unwritable: string | null
}

/** Selects our tables for which the user lacks a right, also those in the queue's schema. */
const unwritable = `
  select string_agg(distinct c.relname, ', ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname in (current_schema(), $1)
    and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
      and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))`

/**
 * Selects the facts about the server and the user's rights. `createsSchemas`: may change or create the queue's schema.
 */
const question = `
  select current_setting('server_version') as version,
    current_setting('server_version_num')::integer as number,
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted,
    pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "readOnly",
    coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1),
      has_database_privilege(current_database(), 'create')) as "createsSchemas",
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "createsTables",
    (${unwritable}) as unwritable`

/** Reads how the service may use its database. Writes nothing. */
export async function databaseFacts(database: Database, databaseUrl: string | undefined): Promise<DatabaseFacts> {
  if (database.engine === 'embedded' || databaseUrl === undefined) return { engine: 'embedded', use: 'open' }
  const { rows } = await database.query<Row>(question, [database.queueConnection.schema])
  const [row] = rows
  if (!row) throw new Error('the server returned no facts about itself')
  const { host, isSocket } = routeOf(databaseUrl)
  const isHere = isSocket || ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host)
  return {
    engine: 'server',
    version: row.version.split(' ')[0] ?? row.version,
    major: Math.floor(row.number / 10_000),
    isPlain: !row.encrypted && !isHere,
    isReadOnly: row.readOnly,
    lacks: [
      ...(row.createsSchemas ? [] : [because('mayNotCreateSchemas')]),
      ...(row.createsTables ? [] : [because('mayNotCreateTables')]),
      ...(row.unwritable === null ? [] : [because('mayNotWrite', { table: row.unwritable })]),
    ],
  }
}
