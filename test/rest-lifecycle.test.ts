import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { coreWith, startIssuer, startRest } from './support/rest.ts'

describe('health', () => {
  test('readiness names what does not work: 503', async () => {
    const checks = { store: 'ok', directory: 'unreachable' }
    const rest = await startRest(await startIssuer(), { health: { ready: async () => ({ ok: false, checks }) } })
    const answer = await rest.call('GET', '/readyz')
    expect([answer.status, answer.body]).toEqual([503, { status: 'unavailable', checks }])
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
  })
})

describe('closing', () => {
  test('a running request is answered, a new one on an open connection gets 503, then nothing listens', async () => {
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
    const rest = await startRest(issuer, { provisioning: coreWith({ list }) })
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
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect(fetch(`${rest.server.url}/healthz`)).rejects.toThrow()
    await expect.poll(() => rest.lines.some(({ status }) => status === 503)).toBe(true)
    finish({ requests: [] })
    await Promise.all([closed, ended])
    expect(heard).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 503 [\s\S]*retry-after: 5/i)
  })
})
