import type { ProcessStore, SeenProcess } from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** For how many hours a process that ended without a goodbye is remembered. */
const keptHours = 24

interface Row {
  readonly process_id: string
  readonly name: string
  readonly version: string
  readonly works: boolean
  readonly started_at: Date
  readonly seen_at: Date
  readonly silent: number
}
const columns = `process_id, name, version, works, started_at, seen_at,
  greatest(extract(epoch FROM now() - seen_at), 0)::float8 AS silent`

/** The processes of the service. Times are the store's, so that their clocks need not agree. */
export function createProcessStore(database: Database): ProcessStore {
  return {
    async beat({ processId, name, version, works, startedAt }) {
      await database.query(
        `INSERT INTO processes (process_id, name, version, works, started_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (process_id) DO UPDATE SET works = excluded.works, seen_at = now()`,
        [processId, name, version, works, startedAt],
      )
    },
    async leave(processId) {
      await database.query('DELETE FROM processes WHERE process_id = $1', [processId])
    },
    async list() {
      const { rows } = await database.query<Row>(`SELECT ${columns} FROM processes ORDER BY started_at, process_id`)
      return rows.map(read)
    },
    async forgetOthers(processId) {
      await database.query('DELETE FROM processes WHERE process_id <> $1', [processId])
    },
    async forgetOld() {
      await database.query('DELETE FROM processes WHERE seen_at < now() - make_interval(hours => $1)', [keptHours])
    },
  }
}

const read = (row: Row): SeenProcess => ({
  processId: row.process_id,
  name: row.name,
  version: row.version,
  works: row.works,
  startedAt: row.started_at,
  seenAt: row.seen_at,
  silentSeconds: row.silent,
})
