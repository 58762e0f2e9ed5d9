import '../../private-umask.ts'
import { runSetup } from './run.ts'

/** The process of `npm run setup`: environment, signals, streams, exit. {@link runSetup} does the rest. */
const interrupted = new AbortController()
process.on('SIGINT', () => {
  // A second Ctrl-C ends the process at once.
  if (interrupted.signal.aborted) process.exit(130)
  interrupted.abort()
})
process.on('SIGTERM', () => interrupted.abort())

process.exitCode = await runSetup({
  args: process.argv.slice(2),
  variables: process.env,
  streams: { input: process.stdin, output: process.stdout, errors: process.stderr },
  signal: interrupted.signal,
  fetch: globalThis.fetch,
})
// Standard input and open connections would keep the process alive; the output is flushed first.
process.stdout.write('', () => process.stderr.write('', () => process.exit()))
