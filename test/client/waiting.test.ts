import { describe, expect, test } from 'vitest'
import { clientOf, hostileServer, type Reply, reply, slowMotion } from '../support/hostile-server.ts'

const requestId = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
const as = (status: string, version: number, headers: Record<string, string> = {}) =>
  reply(200, { requestId, reference: 'REQ-1042', status }, { etag: `"${version}"`, ...headers })
const same = (headers: Record<string, string> = {}) => reply(304, undefined, headers)
const held = { 'preference-applied': 'wait=30' }
/** The time for which the server holds an answer. */
const later =
  (pass: (seconds: number) => void, seconds: number, answer: Reply): Reply =>
  (...to) => {
    pass(seconds)
    answer(...to)
  }

describe('waiting for a request', () => {
  test('polls a server that does not hold answers after 20 s, then every 10 s', async () => {
    const { url, heard } = await hostileServer(as('queued', 1), same(), as('provisioning', 2), as('succeeded', 3))
    const { client, waits } = clientOf(url)
    const changes: string[] = []
    const request = await client.waitForRequest(requestId, { onChange: ({ status }) => void changes.push(status) })
    expect([request.status, changes, waits]).toEqual([
      'succeeded',
      ['queued', 'provisioning', 'succeeded'],
      [20, 10, 10],
    ])
    expect(heard.map(({ headers }) => headers['if-none-match'])).toEqual(['"0"', '"1"', '"1"', '"2"'])
  })

  test('follows Retry-After between polls', async () => {
    const { url } = await hostileServer(as('queued', 1, { 'retry-after': '45' }), as('failed', 2))
    const { client, waits } = clientOf(url)
    expect((await client.waitForRequest(requestId)).status).toBe('failed')
    expect(waits).toEqual([45])
  })

  test('polls a server that holds answers again at once', async () => {
    const time = slowMotion()
    const { url, heard } = await hostileServer(
      as('queued', 1, held),
      later(time.pass, 30, same(held)),
      later(time.pass, 12, as('succeeded', 2, held)),
    )
    await clientOf(url, { timing: time.timing }).client.waitForRequest(requestId)
    expect(time.waits).toEqual([0.5, 0.5])
    expect(heard.map(({ headers }) => headers['prefer'])).toEqual(Array(3).fill('wait=30'))
  })

  test('does not flood a server that announces held answers but answers at once', async () => {
    const { url } = await hostileServer(as('queued', 1, held), same(held), same(held), as('expired', 2, held))
    const { client, waits } = clientOf(url)
    await client.waitForRequest(requestId)
    expect(waits).toEqual([0.5, 19.5, 10])
  })

  test('compares the shown fields if a server sends no ETags', async () => {
    const plain = (status: string) => reply(200, { requestId, reference: 'REQ-1042', status })
    const { url } = await hostileServer(plain('queued'), plain('queued'), plain('succeeded'))
    const changes: string[] = []
    await clientOf(url).client.waitForRequest(requestId, { onChange: ({ status }) => void changes.push(status) })
    expect(changes).toEqual(['queued', 'succeeded'])
  })

  test('ends with the latest version after a last poll', async () => {
    const { url, heard } = await hostileServer(as('pendingApproval', 1), same())
    const { client, waits } = clientOf(url)
    const error = await client.waitForRequest(requestId, { timeoutSeconds: 25 }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'still-under-way', request: { status: 'pendingApproval' } })
    expect([waits, heard.map(({ headers }) => headers['prefer'])]).toEqual([
      [20, 5],
      ['wait=25', 'wait=5', undefined],
    ])
  })

  test('ends at the time limit with the latest version while the service is away', async () => {
    const away = reply(503, { code: 'draining' }, { 'retry-after': '60' })
    const { url, heard } = await hostileServer(as('queued', 1), away)
    const { client, waits } = clientOf(url)
    const error = await client.waitForRequest(requestId, { timeoutSeconds: 40 }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'still-under-way', request: { status: 'queued' } })
    expect([waits, heard.length]).toEqual([[20, 20], 2])
    const unknown = await hostileServer(away)
    await expect(clientOf(unknown.url).client.waitForRequest(requestId, { timeoutSeconds: 40 })).rejects.toMatchObject({
      code: 'draining',
    })
  })

  test('ends soon after the time limit if the connection does not answer', async () => {
    const { url } = await hostileServer(as('queued', 1), () => undefined)
    const began = performance.now()
    const error = await clientOf(url)
      .client.waitForRequest(requestId, { timeoutSeconds: 20 })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'still-under-way', request: { status: 'queued' } })
    expect(performance.now() - began).toBeLessThan(20_000)
  }, 60_000)

  test('supports `until`, and ends with its signal or with an error of onChange', async () => {
    const { url } = await hostileServer(as('pendingApproval', 1), as('queued', 2))
    const { client } = clientOf(url)
    const until = ({ status }: { status: string }) => status !== 'pendingApproval'
    expect((await client.waitForRequest(requestId, { until })).status).toBe('queued')
    const reason = new Error('enough')
    const throwing = () => {
      throw reason
    }
    await expect(client.waitForRequest(requestId, { onChange: throwing })).rejects.toBe(reason)
    const controller = new AbortController()
    const onChange = () => controller.abort(reason)
    await expect(client.waitForRequest(requestId, { onChange, signal: controller.signal })).rejects.toBe(reason)
  })

  test('continues after a short outage of the service', async () => {
    const away = reply(503, { code: 'draining' }, { 'retry-after': '5' })
    const { url } = await hostileServer(as('queued', 1), away, as('succeeded', 2))
    const { client, waits } = clientOf(url)
    expect((await client.waitForRequest(requestId)).status).toBe('succeeded')
    expect(waits).toEqual([20, 5])
  })
})

describe('the lookup of a provisioned group', () => {
  const group = {
    ...{ id: 'g1', displayName: 'Apollo' },
    svc_group: { extensionAttribute1: 'contoso,1,2', extensionAttribute3: 'https://contoso.example/sites/apollo' },
  }

  test('sends the documented query', async () => {
    const { url, heard } = await hostileServer(reply(200, { '@odata.context': 'x', value: [group] }))
    const found = await clientOf(url).client.findProvisionedGroup(requestId.toUpperCase())
    expect(found).toEqual({
      ...{ id: 'g1', displayName: 'Apollo', siteId: 'contoso,1,2' },
      url: 'https://contoso.example/sites/apollo',
    })
    expect(decodeURIComponent(heard[0]?.call ?? '')).toBe(
      `GET /v1.0/groups?$filter=svc_group/requestId eq '${requestId}'&$select=id,displayName,svc_group`,
    )
  })

  test('omits an invalid address, and omits addresses if there are two groups', async () => {
    const odd = { ...group, svc_group: { extensionAttribute3: 'javascript:alert(1)' } }
    const { url } = await hostileServer(reply(200, { value: [odd] }), reply(200, { value: [group, odd] }))
    const { client } = clientOf(url)
    const bare = { id: 'g1', displayName: 'Apollo' }
    expect([await client.findProvisionedGroup(requestId), await client.findProvisionedGroup(requestId)]).toEqual([
      bare,
      bare,
    ])
  })

  test('polls after 20, 30, 40 and 50 s, and then stops', async () => {
    const { url, heard } = await hostileServer(reply(200, { value: [] }))
    const { client, waits } = clientOf(url)
    expect(await client.waitForProvisionedGroup(requestId)).toBeUndefined()
    expect([waits, heard.length]).toEqual([[20, 10, 10, 10], 4])
  })

  test('reports Graph’s code if the directory refuses', async () => {
    const refusal = reply(
      403,
      { error: { code: 'Authorization_RequestDenied', message: 'No.' } },
      { 'content-type': 'application/json' },
    )
    const { url } = await hostileServer(refusal)
    await expect(clientOf(url).client.findProvisionedGroup(requestId)).rejects.toMatchObject({
      ...{ kind: 'directory', status: 403, code: 'Authorization_RequestDenied' },
    })
    await expect(clientOf(url).client.findProvisionedGroup("x' or '1' eq '1")).rejects.toThrow('UUID')
    await expect(clientOf(url, { directoryUrl: undefined }).client.findProvisionedGroup(requestId)).rejects.toThrow(
      'directoryUrl',
    )
  })
})
