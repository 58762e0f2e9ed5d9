import { setTimeout as pause } from 'node:timers/promises'
import type { JobResult, PgBoss } from 'pg-boss'
import { ambientConnection, type QueueStore } from './boss.ts'

type Claim = { readonly id: string; readonly retryCount: number }

/** The pauses before the store is told again what it did not take, in milliseconds. */
const PAUSES = [250, 500, 1000, 2000, 4000] as const

/**
 * Tells the store what became of jobs of one name, several times if need be: work of which it never hears is done again.
 * What is done while it is being told is told together afterwards, in one statement. A claim that was put off, given back
 * or taken over meanwhile is left as it is.
 */
export function createSettler(boss: PgBoss, store: QueueStore, name: string) {
  let last: Promise<unknown> = Promise.resolve()
  let next: { readonly claims: Claim[]; readonly told: Promise<unknown> } | undefined

  /** Each claim shares the fate of the statement that it is told in. */
  function complete(claim: Claim): Promise<unknown> {
    next ??= nextStatement()
    next.claims.push(claim)
    return next.told
  }

  function nextStatement() {
    const claims: Claim[] = []
    const told = last.then(() => {
      next = undefined
      return boss.complete(name, claims)
    })
    last = told.catch(() => undefined)
    return { claims, told }
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

  async function tell({ id, retryCount }: Claim, { status, output }: JobResult): Promise<void> {
    const claim = { id, retryCount }
    if (status === 'completed') await complete(claim)
    else if (status === 'deadletter') await giveUp(claim, output)
    else await boss.fail(name, claim, output)
  }

  return async (claim: Claim, result: JobResult): Promise<void> => {
    for (const milliseconds of PAUSES) {
      const isTold = await tell(claim, result).then(
        () => true,
        () => false,
      )
      if (isTold) return
      await pause(milliseconds, undefined, { ref: false })
    }
    await tell(claim, result)
  }
}
