import { createBoss, type QueueLog, type QueueStore } from './boss.ts'
import { jobTable } from './tables.ts'

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
  return { source: jobTable(from), target: jobTable(to) }
}
