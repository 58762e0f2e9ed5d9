import { commands } from '../commands/index.ts'
import {
  createClient,
  DirectoryError,
  NetworkError,
  ProblemError,
  TimedOutError,
  UnexpectedAnswerError,
  WebhookError,
} from '../index.ts'
import { PrivateFolderError } from '../private-file.ts'
import { SignInError } from '../sign-in.ts'
import { FieldsError } from './body.ts'
import type { Scope } from './define-command.ts'
import { flagsIn, parse } from './program.ts'
import {
  createSessions,
  directoryPermissions,
  overridesFrom,
  readSettings,
  type Settings,
  settingsFolder,
  type Variables,
} from './settings.ts'
import { faultLines } from './show.ts'
import {
  clean,
  createTerminal,
  type ExitCode,
  exitCodes,
  fill,
  NotFoundError,
  type Streams,
  type Terminal,
  texts,
  UsageError,
} from './terminal.ts'

interface Environment {
  readonly args: readonly string[]
  readonly variables: Variables
  readonly streams: Streams
  readonly platform: string
  readonly home: string
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
}

/** Runs one command line, and returns the exit code of the process. */
export async function runCommandLine(environment: Environment): Promise<ExitCode> {
  const { args, variables, streams, signal } = environment
  const colours = !variables['NO_COLOR'] && variables['TERM'] !== 'dumb'
  const terminal = createTerminal(streams, { json: flagsIn(args).includes('--json'), colours })
  let settings: Settings | undefined
  try {
    const parsed = parse(args, commands, terminal)
    if (typeof parsed === 'number') return parsed
    const { command, values, operands } = parsed
    const scope = await scopeOf(environment, values, terminal)
    settings = scope.settings
    return await command.run(scope, values, operands)
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted
    const { exit, lines, json } = reportOf(error, settings)
    if (terminal.json) terminal.note(JSON.stringify(json))
    else for (const line of lines) terminal.note(line)
    return exit
  }
}

async function scopeOf(
  { variables, platform, home, signal, fetch }: Environment,
  values: Readonly<Record<string, unknown>>,
  terminal: Terminal,
): Promise<Scope> {
  const overrides = overridesFrom(values, variables)
  const { settings, known } = await readSettings(overrides, settingsFolder(variables, platform, home))
  const onCall = (method: string, url: string, outcome: number | string) => {
    if (values['verbose'] === true) terminal.note(`${method} ${url} → ${outcome}`)
  }
  const loggedFetch = withCallLog(fetch, onCall)
  const sessions = createSessions({ fetch, onCall, overrides })
  const { baseUrl, directoryUrl } = settings
  const scope = { settings, known, overrides, variables, terminal, signal, fetch: loggedFetch, sessions }
  return {
    ...scope,
    client: async (reads = 'users') =>
      createClient({
        baseUrl,
        directoryUrl,
        fetch: (url, init) => loggedFetch(url, init),
        token: (resource) => sessions.token(settings, resource === 'directory' ? reads : resource),
      }),
  }
}

/** Reports each call of fetch: its address and result; never a header or a body. */
function withCallLog(
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

/** The report of an error: the exit code, lines for people, and JSON for `--json`. */
interface Report {
  readonly exit: ExitCode
  readonly lines: readonly string[]
  readonly json: {
    readonly error: { readonly code: string; readonly message: string; readonly [field: string]: unknown }
  }
}

/** Returns the report of an error: what happened and what to do. No report contains a token. */
function reportOf(error: unknown, settings: Settings | undefined): Report {
  if (error instanceof FieldsError) {
    const { message, faults } = error
    return report(exitCodes.usage, 'usage', texts.refused.fields, faultLines(faults), {
      detail: message,
      errors: faults,
    })
  }
  if (error instanceof UsageError) {
    const see = error.command === undefined ? [] : [fill(texts.usage.seeCommand, { command: error.command })]
    return report(exitCodes.usage, 'usage', error.message, see)
  }
  if (error instanceof PrivateFolderError) {
    const { folder, why } = error
    return report(exitCodes.usage, 'usage', fill(texts.usage.folder, { folder: clean(folder), why }))
  }
  if (error instanceof SignInError) return signInReport(error, settings)
  if (error instanceof NotFoundError) return report(exitCodes.refused, 'not-found', error.message)
  if (error instanceof ProblemError) return problemReport(error)
  if (error instanceof DirectoryError) return directoryReport(error)
  const baseUrl = settings?.baseUrl ?? ''
  if (error instanceof NetworkError)
    return report(exitCodes.unavailable, 'network', fill(texts.unavailable.network, { address: baseUrl }), [
      fill(texts.unavailable.networkHint, { why: causeOf(error) }),
    ])
  if (error instanceof TimedOutError)
    return report(exitCodes.unavailable, 'timed-out', fill(texts.unavailable.timedOut, { address: baseUrl }))
  if (error instanceof UnexpectedAnswerError)
    return report(
      exitCodes.unavailable,
      'unexpected-answer',
      fill(texts.unavailable.unexpected, { address: baseUrl }),
      [clean(error.message)],
    )
  if (error instanceof WebhookError) return report(exitCodes.refused, 'webhook', error.message)
  const message = error instanceof Error ? error.message : String(error)
  return report(exitCodes.defect, 'defect', fill(texts.defect, { message: clean(message) }))
}

const report = (
  exit: ExitCode,
  code: string,
  message: string,
  more: readonly string[] = [],
  json: object = {},
): Report => ({
  exit,
  lines: [message, ...more],
  json: { error: { code, message, ...json } },
})

/** Reports a refusal: the service's own sentence, the faults of fields, and a hint if there is one. */
function problemReport(error: ProblemError): Report {
  const { status, detail, title, errors, givenCode, traceId, retryAfterSeconds } = error
  const faults = faultLines(errors)
  const exit = exitOfStatus(error)
  const hint =
    exit === exitCodes.notSignedIn
      ? [texts.signIn.again]
      : status === 500
        ? [fill(texts.refused.trace, { traceId })]
        : []
  // The detail would only repeat the faults.
  const message = faults.length > 0 && exit === exitCodes.refused ? texts.refused.fields : clean(detail || title)
  const json = { status, detail, errors, traceId, retryAfterSeconds }
  return report(exit, clean(givenCode), message, [...faults, ...hint], json)
}

function exitOfStatus({ status, code }: ProblemError): ExitCode {
  if (status === 401) return exitCodes.notSignedIn
  if (code === 'too-many-open-requests') return exitCodes.refused
  return status >= 500 || status === 429 || status === 408 ? exitCodes.unavailable : exitCodes.refused
}

function directoryReport({ status, code, message, call }: DirectoryError): Report {
  const exit =
    status === 401 ? exitCodes.notSignedIn : status >= 500 || status === 429 ? exitCodes.unavailable : exitCodes.refused
  const lacks = status === 403 && call.path === '/v1.0/groups'
  const hint = lacks ? [fill(texts.group.refused, { permission: directoryPermissions.groups })] : []
  return report(exit, clean(code || 'directory'), clean(message), hint, { status })
}

function signInReport({ problem, description }: SignInError, settings: Settings | undefined): Report {
  if (problem === 'cancelled') return report(exitCodes.interrupted, problem, texts.signIn.cancelled)
  const exit = problem === 'unreachable' ? exitCodes.unavailable : exitCodes.notSignedIn
  const sentence = fill(texts.signIn[problem], { address: settings?.loginUrl ?? '', service: settings?.baseUrl ?? '' })
  return report(exit, problem, sentence, description === '' ? [] : [clean(description)])
}

function causeOf({ cause }: Error): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error && 'code' in inner ? String(inner.code) : 'no-connection'
}
