import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/index.ts'
import {
  ask,
  clientOf,
  exchangeOf,
  kim,
  refusalOf,
  scopes,
  temporaryFolder,
  tenantFor,
  tokenOf,
  userUrl,
} from '../support/simulator.ts'
import { apiIds } from '../support/teams-user.ts'

const group = {
  displayName: 'Project Aurora',
  mailNickname: 'project-aurora',
  groupTypes: ['Unified'],
  mailEnabled: true,
  securityEnabled: false,
  'owners@odata.bind': [userUrl(kim)],
}
const upsert = { Prefer: 'create-if-missing' }
const path = "/v1.0/groups(uniqueName='r-1')"

const fault = (simulator: Simulator, body: Record<string, unknown>) =>
  ask('POST', `${simulator.url}/control/faults`, { body })

describe('a fault', () => {
  it('before the commit changes nothing', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await fault(simulator, { operation: 'graph.groups.upsert', kind: 'failBeforeCommit', count: 1 })
    const failed = await call('PATCH', path, group, upsert)
    expect(failed).toMatchObject({ status: 503, body: { error: { code: 'serviceNotAvailable' } } })
    expect((await call('GET', path)).status).toBe(404)
    expect((await call('PATCH', path, group, upsert)).status).toBe(201)
  })

  it('after the commit drops the answer and keeps the change', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await fault(simulator, { operation: 'graph.groups.upsert', kind: 'resetAfterCommit', count: 1 })
    await expect(call('PATCH', path, group, upsert)).rejects.toThrow('fetch failed')
    expect((await call('GET', path)).status).toBe(200)
    const { value } = (await ask('GET', `${simulator.url}/control/calls?operation=graph.groups.upsert`)).body
    expect(value).toMatchObject([{ status: 201, fault: 'resetAfterCommit' }])
  })

  it('can execute a call without an answer, after it has skipped other calls', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await fault(simulator, { operation: 'graph.groups.*', kind: 'holdAfterCommit', skip: 1, count: 1 })
    expect((await call('GET', path)).status).toBe(404)
    const held = call('PATCH', path, group, upsert).then(
      () => 'answered',
      () => 'cut off',
    )
    const struck = async () => (await ask('GET', `${simulator.url}/control/faults`)).body.value[0].struck
    await expect.poll(struck).toBe(1)
    expect((await call('GET', path)).status).toBe(200)
    await simulator.close()
    expect(await held).toBe('cut off')
  })

  it('of too many requests shows the wait in the format of each service', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await fault(simulator, { operation: '*', kind: 'status429', retryAfter: 7 })
    const graph = await call('GET', '/v1.0/groups')
    expect(graph).toMatchObject({ status: 429, body: { error: { code: 'TooManyRequests' } } })
    expect(graph.headers.get('retry-after')).toBe('7')
    expect((await call('GET', '/sites/x/_api/web')).body).toHaveProperty(['odata.error'])
    expect((await ask('DELETE', `${simulator.url}/control/faults`)).status).toBe(204)
    expect((await call('GET', '/v1.0/groups')).status).toBe(200)
  })

  it('affects its share of the calls, the same calls for the same seed', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const statuses = async () => {
      await ask('DELETE', `${simulator.url}/control/faults`)
      const request = { operation: 'graph.groups.list', kind: 'failBeforeCommit', share: 0.5, seed: 7, status: 500 }
      await fault(simulator, request)
      const answers: number[] = []
      for (let index = 0; index < 20; index += 1) answers.push((await call('GET', '/v1.0/groups')).status)
      return answers
    }
    const first = await statuses()
    expect(new Set(first)).toEqual(new Set([200, 500]))
    expect(await statuses()).toEqual(first)
  })

  it("wraps an error of Exchange in another server's error, before or after the cmdlet has run", async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const operation = 'exchange.set-mailbox'
    const wrapped = { operation, kind: 'wrapped', count: 1 }
    const set = (MailTip: string) => run('Set-Mailbox', { Identity: 'info', MailTip })
    const tip = async () => (await run('Get-Mailbox', { Identity: 'info' })).body.value[0].MailTip
    await fault(simulator, { ...wrapped, inner: 'ManagementObjectNotFoundException' })
    const refusal = refusalOf(await set('One'))
    expect(refusal).toMatchObject({ status: 400, type: 'CmdletProxyException' })
    const { details } = (await set('Two')).body.error ?? { details: [] }
    expect(details).toEqual([])
    expect(await tip()).toBe('Two')
    await fault(simulator, { ...wrapped, ran: true })
    const [, type, text] = (await set('Three')).body.error.details[0].message.split('|')
    expect(type).toBe('Microsoft.Exchange.Configuration.CmdletProxyException')
    expect(text).toContain("Error on proxy command 'Set-Mailbox -Identity:'info' -MailTip:'Three'' to server")
    expect(await tip()).toBe('Three')
    const other = await fault(simulator, { ...wrapped, operation: 'graph.groups.list' })
    expect(other).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('cmdlets') } } })
  })

  it('refuses with 403 and one NUL byte', async () => {
    const simulator = await tenantFor()
    const token = await tokenOf(simulator)
    await fault(simulator, { operation: 'graph.groups.list', kind: 'forbiddenNul', count: 1 })
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${simulator.url}/v1.0/groups`, { headers })
    expect([answer.status, await answer.text()]).toEqual([403, '\u0000'])
  })

  it('must name an existing operation', async () => {
    const simulator = await tenantFor()
    const answer = await fault(simulator, { operation: 'graph.planets.create', kind: 'delay' })
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain('graph.planets.create')
    const { value } = (await ask('GET', `${simulator.url}/control/operations`)).body
    expect(value).toEqual(expect.arrayContaining(['login.token', 'graph.groups.upsert', 'sharepoint.site.create']))
  })

  it('that delays calls does not delay the shutdown', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await fault(simulator, { operation: 'graph.groups.list', kind: 'delay', seconds: 600 })
    const waiting = expect(call('GET', '/v1.0/groups')).rejects.toThrow()
    await call('GET', '/v1.0/users?$top=1')
    await simulator.close()
    await waiting
  })
})

describe('the modes of the tenant', () => {
  it('change field by field, refuse unknown fields, and can be reset', async () => {
    const simulator = await tenantFor()
    const url = `${simulator.url}/control/tenant`
    const usual = (await ask('GET', url)).body
    await ask('POST', url, { body: { groupPrefix: 'GRP_' } })
    const second = await ask('POST', url, { body: { placeLagSeconds: 60 } })
    expect(second).toMatchObject({ status: 200, body: { ...usual, groupPrefix: 'GRP_', placeLagSeconds: 60 } })
    expect((await ask('POST', url, { body: { planet: 'Mars' } })).status).toBe(400)
    expect((await ask('POST', url, { body: { placeLagSeconds: -1 } })).status).toBe(400)
    expect((await ask('GET', url)).body).toEqual(second.body)
    expect((await ask('DELETE', url)).status).toBe(204)
    expect((await ask('GET', url)).body).toEqual(usual)
  })
})

describe('the log of calls', () => {
  it('lists calls in order and without secrets', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await ask('POST', `${simulator.url}/${simulator.tenantId}/oauth2/v2.0/token`, {
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'service',
        client_secret: 'hush-hush',
        scope: `${simulator.url}/.default`,
      }),
    })
    await call('PATCH', path, group, { ...upsert, 'client-request-id': 'r-1-step-2' })
    await call('GET', "/v1.0/groups?$filter=displayName eq 'none such'")
    const { value } = (await ask('GET', `${simulator.url}/control/calls`)).body
    expect(value).toMatchObject([
      { operation: 'login.token', method: 'POST', status: 200, body: { client_id: 'service' } },
      { operation: 'graph.groups.upsert', status: 201, clientRequestId: 'r-1-step-2', body: group },
      { operation: 'graph.groups.list', path: "/v1.0/groups?$filter=displayName eq 'none such'", status: 200 },
    ])
    expect(JSON.stringify(value)).not.toContain('hush-hush')
    await ask('DELETE', `${simulator.url}/control/calls`)
    expect((await ask('GET', `${simulator.url}/control/calls`)).body.value).toEqual([])
  })
})

describe('the stored state', () => {
  it('survives a restart: groups, keys, log', async () => {
    const dataDir = await temporaryFolder()
    const first = await tenantFor({ dataDir })
    const call = await clientOf(first)
    await call('PATCH', path, group, upsert)
    const keys = await ask('GET', `${first.url}/${first.tenantId}/discovery/v2.0/keys`)
    await first.close()
    const second = await tenantFor({ dataDir })
    const read = await (await clientOf(second))('GET', path)
    expect(read).toMatchObject({ status: 200, body: { displayName: 'Project Aurora' } })
    const keysAfter = await ask('GET', `${second.url}/${second.tenantId}/discovery/v2.0/keys`)
    expect(keysAfter.body).toEqual(keys.body)
    const { value } = (await ask('GET', `${second.url}/control/calls`)).body
    expect(value.slice(0, 2)).toMatchObject([{ operation: 'graph.groups.upsert' }, { operation: 'login.keys' }])
  })

  it('survives a killed process', async () => {
    const dataDir = await temporaryFolder()
    const env = { ...process.env, DATA_DIR: dataDir, SIMULATOR_PORT: '0' }
    const child = spawn(process.execPath, ['src/simulator/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) if (lines.push(line) === 4) break
    const url = lines[1]?.replace('DIRECTORY_URL=', '') ?? ''
    expect(lines).toEqual(['LOGIN', 'DIRECTORY', 'SHAREPOINT', 'EXCHANGE'].map((name) => `${name}_URL=${url}`))
    const minted = await ask('POST', `${url}/control/token`, { body: { appOnly: true, scope: scopes.graph } })
    const token: string = minted.body.access_token
    expect((await ask('PATCH', `${url}${path}`, { token, body: group, headers: upsert })).status).toBe(201)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const call = await clientOf(await tenantFor({ dataDir }))
    expect((await call('GET', path)).status).toBe(200)
  })
})

it('a port in use is refused, and the error contains its number', async () => {
  const simulator = await tenantFor()
  const port = Number(new URL(simulator.url).port)
  const second = startSimulator({ dataDir: await temporaryFolder(), port })
  await expect(second).rejects.toThrow(`port ${port} is in use`)
})

it('a web page of another origin cannot control the simulator', async () => {
  const simulator = await tenantFor()
  const form = new URLSearchParams({ operation: '*', kind: 'status429' })
  expect((await ask('POST', `${simulator.url}/control/faults`, { body: form })).status).toBe(415)
})

describe('the token command', () => {
  async function run(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['src/simulator/token.ts', ...args], { env: { ...process.env, ...env } })
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => {
      output.stdout += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      output.stderr += String(chunk)
    })
    const [code] = await once(child, 'close')
    return { ...output, code }
  }

  it('prints only the token, or an error message', async () => {
    const simulator = await tenantFor()
    const env = { SIMULATOR_PORT: new URL(simulator.url).port, BASE_URL: '', PORT: '' }
    const good = await run(['kim@contoso.example', '--lifetime', '-60'], env)
    expect(good.code).toBe(0)
    expect(good.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const payload = JSON.parse(Buffer.from(good.stdout.split('.')[1] ?? '', 'base64url').toString())
    expect(payload).toMatchObject({ aud: apiIds.collab, scp: 'App.ReadWrite.All', oid: kim })
    const unknown = await run(['nobody@contoso.example'], env)
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('nobody@contoso.example') })
    await simulator.close()
    const alone = await run(['kim@contoso.example'], env)
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('Start it with npm start') })
  })
})
