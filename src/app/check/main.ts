import '../../private-umask.ts'
import { loadSettingsFile } from '../../settings-file.ts'
import { checkTenant, type ExitCode, exitCodes } from './command.ts'

/** The process of `npm run check:tenant`: environment, streams, exit. */
async function main(): Promise<ExitCode> {
  try {
    loadSettingsFile()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return exitCodes.usage
  }
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // A second signal ends the process at once; the next run removes what remains.
      if (interrupted.signal.aborted) process.exit(130)
      interrupted.abort()
    })
  return checkTenant({
    args: process.argv.slice(2),
    variables: process.env,
    output: process.stdout,
    errors: process.stderr,
    fetch: globalThis.fetch,
    interrupted: interrupted.signal,
  })
}

process.exitCode = await main()
// Connections that are kept open would delay the end of the process; the output is flushed first.
process.stdout.write('', () => process.exit())
