import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkTenant, type ExitCode } from '../../src/app/check/command.ts'
import { type CheckReport, checkReport } from '../../src/app/check/report.ts'
import { startSimulator } from '../../src/simulator/index.ts'
import { send, startServer } from './http-server.ts'
import { prepareTenant } from './prepared-tenant.ts'
import { control } from './tenant-control.ts'

/** The group of the organisation's admins, and an app of its catalogue. */
export const adminsGroup = '22222222-bbbb-4bbb-8bbb-000000000002'
export const appId = '66666666-ffff-4fff-8fff-000000000001'
export const botSecret = 'a-secret-of-the-bot-3978'

export interface CheckRun {
  readonly code: ExitCode
  readonly output: string
  readonly errors: string
}

/** Starts a simulated tenant and an address where a service would answer, and runs the command with both. */
export async function startChecked() {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-check-'))
  await prepareTenant(folder)
  const simulator = await startSimulator({
    ...{ dataDir: folder, port: 0, directorySeconds: 0, siteReadySeconds: 0.05, exchangeSettleSeconds: 0 },
  })
  const { url } = simulator
  let answer: { status: number; body: string } | undefined
  const site = await startServer((_, response) => {
    if (!answer) return void response.destroy()
    send(response, answer.status, answer.body, { 'content-type': 'application/json' })
  })
  const baseUrl = site.url
  const usual = {
    ...{ MODE: 'local', BASE_URL: baseUrl, DATA_DIR: join(folder, 'data'), ADMINS: adminsGroup, TEAMS_APP_ID: appId },
    ...{ LOGIN_URL: url, DIRECTORY_URL: url, SHAREPOINT_URL: url, SHAREPOINT_ADMIN_URL: url, EXCHANGE_URL: url },
    ...{ MICROSOFT_APP_ID: '0c0ffee0-5555-4555-8555-000000000001', MICROSOFT_APP_PASSWORD: botSecret },
    MICROSOFT_APP_PASSWORD_EXPIRES: '2040-01-01',
  }
  const tell = (method: string, path: string, body?: object) => control(url, method, path, body)
  const file = (name: string, content: string): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  const run = async (
    args: readonly string[],
    variables: Record<string, string> = {},
    around: { interrupted?: AbortSignal; onOutput?: (text: string) => void; fetch?: typeof fetch } = {},
  ): Promise<CheckRun> => {
    const [output, errors]: [string[], string[]] = [[], []]
    const write = (text: string) => {
      output.push(text)
      around.onOutput?.(text)
    }
    const code = await checkTenant({
      ...{ args, variables: { ...usual, ...variables }, output: { write }, fetch: around.fetch ?? fetch },
      errors: { write: (text) => errors.push(text) },
      interrupted: around.interrupted ?? new AbortController().signal,
    })
    return { code, output: output.join(''), errors: errors.join('') }
  }
  return {
    simulator,
    folder,
    run,
    control: tell,
    file,
    usual,
    /** Runs the command with `--json`. */
    async report(variables: Record<string, string> = {}): Promise<CheckReport & { code: ExitCode }> {
      const { code, output, errors } = await run(['--json'], variables)
      if (output === '') throw new Error(errors)
      return { ...checkReport.parse(JSON.parse(output)), code }
    },
    /** Sets the answer at BASE_URL; undefined means no answer. */
    answers: (next: { status: number; body: string } | undefined) => {
      answer = next
    },
    async heal() {
      answer = undefined
      await tell('DELETE', 'faults')
      await tell('DELETE', 'tenant')
      await tell('DELETE', 'consents')
    },
    async close() {
      await simulator.close()
      await site.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
export type Checked = Awaited<ReturnType<typeof startChecked>>
