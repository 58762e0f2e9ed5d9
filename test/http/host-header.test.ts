import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { problemBody } from '../../src/http/index.ts'
import { startIssuer, startRest } from '../support/rest.ts'
import { withService } from '../support/service.ts'

const heads = (answer: string) => answer.match(/^HTTP\/1.1 \d+/gm)
const problemIn = (answer: string) => problemBody.parse(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''))

describe('the Host header', () => {
  test.each([
    ['none', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
  ])('%s is refused with a problem', async (_, text) => {
    const rest = await startRest(await startIssuer())
    const answer = await rest.raw(text)
    expect(problemIn(answer)).toMatchObject({ status: 400, code: 'malformed-request' })
  })

  test('may be missing in HTTP/1.0', async () => {
    const rest = await startRest(await startIssuer())
    expect(heads(await rest.raw('GET /healthz HTTP/1.0\r\n\r\n'))).toEqual(['HTTP/1.1 200'])
  })
})

/** Sends bytes to an address of local mode, like a browser on this machine. */
const ask = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
    socket.write(text)
  })
const statusOf = (answer: string): number => Number(answer.split(' ')[1])

describe('in local mode, whose chat needs no tokens, a web page', () => {
  const service = withService()
  const activity = JSON.stringify({ type: 'message', text: 'help' })
  const head = `Content-Type: application/json\r\nContent-Length: ${activity.length}\r\nConnection: close\r\n`
  const post = (host: string, more = '') =>
    ask(service.app.url, `POST /api/messages HTTP/1.1\r\nHost: ${host}\r\n${head}${more}\r\n${activity}`)
  const port = () => new URL(service.app.url).port

  test.each([
    ['a name of its own that leads here', 'evil.example', ''],
    ['that name and our port', 'evil.example:3978', ''],
    ['what begins like our address', '127.0.0.1.evil.example', ''],
    ['what ends like it', 'evil-localhost', ''],
    ['an address of the network', '192.168.1.7', ''],
    ['our address, from its own', '127.0.0.1', 'Origin: https://evil.example\r\n'],
    ['our address, from a file', '127.0.0.1', 'Origin: null\r\n'],
    ['our address, from another port', '127.0.0.1', 'Origin: http://127.0.0.1:8080\r\n'],
  ])('under %s cannot write to the chat', async (_, host, more) => {
    const answer = await post(host, more)
    expect(problemIn(answer)).toMatchObject({ status: 400, code: 'malformed-request' })
  })

  test.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])(
    'of the service itself at %s can write to the chat',
    async (name) => {
      const host = `${name}:${port()}`
      // The bot itself refuses this incomplete activity.
      expect(statusOf(await post(host, `Origin: http://${host}\r\n`))).toBe(400)
      expect(await post(host)).toContain('This is not a Bot Framework activity.')
    },
  )

  test('of another address cannot call the simulated Microsoft 365', async () => {
    const { url } = service.app.endpoints.simulator ?? { url: '' }
    const host = new URL(url).host
    const form = 'user_code=ABC&answer=allow'
    const sign = (name: string, origin: string) =>
      ask(
        url,
        `POST /devicelogin HTTP/1.1\r\nHost: ${name}\r\n${origin}Content-Type: application/x-www-form-urlencoded\r\n` +
          `Content-Length: ${form.length}\r\nConnection: close\r\n\r\n${form}`,
      )
    expect(statusOf(await sign('evil.example', ''))).toBe(421)
    expect(statusOf(await sign(host, 'Origin: https://evil.example\r\n'))).toBe(403)
    // Its own page can: only the code is unknown.
    expect(await sign(host, `Origin: http://${host}\r\n`)).toContain('That code is not known')
  })
})
