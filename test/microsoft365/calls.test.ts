import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { because } from '../../src/core/index.ts'
import { type CallLog, connectMicrosoft365 } from '../../src/microsoft365/index.ts'
import { send, sendJson, startServer } from '../support/http-server.ts'
import { mailboxInput } from '../support/mailbox-steps.ts'
import { answersSignIn, certificate, connectTo, kim } from '../support/microsoft365.ts'
import { siteInput } from '../support/simulated-tenant.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void
/** Starts a service that counts its calls and the sign-ins before them (each returns another token). */
async function service(answer: Handler, signIn?: Handler) {
  const counts = { calls: 0, signIns: 0, tokens: [] as string[] }
  const log: Parameters<CallLog>[0][] = []
  const server = await startServer((request, response) => {
    if (request.url?.includes('/oauth2/v2.0/token')) {
      counts.signIns += 1
      if (signIn) signIn(request, response, counts.signIns)
      else answersSignIn(request, response, `token-${counts.signIns}`)
      return
    }
    counts.calls += 1
    counts.tokens.push(request.headers.authorization ?? '')
    answer(request, response, counts.calls)
  })
  open.push(server)
  const microsoft365 = connectTo(server.url, { log: (entry) => log.push(entry) })
  return { ...microsoft365, counts, log, url: server.url }
}
const failing = (status: number, headers: Record<string, string> = {}): Handler => {
  const error = { code: 'serviceNotAvailable', message: 'Secret words of the service.' }
  return (_, response) => sendJson(response, status, { error }, headers)
}
const person: Handler = (_, response) => sendJson(response, 200, { ...kim, accountEnabled: true, userType: 'Member' })

describe('a read', () => {
  test('is repeated twice at once after a transient error', async () => {
    const { directory, counts, log } = await service((request, response, count) =>
      (count < 3 ? failing(503) : person)(request, response, count),
    )
    expect(await directory.person(kim.id)).toEqual(kim)
    expect(counts.calls).toBe(3)
    expect(log.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(new Set(log.map(({ clientRequestId }) => clientRequestId)).size).toBe(3)
  })

  test('is repeated when the connection is lost', async () => {
    const { directory, counts } = await service((request, response, count) =>
      count === 1 ? request.socket.destroy() : person(request, response, count),
    )
    expect(await directory.person(kim.id)).toEqual(kim)
    expect(counts.calls).toBe(2)
  })

  test('fails with a retryable error that shows the code but not the text of the service', async () => {
    const { directory, counts } = await service(failing(503))
    const failure = await directory.person(kim.id).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'serviceNotAvailable', retryable: true, retryAfterSeconds: undefined })
    expect(String(failure)).toContain('Microsoft Graph answered 503 (serviceNotAvailable) while looking a person up.')
    expect(String(failure)).not.toContain('Secret')
    expect(counts.calls).toBe(3)
  })

  test.each([
    [400, false],
    [403, false],
    [409, false],
    [423, true],
    [500, true],
    [502, true],
    [504, true],
    [507, true],
  ])('that is answered with %i has retryable %s', async (status, retryable) => {
    const { directory } = await service(failing(status))
    await expect(directory.person(kim.id)).rejects.toMatchObject({ name: 'TenantError', retryable })
  })

  test('leaves a wait in seconds, which the service requires, to the job', async () => {
    const { directory, counts } = await service(failing(429, { 'retry-after': '17' }))
    await expect(directory.person(kim.id)).rejects.toMatchObject({ retryable: true, retryAfterSeconds: 17 })
    expect(counts.calls).toBe(1)
  })

  test('waits until the HTTP date that the service requires', async () => {
    const { directory } = await service(failing(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }))
    const failure = await directory.person(kim.id).catch((error: unknown) => error)
    const seconds = Number(Reflect.get(Object(failure), 'retryAfterSeconds'))
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThanOrEqual(60)
  })
})

describe('a write', () => {
  test.each(['is answered 503', 'loses its connection'])('that %s is never repeated without a check', async (what) => {
    const { tenant, log } = await service((request, response, count) => {
      if (request.method === 'GET') return sendJson(response, 200, { SiteId: '', SiteStatus: 0, SiteUrl: '' })
      if (what === 'is answered 503') return failing(503)(request, response, count)
      request.socket.destroy()
    })
    const input = siteInput({ kind: 'communicationSite' })
    await expect(tenant.siteSteps['create-site'](input)).rejects.toMatchObject({ retryable: true })
    expect(log.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })
})

describe('the time-out of a call', () => {
  afterEach(() => vi.restoreAllMocks())

  test('is that of a read for a POST that changes nothing', async () => {
    const { tenant, directory, log } = await service((_, response) => sendJson(response, 200, { value: [] }))
    const input = mailboxInput({ details: { city: 'Bern' }, progress: { mailboxId: kim.id } })
    await directory.isMailAddressFree('signs-in@contoso.example')
    const limits = vi.spyOn(AbortSignal, 'timeout')
    await directory.isMailAddressFree('a@contoso.example')
    await tenant.mailboxSteps['apply-contact'](input)
    expect(log.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST'])
    expect(limits.mock.calls).toEqual([[10_000], [30_000]])
  })
})

describe('signing in', () => {
  test('replaces a refused token once by a fresh one', async () => {
    const { directory, counts } = await service((request, response, count) =>
      (count === 1 ? failing(401) : person)(request, response, count),
    )
    expect(await directory.person(kim.id)).toEqual(kim)
    expect(counts.tokens).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  test('fails when the fresh token is refused too, and is not retried', async () => {
    const { directory, counts } = await service(failing(401))
    await expect(directory.person(kim.id)).rejects.toMatchObject({ retryable: false })
    expect(counts.calls).toBe(2)
  })

  test('happens once for concurrent calls, and not again for later calls', async () => {
    const { directory, counts } = await service((_, response) => sendJson(response, 200, { value: [] }))
    await Promise.all([directory.membersOf(kim.id), directory.groupsOf(kim.id), directory.manager('x').catch(() => 0)])
    await directory.membersOf(kim.id)
    expect(counts.signIns).toBe(1)
  })

  test('reports a refusal of Entra ID with its AADSTS number and is not retried', async () => {
    const { directory } = await service(person, (_, response) =>
      sendJson(response, 401, { error: 'invalid_client', error_description: 'AADSTS700027: key unknown' }),
    )
    const failure = await directory.person(kim.id).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'sign-in-refused', retryable: false })
    expect(String(failure)).toContain('AADSTS700027')
  })

  test('works again as soon as Entra ID works', async () => {
    const { directory } = await service(person, (request, response, count) => {
      if (count > 3) answersSignIn(request, response)
      else send(response, 503, '<html>', { 'retry-after': '9', 'content-type': 'text/html' })
    })
    await expect(directory.person(kim.id)).rejects.toMatchObject({ code: 'http-503', retryAfterSeconds: 9 })
    await expect(directory.person(kim.id)).rejects.toMatchObject({ retryable: true })
    await expect(directory.person(kim.id)).rejects.toMatchObject({ retryable: true })
    expect(await directory.person(kim.id)).toEqual(kim)
  })

  test('reports a temporary failure until calls succeed again, not until the token expires', async () => {
    const nobody: Handler = (_, response) => sendJson(response, 200, { value: [] })
    const busy = failing(503, { 'retry-after': '9' })
    const { directory, connection } = await service(
      (request, response, count) => (count === 2 ? failing(401) : nobody)(request, response, count),
      (request, response, count) => void (count === 2 ? busy(request, response, 2) : answersSignIn(request, response)),
    )
    await directory.membersOf(kim.id)
    await expect(directory.membersOf(kim.id)).rejects.toMatchObject({ code: 'http-503' })
    expect(connection.signIn().refusal).toMatchObject({
      problem: because('signInBusy', { service: 'Entra ID', status: 503 }),
      isFinal: false,
    })
    await directory.membersOf(kim.id)
    expect(connection.signIn()).toMatchObject({ tokens: [{}], refusal: undefined })
  })

  test('passes on an error of the given fetch function unchanged', async () => {
    const refusing = () => Promise.reject(new Error('No calls inside a transaction.'))
    const url = 'http://127.0.0.1:9'
    const urls = { loginUrl: url, directoryUrl: url, sharePointUrl: url, sharePointAdminUrl: url, exchangeUrl: url }
    const where = { tenantId: kim.id, clientId: kim.id, ...urls }
    const { directory } = connectMicrosoft365({ ...where, certificate, directoryExtension: 'x', fetch: refusing })
    await expect(directory.person(kim.id)).rejects.toThrow('No calls inside a transaction.')
  })

  test('requests one token from Entra ID for each host, without discovery', async () => {
    const received: string[] = []
    const recording: typeof fetch = async (input, init) => {
      const url = new URL(String(input))
      const scope = new URLSearchParams(String(init?.body ?? '')).get('scope')
      received.push(`${url.origin}${url.pathname} ${scope ?? ''}`.trim())
      const isToken = url.pathname.endsWith('/token')
      return Response.json(isToken ? { token_type: 'Bearer', expires_in: 3600, access_token: 'x' } : { value: [] })
    }
    const { directory } = connectMicrosoft365({
      tenantId: kim.id,
      clientId: kim.id,
      certificate,
      loginUrl: 'https://login.microsoftonline.com',
      directoryUrl: 'https://graph.microsoft.com/',
      sharePointUrl: 'https://contoso.sharepoint.com/',
      sharePointAdminUrl: 'https://contoso-admin.sharepoint.com',
      exchangeUrl: 'https://outlook.office365.com',
      directoryExtension: 'x',
      fetch: recording,
    })
    // SharePoint's answer has another shape here, which ends the check.
    await expect(directory.isSiteAddressFree('aurora')).rejects.toMatchObject({ code: 'unreadable-answer' })
    const token = `https://login.microsoftonline.com/${kim.id}/oauth2/v2.0/token`
    // Both services are called at the same time.
    expect(received.sort()).toEqual([
      'https://contoso.sharepoint.com/_api/SP.Site.Exists',
      'https://graph.microsoft.com/v1.0/directory/deletedItems/microsoft.graph.group',
      'https://graph.microsoft.com/v1.0/groupSettings',
      'https://graph.microsoft.com/v1.0/groups',
      `${token} https://contoso.sharepoint.com/.default`,
      `${token} https://graph.microsoft.com/.default`,
    ])
  })
})
