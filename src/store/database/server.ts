import pg from 'pg'
import { type Availability, watchAvailability } from './availability.ts'

/** A PostgreSQL server, as this process reaches it. */
interface ServerStore {
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

/** How `pg` would reach a server: what it makes of the address, its query parameters and PGHOST, PGSSLMODE and others. */
interface ServerRoute {
  readonly host: string
  /** Through a Unix socket, so not over a network. */
  readonly isSocket: boolean
  /** The connection is encrypted, and the server's certificate and host name are checked. */
  readonly isVerified: boolean
}

/**
 * Reads an address the way `pg` does, without connecting. Throws in words when `pg` cannot read it or a file that it names.
 *
 * Only a literal `sslmode=verify-full` counts as verified: `pg` 8 treats `require`, `prefer` and `verify-ca` alike, but pg 9
 * and PostgreSQL's own tools check less with them (https://www.postgresql.org/docs/current/libpq-ssl.html).
 */
export function routeOf(databaseUrl: string): ServerRoute {
  const { host, ssl } = readAs(databaseUrl)
  const modes = new URL(databaseUrl).searchParams.getAll('sslmode')
  const isChecked =
    ssl !== null && typeof ssl === 'object' && !('rejectUnauthorized' in ssl) && !('checkServerIdentity' in ssl)
  return {
    host,
    isSocket: host.startsWith('/'),
    isVerified: isChecked && modes.length > 0 && modes.every((mode) => mode === 'verify-full'),
  }
}

function readAs(connectionString: string): { host: string; ssl: unknown } {
  try {
    const { host, ssl }: { host: string; ssl: unknown } = new pg.Client({ connectionString })
    return { host, ssl }
  } catch (error) {
    const { code, path } = Object(error)
    if (path === undefined) throw new Error('DATABASE_URL cannot be read as the address of a PostgreSQL server.')
    const remedy = path === 'system' ? ' Without sslrootcert the public authorities of Node are trusted.' : ''
    throw new Error(`DATABASE_URL names the file ${path}, which cannot be read (${code}).${remedy}`)
  }
}

/** Says which certificate was refused, why, and what to change; an error of any other kind stays as it is. */
function explainRefusal(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const { host } = routeOf(databaseUrl)
  const explained = (text: string) => new Error(text, { cause: error })
  if (error.message === 'The server does not support SSL connections')
    return explained(
      `The PostgreSQL server ${host} does not accept TLS, which its address (DATABASE_URL) requires: set ssl = on at the server.`,
    )
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = Object(Reflect.get(error, 'cert')).subjectaltname ?? 'no name'
    return explained(
      `The certificate of the PostgreSQL server is for another host than ${host} (it names ${names}): write a name of the certificate into its address (DATABASE_URL).`,
    )
  }
  if (code === 'CERT_HAS_EXPIRED')
    return explained(`The certificate of the PostgreSQL server ${host} has expired: renew it at the server.`)
  if (/CERT|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$/.test(code))
    return explained(
      `The certificate of the PostgreSQL server ${host} is not trusted (${error.message}): set sslrootcert in its address (DATABASE_URL) to the file of the authority that issued it.`,
    )
  return error
}
