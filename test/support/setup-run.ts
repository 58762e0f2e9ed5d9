import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { runSetup } from '../../src/app/setup/run.ts'
import type { SetupEnvironment } from '../../src/app/setup/session.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { answerCode, streamsFor } from './command-line.ts'
import { ask, temporaryFolder } from './simulator.ts'
import type { people } from './teams-user.ts'

/** The answers that only an administrator knows, for a run without questions. */
const answers = (sharePointUrl: string): string[] => [
  ...['--base-url', 'https://provisioning.contoso.example', '--database-url', 'embedded'],
  ...['--sharepoint-url', sharePointUrl],
]

/** A call that the simulator has received. */
export interface ReceivedCall {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
}

interface Run {
  readonly exit: number
  /** All output, results and messages. */
  readonly text: string
  readonly calls: readonly ReceivedCall[]
  /** Calls that change the directory. */
  readonly writes: readonly ReceivedCall[]
}

interface How extends Partial<Pick<SetupEnvironment, 'signal' | 'now' | 'steps' | 'patience' | 'fetch'>> {
  readonly who?: keyof typeof people
  /** A person at a terminal: receives the question, returns the answer. */
  readonly typing?: (question: string) => string | undefined
  /** Options of the command line. Default: all answers, and no questions. */
  readonly args?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** Creates an installation, by default in its own folder. */
export async function installation(
  tenant: Simulator,
  where: { readonly folder?: string; readonly file?: string } = {},
) {
  const { folder = await temporaryFolder(), file = '.env' } = where
  const path = join(folder, file)
  const received = async (): Promise<ReceivedCall[]> => (await ask('GET', `${tenant.url}/control/calls`)).body.value
  return {
    folder,
    path,
    /** The options of a run without questions. */
    answers: ['--yes', ...answers(tenant.sharePointUrl)],
    settings: (): NodeJS.Dict<string> => parseEnv(readFileSync(path, 'utf8')),
    /** Runs setup in this process, and signs in on the page as soon as the code appears. */
    async run(how: How = {}): Promise<Run> {
      await ask('DELETE', `${tenant.url}/control/calls`)
      const { streams, printed, errorText } = streamsFor(how.typing)
      let isSignedIn = false
      streams.output.on('data', () => {
        const [, page, code] = /Open (\S+) and enter the code ([A-Z]+)/.exec(printed()) ?? []
        if (isSignedIn || page === undefined || code === undefined) return
        isSignedIn = true
        void answerCode(page, code, how.who ?? 'sam', 'allow').catch(() => undefined)
      })
      const { signal = new AbortController().signal, patience = 5000, fetch: send = fetch } = how
      const exit = await runSetup({
        args: ['--env-file', path, ...(how.args ?? ['--yes', ...answers(tenant.sharePointUrl)])],
        variables: { LOGIN_URL: tenant.url, DIRECTORY_URL: tenant.url, NO_COLOR: '1', ...how.variables },
        ...{ streams, signal, patience, fetch: send },
        ...(how.now && { now: how.now }),
        ...(how.steps && { steps: how.steps }),
      })
      const calls = await received()
      const writes = calls.filter(({ operation, method }) => operation.startsWith('graph.') && method !== 'GET')
      return { exit, text: printed() + errorText(), calls, writes }
    },
  }
}
