#!/usr/bin/env node
import './private-umask.ts'
import { homedir } from 'node:os'
import { runCommandLine } from './command-line/run.ts'

/** The process of `quartermaster`: environment, signals, streams, exit. All else is in {@link runCommandLine}. */
const interrupted = new AbortController()
process.on('SIGINT', () => {
  // A second Ctrl-C ends it at once, whatever it waits for.
  if (interrupted.signal.aborted) process.exit(130)
  interrupted.abort()
})
process.on('SIGTERM', () => interrupted.abort())
// `quartermaster request list | head -1`: whoever read has had enough, which is no fault.
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
// Standard input and kept connections would hold the process; what was written goes out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit()))
