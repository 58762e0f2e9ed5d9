import type { JobResult, PgBoss } from 'pg-boss'
import { ambientConnection, type QueueStore } from './boss.ts'

type Claim = { readonly id: string; readonly retryCount: number }

/**
 * Tells the store what became of jobs of one name. What is done while it is being told is told together afterwards, in one
 * statement. A claim that was put off, given back or taken over meanwhile is left as it is.
 */
export function createSettler(boss: PgBoss, store: QueueStore, name: string) {
  const done: Claim[] = []
  let last: Promise<unknown> = Promise.resolve()

  function complete(claim: Claim): Promise<unknown> {
    done.push(claim)
    const told = last.then(() => done.length > 0 && boss.complete(name, done.splice(0)))
    last = told.catch(() => undefined)
    return told
  }

  /** Without its retries a failure is the end, and pg-boss makes the dead letter of it. */
  const giveUp = ({ id, retryCount }: Claim, output: object | undefined): Promise<unknown> =>
    store.transaction(async () => {
      const { schema } = store.queueConnection
      await store.query(
        `update ${schema}.job set retry_limit = retry_count
         where name = $1 and id = $2 and retry_count = $3 and state = 'active'`,
        [name, id, retryCount],
      )
      await boss.fail(name, { id, retryCount }, output, { db: ambientConnection(store) })
    })

  return async ({ id, retryCount }: Claim, { status, output }: JobResult): Promise<void> => {
    const claim = { id, retryCount }
    if (status === 'completed') await complete(claim)
    else if (status === 'deadletter') await giveUp(claim, output)
    else await boss.fail(name, claim, output)
  }
}
