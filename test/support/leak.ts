import { subscribe } from 'node:diagnostics_channel'

/** Loaded by `--import` into a process whose memory a test watches: from SIGPWR on, the process keeps each HTTP request. */
const kept: unknown[] = []

process.on('SIGPWR', () => {
  subscribe('http.server.request.start', (message) => kept.push(message))
  process.stdout.write('this process leaks now\n')
})
