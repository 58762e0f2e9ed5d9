import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { because, sentenceOf, TenantError } from '../../src/core/index.ts'
import { applicationIds } from '../../src/microsoft365/wire/index.ts'
import { contoso as contosoTenant } from '../../src/simulator/tenant/contoso.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()
afterEach(() => contoso.healthy())

/** Creates a directory whose organisation has these domains. */
async function withDomains(verifiedDomains: unknown) {
  const received: string[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    received.push(request.url ?? '')
    sendJson(response, 200, { value: [{ id: 'x', verifiedDomains }] })
  })
  return { ...connectTo(server.url), received, close: server.close }
}

describe('the health of the services', () => {
  test('is checked with one small call for each service and measured', async () => {
    await contoso.forgetCalls()
    const health = await contoso.tenant.health()
    expect(health.map(({ name, problem }) => [name, problem && sentenceOf(problem)])).toEqual([
      ['graph', undefined],
      ['sharePoint', undefined],
      ['exchange', undefined],
    ])
    for (const { milliseconds } of health) expect(milliseconds).toBeGreaterThanOrEqual(0)
    const calls = (await contoso.calls()).filter(({ operation }) => !operation.startsWith('login.'))
    expect(calls.map(({ operation }) => operation).sort()).toEqual([
      'exchange.get-mailbox',
      'graph.users.list',
      'sharepoint.site.status',
    ])
  })

  test('shows the error code of a service that fails; the other services are healthy', async () => {
    await contoso.fault({ operation: 'exchange.get-mailbox', kind: 'failBeforeCommit', status: 503, count: undefined })
    const [graph, sharePoint, exchange] = await contoso.tenant.health()
    expect([graph?.problem, sharePoint?.problem]).toEqual([undefined, undefined])
    expect(sentenceOf(exchange?.problem ?? because('faults'))).toMatch(
      /^Exchange Online answered 503.* while looking the mailbox up/,
    )
  })

  test('reports services that cannot be reached, and throws nothing', async () => {
    const server = await startServer((request, response) => {
      if (!answersSignIn(request, response)) request.socket.destroy()
    })
    const problems = (await connectTo(server.url).tenant.health()).map(({ problem }) => problem && sentenceOf(problem))
    await server.close()
    for (const problem of problems) expect(problem).toMatch(/cannot be reached while .*\. Error code: unreachable\.$/)
  })

  test('reports services that do not answer within five seconds', async () => {
    const server = await startServer((request, response) => {
      answersSignIn(request, response)
    })
    const problems = (await connectTo(server.url).tenant.health()).map(({ problem }) => problem && sentenceOf(problem))
    await server.close()
    expect(problems).toEqual([
      'Microsoft Graph did not answer in 5 seconds. Error code: timeout.',
      'SharePoint did not answer in 5 seconds. Error code: timeout.',
      'Exchange Online did not answer in 5 seconds. Error code: timeout.',
    ])
  })
})

describe('the refusal of a sign-in', () => {
  /** Checks the health once with these answers of Entra ID, by the service whose token it is. */
  async function refusalAfter(answers: Partial<Record<'graph' | 'exchange', 'final' | 'busy'>>) {
    const server = await startServer(async (request, response) => {
      if (!request.url?.includes('/oauth2/v2.0/token')) return sendJson(response, 200, { value: [] })
      const scope = new URLSearchParams(await text(request)).get('scope') ?? ''
      const name = (['graph', 'exchange'] as const).find((one) => scope.startsWith(applicationIds[one]))
      const answer = name && answers[name]
      // The busy answer comes last.
      if (answer === 'busy') setTimeout(() => sendJson(response, 503, {}), 200)
      else if (answer === 'final')
        sendJson(response, 401, { error: 'invalid_client', error_description: 'AADSTS700027: The key is unknown.' })
      else answersSignIn(request, response)
    })
    const { tenant, connection } = connectTo(server.url)
    const health = await tenant.health()
    await server.close()
    const noSignIn = health.flatMap(({ name, trouble }) => (trouble === 'noSignIn' ? [name] : []))
    return { refusal: connection.signIn().refusal, noSignIn }
  }

  test('is not final while Entra ID does not answer for one service', async () => {
    expect(await refusalAfter({ exchange: 'busy' })).toMatchObject({ refusal: { isFinal: false } })
  })

  test('is the final one, also if Entra ID does not answer for another service afterwards', async () => {
    const { refusal, noSignIn } = await refusalAfter({ graph: 'final', exchange: 'busy' })
    expect(refusal).toMatchObject({ isFinal: true, problem: { key: 'signInRefused' } })
    expect(noSignIn).toContain('graph')
  })
})

describe('names and addresses', () => {
  test.each([
    ['info@contoso.example', false, false],
    ['verkauf@contoso.example', false, false],
    ['Sales@contoso-labs.example', false, true],
    ['kim@contoso.example', false, false],
    // A person's sign-in name without a mailbox.
    ['Max.Frei@contoso.example', false, true],
    ['max.frei@contoso-labs.example', false, true],
    ['huelya.demir@contoso.example', false, false],
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

test('the name of a deleted mailbox stays reserved, because the mailbox can be restored', async () => {
  const name = { Name: 'gone', Alias: 'gone', PrimarySmtpAddress: 'gone@contoso-labs.example' }
  await contoso.cmdlet('New-Mailbox', { ...name, Shared: true })
  expect((await contoso.cmdlet('Remove-Mailbox', { Identity: 'gone', Confirm: false })).status).toBe(200)
  expect(await contoso.directory.isMailboxNameFree('Gone@contoso-labs.example')).toBe(false)
  expect(await contoso.directory.isMailboxNameFree('gone-2@contoso-labs.example')).toBe(true)
})

describe('people who are unknown to Exchange', () => {
  const people = contosoTenant.people.map(({ id, displayName, userPrincipalName }) => ({
    id,
    displayName,
    userPrincipalName,
  }))
  const gone = { id: '99999999-aaaa-4aaa-8aaa-000000000001', displayName: 'Gone', userPrincipalName: 'gone' }

  test('are found with few calls for many people', async () => {
    await contoso.forgetCalls()
    const { people: all } = contosoTenant
    // One person has no mailbox yet, and the mailbox of a guest is in another organisation.
    const without = all.filter((one) => one.displayName === 'Max Frei' || one.userType === 'Guest').map(({ id }) => id)
    expect(await contoso.directory.unknownToExchange([...people, gone])).toEqual([...without, gone.id])
    const calls = (await contoso.calls()).filter(({ operation }) => operation.startsWith('exchange.'))
    expect(calls.map(({ operation }) => operation)).toEqual(['exchange.get-recipient', 'exchange.get-recipient'])
  })

  test('cause no call for an empty list or an invalid id', async () => {
    await contoso.forgetCalls()
    expect(await contoso.directory.unknownToExchange([])).toEqual([])
    const hostile = { ...gone, id: "x' -or Name -ne '" }
    await expect(contoso.directory.unknownToExchange([hostile])).rejects.toThrow(TypeError)
    expect(await contoso.calls()).toEqual([])
  })
})

describe('the mail domains', () => {
  test("are the organisation's domains, including the default", async () => {
    expect(await contoso.directory.mailDomains()).toEqual({
      default: 'contoso.example',
      accepted: ['contoso.example', 'contoso-labs.example'],
    })
  })

  test('are those that accept mail, in lower case, and are cached', async () => {
    const { directory, received, close } = await withDomains([
      { name: 'Contoso.com', isDefault: true, capabilities: 'Email, OfficeCommunicationsOnline' },
      { name: 'teams.contoso.com', isDefault: false, capabilities: 'OfficeCommunicationsOnline' },
      { name: 'contoso.onmicrosoft.com', capabilities: 'Email' },
    ])
    const domains = { default: 'contoso.com', accepted: ['contoso.com', 'contoso.onmicrosoft.com'] }
    expect(await directory.mailDomains()).toEqual(domains)
    expect(await directory.mailDomains()).toEqual(domains)
    expect(received).toEqual(['/v1.0/organization?$select=verifiedDomains'])
    await close()
  })

  test.each([[[]], [[{ name: 'a', capabilities: '' }]], ['none'], [undefined]])(
    'that are unusable (%o) cause a TenantError',
    async (domains) => {
      const { directory, close } = await withDomains(domains)
      expect(await directory.mailDomains().catch((error: unknown) => error)).toBeInstanceOf(TenantError)
      await close()
    },
  )
})
