import '../../private-umask.ts'
import { existsSync } from 'node:fs'
import { checkTenant } from './command.ts'

/** The process of `npm run check:tenant`: environment, streams, exit. */
if (existsSync('.env')) process.loadEnvFile('.env')
process.exitCode = await checkTenant({
  args: process.argv.slice(2),
  variables: process.env,
  output: process.stdout,
  errors: process.stderr,
  fetch: globalThis.fetch,
})
// Connections that are kept open would delay the end of the process; the output is flushed first.
process.stdout.write('', () => process.exit())
