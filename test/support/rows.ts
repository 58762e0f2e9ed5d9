import type { Database } from '../../src/store/index.ts'
import type { Service } from './service.ts'

/** The tables of each store. */
const tablesOf = new WeakMap<Database, Promise<string[]>>()

/**
 * Returns the number of rows of each of our tables; the queue's tables are in their own schema and are omitted. The
 * statement has a value, so that the embedded store keeps its plan: planning takes longer than running.
 */
export async function rowCounts(database: Database): Promise<Record<string, number>> {
  const tables = await (tablesOf.get(database) ?? readTables(database))
  const besides: Readonly<Record<string, string>> = {
    // Rows that the service writes at its own times: calls to Microsoft 365, running processes, the health watch, and the daily
    // record of addresses.
    ...{ service_calls: 'WHERE false', processes: 'WHERE false', health_watch: 'WHERE false' },
    ...{ former_addresses: 'WHERE false', settings: `WHERE name NOT LIKE 'addresses-noted:%'` },
    // Attempts without permission are recorded and change nothing; refused-deciders.test.ts tests them.
    audit_log: 'WHERE action <> $1',
    audit_heads: 'WHERE request_id IN (SELECT request_id FROM audit_log WHERE action <> $1)',
  }
  const of = (name: string) => `"${name}" ${besides[name] ?? ''}`
  const counts = tables.map((name) => `(SELECT count(*)::int FROM ${of(name)}) AS "${name}"`)
  const { rows } = await database.query<Record<string, number>>(`SELECT ${counts.join(', ')}`, ['refused'])
  return rows[0] ?? {}
}

function readTables(database: Database): Promise<string[]> {
  const reading = database
    .query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`,
    )
    .then(({ rows }) => rows.map(({ name }) => name))
  tablesOf.set(database, reading)
  return reading
}

/** Reads the store directly, without our own code. */
export function rowsOf(service: Service) {
  const query = async <Row>(sql: string, ...values: unknown[]): Promise<Row[]> =>
    (await service.app.database.query<Row>(sql, values)).rows
  return {
    stateOf: async (requestId: string) =>
      (
        await query<{ status: string; version: number }>(
          'SELECT status, version FROM requests WHERE request_id = $1',
          requestId,
        )
      )[0],
    draftOf: async (requestId: string) =>
      (await query<{ body: { values: object } }>('SELECT body FROM drafts WHERE request_id = $1', requestId))[0],
    timelineOf: (requestId: string) =>
      query<{ action: string; actor: string; body: { comment?: string } }>(
        'SELECT action, actor_id AS actor, body FROM audit_log WHERE request_id = $1 ORDER BY entry',
        requestId,
      ),
    count: async (table: string) => (await query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n ?? 0,
  }
}
