import { Command, CommanderError } from 'commander'
import { healthStates } from '../../core/index.ts'
import { ConfigurationError, readConfig } from '../config.ts'
import { maskSecrets } from '../log.ts'
import { ownVersion } from '../readiness.ts'
import { type Environment, secretsOf } from '../settings.ts'
import { openInstallation } from './installation.ts'
import { type CheckReport, runAll, stateOf } from './report.ts'
import { fill, lineOf, type Output } from './show.ts'
import texts from './strings.json' with { type: 'json' }

/** Exit codes, a contract with scripts. */
export const exitCodes = { good: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The process around the command. */
export interface Process {
  readonly args: readonly string[]
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly output: Output
  readonly errors: Output
  readonly fetch: typeof fetch
}

interface Options {
  readonly json?: true
}

/** `npm run check:tenant`: runs all checks and returns the exit code. */
export async function checkTenant(around: Process): Promise<ExitCode> {
  const options = read(around)
  if (typeof options === 'number') return options
  const { variables, errors } = around
  let config: Environment
  try {
    config = readConfig(variables)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    errors.write(`${maskSecrets([])(error.message)}\n${texts.settings}\n`)
    return exitCodes.usage
  }
  const masked = maskSecrets(secretsOf(config))
  try {
    return await check(config, options, {
      ...around,
      output: { ...shape(around.output), write: (text) => around.output.write(masked(text)) },
    })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    errors.write(`${masked(fill(texts.unopened, { problem }))}\n`)
    return error instanceof ConfigurationError ? exitCodes.usage : exitCodes.failed
  }
}

const shape = ({ isTTY, columns }: Output) => ({
  ...(isTTY !== undefined && { isTTY }),
  ...(columns !== undefined && { columns }),
})

/** Reads the command line. Returns the exit code after help or a fault was written. */
function read({ args, output, errors }: Process): Options | ExitCode {
  const program = new Command('check:tenant')
    .description(texts.about)
    .usage('[-- --json]')
    .option('--json', texts.json)
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

async function check(config: Environment, { json }: Options, { fetch, output, errors }: Process): Promise<ExitCode> {
  const { MODE: mode } = config
  const version = await ownVersion()
  const opened = await openInstallation(config, { fetch, warn: (message) => errors.write(`${message}\n`) })
  const { context, endpoints } = opened
  try {
    const { tenantId, baseUrl } = endpoints
    if (!json) output.write(`${fill(texts.heading[mode], { version, tenantId })}\n\n`)
    const parts = await runAll(context, (part) => !json && output.write(lineOf(part, output)))
    const state = stateOf(parts)
    const report: CheckReport = { state, at: new Date().toISOString(), version, mode, tenantId, baseUrl, parts }
    if (json) output.write(`${JSON.stringify(report)}\n`)
    else output.write(`\n${fill(texts.counts, countsOf(report))} ${texts.next[state]}\n`)
    return state === 'red' ? exitCodes.failed : exitCodes.good
  } finally {
    await opened.close()
  }
}

const countsOf = ({ parts }: Pick<CheckReport, 'parts'>): Record<string, number> =>
  Object.fromEntries(healthStates.map((one) => [one, parts.filter(({ state }) => state === one).length]))
