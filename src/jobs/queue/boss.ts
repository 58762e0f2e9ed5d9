import { type ConstructorOptions, PgBoss } from 'pg-boss'

/** What the queue needs of the store; `Database` of the store room is one. */
export interface QueueStore {
  readonly engine: 'embedded' | 'server'
  readonly queueConnection: {
    readonly schema: string
    readonly connectionString?: string
    readonly listen?: (channel: string, heard: (payload: string) => void) => Promise<() => Promise<void>>
  }
  query<Row>(sql: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
  transaction<T>(work: () => Promise<T>): Promise<T>
  outside<T>(work: () => T): T
}

export interface QueueLog {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** pg-boss's view of our store: a statement inside our transaction runs in it, so a job stands or falls with the rows. */
export function ambientConnection(store: QueueStore) {
  return { executeSql: (sql: string, values?: unknown[]) => store.query<never>(sql, values) }
}

/**
 * An unstarted pg-boss on either engine, with everything it says in our log. `heard` gets the name of each queue that has
 * a new job, and nothing when jobs may have come unheard.
 */
export function createBoss(store: QueueStore, log: QueueLog, heard?: (name?: string) => void): PgBoss {
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
  const complain = seldom(({ message }: Error) => log.error({ error: message }, 'the queue failed; it goes on'))
  boss.on('error', complain)
  boss.on('warning', ({ message, data }) => log.warn({ data }, message))
  if (heard) overhear(boss, heard)
  return boss
}

/** pg-boss wakes workers of its own only, so we listen where it does (`IDatabase.listen`). */
function overhear(boss: PgBoss, heard: (name?: string) => void): void {
  const db = boss.getDb()
  const listen = db.listen?.bind(db)
  if (!listen) throw new Error('pg-boss cannot listen in this store')
  db.listen = (channel, onNotification, onReconnect) =>
    listen(
      channel,
      (name) => {
        onNotification(name)
        heard(name)
      },
      () => {
        onReconnect()
        heard()
      },
    )
}

/** How often the same kind of trouble is told, in milliseconds: while the store is away every worker fails at every look. */
const COMPLAINT_MILLISECONDS = 10_000

function seldom<T>(tell: (what: T) => void): (what: T) => void {
  let last = Number.NEGATIVE_INFINITY
  return (what) => {
    const now = performance.now()
    if (now - last < COMPLAINT_MILLISECONDS) return
    last = now
    tell(what)
  }
}

/**
 * A pool of its own, so that jobs and callers do not wait for each other's connections. What pg-boss hands on to pg: no
 * statement of a worker takes long, and on a connection that has gone silent it would wait for ever.
 */
function serverOptions(connectionString: string): ConstructorOptions {
  const silence = { query_timeout: 6000, keepAlive: true }
  return {
    connectionString,
    application_name: 'quartermaster-queue',
    max: 5,
    connectionTimeoutMillis: 3000,
    notifyHeartbeatIntervalMs: 5000,
    notifyHeartbeatTimeoutMs: 3000,
    ...silence,
  }
}

function embeddedOptions(store: QueueStore): ConstructorOptions {
  const { listen } = store.queueConnection
  return {
    backend: 'pglite',
    db: {
      ...ambientConnection(store),
      async listen(channel, heard, onReconnect) {
        if (!listen) throw new Error('This store cannot listen')
        const close = await listen(channel, heard)
        onReconnect()
        return { close }
      },
    },
    // The embedded store vacuums itself, and one process needs no watch over others.
    monitorVacuum: false,
    reindex: false,
  }
}
