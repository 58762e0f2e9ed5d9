import { describe, expect, test } from 'vitest'
import { startTokenDoor } from '../support/token-endpoint.ts'

describe('a verified token', () => {
  test('is verified again after the clock was set back', async () => {
    let at = Date.now()
    const door = await startTokenDoor({ now: () => new Date(at) })
    const token = await door.issuer.token()
    expect((await door.call('requests', token)).status).toBe(200)
    at -= 3_600_000
    // By this clock the token is not valid yet.
    expect((await door.call('requests', token)).status).toBe(401)
  })

  test('is valid only for its own API, also after repeated calls', async () => {
    const door = await startTokenDoor()
    const token = await door.issuer.token()
    for (let count = 0; count < 3; count += 1) {
      expect((await door.call('site', token)).status).toBe(202)
      expect((await door.call('requests', token)).status).toBe(200)
      expect((await door.call('mailbox', token)).status).toBe(401)
    }
  })

  test('is refused a minute after its expiry', async () => {
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
