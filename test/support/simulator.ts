import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/index.ts'
import { prepareTenant } from './prepared-tenant.ts'

/** An answer over HTTP: its body is parsed if it is JSON, otherwise it is text. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects and fails on the others
  readonly body: any
}

/** Creates a folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a tenant for one test; by default sites, groups and mailboxes are ready at once. */
export async function tenantFor(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const dataDir = options.dataDir ?? (await temporaryFolder())
  await prepareTenant(dataDir)
  const ready = { siteReadySeconds: 0, directorySeconds: 0, exchangeSettleSeconds: 0 }
  const simulator = await startSimulator({ port: 0, ...ready, ...options, dataDir })
  onTestFinished(() => simulator.close())
  return simulator
}

/** Sends one request: an object body as JSON, URLSearchParams as a form. */
export async function ask(
  method: string,
  url: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { token, body, headers } = options
  const form = body instanceof URLSearchParams
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
}

/**
 * Returns a token from the simulator's control endpoint: for a person, or app-only with a certificate without a person.
 * The default scope is Graph's.
 */
export async function tokenOf(simulator: Simulator, person?: string, scope?: string): Promise<string> {
  const answer = await ask('POST', `${simulator.url}/control/token`, {
    body: {
      scope: scope ?? scopes.graph,
      ...(person === undefined ? { appOnly: true } : { userPrincipalName: person }),
    },
  })
  return answer.body.access_token
}

/** The scopes of Microsoft's services. Each service refuses the tokens of the others. */
export const scopes = {
  graph: 'https://graph.microsoft.com/.default',
  sharePoint: '00000003-0000-0ff1-ce00-000000000000/.default',
  exchange: 'https://outlook.office365.com/.default',
} as const

/** Creates a group with this alias in the tenant, without the service. */
export async function takeAlias(simulator: Simulator | undefined, mailNickname: string): Promise<void> {
  if (!simulator) throw new Error('the service has no simulator')
  const body = {
    ...{ displayName: 'Other', mailNickname, groupTypes: ['Unified'] },
    ...{ mailEnabled: true, securityEnabled: false },
  }
  const answer = await ask('POST', `${simulator.url}/v1.0/groups`, { token: await tokenOf(simulator), body })
  expect(answer.status).toBe(201)
}

/** Creates a caller of Microsoft's services with a token for each: `call('GET', '/v1.0/users')`. */
export async function clientOf(simulator: Simulator, person?: string) {
  const graph = await tokenOf(simulator, person)
  const sharePoint = await tokenOf(simulator, person, scopes.sharePoint)
  const exchange = await tokenOf(simulator, person, scopes.exchange)
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const token = path.startsWith('/v1.0/') ? graph : path.startsWith('/adminapi/') ? exchange : sharePoint
    return ask(method, `${simulator.url}${path}`, { token, body, headers })
  }
}

/** Sets the roles in later tokens of the service's registration. */
export const consent = (simulator: Pick<Simulator, 'url'>, resource: string, roles: readonly string[]) =>
  ask('POST', `${simulator.url}/control/consents`, { body: { resource, roles } })

/** Creates an app-only caller of Exchange's cmdlets: `run('Get-Mailbox', { Identity: 'info@contoso.example' })`. */
export async function exchangeOf(simulator: Simulator) {
  const token = await tokenOf(simulator, undefined, scopes.exchange)
  const url = `${simulator.url}/adminapi/beta/${simulator.tenantId}/InvokeCommand`
  return (CmdletName: string, Parameters: Record<string, unknown> = {}): Promise<Answer> =>
    ask('POST', url, { token, body: { CmdletInput: { CmdletName, Parameters } } })
}

/**
 * Returns the exception's last name and the text of a cmdlet's refusal, from the places where clients read them (facts
 * 4.3).
 */
export function refusalOf({ status, body }: Answer): { status: number; type: string; text: string } {
  const [, type, text] = (body.error?.details?.[0]?.message ?? '').split('|')
  const inner = body.error?.innererror?.internalexception
  return { status, type: (type ?? inner?.type ?? '').split('.').at(-1), text: text ?? inner?.message ?? '' }
}

export const kim = '11111111-aaaa-4aaa-8aaa-000000000001'
export const dana = '11111111-aaaa-4aaa-8aaa-000000000002'
export const userUrl = (id: string): string => `https://graph.microsoft.com/v1.0/users/${id}`
