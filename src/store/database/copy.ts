import pg from 'pg'
import type { Database } from './database.ts'

/** How many rows travel at once: few enough for memory, whatever is in them. */
const BATCH = 500

/**
 * Copies all rows of a table into the same table of another database, and returns how many. Values travel as PostgreSQL
 * writes them in text, so nothing is lost on the way. Both names are SQL as it stands. To be called inside a transaction
 * of each of the two.
 */
export async function copyRows(from: Database, to: Database, source: string, target = source): Promise<number> {
  const columns = await columnsOf(to, target)
  const names = columns.map(({ name }) => pg.escapeIdentifier(name))
  const texts = names.map((name) => `${name}::text as ${name}`)
  await from.query(`declare moving cursor for select ${texts.join(', ')} from ${source}`)
  const values = columns.map(({ type }, index) => `v${index}::${type}`)
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`)
  const aliases = columns.map((_, index) => `v${index}`)
  const insert = `insert into ${target} (${names.join(', ')}) overriding system value
    select ${values.join(', ')} from unnest(${arrays.join(', ')}) as row (${aliases.join(', ')})`
  let copied = 0
  for (;;) {
    const { rows } = await from.query<Record<string, string | null>>(`fetch ${BATCH} from moving`)
    if (rows.length === 0) break
    const { rowCount } = await to.query(
      insert,
      columns.map(({ name }) => rows.map((row) => row[name] ?? null)),
    )
    copied += rowCount
  }
  await from.query('close moving')
  for (const { name, identity } of columns) if (identity && copied > 0) await continueNumbers(to, target, name)
  return copied
}

interface Column {
  readonly name: string
  readonly type: string
  readonly identity: boolean
}

/** Generated columns make themselves. */
async function columnsOf(database: Database, table: string): Promise<Column[]> {
  const { rows } = await database.query<Column>(
    `select attname as name, format_type(atttypid, atttypmod) as type, attidentity <> '' as identity
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
    [table],
  )
  return rows
}

/** The next row gets the number after the highest that was copied. */
async function continueNumbers(database: Database, table: string, column: string): Promise<void> {
  const highest = `(select max(${pg.escapeIdentifier(column)}) from ${table})`
  await database.query(`select setval(pg_get_serial_sequence($1, $2), ${highest})`, [table, column])
}

/**
 * Our tables, each by its name as SQL, and after those that it refers to. What is unlogged is not worth keeping, and migrations
 * are the database's own.
 */
export async function ownTables(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `with recursive own as (
       select oid, relname from pg_class
       where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
         and relpersistence = 'p' and relname <> 'migrations'
     ), placed as (
       select oid, 0 as place from own
       union select c.conrelid, p.place + 1 from placed p join pg_constraint c on c.confrelid = p.oid
       where c.contype = 'f' and c.conrelid <> c.confrelid
     )
     select quote_ident(relname) as name from own join placed using (oid) group by relname order by max(place), relname`,
  )
  return rows.map(({ name }) => name)
}

/** Keeps everybody else from writing to these tables until the transaction ends, and names those that have rows. */
export async function lockAndFindRows(database: Database, tables: readonly string[]): Promise<string[]> {
  await database.query(`lock table ${tables.join(', ')} in share row exclusive mode`)
  const filled: string[] = []
  for (const table of tables) {
    const { rows } = await database.query(`select 1 from ${table} limit 1`)
    if (rows.length > 0) filled.push(table)
  }
  return filled
}
