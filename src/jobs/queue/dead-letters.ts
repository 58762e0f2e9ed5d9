import type { JobResult, PgBoss } from 'pg-boss'
import { type DeadLetter, type DeadLetterHead, type DeadLetters, from, originOfJob } from '../../core/index.ts'
import type { ClaimedJob } from './attempt.ts'
import { ambientConnection, type QueueLog, type QueueStore } from './boss.ts'
import { failureOf, type Job } from './define-job.ts'
import { type LetterRow, readLetter, readLetters, takeLetter } from './tables.ts'

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

/** What was given up and nobody has looked after yet, as the queue keeps it: 90 days. */
export function createDeadLetters(boss: PgBoss, store: QueueStore, log: QueueLog): DeadLetters {
  const take = async (letterId: string): Promise<DeadLetter | undefined> => {
    const row = await takeLetter(store, letterId)
    return row && letterOf(row)
  }
  return {
    list: async () => (await readLetters(store)).map(headOf),
    async find(letterId) {
      const row = await readLetter(store, letterId)
      return row && letterOf(row)
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

const headOf = ({ id, ...head }: Omit<LetterRow, 'failure'>): DeadLetterHead => ({ letterId: id, ...head })
const letterOf = ({ failure, ...head }: LetterRow): DeadLetter => ({
  ...headOf(head),
  problem: failureOf(failure).message,
})
