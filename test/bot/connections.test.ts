import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshConnections } from '../../src/bot/channel/adapter.ts'
import { startServer } from '../support/http-server.ts'

describe('a connection to the connector', () => {
  /** Answers each call with the caller's port, which identifies the connection. */
  let server: Awaited<ReturnType<typeof startServer>>
  beforeAll(async () => {
    server = await startServer((call, answer) => void answer.end(String(call.socket.remotePort)))
  })
  afterAll(() => server.close())

  let now = 0
  const policy = freshConnections(() => now)
  const connection = (): Promise<string> =>
    policy.sendRequest({ url: server.url } as { url: string; agent?: Agent }, async ({ agent }) => {
      const [answer] = await once(request(server.url, { agent, method: 'POST' }).end(), 'response')
      const port = await text(answer)
      // The socket becomes idle in the next turn of the event loop.
      await new Promise(setImmediate)
      return port
    })

  it('is reused at once, but not after a pause in which the connector may have closed it', async () => {
    const first = await connection()
    now += 2000
    expect(await connection()).toBe(first)
    now += 2001
    const second = await connection()
    expect(second).not.toBe(first)
    expect(await connection()).toBe(second)
  })

  it('through a proxy is the one that the SDK chose', async () => {
    const chosen = {} as Agent
    const used = await policy.sendRequest({ url: server.url, agent: chosen }, async ({ agent }) => agent)
    expect(used).toBe(chosen)
  })
})
