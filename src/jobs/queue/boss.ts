import { type ConstructorOptions, PgBoss } from 'pg-boss'

/** The part of the store that the queue uses. `Database` of `store/` has it. */
export interface QueueStore {
  readonly engine: 'embedded' | 'server'
  readonly queueConnection: {
    readonly schema: string
    readonly connectionString?: string
    readonly listen?: (channel: string, onPayload: (payload: string) => void) => Promise<() => Promise<void>>
  }
  query<Row>(sql: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
  transaction<T>(work: () => Promise<T>): Promise<T>
  outside<T>(work: () => T): T
  patiently<T>(work: () => Promise<T>): Promise<T>
  giveWay(): Promise<void>
}

export interface QueueLog {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/**
 * pg-boss's view of our store. A statement inside our transaction is part of it, so jobs and rows are committed
 * together.
 */
export function ambientConnection(store: QueueStore) {
  return { executeSql: (sql: string, values?: unknown[]) => store.query<never>(sql, values) }
}

/**
 * Creates a pg-boss for either engine, not started, with our log. `onJob` gets the name of each queue that has a new job,
 * and no name when notifications may have been lost.
 */
export function createBoss(store: QueueStore, log: QueueLog, onJob?: (name?: string) => void): PgBoss {
  const { schema, connectionString } = store.queueConnection
  const options: ConstructorOptions = {
    schema,
    schedule: false,
    useListenNotify: true,
    superviseIntervalSeconds: 30,
    monitorIntervalSeconds: 60,
    ...(connectionString === undefined ? embeddedOptions(store) : serverOptions(connectionString)),
  }
  const boss = new PgBoss(options)
  const report = rarely(({ message }: Error) => log.error({ error: message }, 'the queue failed; it continues'))
  boss.on('error', report)
  boss.on('warning', ({ message, data }) => log.warn({ data }, message))
  if (onJob) listenToo(boss, onJob)
  return boss
}

/**
 * Calls `onJob` for each notification. pg-boss wakes only its own workers, so we listen where it does
 * (`IDatabase.listen`).
 */
function listenToo(boss: PgBoss, onJob: (name?: string) => void): void {
  const db = boss.getDb()
  const listen = db.listen?.bind(db)
  if (!listen) throw new Error('pg-boss cannot listen in this store')
  db.listen = (channel, onNotification, onReconnect) =>
    listen(
      channel,
      (name) => {
        onNotification(name)
        onJob(name)
      },
      () => {
        onReconnect()
        onJob()
      },
    )
}

/**
 * The shortest time between two reports, in milliseconds. While the store is down, every poll of every worker fails.
 */
const REPORT_MILLISECONDS = 10_000

function rarely<T>(report: (value: T) => void): (value: T) => void {
  let last = Number.NEGATIVE_INFINITY
  return (value) => {
    const now = performance.now()
    if (now - last < REPORT_MILLISECONDS) return
    last = now
    report(value)
  }
}

/**
 * A separate pool, so that jobs and callers do not wait for each other's connections. A statement of a worker is short:
 * without a time-out it would wait forever on a dead connection.
 */
function serverOptions(connectionString: string): ConstructorOptions {
  // pg-boss passes these options to pg.
  const timeouts = { query_timeout: 6000, keepAlive: true }
  return {
    connectionString,
    application_name: 'quartermaster-queue',
    max: 5,
    connectionTimeoutMillis: 3000,
    notifyHeartbeatIntervalMs: 5000,
    notifyHeartbeatTimeoutMs: 3000,
    ...timeouts,
  }
}

function embeddedOptions(store: QueueStore): ConstructorOptions {
  const { listen } = store.queueConnection
  return {
    backend: 'pglite',
    db: {
      ...ambientConnection(store),
      async listen(channel, onPayload, onReconnect) {
        if (!listen) throw new Error('This store cannot listen')
        const close = await listen(channel, onPayload)
        onReconnect()
        return { close }
      },
    },
    // The embedded store vacuums itself and has only one process.
    monitorVacuum: false,
    reindex: false,
  }
}
