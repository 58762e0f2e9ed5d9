import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { type DatabaseOptions, openDatabase } from '../../src/store/database/database.ts'
import { sleeperJob } from './sleeper-job.ts'

/**
 * A process for kills: `node store-process.ts write|work <options as JSON>`. Every line that it prints is committed: a
 * written row, or a started job.
 */
const [, , role, options] = process.argv
const database = await openDatabase(JSON.parse(options ?? '') as DatabaseOptions)

if (role === 'write') {
  await database.query('create table if not exists facts (id bigint generated always as identity, note text)')
  for (;;) {
    const id = await database.transaction(async () => {
      const { rows } = await database.query<{ id: number }>('insert into facts (note) values ($1) returning id', [
        'kept',
      ])
      return rows[0]?.id
    })
    process.stdout.write(`${id}\n`)
  }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const queue = await createQueue(database, silent)
const began = new Promise<void>((resolve) => {
  queue
    .start(
      jobRegistry(
        sleeperJob(async () => {
          resolve()
          await new Promise(() => undefined)
        }),
      ),
    )
    .catch(console.error)
})
await began
process.stdout.write('began\n')
