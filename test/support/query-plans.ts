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
const explained = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: node })]) })])

class Undo extends Error {}

/** Runs a statement to get its plan, and rolls it back. */
export async function explain(database: Database, { sql, values }: Statement): Promise<QueryPlan> {
  let plan: QueryPlan = { scanned: [], rowsRead: 0 }
  await database
    .transaction(async () => {
      const { rows } = await database.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values)
      plan = read(explained.parse(rows)[0]['QUERY PLAN'][0].Plan)
      throw new Undo()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error
    })
  return plan
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
