import { describe, expect, test } from 'vitest'
import { coreWith, type Issuer, startIssuer, startRest } from '../support/rest.ts'

const bearer = async (token: Promise<string>): Promise<string> => `Bearer ${await token}`

describe('the keys of the issuer', () => {
  const listing = coreWith({ listRequests: async () => ({ requests: [] }) })
  const withClock = async (issuer: Issuer) => {
    let ahead = 0
    const rest = await startRest(issuer, {
      core: listing,
      clock: { now: () => new Date(Date.now() + ahead) },
    })
    const statusOf = async (token: Promise<string>) =>
      (await rest.call('GET', '/requests/v1/', { headers: { authorization: await bearer(token) } })).status
    const pass = (seconds: number) => {
      ahead += seconds * 1000
    }
    return { statusOf, pass }
  }

  test('include a new key within a minute, and are fetched once a minute for unknown keys', async () => {
    const issuer = await startIssuer()
    const { statusOf, pass } = await withClock(issuer)
    const next = await issuer.makeKey('next')
    expect(await statusOf(issuer.token())).toBe(200)
    issuer.publish(issuer.key, next)
    for (let attempt = 0; attempt < 20; attempt += 1) expect(await statusOf(issuer.token({}, {}, next))).toBe(401)
    expect(issuer.keyRequests()).toBe(1)
    pass(60)
    expect(await statusOf(issuer.token({}, {}, next))).toBe(200)
    for (const kid of ['a', 'b', 'c']) expect(await statusOf(issuer.token({}, { kid }))).toBe(401)
    expect(issuer.keyRequests()).toBe(2)
  })

  test('stay in use while the issuer does not answer, but a new key is refused', async () => {
    const issuer = await startIssuer()
    const { statusOf, pass } = await withClock(issuer)
    expect(await statusOf(issuer.token())).toBe(200)
    issuer.answerWith(500)
    pass(1800)
    expect(await statusOf(issuer.token())).toBe(200)
    expect(await statusOf(issuer.token({}, {}, await issuer.makeKey('next')))).toBe(401)
  })

  test('exclude a withdrawn key after the next fetch', async () => {
    const issuer = await startIssuer()
    const { statusOf, pass } = await withClock(issuer)
    const next = await issuer.makeKey('next')
    expect(await statusOf(issuer.token())).toBe(200)
    issuer.publish(next)
    pass(601)
    // The old keys may still answer the first call while the new keys are fetched.
    await statusOf(issuer.token())
    await expect.poll(() => statusOf(issuer.token())).toBe(401)
    expect(await statusOf(issuer.token({}, {}, next))).toBe(200)
  })

  test('if missing, cause 503 with Retry-After until the issuer answers', async () => {
    const issuer = await startIssuer()
    issuer.answerWith(500)
    const { statusOf, pass } = await withClock(issuer)
    expect(await statusOf(issuer.token())).toBe(503)
    issuer.answerWith(200)
    pass(2)
    expect(await statusOf(issuer.token())).toBe(200)
  })
})
