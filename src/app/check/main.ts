import '../../private-umask.ts'
import { existsSync } from 'node:fs'
import { checkTenant } from './command.ts'

/** The process of `npm run check:tenant`: environment, streams, exit. */
if (existsSync('.env')) process.loadEnvFile('.env')
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // A second signal ends the process at once; the next run removes what remains.
    if (interrupted.signal.aborted) process.exit(130)
    interrupted.abort()
  })
process.exitCode = await checkTenant({
  args: process.argv.slice(2),
  variables: process.env,
  output: process.stdout,
  errors: process.stderr,
  fetch: globalThis.fetch,
  interrupted: interrupted.signal,
})
// Connections that are kept open would delay the end of the process; the output is flushed first.
process.stdout.write('', () => process.exit())
