import { commands } from '../commands/index.ts'
import { createClient } from '../index.ts'
import type { Scope } from './define-command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { helpOf } from './help.ts'
import { type Asked, parse } from './parse.ts'
import { reportOf } from './report.ts'
import { createSessions } from './sessions.ts'
import { givenSettings, readSettings, type Settings, settingsFolder, type Variables } from './settings.ts'
import { createTerminal, type Streams, type Terminal } from './terminal.ts'
import { version } from './version.ts'

/** What a process gives the command line. */
export interface Surroundings {
  readonly args: readonly string[]
  readonly variables: Variables
  readonly streams: Streams
  readonly platform: string
  readonly home: string
  /** Ctrl-C. */
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
}

/** Runs one command line, and gives the code that the process ends with. */
export async function runCommandLine(around: Surroundings): Promise<ExitCode> {
  const { args, variables, streams, signal } = around
  const colours = !variables['NO_COLOR'] && variables['TERM'] !== 'dumb'
  const terminal = createTerminal(streams, { json: args.includes('--json'), colours })
  let settings: Settings | undefined
  try {
    const asked = parse(args, commands)
    if (asked.what !== 'run') return tell(asked, terminal)
    const scope = await scopeOf(around, asked.values, terminal)
    settings = scope.settings
    return await asked.command.run(scope, asked.values, asked.operands)
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted
    const { exit, lines, json } = reportOf(error, settings)
    if (terminal.json) terminal.note(JSON.stringify(json))
    else for (const line of lines) terminal.note(line)
    return exit
  }
}

function tell(asked: Exclude<Asked, { what: 'run' }>, terminal: Terminal): ExitCode {
  if (asked.what === 'version') {
    terminal.line(version)
    return exitCodes.done
  }
  // Help that was not asked for is no result.
  const write = asked.wrong ? terminal.note : terminal.line
  for (const line of helpOf(asked.words, commands)) write(line)
  return asked.wrong ? exitCodes.usage : exitCodes.done
}

async function scopeOf(
  { variables, platform, home, signal, fetch }: Surroundings,
  values: Readonly<Record<string, unknown>>,
  terminal: Terminal,
): Promise<Scope> {
  const given = givenSettings(values, variables)
  const { settings, known } = await readSettings(given, settingsFolder(variables, platform, home))
  const onCall = (method: string, url: string, outcome: number | string) => {
    if (values['verbose'] === true) terminal.note(`${method} ${url} → ${outcome}`)
  }
  const heard = overheard(fetch, onCall)
  const sessions = createSessions({ fetch, onCall, given })
  const { baseUrl, directoryUrl } = settings
  const scope = { settings, known, given, variables, terminal, signal, fetch: heard, sessions }
  return {
    ...scope,
    client: async () =>
      createClient({
        baseUrl,
        directoryUrl,
        fetch: (url, init) => heard(url, init),
        token: (resource) => sessions.token(settings, resource),
      }),
  }
}

/** Fetch that tells of each call: its address and what came of it; never a header or a body. */
function overheard(
  send: typeof fetch,
  onCall: (method: string, url: string, outcome: number | string) => void,
): typeof fetch {
  return async (url, init) => {
    const method = init?.method ?? 'GET'
    try {
      const response = await send(url, init)
      onCall(method, String(url), response.status)
      return response
    } catch (error) {
      onCall(method, String(url), error instanceof Error ? error.name : 'failed')
      throw error
    }
  }
}
