import { stripVTControlCharacters, styleText } from 'node:util'
import { Command, CommanderError, Option } from 'commander'
import { fill } from '../../client/command-line/terminal.ts'
import { type HealthPart, healthStates, type SiteKind, siteKinds } from '../../core/index.ts'
import { ConfigurationError, readConfig } from '../config.ts'
import { maskSecrets } from '../log.ts'
import { ownVersion } from '../readiness.ts'
import { type Environment, secretsOf } from '../settings.ts'
import { type OpenInstallation, openInstallation } from './installation.ts'
import { createRecorder, type Recorder, recordingOf, writeRecording } from './recording.ts'
import { type CheckReport, type ReportedPart, runAll, stateOf } from './report.ts'
import texts from './strings.json' with { type: 'json' }
import { mark, type TrialStep, tryWriting } from './trial.ts'

/** The default file for the recording of a trial. */
const recordingFile = 'check-recording.json'

/** Exit codes, a contract with scripts. */
export const exitCodes = { good: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The inputs and outputs of the command: arguments, environment variables, streams, network. */
interface CommandProcess {
  readonly args: readonly string[]
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly output: Output
  readonly errors: Output
  readonly fetch: typeof fetch
  /** Aborts when a person stops the command. */
  readonly interrupted: AbortSignal
}

interface Options {
  readonly json?: true
  readonly write?: true
  readonly site: SiteKind
  readonly recording: string
}

/** `npm run check:tenant`: runs all checks and returns the exit code. */
export async function checkTenant(process: CommandProcess): Promise<ExitCode> {
  const options = read(process)
  if (typeof options === 'number') return options
  const { variables, errors } = process
  let settings: Environment
  try {
    settings = readConfig(variables)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    errors.write(`${maskSecrets([])(error.message)}\n${texts.settings}\n`)
    return exitCodes.usage
  }
  const masked = maskSecrets(secretsOf(settings))
  try {
    return await check(settings, options, {
      ...process,
      output: { ...terminalPropertiesOf(process.output), write: (text) => process.output.write(masked(text)) },
    })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    errors.write(`${masked(fill(texts.unopened, { problem }))}\n`)
    return error instanceof ConfigurationError ? exitCodes.usage : exitCodes.failed
  }
}

const terminalPropertiesOf = ({ isTTY, columns }: Output) => ({
  ...(isTTY !== undefined && { isTTY }),
  ...(columns !== undefined && { columns }),
})

/** Parses the arguments. If commander printed help or a usage error, returns the exit code instead. */
function read({ args, output, errors }: CommandProcess): Options | ExitCode {
  const program = new Command('check:tenant')
    .description(texts.about)
    .usage('[-- --json] [-- --write]')
    .option('--json', texts.json)
    .option('--write', texts.write)
    .addOption(new Option('--site <kind>', texts.site).choices(siteKinds).default('teamSite'))
    .option('--recording <file>', fill(texts.recording, { file: recordingFile }), recordingFile)
    .addHelpText('after', texts.after)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.write(text), writeErr: (text) => errors.write(text) })
  try {
    return program.parse(args, { from: 'user' }).opts<Options>()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCodes.good : exitCodes.usage
  }
}

async function check(settings: Environment, options: Options, process: CommandProcess): Promise<ExitCode> {
  const { MODE: mode } = settings
  const { fetch, output, errors } = process
  const { json } = options
  const version = await ownVersion()
  const recorder = options.write && createRecorder(fetch)
  const warn = (message: string) => errors.write(`${message}\n`)
  const opened = await openInstallation(settings, { fetch: recorder?.fetch ?? fetch, warn })
  const { context, endpoints } = opened
  try {
    const { tenantId, baseUrl } = endpoints
    if (!json) output.write(`${fill(texts.heading[mode], { version, tenantId })}\n\n`)
    const parts = await runAll(context, (part) => !json && output.write(lineOf(part, output)))
    const isRed = stateOf(parts) === 'red'
    const trial = recorder && !isRed ? await runTrial(opened, recorder, { ...options, version }, process) : undefined
    if (recorder && isRed && !json) output.write(`\n${texts.trial.skipped}\n`)
    const hasFailed = isRed || (trial?.steps.some(({ problem }) => problem !== undefined) ?? false)
    const state = hasFailed ? 'red' : stateOf(parts)
    const about = { state, at: new Date().toISOString(), version, mode, tenantId, baseUrl } as const
    const report: CheckReport = { ...about, parts, ...(trial && { trial }) }
    if (json) output.write(`${JSON.stringify(report)}\n`)
    else output.write(`\n${fill(texts.counts, countsOf(report))} ${texts.next[state]}\n`)
    return hasFailed ? exitCodes.failed : exitCodes.good
  } finally {
    await opened.close()
  }
}

/** Creates and removes a marked site and mailbox, and writes the recording, also after a failure. */
async function runTrial(
  opened: OpenInstallation,
  recorder: Recorder,
  { json, site, recording: file, version }: Options & { readonly version: string },
  { output, errors, interrupted }: CommandProcess,
): Promise<NonNullable<CheckReport['trial']>> {
  const showStop = () => errors.write(`${texts.trial.stop}\n`)
  interrupted.addEventListener('abort', showStop, { once: true })
  try {
    if (!json) output.write('\n')
    const show = (step: TrialStep) => !json && output.write(stepLineOf(step, output))
    const { input, steps } = await tryWriting(opened, site, { show, signal: interrupted })
    writeRecording(file, await recordingOf(recorder, opened, { input, version }))
    const somethingRemains = steps.some(({ of, problem }) => of === 'cleanup' && problem !== undefined)
    if (somethingRemains) errors.write(`${fill(texts.trial.remains, { mark })}\n`)
    if (!json) output.write(`${fill(texts.trial.recorded, { file })}\n`)
    return { name: input.name, steps: [...steps], recording: file }
  } finally {
    interrupted.removeEventListener('abort', showStop)
  }
}

const countsOf = ({ parts, trial }: Pick<CheckReport, 'parts' | 'trial'>): Record<string, number> => {
  const steps = trial?.steps.map(({ problem }) => (problem === undefined ? 'green' : 'red')) ?? []
  const states = [...parts.map(({ state }) => state), ...steps]
  return Object.fromEntries(healthStates.map((one) => [one, states.filter((state) => state === one).length]))
}

export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const marks = { green: '✓', amber: '!', red: '✗' } as const
const colours = { green: 'green', amber: 'yellow', red: 'red' } as const
/** The width of the longest title and a space. */
const titleWidth = 31

/** Returns the mark of a state, in colour on a terminal. */
export const markOf = (state: HealthPart['state'], { isTTY }: Output): string =>
  isTTY ? styleText(colours[state], marks[state], { validateStream: false }) : marks[state]

/** Formats one check. A terminal gets folded lines, a pipe gets one line. */
export function lineOf(
  { state, title, detail }: Pick<ReportedPart, 'state' | 'title' | 'detail'>,
  output: Output,
): string {
  const start = `${markOf(state, output)} ${title.padEnd(titleWidth)}`
  const width = (output.columns ?? 80) - titleWidth - 3
  if (!output.isTTY || width < 30) return `${start}${harmless(detail)}\n`
  return `${start}${folded(harmless(detail), width).join(`\n${' '.repeat(titleWidth + 2)}`)}\n`
}

/** Formats one step of a trial as a line, with its time. */
export function stepLineOf({ of, name, milliseconds, problem }: TrialStep, output: Output): string {
  const labels: Readonly<Record<string, string>> = texts.trial.step
  const title = `${texts.trial.of[of]}: ${labels[name] ?? name}`
  const time = `${(milliseconds / 1000).toFixed(1)} s`
  const detail = problem === undefined ? time : `${time}. ${problem}`
  return lineOf({ state: problem === undefined ? 'green' : 'red', title, detail }, output)
}

/** Removes control characters from foreign text. */
const harmless = (text: string): string => stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]+/gu, ' ')

/** Splits a text at its spaces into lines of this width. */
function folded(text: string, width: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
