import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { because, ProvisioningError } from '../../core/index.ts'
import { keepPlans } from './transaction.ts'

interface ServerStore {
  readonly pool: pg.Pool
  readonly availability: Availability
  close(): Promise<void>
}

/**
 * Time limit for a connection and for each statement. Together with the following probe, it is less than the five
 * seconds in which people get an answer. Milliseconds.
 */
const ANSWER_MILLISECONDS = 3000
/** The time limit of locks. It is shorter, to distinguish a locked row from an unavailable store. Milliseconds. */
const LOCK_MILLISECONDS = 2800
/** Locks of a lost process end after this time. Milliseconds. */
const IDLE_IN_TRANSACTION_MILLISECONDS = 10_000

/**
 * A connection that sends the statements of one turn of the event loop in one system call. pg corks its stream for each
 * statement, and uncorks it before the next one.
 */
class GatheringSocket extends Socket {
  override uncork(): void {
    process.nextTick(() => super.uncork())
  }
}

/**
 * Opens a pool of connections to a server. Throws when the server cannot be reached; explains a refused certificate.
 */
export async function openServer(
  databaseUrl: string,
  options: { schema?: string; connections?: number; log?: (message: string) => void; types: pg.CustomTypesConfig },
): Promise<ServerStore> {
  // Explains an invalid address now, before the pool fails on it later.
  routeOf(databaseUrl)
  const server = {
    connectionString: databaseUrl,
    application_name: 'quartermaster',
    // A store that does not answer is reported quickly.
    connectionTimeoutMillis: ANSWER_MILLISECONDS,
    query_timeout: ANSWER_MILLISECONDS,
  }
  const pool = new pg.Pool({
    ...server,
    max: options.connections ?? 16,
    // Statements of one transaction that do not depend on each other are sent together.
    pipeline: true,
    stream: () => new GatheringSocket(),
    types: options.types,
    keepAlive: true,
    lock_timeout: LOCK_MILLISECONDS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
    ...(options.schema === undefined ? {} : { options: `-c search_path=${options.schema}` }),
  })
  // The watcher limits the time of probes itself.
  const patient = { ...server, connectionTimeoutMillis: 0, query_timeout: 0 }
  const availability = watchAvailability((signal) => askServer(patient, signal))
  pool.on('connect', keepPlans)
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

/** Probes the server over a new connection. */
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

/**
 * How `pg` would reach a server, according to its address with query parameters, and to PGHOST, PGSSLMODE and others.
 */
interface ServerRoute {
  readonly host: string
  /** Through a Unix socket, so not over a network. */
  readonly isSocket: boolean
  /** The connection is encrypted, and the server's certificate and host name are checked. */
  readonly isVerified: boolean
}

/**
 * Reads an address the way `pg` does, without connecting. Throws an explanation when `pg` cannot read it or a file that
 * it names.
 *
 * Only a literal `sslmode=verify-full` counts as verified: `pg` 8 treats `require`, `prefer` and `verify-ca` alike, but
 * pg 9 and PostgreSQL's own tools check less with them (https://www.postgresql.org/docs/current/libpq-ssl.html).
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

/** Explains which certificate was refused, why, and what to change. Returns any other error unchanged. */
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
      `The certificate of the PostgreSQL server is for another host than ${host} (it names ${names}): use a name of the certificate in the address (DATABASE_URL).`,
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

/** How long callers wait while the store is in doubt; then it counts as unavailable. Milliseconds. */
const DOUBT_MILLISECONDS = 1200
/**
 * How long a probe waits for an answer: a slow or distant store is available when it answers, and a new connection alone
 * takes several round trips. Milliseconds.
 */
const PROBE_MILLISECONDS = 8000
/** The interval of probes of an unavailable store. A new probe may start before the previous one ends. Milliseconds. */
const PROBE_AGAIN_MILLISECONDS = 1500

/** Whether the store is available. A caller with several statements waits for one time-out, not for several. */
export interface Availability {
  /**
   * Returns at once while the store is available; throws `unavailable` otherwise. Waits while the store is in doubt.
   */
  admit(): Promise<void>
  /** Reports a lost connection: a new connection finds out whether the store is available. */
  suspect(): void
  /** Reports the end of an embedded store, which cannot restart by itself when it cannot write its log. */
  end(): void
  /** Returns the work's result; throws `unavailable` as soon as the store is unavailable. */
  orAway<T>(work: Promise<T>): Promise<T>
  close(): void
}

/**
 * Availability of an embedded store: available until PostgreSQL ends, because its disk is full. Only another process can
 * open the store again, which `log` reports.
 */
export function thereUntilItEnds(log?: (message: string) => void): Availability {
  let hasEnded = false
  const waiting = new Set<(error: unknown) => void>()
  return {
    async admit() {
      if (hasEnded) throw away()
    },
    suspect: () => undefined,
    end() {
      if (hasEnded) return
      hasEnded = true
      log?.('The embedded store has stopped. Its disk may be full: free some space, then restart the service.')
      for (const reject of waiting) reject(away())
      waiting.clear()
    },
    orAway: (work) => unlessAway(work, waiting),
    close: () => undefined,
  }
}

/** Returns the work's result, unless one of `waiting` rejects it first. */
function unlessAway<T>(work: Promise<T>, waiting: Set<(error: unknown) => void>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    work.then(resolve, reject).finally(() => waiting.delete(reject))
  })
}

/** Availability of a server. `probe` queries the store over its own connection until the signal aborts. */
function watchAvailability(probe: (signal: AbortSignal) => Promise<unknown>): Availability {
  let state: 'there' | 'doubtful' | 'away' = 'there'
  let doubt: Promise<void> = Promise.resolve()
  const waiting = new Set<(error: unknown) => void>()
  const closed = new AbortController()

  async function answers(): Promise<boolean> {
    const patience = AbortSignal.any([AbortSignal.timeout(PROBE_MILLISECONDS), closed.signal])
    const outOfTime = new Promise<false>((resolve) => patience.addEventListener('abort', () => resolve(false)))
    const answered = probe(patience).then(() => true, isAnswer)
    return Promise.race([answered, outOfTime])
  }

  async function findOut(): Promise<void> {
    const answer = answers()
    const inTime = await Promise.race([answer, wait(DOUBT_MILLISECONDS, false, { ref: false })])
    if (inTime) {
      state = 'there'
      return
    }
    state = 'away'
    for (const reject of waiting) reject(away())
    waiting.clear()
    awaitReturn(answer).catch(() => undefined)
  }

  /** Probes until any probe is answered: a pending probe may get lost when the store returns. */
  async function awaitReturn(first: Promise<boolean>): Promise<void> {
    const listen = (answer: Promise<boolean>) =>
      void answer.then((is) => {
        if (is) state = 'there'
      })
    for (let answer = first; state === 'away'; answer = answers()) {
      listen(answer)
      await wait(PROBE_AGAIN_MILLISECONDS, undefined, { ref: false, signal: closed.signal })
    }
  }

  return {
    async admit() {
      if (state === 'doubtful') await doubt
      if (state === 'away') throw away()
    },
    suspect() {
      if (state !== 'there') return
      state = 'doubtful'
      doubt = findOut()
    },
    // A server is restarted by its operators.
    end: () => undefined,
    orAway: (work) => unlessAway(work, waiting),
    close: () => closed.abort(),
  }
}

/**
 * Whether an error proves that the server is available: any SQLSTATE (such as too many connections), except during
 * start and shutdown.
 */
function isAnswer(error: unknown): boolean {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(57P|08|25)/.test(code)
}

const away = () => new ProvisioningError('unavailable', because('storeAway'), { cause: new Error('away') })
