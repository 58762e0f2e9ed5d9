import type { QueueStore } from './boss.ts'

/** How many jobs of one name there are. */
export interface JobCounts {
  readonly name: string
  readonly waiting: number
  readonly active: number
  readonly failed: number
}

/** How the queue does as a whole. */
export interface QueueState {
  /** Jobs that wait, also for their time, or are at work. */
  readonly waiting: number
  /** How long the oldest job that is due has waited, in seconds; 0 = none is due. */
  readonly oldestSeconds: number
}

/** Tables of pg-boss that are its own affair are left out, and so is the queue in which given-up jobs are told of. */
const ours = (deadLetter: string) => `name <> '${deadLetter}' and name not like '\\_\\_pgboss%'`

export async function countJobs(store: QueueStore, deadLetter: string): Promise<JobCounts[]> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<JobCounts>(
    `select q.name, count(j.id) filter (where j.state < 'active') as waiting,
       count(j.id) filter (where j.state = 'active') as active, count(j.id) filter (where j.state = 'failed') as failed
     from (select name from ${schema}.queue where ${ours(deadLetter)}) q
     left join ${schema}.job j on j.name = q.name group by q.name order by q.name`,
  )
  return rows
}

export async function readQueueState(store: QueueStore, deadLetter: string): Promise<QueueState> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<QueueState>(
    `select count(*) as waiting,
       coalesce(extract(epoch from now() - min(start_after) filter (where state < 'active' and start_after <= now())),
         0)::float8 as "oldestSeconds"
     from ${schema}.job where ${ours(deadLetter)} and state <= 'active'`,
  )
  return rows[0] ?? { waiting: 0, oldestSeconds: 0 }
}

/** The ids of the requests that jobs of this name wait for, also for their time, or are at work on. */
export async function requestsOf(store: QueueStore, name: string): Promise<string[]> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<{ id: string }>(
    `select distinct data ->> 'requestId' as id from ${schema}.job
     where name = $1 and state <= 'active' and data ->> 'requestId' is not null`,
    [name],
  )
  return rows.map(({ id }) => id)
}

/** When a job of this name was last done; jobs that are done are kept for seven days. */
export async function lastDone(store: QueueStore, name: string): Promise<Date | null> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<{ at: Date | null }>(
    `select max(completed_on) as at from ${schema}.job where name = $1 and state = 'completed'`,
    [name],
  )
  return rows[0]?.at ?? null
}

/** When the next job of this name is due, of each of these requests; of jobs that are at work nothing. */
export async function dueAt(
  store: QueueStore,
  name: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const { schema } = store.queueConnection
  const { rows } = await store.query<{ id: string; at: Date }>(
    `select data ->> 'requestId' as id, min(start_after) as at from ${schema}.job
     where name = $1 and state < 'active' and data ->> 'requestId' = any($2) group by 1`,
    [name, requestIds],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}
