import pg from 'pg'
import { z } from 'zod'
import type { Database } from '../../src/store/index.ts'

export interface Statement {
  readonly sql: string
  readonly values: readonly unknown[] | undefined
}

/** Returns the same store, and records every later statement. */
export function recording(database: Database): { database: Database; statements: Statement[] } {
  const statements: Statement[] = []
  const query: Database['query'] = (sql, values) => {
    statements.push({ sql, values })
    return database.query(sql, values)
  }
  return { database: { ...database, query, read: query }, statements }
}

/** PostgreSQL's execution plan of a statement. */
export interface QueryPlan {
  /** Tables that are read completely. */
  readonly scanned: readonly string[]
  /** Rows of tables and indexes that were read, including those that did not match. */
  readonly rowsRead: number
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string | undefined
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number | undefined
  readonly 'Rows Removed by Index Recheck'?: number | undefined
  readonly Plans?: readonly Node[] | undefined
}
const node: z.ZodType<Node> = z.object({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().optional(),
  'Rows Removed by Index Recheck': z.number().optional(),
  get Plans() {
    return z.array(node).optional()
  },
})
const answer = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: node })]) })])

class Undo extends Error {}

/** PostgreSQL plans a prepared statement again this often. Then it keeps one plan for all values, if that seems as good. */
const plannedAgain = 5

/** Runs a statement as often as a busy connection does, to get the plan that PostgreSQL then uses, and rolls it back. */
export async function explain(database: Database, { sql, values = [] }: Statement): Promise<QueryPlan> {
  let plan: QueryPlan = { scanned: [], rowsRead: 0 }
  await database
    .transaction(async () => {
      await database.query('SAVEPOINT before')
      for (let time = 1; time <= plannedAgain; time += 1) {
        await database.query(sql, values)
        await database.query('ROLLBACK TO SAVEPOINT before')
      }
      const explained = 'EXPLAIN (ANALYZE, FORMAT JSON)'
      const prepared = await database.query<{ name: string }>(
        'SELECT name FROM pg_prepared_statements WHERE statement = $1 ORDER BY prepare_time DESC',
        [sql],
      )
      const name = prepared.rows[0]?.name
      const { rows } =
        name === undefined
          ? await database.query(`${explained} ${sql}`, values)
          : await database.query(`${explained} EXECUTE ${name} (${values.map(literal).join(', ')})`)
      plan = read(answer.parse(rows)[0]['QUERY PLAN'][0].Plan)
      throw new Undo()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error
    })
  return plan
}

/** Returns a value as text of SQL. PostgreSQL knows its type from the statement. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join(',')}}`)
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  return pg.escapeLiteral(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

function read(top: Node): QueryPlan {
  const nodes = flat(top)
  // A lower node passes its rows to the node above; rows count once, at their source.
  const sources = nodes.filter((one) => one['Node Type'].includes('Scan') && one['Actual Loops'] > 0)
  const rowsOf = (one: Node): number =>
    one['Actual Loops'] *
    (one['Actual Rows'] + (one['Rows Removed by Filter'] ?? 0) + (one['Rows Removed by Index Recheck'] ?? 0))
  return {
    scanned: nodes.filter((one) => one['Node Type'] === 'Seq Scan').map((one) => one['Relation Name'] ?? ''),
    rowsRead: sources.reduce((sum, one) => sum + rowsOf(one), 0),
  }
}

const flat = (one: Node): Node[] => [one, ...(one.Plans ?? []).flatMap(flat)]
