import { createBoss, type QueueLog, type QueueStore } from './boss.ts'
import { LAST_RESORT_SECONDS } from './queue.ts'

/** Tables of the queue that jobs are kept in, by their names as SQL. */
export interface JobTables {
  readonly source: string
  readonly target: string
}

/** Makes in `to` all queues that `from` has, so that jobs can be copied. Nobody may work on either meanwhile. */
export async function prepareQueues(from: QueueStore, to: QueueStore, log: QueueLog): Promise<JobTables> {
  const [old, fresh] = [createBoss(from, log), createBoss(to, log)]
  try {
    // Both have the tables of this version then.
    await from.outside(() => old.start())
    await to.outside(() => fresh.start())
    for (const { name } of await old.getQueues()) if (!name.startsWith('__pgboss')) await fresh.createQueue(name)
  } finally {
    for (const boss of [old, fresh]) await boss.stop({ graceful: false }).catch(() => undefined)
  }
  return { source: tableOf(from), target: tableOf(to) }
}

const tableOf = ({ queueConnection }: QueueStore): string => `${queueConnection.schema}.job`

/**
 * Makes jobs that have just been copied from an embedded store fit for a server: what was at work is due again, and workers
 * say while they are at them that they are alive. Returns how many wait.
 */
export async function adoptJobs(to: QueueStore): Promise<number> {
  const table = tableOf(to)
  await to.query(`update ${table} set state = 'retry', start_after = now(), heartbeat_on = null where state = 'active'`)
  const { rows } = await to.query<{ id: string }>(
    `update ${table} set heartbeat_seconds = ${LAST_RESORT_SECONDS} where state < 'active' returning id`,
  )
  return rows.length
}
