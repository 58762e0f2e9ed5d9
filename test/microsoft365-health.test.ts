import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { TenantError } from '../src/core/index.ts'
import { answersSignIn, connectTo, sendJson, startServer } from './support/microsoft365.ts'
import { startTenant, type TestTenant } from './support/simulated-tenant.ts'

let contoso: TestTenant
beforeAll(async () => {
  contoso = await startTenant()
})
afterEach(() => contoso.healthy())
afterAll(() => contoso.close())

/** A directory whose organisation has these domains. */
async function withDomains(verifiedDomains: unknown) {
  const asked: string[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    asked.push(request.url ?? '')
    sendJson(response, 200, { value: [{ id: 'x', verifiedDomains }] })
  })
  return { ...connectTo(server.url), asked, close: server.close }
}

describe('the health of the services', () => {
  test('is asked of each in one small question, and measured', async () => {
    await contoso.forgetCalls()
    const health = await contoso.tenant.health()
    expect(health.map(({ name, problem }) => [name, problem])).toEqual([
      ['graph', undefined],
      ['sharePoint', undefined],
      ['exchange', undefined],
    ])
    for (const { milliseconds } of health) expect(milliseconds).toBeGreaterThanOrEqual(0)
    const calls = (await contoso.calls()).filter(({ operation }) => !operation.startsWith('login.'))
    expect(calls.map(({ operation }) => operation).sort()).toEqual([
      'exchange.get-mailbox',
      'graph.organization.list',
      'sharepoint.site.status',
    ])
  })

  test('of one that fails is told in words with the code, and the others are well', async () => {
    await contoso.fault({ operation: 'exchange.get-mailbox', kind: 'failBeforeCommit', status: 503, count: undefined })
    const [graph, sharePoint, exchange] = await contoso.tenant.health()
    expect([graph?.problem, sharePoint?.problem]).toEqual([undefined, undefined])
    expect(exchange?.problem).toMatch(/^Exchange Online answered 503.* while looking the mailbox up/)
  })

  test('of services that cannot be reached is told, not thrown', async () => {
    const server = await startServer((request, response) => {
      if (!answersSignIn(request, response)) request.socket.destroy()
    })
    const problems = (await connectTo(server.url).tenant.health()).map(({ problem }) => problem)
    await server.close()
    for (const problem of problems) expect(problem).toMatch(/cannot be reached while .*\(unreachable\)\.$/)
  })

  test('of services that say nothing is told after five seconds', async () => {
    const server = await startServer((request, response) => {
      answersSignIn(request, response)
    })
    const problems = (await connectTo(server.url).tenant.health()).map(({ problem }) => problem)
    await server.close()
    expect(problems).toEqual([
      'Microsoft Graph did not answer in 5 seconds (timeout).',
      'SharePoint did not answer in 5 seconds (timeout).',
      'Exchange Online did not answer in 5 seconds (timeout).',
    ])
  })
})

describe('names and addresses', () => {
  test.each([
    ['info@contoso.example', false, false],
    ['verkauf@contoso.example', false, false],
    ['Sales@contoso-labs.example', false, true],
    ['kim@contoso.example', false, false],
    ['nobody-has-this@contoso.example', true, true],
  ])('%s: free as a mailbox %s, as an address %s', async (address, asMailbox, asAddress) => {
    expect(await contoso.directory.isMailboxNameFree(address)).toBe(asMailbox)
    expect(await contoso.directory.isMailAddressFree(address)).toBe(asAddress)
  })

  test.each(["x' -or Name -ne '@contoso.example", 'no-address', '@contoso.example', 'a@b@c', 'a b@contoso.example'])(
    'never become a filter when they are %s',
    async (address) => {
      await contoso.forgetCalls()
      await expect(contoso.directory.isMailboxNameFree(address)).rejects.toThrow(TypeError)
      await expect(contoso.directory.isMailAddressFree(address)).rejects.toThrow(TypeError)
      expect(await contoso.calls()).toEqual([])
    },
  )
})

describe('the mail domains', () => {
  test("are the organisation's, the default one named", async () => {
    expect(await contoso.directory.mailDomains()).toEqual({
      default: 'contoso.example',
      accepted: ['contoso.example', 'contoso-labs.example'],
    })
  })

  test('are those that take mail, in lower case, asked for once in a while', async () => {
    const { directory, asked, close } = await withDomains([
      { name: 'Contoso.com', isDefault: true, capabilities: 'Email, OfficeCommunicationsOnline' },
      { name: 'teams.contoso.com', isDefault: false, capabilities: 'OfficeCommunicationsOnline' },
      { name: 'contoso.onmicrosoft.com', capabilities: 'Email' },
    ])
    const domains = { default: 'contoso.com', accepted: ['contoso.com', 'contoso.onmicrosoft.com'] }
    expect(await directory.mailDomains()).toEqual(domains)
    expect(await directory.mailDomains()).toEqual(domains)
    expect(asked).toEqual(['/v1.0/organization?$select=verifiedDomains'])
    await close()
  })

  test.each([[[]], [[{ name: 'a', capabilities: '' }]], ['none'], [undefined]])(
    'that make no sense (%o) are a TenantError',
    async (domains) => {
      const { directory, close } = await withDomains(domains)
      expect(await directory.mailDomains().catch((error: unknown) => error)).toBeInstanceOf(TenantError)
      await close()
    },
  )
})
