import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { problemBody } from '../../src/http/index.ts'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

/** Splits a raw answer into status, headers and body. */
function read(answer: string): { status: number; headers: string; body: unknown } {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: JSON.parse(body || 'null') }
}
const ok = /^HTTP\/1.1 200 /
const healthy = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

describe('an invalid HTTP request', () => {
  test.each([
    ['a plain text', 'hello\r\n\r\n', 400, 'malformed-request'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed-request'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost\r\n\r\n', 400, 'malformed-request'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n', 400, 'malformed-request'],
    ['an invalid length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400, 'malformed-request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'malformed-request',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed-request',
    ],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`, 431, 'headers-too-large'],
    ['the hello of TLS', Buffer.from('160301020001000200', 'hex'), 400, 'malformed-request'],
  ])('with %s receives a problem, and the process continues', async (_, text, status, code) => {
    const rest = await startRest(await startIssuer())
    const answer = read(await rest.raw(text))
    expect([answer.status, problemBody.parse(answer.body)]).toEqual([status, expect.objectContaining({ status, code })])
    expect(answer.headers).toContain('content-type: application/problem+json')
    expect(answer.headers).toContain('connection: close')
    expect(await rest.raw(healthy)).toMatch(ok)
  })

  test('with an unknown Expect header is answered as if the header were missing', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { core: coreWith({ submitSite: async () => requestOf() }) })
    const body = JSON.stringify({ displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' })
    const head = `POST /collab/v1/spo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: more\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    expect(await rest.raw(`${head}\r\n${body}`)).toMatch(/HTTP\/1.1 401 /)
    const answer = await rest.raw(`${head}Authorization: Bearer ${await issuer.token()}\r\n\r\n${body}`)
    expect(answer).toMatch(/HTTP\/1.1 202 /)
  })
})

describe('slow clients', () => {
  const patience = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 }
  /** Sends the beginning, then a byte each `every` milliseconds until the connection closes. Returns the answer. */
  const drip = (port: number, beginning: string, every = 20): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += String(chunk)
      })
      socket.on('error', () => undefined)
      socket.write(beginning)
      const dripping = setInterval(() => socket.write('a'), every)
      socket.on('close', () => {
        clearInterval(dripping)
        resolve(answer)
      })
    })

  test('that do not read the answers are disconnected', async () => {
    const rest = await startRest(await startIssuer(), { patience: { ...patience, timeout: 300 } })
    const socket = connect(rest.server.port, '127.0.0.1')
    socket.pause()
    const ended = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', () => resolve()))
    // More than both ends of a connection can buffer.
    socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
    // Only a write detects a closed connection. These writes are too rare to count as activity.
    const knocking = setInterval(() => socket.write('\r\n'), 1000)
    await ended
    clearInterval(knocking)
  })

  test('are cut off, two hundred of them, in headers and in bodies; other clients are served in the meantime', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { patience })
    const head = `POST /collab/v1/spo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await issuer.token()}\r\n`
    const body = `${head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"displayName":"`
    const activity =
      'POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const slow = Array.from({ length: 200 }, (_, index) =>
      drip(rest.server.port, ['GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ', body, 'G', activity][index % 4] ?? ''),
    )
    let others = 0
    let cut = false
    const all = Promise.all(slow).finally(() => {
      cut = true
    })
    while (!cut) {
      expect((await rest.call('GET', '/healthz')).status).toBe(200)
      others += 1
    }
    const answers = await all
    expect(others).toBeGreaterThan(5)
    for (const answer of answers) {
      const { status, body } = read(answer)
      expect([400, 408]).toContain(status)
      expect(problemBody.safeParse(body).success).toBe(true)
    }
    expect(answers.filter((answer) => answer.includes('request-timeout')).length).toBeGreaterThanOrEqual(100)
  })

  test.each([
    ['a request that is too slow', 'POST /collab/v1/spo HTTP/1.1\r\nHost: x\r\nX-A: a', '408'],
    ['another protocol', 'G', '400'],
  ])('that continue to send after the answer to %s read the answer and start no request', async (_, start, status) => {
    let accepted = 0
    const submitSite = async () => {
      accepted += 1
      return requestOf()
    }
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { core: coreWith({ submitSite }), patience })
    const body = JSON.stringify({ displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' })
    const headers = `Authorization: Bearer ${await issuer.token()}\r\nContent-Type: application/json\r\n`
    const remainder = `\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
    const whole = `POST /collab/v1/spo HTTP/1.1\r\nHost: x${remainder}`
    // The client's side stays open when the server has ended its side, so only the server can close the connection.
    const socket = connect({ port: rest.server.port, host: '127.0.0.1', allowHalfOpen: true })
    const written: NodeJS.ErrnoException[] = []
    let answer = ''
    socket.on('error', (error) => written.push(error))
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.write(start)
    if (status === '400') socket.write('a'.repeat(100))
    await once(socket, 'end')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(remainder)
    const sending = setInterval(() => socket.write(whole), 20)
    await closed
    clearInterval(sending)
    expect([read(answer).status, accepted]).toEqual([Number(status), 0])
    expect(written.map(({ code }) => code)).toEqual([expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/)])
    expect(await rest.raw(healthy)).toMatch(ok)
  })

  // Waits for half a minute, so it belongs to the long run (`npm run test:mutations`), which alone asserts times.
  if (Number(process.env['MUTATIONS'] ?? 0) >= 1000)
    test('are cut off, two hundred of them, within half a minute with the default time-outs', async () => {
      const rest = await startRest(await startIssuer())
      const body =
        'POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n'
      const began = performance.now()
      const cuts = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          await drip(rest.server.port, index % 2 ? body : 'GET / HTTP/1.1\r\nX-A: ', 1000)
          return (performance.now() - began) / 1000
        }),
      )
      console.info(`200 slow sockets: the last was cut after ${Math.max(...cuts).toFixed(1)} s`)
      expect(Math.max(...cuts)).toBeLessThanOrEqual(30)
    })

  test('a request with garbage behind it receives its own answer, and the connection closes', async () => {
    const rest = await startRest(await startIssuer(), { patience })
    const answer = await rest.raw('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE / HTTP/1.1\r\n\r\n')
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  })
})

describe('garbage after complete requests on one connection', () => {
  const heads = (answer: string) => answer.match(/HTTP\/1.1 \d+/g)
  const body = JSON.stringify({ displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' })
  const accepting = async () => {
    const issuer = await startIssuer()
    let accepted = 0
    const submitSite = async () => {
      accepted += 1
      return requestOf()
    }
    const patience = { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 20 }
    const rest = await startRest(issuer, { core: coreWith({ submitSite }), patience })
    const post = (token: string, length = body.length) =>
      `POST /collab/v1/spo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
    return { rest, post, token: await issuer.token(), accepted: () => accepted }
  }

  test('does not change the answer to an accepted request', async () => {
    const { rest, post, token, accepted } = await accepting()
    expect(heads(await rest.raw(`${post(token)}and more\r\n\r\n`))).toEqual(['HTTP/1.1 202'])
    expect(accepted()).toBe(1)
  })

  test('does not prevent the answers to several complete requests', async () => {
    const { rest, post, token, accepted } = await accepting()
    const answer = await rest.raw(`${post(token)}${post(token)}and more\r\n\r\n`)
    expect(heads(answer)).toEqual(['HTTP/1.1 202', 'HTTP/1.1 202'])
    expect(accepted()).toBe(2)
  })

  test('causes no second answer after a refusal that preceded the body', async () => {
    const { rest, post } = await accepting()
    expect(heads(await rest.raw(post('a.b.c', 500)))).toEqual(['HTTP/1.1 401'])
  })
})
