#!/usr/bin/env node
import './private-umask.ts'
import { homedir } from 'node:os'
import { runCommandLine } from './command-line/run.ts'

/** The process of `quartermaster`: environment, signals, streams, exit. {@link runCommandLine} does the rest. */
const interrupted = new AbortController()
process.on('SIGINT', () => {
  // A second Ctrl-C ends the process at once.
  if (interrupted.signal.aborted) process.exit(130)
  interrupted.abort()
})
process.on('SIGTERM', () => interrupted.abort())
// The reader closed the pipe (`quartermaster request list | head -1`), which is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 70))
process.stderr.on('error', () => undefined)

process.exitCode = await runCommandLine({
  args: process.argv.slice(2),
  variables: process.env,
  streams: { input: process.stdin, output: process.stdout, errors: process.stderr },
  platform: process.platform,
  home: homedir(),
  signal: interrupted.signal,
  fetch: globalThis.fetch,
})
// Standard input and open connections would keep the process alive; the output is flushed first.
process.stdout.write('', () => process.stderr.write('', () => process.exit()))
