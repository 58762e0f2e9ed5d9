import { Command, CommanderError, Option } from 'commander'
import { fill } from '../../client/command-line/terminal.ts'
import { cloudFault } from '../addresses.ts'
import { SetupProblem } from './problem.ts'
import { questions } from './questions.ts'
import { isInstance, settingsFileOf } from './step.ts'
import texts from './strings.json' with { type: 'json' }

/** The options of setup. */
export interface Options {
  readonly plan: boolean
  readonly yes: boolean
  readonly botSteps: boolean
  readonly catalogue: boolean
  readonly envFile: string
  readonly instance: string
  readonly tenant: string | undefined
  readonly clientId: string
  readonly cloud: string | undefined
  readonly secretDays: number
  readonly certificateDays: number
  /** Answers by the option of their question. */
  readonly answers: Readonly<Record<string, string | undefined>>
}

/** Microsoft Graph Command Line Tools, a public client that Microsoft keeps in every tenant. */
const graphCommandLineTools = '14d82eec-204b-4c2f-b7e8-296a70dab67e'

/** Reads the command line. Returns an exit code when help was shown. Throws {@link SetupProblem}. */
export function parseOptions(args: readonly string[], write: (text: string) => void): Options | number {
  const { options: help } = texts.help
  const program = new Command('npm run setup --')
    .description(texts.help.about)
    .option('--plan', help.plan)
    .option('--resume', help.resume)
    .option('--yes', help.yes)
    .option('--base-url <address>', help['base-url'])
    .option('--database-url <address>', help['database-url'])
    .option('--sharepoint-url <address>', help['sharepoint-url'])
    .option('--env-file <file>', help['env-file'])
    .option('--instance <name>', help.instance)
    .option('--tenant <tenant>', help.tenant)
    .option('--client-id <id>', help['client-id'], graphCommandLineTools)
    .option('--cloud <cloud>', help.cloud)
    .option('--no-catalogue', help['no-catalogue'])
    .addOption(new Option('--secret-days <days>', help['secret-days']).default('365'))
    .addOption(new Option('--certificate-days <days>', help['certificate-days']).default('365'))
    .option('--bot-steps', help['bot-steps'])
    .helpOption('-h, --help', help.help)
    .addHelpText('after', `\n${texts.help.after}`)
    .configureOutput({ writeOut: write, writeErr: () => undefined, outputError: () => undefined })
    .exitOverride()
    .allowExcessArguments()
  try {
    program.parse(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    throw usage(error.message.replace(/^error: /, '').replace(/^./, (first) => first.toUpperCase()))
  }
  const [argument] = program.args
  if (argument !== undefined) throw usage(fill(texts.usage.surplus, { argument }))
  return checked(program.opts())
}

const usage = (what: string): SetupProblem => new SetupProblem(what, texts.usage.help)

function checked(typed: Readonly<Record<string, string | boolean | undefined>>): Options {
  const text = (name: string) => (typeof typed[name] === 'string' ? typed[name] : undefined)
  const instance = text('instance') ?? ''
  if (instance !== '' && !isInstance(instance)) throw usage(texts.usage.instance)
  const clientId = text('clientId') ?? ''
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientId)) throw usage(texts.usage.clientId)
  const tenant = text('tenant')
  if (tenant !== undefined && !/^[a-z0-9]+([.-]+[a-z0-9]+)*$/i.test(tenant)) throw usage(texts.usage.tenant)
  const cloud = text('cloud')
  if (cloud !== undefined && cloudFault(cloud) !== undefined) throw usage(texts.usage.cloud)
  if (hasPassword(text('databaseUrl'))) throw new SetupProblem(texts.usage.password, texts.usage.passwordHint)
  const camel = (option: string) => option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return {
    ...{ plan: typed['plan'] === true, yes: typed['yes'] === true, botSteps: typed['botSteps'] === true },
    ...{ catalogue: typed['catalogue'] !== false, envFile: text('envFile') ?? settingsFileOf(instance) },
    ...{ instance, tenant, clientId, cloud },
    secretDays: days('--secret-days', text('secretDays')),
    certificateDays: days('--certificate-days', text('certificateDays')),
    answers: Object.fromEntries(questions.map(({ option }) => [option, text(camel(option))])),
  }
}

/** Whether an address contains a password, which other users of this computer could read in the options. */
const hasPassword = (address: string | undefined): boolean => {
  if (address === undefined || !URL.canParse(address)) return false
  const { password, searchParams } = new URL(address)
  return password !== '' || searchParams.has('password')
}

function days(option: string, typed: string | undefined): number {
  const number = Number(typed)
  if (Number.isInteger(number) && number >= 1 && number <= 730) return number
  throw usage(fill(texts.usage.days, { option }))
}
