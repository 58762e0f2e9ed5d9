import pg from 'pg'
import { type Availability, watchAvailability } from './availability.ts'
import { explainRefusal, routeOf } from './server-tls.ts'

/** A PostgreSQL server, as this process reaches it. */
export interface ServerStore {
  readonly pool: pg.Pool
  readonly availability: Availability
  close(): Promise<void>
}

/**
 * Milliseconds until somebody who waits is told that the store does not answer: for a connection, and for each statement.
 * With the probe of a doubtful store after it, that is still less than the five seconds in which people get an answer.
 */
const ANSWER_MILLISECONDS = 3000
/** Less than that, so that a row which somebody holds is told from a store that is gone. */
const LOCK_MILLISECONDS = 2800
/** What a lost process had locked is free again after this. */
const IDLE_IN_TRANSACTION_MILLISECONDS = 10_000

/** Opens a pool of connections to a server. Throws when it cannot be reached, in words when its certificate is refused. */
export async function openServer(
  databaseUrl: string,
  options: { schema?: string; log?: (message: string) => void; types: pg.CustomTypesConfig },
): Promise<ServerStore> {
  // Says in words what is wrong with an address before a pool fails on it at some later time.
  routeOf(databaseUrl)
  const server = {
    connectionString: databaseUrl,
    application_name: 'quartermaster',
    // A store that does not answer is reported, not waited for.
    connectionTimeoutMillis: ANSWER_MILLISECONDS,
    query_timeout: ANSWER_MILLISECONDS,
  }
  const pool = new pg.Pool({
    ...server,
    max: 10,
    types: options.types,
    keepAlive: true,
    lock_timeout: LOCK_MILLISECONDS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
    ...(options.schema === undefined ? {} : { options: `-c search_path=${options.schema}` }),
  })
  // Who watches says how long is listened for.
  const patient = { ...server, connectionTimeoutMillis: 0, query_timeout: 0 }
  const availability = watchAvailability((signal) => askServer(patient, signal))
  pool.on('error', (error) => {
    options.log?.(`An idle connection to the store was lost: ${error.message}`)
    availability.suspect()
  })
  const close = () => {
    availability.close()
    return pool.end()
  }
  try {
    await pool.query('select 1')
  } catch (error) {
    await close()
    throw explainRefusal(error, databaseUrl)
  }
  return { pool, availability, close }
}

/** Asks over a connection of its own, which tells nothing about any other. */
async function askServer(server: pg.ClientConfig, signal: AbortSignal): Promise<void> {
  const client = new pg.Client(server)
  const hangUp = () => void client.end().catch(() => undefined)
  client.on('error', () => undefined)
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    await client.connect()
    await client.query('select 1')
  } finally {
    signal.removeEventListener('abort', hangUp)
    hangUp()
  }
}
