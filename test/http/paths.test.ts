import { describe, expect, test } from 'vitest'
import { definePublicRoute, routeRegistry, routes } from '../../src/http/index.ts'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
const templateId = 'bbbbbbbb-0000-4000-8000-000000000001'
describe('an address', () => {
  const listing = coreWith({
    listRequests: async () => ({ requests: [requestOf()] }),
    readRequest: async () => requestOf(),
  })

  test.each([
    ['/'],
    ['/nothing'],
    ['/collab/v1/'],
    ['/requests/v2/'],
    ['/requests/v1/REQ-'],
    ['/requests/v1/%00'],
    ['/requests/v1/%ff'],
    ['/requests/v1/..%2f..%2fetc'],
    [`/requests/v1/${'a'.repeat(5000)}`],
    ['/requests//v1'],
    ['/templates/v1/1'],
  ])('%s without a route is answered with 404', async (path) => {
    const rest = await startRest(await startIssuer(), { core: listing })
    const answer = await rest.call('GET', path)
    expect([answer.status, answer.body.code]).toEqual([404, 'no-such-address'])
  })

  test('works with and without a slash at its end, and with a query', async () => {
    const rest = await startRest(await startIssuer(), { core: listing })
    for (const path of ['/requests/v1', '/requests/v1/', '/requests/v1/?limit=1', `/requests/v1/${requestId}/`])
      expect((await rest.call('GET', path)).status).toBe(200)
  })

  test.each([
    ['DELETE', `/requests/v1/${requestId}`, 'GET, HEAD'],
    ['GET', '/collab/v1/spo/', 'POST'],
    ['PATCH', `/templates/v1/${templateId}`, 'GET, HEAD, PUT'],
    ['OPTIONS', '/healthz', 'GET, HEAD'],
    ['HEAD', '/api/messages', 'POST'],
  ])('answers %s %s with 405 and the allowed methods', async (method, path, allow) => {
    const answer = await (await startRest(await startIssuer())).call(method, path)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
  })

  test('answers HEAD with the headers of GET and without a body', async () => {
    const rest = await startRest(await startIssuer(), { core: listing })
    const [get, head] = [await rest.call('GET', '/requests/v1'), await rest.call('HEAD', '/requests/v1')]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  })

  test.each([
    ['text/html', 406],
    ['application/json;q=0, */*', 406],
    ['application/xml, text/*;q=0.5', 406],
    ['application/json', 200],
    ['text/html, application/*;q=0.1', 200],
    ['text/html, */*;q=0.1', 200],
  ])('answers Accept: %s with %i', async (accept, status) => {
    const rest = await startRest(await startIssuer(), { core: listing })
    expect((await rest.call('GET', '/requests/v1', { headers: { accept } })).status).toBe(status)
  })
})

describe('an unusual request', () => {
  test.each([
    ['GET / HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n', 404],
    ['GET /nothing HTTP/1.1\r\nHost: x/healthz?\r\nConnection: close\r\n\r\n', 404],
    ['GET //healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
    ['GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['GET http://elsewhere/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
    ['GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n', 200],
    ['GET /healthz HTTP/1.0\r\n\r\n', 200],
  ])('%j is answered, and the service continues', async (text, status) => {
    const rest = await startRest(await startIssuer())
    expect(await rest.raw(text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
  })
})

describe('routes', () => {
  const about = { tag: 'Service', summary: '', description: '', permission: 'public', audience: null } as const
  const route = { ...about, answers: { 204: { description: '', body: null } }, refusals: [], examples: {} } as const
  const handle = async () => ({ status: 204 }) as const

  test('with the same call are refused at start', () => {
    const one = definePublicRoute({ ...route, id: 'one', method: 'GET', path: '/a/:id', handle })
    const other = definePublicRoute({ ...route, id: 'other', method: 'GET', path: '/a/:name', handle })
    expect(() => routeRegistry(one, other)).toThrow('two routes serve GET /a/:name')
  })

  test('that are not public require a token, and write a log line', async () => {
    const rest = await startRest(await startIssuer())
    for (const { method, path, permission } of routes) {
      if (permission === 'public') continue
      const address = path.replace(':requestId', requestId).replace(':templateId', templateId)
      const answer = await rest.call(method, address, { headers: { authorization: '' } })
      expect([address, answer.status]).toEqual([address, 401])
      expect(rest.lines.at(-1)).toMatchObject({ method, route: path, status: 401, level: 'info' })
    }
  })
})
