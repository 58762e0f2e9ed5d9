import type { PgBoss } from 'pg-boss'
import type { QueueStore } from './boss.ts'
import { interruption, retryInterrupted } from './define-job.ts'

/** All SQL on pg-boss's own tables. Other code calls pg-boss. */

/** The table of the jobs, as SQL. */
export const jobTable = ({ queueConnection }: Pick<QueueStore, 'queueConnection'>): string =>
  `${queueConnection.schema}.job`

/**
 * pg-boss's own time-out of heartbeats, in seconds. It counts an attempt, and acts only if no process reclaims the job.
 */
export const LAST_RESORT_SECONDS = 120

/** The queue of dead letters: copies of jobs without further attempts, which stay until an admin handles them. */
export const DEAD_LETTER = 'dead-letter'

/** How many jobs of one name there are. */
export interface JobCounts {
  readonly name: string
  readonly waiting: number
  readonly active: number
  readonly failed: number
}

/** The length of the queue and the age of its oldest job. */
export interface QueueState {
  /** Jobs that wait, are scheduled or run. */
  readonly waiting: number
  /** How long the oldest due job has waited, in seconds; 0 = no job is due. */
  readonly oldestSeconds: number
}

/** Excludes pg-boss's internal queues and the dead letters. */
const ours = `name <> '${DEAD_LETTER}' and name not like '\\_\\_pgboss%'`

/** Waiting and running jobs, in the form of pg-boss's index of waiting jobs and of our index of running ones. */
const open = `(state < 'active' and not blocked or state = 'active')`

/**
 * Creates an index of the running jobs, once. The table also has the completed jobs of a week, and pg-boss has no index for
 * the search for jobs of dead processes, which runs every three seconds.
 */
export async function indexRunningJobs(store: QueueStore): Promise<void> {
  const { schema } = store.queueConnection
  const found = () =>
    store.query(`select 1 from pg_indexes where schemaname = $1 and indexname = 'running_jobs'`, [schema])
  if ((await found()).rows.length > 0) return
  // A large table takes longer than the usual time-outs, and so does waiting for another replica that starts too.
  await store.patiently(() =>
    store.transaction(async () => {
      await store.query(`select pg_advisory_xact_lock(hashtext('running_jobs'))`)
      await store.query(`create index if not exists running_jobs on ${jobTable(store)} (name) where state = 'active'`)
    }),
  )
}

export async function countJobs(store: QueueStore): Promise<JobCounts[]> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<JobCounts>(
    `select q.name, count(j.id) filter (where j.state < 'active') as waiting,
       count(j.id) filter (where j.state = 'active') as active, count(j.id) filter (where j.state = 'failed') as failed
     from (select name from ${schema}.queue where ${ours}) q
     left join ${jobTable(store)} j on j.name = q.name group by q.name order by q.name`,
  )
  return rows
}

export async function readQueueState(store: QueueStore): Promise<QueueState> {
  const { rows } = await store.query<QueueState>(
    `select count(*) as waiting,
       coalesce(extract(epoch from now() - min(start_after) filter (where state < 'active' and start_after <= now())),
         0)::float8 as "oldestSeconds"
     from ${jobTable(store)} where ${ours} and ${open}`,
  )
  return rows[0] ?? { waiting: 0, oldestSeconds: 0 }
}

/** The ids of the requests that have a job of this name, waiting or running. */
export async function requestsOf(store: QueueStore, name: string): Promise<string[]> {
  const { rows } = await store.query<{ id: string }>(
    `select distinct data ->> 'requestId' as id from ${jobTable(store)}
     where name = $1 and ${open} and data ->> 'requestId' is not null`,
    [name],
  )
  return rows.map(({ id }) => id)
}

/** When a job of this name was last completed. Completed jobs are kept for seven days. */
export async function lastDone(store: QueueStore, name: string): Promise<Date | null> {
  const { rows } = await store.query<{ at: Date | null }>(
    `select max(completed_on) as at from ${jobTable(store)} where name = $1 and state = 'completed'`,
    [name],
  )
  return rows[0]?.at ?? null
}

/** When the next job of this name is due, by request. Running jobs do not count. */
export async function dueAt(
  store: QueueStore,
  name: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await store.query<{ id: string; at: Date }>(
    `select data ->> 'requestId' as id, min(start_after) as at from ${jobTable(store)}
     where name = $1 and state < 'active' and data ->> 'requestId' = any($2) group by 1`,
    [name, requestIds],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}

/**
 * Makes an active job due again later, without counting an attempt. `started_on` stays, so the next claim has a higher
 * `retry_count`, and late results of this claim find no row. `source_retry_count` counts how often the job was put off;
 * pg-boss itself uses that column only for copies in the dead letter queue.
 */
export async function putOff(store: QueueStore, { name, id, retryCount }: Claim, milliseconds: number): Promise<void> {
  await store.query(
    `update ${jobTable(store)}
     set state = 'retry', retry_limit = retry_limit + 1, source_retry_count = coalesce(source_retry_count, 0) + 1,
       heartbeat_on = null, start_after = now() + $4 * interval '1 millisecond'
     where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
    [name, id, retryCount, Math.ceil(milliseconds)],
  )
}

/** After this many interruptions beyond its retries, the job counts as the cause of its processes' crashes. */
const INTERRUPTIONS = 10
/**
 * After this many attempts, an interrupted job is due later each time, by twice as many seconds. Either it causes the
 * crashes, and the process does other jobs meanwhile. Or it is one of many that each crash interrupts, and the crashes may
 * end before its attempts do.
 */
const PROMPT_ATTEMPTS = 4
/** The longest delay of an interrupted job, in seconds. */
const LONGEST_DELAY = 30
/** How often a worker reports a heartbeat, and after which silence it counts as dead, in seconds. */
export const HEARTBEAT_SECONDS = 3
const SILENCE_SECONDS = 9

/**
 * Makes the active jobs of dead processes due again, and returns their names. pg-boss would count the interruption as a
 * failure and wait for the backoff. In the embedded store, call it only at the start, when no job can be running.
 */
export async function reclaim(store: QueueStore, boss: PgBoss): Promise<string[]> {
  const abandoned =
    store.engine === 'embedded' ? 'true' : `heartbeat_on < now() - interval '${SILENCE_SECONDS} seconds'`
  // Being put off is no attempt.
  const late = `retry_count - coalesce(source_retry_count, 0) - $2`
  const delay = `case when ${late} < 0 then 0 else least($3, power(2, ${late})) end * interval '1 second'`
  const { rows } = await store.query<{ name: string }>(
    `update ${jobTable(store)} set state = 'retry', start_after = now() + ${delay}, heartbeat_on = null
     where state = 'active' and ${abandoned} and retry_count < retry_limit + $1 returning name`,
    [INTERRUPTIONS, PROMPT_ATTEMPTS, LONGEST_DELAY],
  )
  const { rows: lethal } = await store.query<{ id: string; name: string }>(
    `select id, name from ${jobTable(store)} where state = 'active' and ${abandoned}`,
  )
  for (const { id, name } of lethal) await boss.fail(name, id, interruption)
  return rows.map(({ name }) => name)
}

/** Reports a heartbeat for these claims of one name; returns the ids of the claims that are still valid. */
export async function keepAlive(
  store: QueueStore,
  name: string,
  claims: readonly { readonly id: string; readonly retryCount: number }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await store.query<{ id: string }>(
    `update ${jobTable(store)} as job set heartbeat_on = now()
     from unnest($2::uuid[], $3::int[]) as held (id, retry_count)
     where job.name = $1 and job.id = held.id and job.retry_count = held.retry_count and job.state = 'active'
     returning job.id`,
    [name, claims.map(({ id }) => id), claims.map(({ retryCount }) => retryCount)],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Releases the claims of a process that stops: the jobs are due at once, with as many attempts left as before. `started_on`
 * stays, so the next claim has a higher `retry_count` (pg-boss's `fetchNextJob`): its handler sees that another attempt may
 * have started, and late results of the released claim find no row.
 */
export async function release(store: QueueStore, claims: Iterable<Claim>): Promise<void> {
  for (const { name, id, retryCount } of claims) {
    await store.query(
      `update ${jobTable(store)}
       set state = 'retry', retry_limit = retry_limit + 1, heartbeat_on = null, start_after = now()
       where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
      [name, id, retryCount],
    )
  }
}

/** One attempt at a job. The next claim of the job has another `retryCount`. */
export interface Claim {
  readonly name: string
  readonly id: string
  readonly retryCount: number
}

/** Removes the retries of a claim, so that pg-boss creates a dead letter from its failure. */
export async function dropRetries(store: QueueStore, { name, id, retryCount }: Claim): Promise<void> {
  await store.query(
    `update ${jobTable(store)} set retry_limit = retry_count
     where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
    [name, id, retryCount],
  )
}

/** Locks a claim for the transaction around the call; false if the claim has ended. */
export async function lockClaim(store: QueueStore, { name, id, retryCount }: Claim): Promise<boolean> {
  const { rows } = await store.query(
    `select 1 from ${jobTable(store)}
     where name = $1 and id = $2 and retry_count = $3 and state = 'active' for update`,
    [name, id, retryCount],
  )
  return rows.length > 0
}

/** When jobs of a name are due, in milliseconds from now. 0: they are due already. */
export interface DueJobs {
  readonly name: string
  readonly milliseconds: number
}

/**
 * Returns when the jobs of these names are due in the next `within` milliseconds, by the clock of the store. Times are
 * rounded up to `step` milliseconds, so there is one row for all jobs of a name in a step.
 */
export async function readDueJobs(
  store: QueueStore,
  names: readonly string[],
  { within, step }: { within: number; step: number },
): Promise<DueJobs[]> {
  // Uses pg-boss's index of waiting jobs, because the table also has the completed jobs of a week.
  const { rows } = await store.query<DueJobs>(
    `select distinct name, case when start_after <= now() then 0
       else ceil(extract(epoch from start_after - now()) * 1000 / $3::int)::int * $3::int end as milliseconds
     from ${jobTable(store)}
     where state < 'active' and not blocked and start_after <= now() + $2 * interval '1 millisecond' and name = any($1)`,
    [names, within, step],
  )
  return rows
}

const letterColumns = 'id, source_name as job, data as payload, source_output as failure, created_on as at'
// Only letters whose `onDeadLetter` has run: removing one earlier would leave its request waiting forever.
const letters = `name = '${DEAD_LETTER}' and source_name is not null and state in ('completed', 'failed')`

/** A dead letter as the queue stores it. */
export interface LetterRow {
  readonly id: string
  readonly job: string
  readonly payload: unknown
  readonly failure: unknown
  readonly at: Date
}

/** All dead letters, without their failures. */
export async function readLetters(store: QueueStore): Promise<Omit<LetterRow, 'failure'>[]> {
  const { rows } = await store.query<Omit<LetterRow, 'failure'>>(
    `select id, source_name as job, data as payload, created_on as at from ${jobTable(store)} where ${letters}`,
  )
  return rows
}

/** One dead letter. */
export async function readLetter(store: QueueStore, letterId: string): Promise<LetterRow | undefined> {
  const { rows } = await store.query<LetterRow>(
    `select ${letterColumns} from ${jobTable(store)} where ${letters} and id = $1`,
    [letterId],
  )
  return rows[0]
}

/** The dead letter that the job with this id retries. */
export async function letterOfRetry(store: QueueStore, jobId: string): Promise<string | undefined> {
  const { rows } = await store.query<{ letter: string }>(
    `select data ->> 'letterId' as letter from ${jobTable(store)} where name = $1 and id = $2`,
    [retryInterrupted, jobId],
  )
  return rows[0]?.letter
}

/** Deletes a dead letter and returns it; undefined when another call was first. */
export async function takeLetter(store: QueueStore, letterId: string): Promise<LetterRow | undefined> {
  const { rows } = await store.query<LetterRow>(
    `delete from ${jobTable(store)} where ${letters} and id = $1 returning ${letterColumns}`,
    [letterId],
  )
  return rows[0]
}

/**
 * Prepares jobs that were just copied from an embedded store for a server: active jobs are due again, and workers report
 * heartbeats while they work on a job. Returns how many jobs wait.
 */
export async function adoptJobs(to: QueueStore): Promise<number> {
  const table = jobTable(to)
  await to.query(`update ${table} set state = 'retry', start_after = now(), heartbeat_on = null where state = 'active'`)
  const { rows } = await to.query<{ id: string }>(
    `update ${table} set heartbeat_seconds = ${LAST_RESORT_SECONDS} where state < 'active' returning id`,
  )
  return rows.length
}
