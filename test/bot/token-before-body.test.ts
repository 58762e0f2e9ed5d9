import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { withGuardedBot } from '../support/guarded-bot.ts'

describe('a call without a valid token is refused before its body is read', () => {
  const bot = withGuardedBot()
  const refusal = { error: { code: '401', message: 'The token is missing or not valid.' } }

  test.each([
    ['invalid JSON', '{'],
    ['a list', '[]'],
    ['a body above the limit', JSON.stringify({ a: 'x'.repeat(300_000) })],
    ['too many levels', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['a key twice', '{"a":1,"a":2}'],
  ])('%s', async (_, body) => {
    const all: Record<string, string>[] = [{}, { authorization: 'Bearer a.b.c' }, { 'content-type': 'text/plain' }]
    for (const headers of all) {
      const answer = await bot.post(body, headers)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([401, refusal])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="quartermaster"')
      expect(answer.headers.get('x-request-id')).not.toBeNull()
    }
  })

  test('closes the connection with the answer if the body never ends', async () => {
    const socket = connect(Number(new URL(bot.service.app.url).port), '127.0.0.1')
    const head = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked'
    socket.write(`POST /api/messages HTTP/1.1\r\n${head}\r\n\r\n1\r\n[\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1.1 401 [\s\S]*connection: close/i)
  })
})
