import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { type DatabaseOptions, openDatabase } from '../../src/store/database/database.ts'
import { sleeperJob } from './sleeper-job.ts'

/**
 * A replica for kills: `node worker-process.ts <options as JSON>`. It prints the jobs that it starts and finishes,
 * never ends a job whose note begins with `hang`, and stops in order on SIGTERM.
 */
const [, , options] = process.argv
const database = await openDatabase(JSON.parse(options ?? '') as DatabaseOptions)
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const queue = await createQueue(database, silent)
process.on('SIGTERM', () => {
  queue
    .stop(1)
    .then(() => database.close())
    .then(() => process.exit(0))
    .catch(console.error)
})
await queue.start(
  jobRegistry(
    sleeperJob(async ({ note }, { attempt }) => {
      process.stdout.write(`began ${note} ${attempt}\n`)
      if (note.startsWith('hang')) await new Promise(() => undefined)
      process.stdout.write(`did ${note} ${attempt}\n`)
    }),
  ),
)
process.stdout.write('works\n')
