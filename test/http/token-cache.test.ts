import { describe, expect, test } from 'vitest'
import { startTokenDoor } from '../support/token-endpoint.ts'

describe('a token that was found good', () => {
  test('is judged anew when the clock was set back', async () => {
    let at = Date.now()
    const door = await startTokenDoor({ now: () => new Date(at) })
    const token = await door.issuer.token()
    expect((await door.call('requests', token)).status).toBe(200)
    at -= 3_600_000
    // By this clock it is not valid yet.
    expect((await door.call('requests', token)).status).toBe(401)
  })

  test('is good for its own API only, however often it was shown there', async () => {
    const door = await startTokenDoor()
    const token = await door.issuer.token()
    for (let count = 0; count < 3; count += 1) {
      expect((await door.call('site', token)).status).toBe(202)
      expect((await door.call('requests', token)).status).toBe(200)
      expect((await door.call('mailbox', token)).status).toBe(401)
    }
  })

  test('ends with its own end, and a minute later', async () => {
    let at = Date.now()
    const door = await startTokenDoor({ now: () => new Date(at) })
    const token = await door.issuer.token({ exp: door.issuer.now() + 10 })
    expect((await door.call('requests', token)).status).toBe(200)
    at += 55_000
    expect((await door.call('requests', token)).status).toBe(200)
    at += 20_000
    expect((await door.call('requests', token)).status).toBe(401)
  })
})
