import type { JobResult, PgBoss } from 'pg-boss'
import { type DeadLetter, type DeadLetterHead, type DeadLetters, from, originOfJob } from '../../core/index.ts'
import type { ClaimedJob } from './attempt.ts'
import { ambientConnection, type QueueLog, type QueueStore } from './boss.ts'
import type { Job } from './define-job.ts'
import { failureOf } from './define-job.ts'

/** The queue that a given-up job's copy goes to. The copy is the dead letter: it stays until somebody looks after it. */
export const DEAD_LETTER = 'dead-letter'

/** Tells jobs that they were given up, durably: this is work like any other, with its own retries. */
export const tellGivenUp =
  (store: QueueStore, jobs: ReadonlyMap<string, Job>, log: QueueLog) =>
  async ({ id, data, sourceName, sourceId, sourceOutput }: ClaimedJob): Promise<JobResult> => {
    const failure = failureOf(sourceOutput)
    const tell = async () => {
      log.error({ job: sourceName, id: sourceId, error: failure.message }, 'a job was given up')
      await jobs.get(sourceName ?? '')?.onDeadLetter(data, failure)
    }
    try {
      await store.outside(() => from(originOfJob(id, data), tell))
      return { id, status: 'completed' }
    } catch (error) {
      return { id, status: 'failed', output: failureOf(error) }
    }
  }

interface Row {
  readonly id: string
  readonly job: string
  readonly payload: unknown
  readonly failure: unknown
  readonly at: Date
}

/** What was given up and nobody has looked after yet, as the queue keeps it: 90 days. */
export function createDeadLetters(boss: PgBoss, store: QueueStore, log: QueueLog): DeadLetters {
  const table = `${store.queueConnection.schema}.job`
  const columns = 'id, source_name as job, data as payload, source_output as failure, created_on as at'
  // Only those whose job has been told: to take one before that would leave what it was for waiting for ever.
  const letters = `name = '${DEAD_LETTER}' and source_name is not null and state in ('completed', 'failed')`
  const take = async (letterId: string): Promise<DeadLetter | undefined> => {
    const { rows } = await store.query<Row>(`delete from ${table} where ${letters} and id = $1 returning ${columns}`, [
      letterId,
    ])
    return rows.map(letterOf)[0]
  }
  return {
    async list() {
      const { rows } = await store.query<Omit<Row, 'failure'>>(
        `select id, source_name as job, data as payload, created_on as at from ${table} where ${letters}`,
      )
      return rows.map(headOf)
    },
    async find(letterId) {
      const { rows } = await store.query<Row>(`select ${columns} from ${table} where ${letters} and id = $1`, [
        letterId,
      ])
      return rows.map(letterOf)[0]
    },
    async settle(letterId, about) {
      const letter = await take(letterId)
      if (letter) log.info({ job: letter.job, letterId, ...about }, 'a job that was given up is off the list')
      return letter !== undefined
    },
    replay: (letterId) =>
      store.transaction(async () => {
        const letter = await take(letterId)
        if (!letter) return false
        await boss.send(letter.job, letter.payload as object, { db: ambientConnection(store) })
        log.info({ job: letter.job, letterId }, 'a job that was given up is run again')
        return true
      }),
  }
}

const headOf = ({ id, ...head }: Omit<Row, 'failure'>): DeadLetterHead => ({ letterId: id, ...head })
const letterOf = ({ failure, ...head }: Row): DeadLetter => ({ ...headOf(head), problem: failureOf(failure).message })
