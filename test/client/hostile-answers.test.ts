import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { clientOf, hostileServer, type Reply, reply } from '../support/hostile-server.ts'
import { send } from '../support/http-server.ts'

const requestId = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
const site = { displayName: 'Apollo', templateId: 'any' }
const queued = { requestId, tenantId: requestId, approvalRequired: false, status: 'queued' }
const accepted = reply(202, queued)
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  reply(status, { status, code, title: 'No', detail: 'Not now.', instance: '/', traceId: requestId }, headers)
const page =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    send(response, status, '<h1>Bad gateway</h1>', { 'content-type': 'text/html', ...headers })
const cut: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"requestId":"')
  setTimeout(() => response.destroy(), 20)
}
const reset: Reply = (response) => void response.destroy()
const silent: Reply = () => undefined
const failure = (call: Promise<unknown>) =>
  call.then(
    () => 'no error',
    (error: unknown) => error,
  )

describe('a retry', () => {
  test.each([
    ['503 with seconds', problem(503, 'unavailable', { 'retry-after': '7' }), 7],
    ['503 with a date', problem(503, 'draining', { 'retry-after': 'Fri, 20 Nov 2026 09:00:12 GMT' }), 12],
    ['429 with seconds', problem(429, 'rate-limited', { 'retry-after': '3' }), 3],
    ['502 of a proxy, as a page', page(502), 0.5],
    ['504 with a date that is over', page(504, { 'retry-after': 'Fri, 20 Nov 2020 09:00:12 GMT' }), 0.25],
    ['503 with nonsense', page(503, { 'retry-after': 'soon' }), 0.5],
    ['a connection that is reset', reset, 0.5],
    ['an answer that breaks off', cut, 0.5],
    ['a first attempt that is still answered', problem(409, 'idempotency-key-in-flight', { 'retry-after': '1' }), 1],
  ])('after %s repeats the same write with the same key', async (_, first, seconds) => {
    const { url, heard } = await hostileServer(first, accepted)
    const { client, waits } = clientOf(url)
    expect(await client.createSite(site)).toEqual(queued)
    expect([heard.map(({ call }) => call), waits]).toEqual([Array(2).fill('POST /collab/v1/spo/'), [seconds]])
    const [one, other] = heard.map(({ headers, body }) => [headers['idempotency-key'], body])
    expect(one).toEqual(other)
    expect(one?.[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('happens at most four times, with growing pauses', async () => {
    const { url, heard } = await hostileServer(page(503))
    const { client, waits } = clientOf(url)
    const error = await failure(client.createSite(site, { idempotencyKey: 'mine' }))
    expect(error).toMatchObject({ kind: 'unexpected-answer', status: 503, call: { idempotencyKey: 'mine' } })
    expect([heard.length, waits]).toEqual([5, [0.5, 1, 2, 4]])
  })

  test('never takes longer than two minutes', async () => {
    const { url, heard } = await hostileServer(problem(409, 'idempotency-key-in-flight', { 'retry-after': '50' }))
    const { client, waits } = clientOf(url)
    expect(await failure(client.createSite(site))).toMatchObject({ code: 'idempotency-key-in-flight' })
    expect([heard.length, waits]).toEqual([3, [50, 50]])
    const later = await hostileServer(problem(503, 'unavailable', { 'retry-after': '86400' }))
    const patient = clientOf(later.url)
    expect(await failure(patient.client.templates())).toMatchObject({ code: 'unavailable', retryAfterSeconds: 86_400 })
    expect([later.heard.length, patient.waits]).toEqual([1, []])
  })

  test.each([
    ['400', problem(400, 'malformed-json')],
    ['401', problem(401, 'invalid-token')],
    ['404', problem(404, 'not-found')],
    ['408', problem(408, 'request-timeout')],
    ['409', problem(409, 'name-taken', { 'retry-after': '1' })],
    ['422', problem(422, 'validation-failed')],
    ['429 for open requests', problem(429, 'too-many-open-requests', { 'retry-after': '60' })],
    ['500', problem(500, 'internal')],
  ])('does not happen after %s', async (_, refusal) => {
    const { url, heard } = await hostileServer(refusal, accepted)
    const { client, waits } = clientOf(url)
    expect(await failure(client.createSite(site))).toMatchObject({ kind: 'problem', traceId: requestId })
    expect([heard.length, waits]).toEqual([1, []])
  })

  test('a code of a later version becomes unknown, and its text is shown unchanged', async () => {
    const { url } = await hostileServer(problem(418, 'teapot'))
    const error = await failure(clientOf(url).client.templates())
    expect(error).toMatchObject({ code: 'unknown', givenCode: 'teapot', message: '418 teapot: Not now.' })
  })
})

describe('a token', () => {
  test('is never sent to another address of a redirect or an answer', async () => {
    const thief = await hostileServer(accepted)
    for (const status of [301, 302, 303, 307, 308]) {
      const { url, heard } = await hostileServer(reply(status, {}, { location: `${thief.url}/take` }))
      const { client } = clientOf(url)
      expect(await failure(client.createSite(site))).toMatchObject({ kind: 'unexpected-answer', status })
      expect(await failure(client.findProvisionedGroup(requestId))).toMatchObject({ kind: 'unexpected-answer' })
      expect(heard.length).toBe(2)
    }
    const links = { value: [], nextCursor: `${thief.url}/`, '@odata.nextLink': `${thief.url}/` }
    const { url, heard } = await hostileServer(reply(200, links))
    const { client } = clientOf(url)
    const readAll = async () => {
      for await (const _ of client.allRequests());
    }
    expect(await failure(readAll())).toMatchObject({ message: /leads to itself/ })
    await client.findProvisionedGroup(requestId)
    expect(heard.every(({ headers }) => headers.authorization === 'Bearer token-of-kim')).toBe(true)
    expect(thief.heard).toEqual([])
  })

  test('is never sent by http to another machine, and is in no error', async () => {
    const token = async () => 'secret\nInjected: yes'
    expect(() => createClient({ baseUrl: 'http://contoso.example', token })).toThrow('https://')
    expect(() => createClient({ baseUrl: 'https://kim:secret@contoso.example', token })).toThrow('no user name')
    expect(() => createClient({ baseUrl: 'contoso.example', token })).toThrow('an address such as')
    const { url, heard } = await hostileServer(accepted)
    const error = await failure(clientOf(url, { token }).client.createSite(site))
    expect([String(error), heard]).toEqual([expect.not.stringContaining('secret'), []])
  })

  test('is requested before every attempt for the called API', async () => {
    const { url, heard } = await hostileServer(page(503), reply(200, { value: [] }))
    const tokens: string[] = []
    const token = async (resource: string) => `${resource}-${tokens.push(resource)}`
    const { client } = clientOf(url, { token, eitherToken: 'mail' })
    await client.templates()
    await client.findProvisionedGroup(requestId)
    expect(heard.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer mail-1',
      'Bearer mail-2',
      'Bearer directory-3',
    ])
  })
})

describe('an answer that is not from this API', () => {
  test.each([
    ['a page', page(200)],
    [
      'a page that says it is JSON',
      ((response) => send(response, 200, '<h1>', { 'content-type': 'application/json' })) as Reply,
    ],
    ['a list', reply(200, [1])],
    ['another object', reply(200, { hello: 'world' })],
    ['a list that is none', reply(200, { value: 'all' })],
    ['304 without a condition', reply(304, undefined)],
  ])('%s', async (_, answer) => {
    const { url, heard } = await hostileServer(answer)
    expect(await failure(clientOf(url).client.listRequests())).toMatchObject({ kind: 'unexpected-answer' })
    expect(heard.length).toBe(1)
  })

  test('is not read to its end if it is endless', async () => {
    const ended: string[] = []
    const endless: Reply = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => response.destroyed || response.write(' '.repeat(1_000_000), () => setImmediate(more))
      response.on('close', () => void ended.push('closed'))
      more()
    }
    const { url } = await hostileServer(endless)
    expect(await failure(clientOf(url).client.templates())).toMatchObject({ message: /more than \d+ bytes/ })
    await expect.poll(() => ended).toEqual(['closed'])
  })
})

describe('a call ends', () => {
  test('after its time limit, also in the middle of an answer', async () => {
    const stalled: Reply = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{')
    }
    for (const answer of [silent, stalled]) {
      const { url, heard } = await hostileServer(answer)
      const { client } = clientOf(url, { timeoutSeconds: 0.2, retries: 1 })
      expect(await failure(client.templates())).toMatchObject({ kind: 'timed-out', seconds: 0.2 })
      expect(heard.length).toBe(2)
    }
  })

  test('if no server listens', async () => {
    const { client, waits } = clientOf('http://127.0.0.1:1')
    expect(await failure(client.templates())).toMatchObject({ kind: 'network', call: { path: '/templates/v1/' } })
    expect(waits.length).toBe(4)
  })

  test('with the reason if its caller aborts it, without a retry', async () => {
    const reason = new Error('enough')
    const { url, heard } = await hostileServer(silent)
    const controller = new AbortController()
    const call = failure(clientOf(url).client.createSite(site, { signal: controller.signal }))
    await expect.poll(() => heard.length).toBe(1)
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(await failure(clientOf(url).client.templates({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(heard.length).toBe(1)
  })
})
