import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { coreWith, startIssuer, startRest } from '../support/rest.ts'

describe('readiness', () => {
  test('answers 503 and names failed checks', async () => {
    const checks = { store: 'ok', directory: 'unreachable' }
    const rest = await startRest(await startIssuer(), { health: { ready: async () => ({ ok: false, checks }) } })
    const answer = await rest.call('GET', '/readyz')
    expect([answer.status, answer.body]).toEqual([503, { status: 'unavailable', checks }])
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
  })
})

test('keeps idle connections open longer than a proxy with 60 s', async () => {
  const rest = await startRest(await startIssuer())
  const { headers } = await rest.call('GET', '/healthz')
  expect(headers.get('keep-alive')).toBe('timeout=75')
})

test('gives a dry run of a batch more time than other calls', async () => {
  const slow = () => new Promise((resolve) => setTimeout(() => resolve([]), 600))
  const rest = await startRest(await startIssuer(), {
    core: coreWith({ checkBatch: slow, listRequests: slow }),
    patience: { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000, timeout: 200 },
  })
  const body = { dryRun: true, resource: 'site', rows: [{ key: 'a', body: {} }] }
  expect((await rest.call('POST', '/requests/v1/batch', { body })).body).toEqual({ valid: true, rows: [] })
  await expect(rest.call('GET', '/requests/v1/')).rejects.toThrow()
})

describe('a closing server', () => {
  test('ends idle connections soon', async () => {
    const rest = await startRest(await startIssuer())
    const socket = connect(rest.server.port, '127.0.0.1')
    const answered = new Promise((resolve) => socket.once('data', resolve))
    const ended = new Promise((resolve) => socket.once('close', resolve))
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await answered
    await Promise.all([rest.server.close(), ended])
  })

  test('answers open requests, refuses new requests with 503, then stops listening', async () => {
    let finish: (value: unknown) => void = () => undefined
    let begun: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      begun = resolve
    })
    const list = () => {
      begun()
      return new Promise((resolve) => {
        finish = resolve
      })
    }
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { core: coreWith({ listRequests: list }) })
    const socket = connect(rest.server.port, '127.0.0.1')
    let heard = ''
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
    })
    const ended = new Promise((resolve) => socket.once('close', resolve))
    const authorization = `Authorization: Bearer ${await issuer.token()}`
    socket.write(`GET /requests/v1/ HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`)
    await reached
    const closed = rest.server.close()
    socket.write('GET /templates/v1 HTTP/1.1\r\nHost: x\r\n\r\n')
    for (const path of ['/collab/v1/spo/', '/api/messages', '/webhooks/provisioning']) {
      const answer = await rest.call('POST', path, { body: {} })
      expect([answer.status, answer.headers.get('retry-after'), answer.body]).toMatchObject([
        503,
        '5',
        { code: 'draining' },
      ])
    }
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
    expect(await rest.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { checks: { process: 'is draining' } },
    })
    finish({ requests: [] })
    await Promise.all([closed, ended])
    await expect(fetch(`${rest.server.url}/healthz`)).rejects.toThrow()
    expect(heard).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 503 [\s\S]*retry-after: 5/i)
  })

  test('answers a hanging request with 503', async () => {
    let begun: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      begun = resolve
    })
    const list = () => {
      begun()
      return new Promise(() => undefined)
    }
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { core: coreWith({ listRequests: list }) })
    const hanging = rest.call('GET', '/requests/v1/')
    await reached
    await rest.server.close()
    expect(await hanging).toMatchObject({ status: 503, body: { code: 'draining' } })
  })
})

describe('a starting server', () => {
  test('answers 503 to all calls except /healthz until it opens', async () => {
    const rest = await startRest(await startIssuer(), { starting: true })
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
    expect(await rest.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { checks: { process: 'is starting' } },
    })
    expect(await rest.call('GET', '/templates/v1')).toMatchObject({ status: 503, body: { code: 'starting' } })
    rest.server.open()
    expect((await rest.call('GET', '/readyz')).status).toBe(200)
    expect((await rest.call('GET', '/nothing')).status).toBe(404)
  })
})
