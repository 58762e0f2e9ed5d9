import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { withAccessWorld } from '../support/access-world.ts'
import { botAppId } from '../support/connector-keys.ts'
import { cheapForgery } from '../support/forged-tokens.ts'
import { keptOf, repeatedly } from '../support/growth.ts'
import { withGuardedBot } from '../support/guarded-bot.ts'
import { type Call, calls } from '../support/token-endpoint.ts'
import { withTrap } from '../support/trap.ts'

const names: readonly Call[] = ['site', 'mailbox', 'requests', 'templates']

describe('invalid tokens at the API', () => {
  const world = withAccessWorld()
  const trap = withTrap()

  it('two thousand different ones: nothing is stored, and the keys are fetched at most once a minute', async () => {
    const { rest, issuer } = world.doors
    const statuses = new Set<number>()
    const send = async (round: number) => {
      const [method, path, body] = calls[names[round % names.length] ?? 'site']
      const answer = await fetch(`${rest.server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${cheapForgery(issuer.claims())}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      statuses.add(answer.status)
      await answer.text()
    }
    const before = await world.rows()
    await repeatedly(1000, send)
    const keyRequests = issuer.keyRequests()
    const begun = performance.now()
    rest.lines.splice(0)
    const kept = await keptOf(2000, async (round) => {
      await send(round)
      rest.lines.splice(0)
    })
    expect([...statuses]).toEqual([401])
    expect(issuer.keyRequests() - keyRequests).toBeLessThanOrEqual(oneEachMinute(begun))
    expect(await world.rows()).toEqual(before)
    expect(trap.hits).toEqual([])
    expect(kept).toEqual([])
  })
})

describe('forged tokens of the channel', () => {
  const trap = withTrap()
  const { keys, click, postWith, rows } = withGuardedBot()

  it('two thousand different ones: nothing is stored, and the keys are not fetched again', async () => {
    const forge = (round: number): string | Promise<string> => {
      if (round % 50 > 0) return cheapForgery({ aud: botAppId, azp: botAppId, serviceurl: click()['serviceUrl'] })
      return keys.token({ iss: `https://sts.windows.net/${randomUUID()}/`, appid: botAppId })
    }
    const statuses = new Set<number>()
    const send = async (round: number) => {
      const { status } = await postWith(forge(round))
      statuses.add(status)
    }
    const before = await rows()
    const remembered = issuersOfSdk()
    const issuers = remembered.length
    expect(issuers).toBeGreaterThan(0)
    await repeatedly(1000, send)
    const keyRequests = keys.keyRequests.length
    const begun = performance.now()
    const kept = await keptOf(4000, send)
    expect([...statuses]).toEqual([401])
    expect(keys.keyRequests.length - keyRequests).toBeLessThanOrEqual(oneEachMinute(begun))
    expect(trap.hits).toEqual([])
    expect(await rows()).toEqual(before)
    expect(remembered.length).toBe(issuers)
    expect(kept).toEqual([])
  })
})

/** Returns how often unknown keys may be fetched since `begun`: once in a minute. */
const oneEachMinute = (begun: number): number => 1 + Math.floor((performance.now() - begun) / 60_000)

/** Returns the SDK's own list of issuers, which forged tokens once enlarged (reliability F2). */
function issuersOfSdk(): readonly string[] {
  const require = createRequire(import.meta.url)
  const sdk = require('botframework-connector/lib/auth/tokenValidationParameters.js') as {
    ToBotFromBotOrEmulatorTokenValidationParameters: { issuer: string[] }
  }
  return sdk.ToBotFromBotOrEmulatorTokenValidationParameters.issuer
}
