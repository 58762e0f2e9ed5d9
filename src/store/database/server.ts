import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { ProvisioningError } from '../../core/index.ts'

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

/** How long those who wait for a doubtful store are kept waiting, in milliseconds; then it counts as away. */
const DOUBT_MILLISECONDS = 1200
/**
 * How long a question is listened for, in milliseconds: a store that is only slow, or far away, is there when it answers.
 * A new connection alone takes several round trips.
 */
const PROBE_MILLISECONDS = 8000
/** How often an absent store is asked whether it is back, in milliseconds; it may be asked anew before it has answered. */
const PROBE_AGAIN_MILLISECONDS = 1500

/** Whether the store is there. Whoever needs several answers of a store that is away waits for one time-out, not for each. */
export interface Availability {
  /** Passes at once while the store is there; throws `unavailable` while it is away. Waits out a doubt, which is short. */
  admit(): Promise<void>
  /** Something did not come back: a fresh connection finds out whether that was this connection or the store. */
  suspect(): void
  /** It ended, and will not answer again by itself: an embedded store does so that cannot write its log any more. */
  end(): void
  /** The work's outcome, or `unavailable` as soon as the store is found to be away. */
  orAway<T>(work: Promise<T>): Promise<T>
  close(): void
}

/**
 * A store in this process is there until it ends, with a log that cannot be written because the disk is full: it answers
 * nobody any more, and only another process can open it again. `log` is told so.
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
      log?.(
        'The embedded store has ended and answers nobody any more. Is its disk full? Make room and restart the service.',
      )
      for (const reject of waiting) reject(away())
      waiting.clear()
    },
    orAway: (work) => unlessAway(work, waiting),
    close: () => undefined,
  }
}

/** The work's outcome, unless it is called off before. */
function unlessAway<T>(work: Promise<T>, waiting: Set<(error: unknown) => void>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    work.then(resolve, reject).finally(() => waiting.delete(reject))
  })
}

/** `probe` asks the store over a connection of its own, and ends when the signal says so. */
function watchAvailability(probe: (signal: AbortSignal) => Promise<unknown>): Availability {
  let state: 'there' | 'doubtful' | 'away' = 'there'
  let doubt: Promise<void> = Promise.resolve()
  const waiting = new Set<(error: unknown) => void>()
  const closed = new AbortController()

  async function answers(): Promise<boolean> {
    const patience = AbortSignal.any([AbortSignal.timeout(PROBE_MILLISECONDS), closed.signal])
    const outOfTime = new Promise<false>((resolve) => patience.addEventListener('abort', () => resolve(false)))
    const asked = probe(patience).then(() => true, isAnswer)
    return Promise.race([asked, outOfTime])
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

  /** Ends with the first answer, to whichever question: one that is under way may be lost when the store comes back. */
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
    // Somebody starts a server again.
    end: () => undefined,
    orAway: (work) => unlessAway(work, waiting),
    close: () => closed.abort(),
  }
}

/** A server that refuses by an SQLSTATE of its own, too many connections say, is there; one that starts or ends is not. */
function isAnswer(error: unknown): boolean {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(57P|08|25)/.test(code)
}

const away = () =>
  new ProvisioningError('unavailable', 'The store does not answer just now.', { cause: new Error('away') })
