import { describe, expect, test } from 'vitest'
import type { IdempotencyStore } from '../../src/core/index.ts'
import type { LimitOptions } from '../../src/http/index.ts'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

const body = { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }
const { requestId, tenantId } = requestOf()
const accepted = JSON.stringify({ requestId, tenantId, approvalRequired: false, status: 'queued' })
const answer = { status: 202, headers: { Location: `/requests/v1/${requestId}`, 'Retry-After': '20' }, body: accepted }
const replaying: IdempotencyStore = {
  claim: async () => ({ state: 'answered', answer }),
  complete: async () => undefined,
  renew: async () => undefined,
  release: async () => undefined,
  forgetOld: async () => undefined,
}

async function limited(limits: Partial<LimitOptions>) {
  const issuer = await startIssuer()
  let at = Date.now()
  const rest = await startRest(issuer, {
    core: coreWith({
      submitSite: async () => requestOf(),
      listRequests: async () => ({ requests: [] }),
    }),
    idempotency: replaying,
    limits: { writesPerMinute: 0, writeBurst: 0, readsPerMinute: 0, tenantWritesPerMinute: 0, ...limits },
    clock: { now: () => new Date(at) },
  })
  const tokenOf = (person: number) => issuer.token({ oid: `11111111-aaaa-4aaa-8aaa-00000000000${person}` })
  const authorizationOf = async (person: number) => ({ authorization: `Bearer ${await tokenOf(person)}` })
  return {
    pass: (seconds: number) => {
      at += seconds * 1000
    },
    read: async (person = 1) => rest.call('GET', '/requests/v1/', { headers: await authorizationOf(person) }),
    write: async (person = 1, headers = {}, sent: unknown = body) =>
      rest.call('POST', '/collab/v1/spo/', {
        body: sent,
        headers: { ...(await authorizationOf(person)), ...headers },
      }),
  }
}

describe('rate limits', () => {
  test('do not count repeats with an Idempotency-Key as writes, but allow only as many as reads', async () => {
    const { write, read, pass } = await limited({ writesPerMinute: 60, writeBurst: 1, readsPerMinute: 3 })
    const repeat = (person = 1) => write(person, { 'idempotency-key': 'again' })
    for (let count = 0; count < 3; count += 1) expect((await repeat()).status).toBe(202)
    const refused = await repeat()
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate-limited', '20'])
    expect(refused.headers.get('ratelimit-policy')).toBe('"attempts";q=3;w=60')
    // Repeats use up neither other limits nor the limits of other people.
    expect([(await read()).status, (await write()).status, (await repeat(2)).status]).toEqual([200, 202, 202])
    pass(20)
    expect((await repeat()).status).toBe(202)
  })

  test('allow a burst of writes, then answer 429 with Retry-After, then allow writes at the configured rate', async () => {
    const { write, read, pass } = await limited({ writesPerMinute: 60, writeBurst: 3 })
    for (let count = 0; count < 3; count += 1) expect((await write()).status).toBe(202)
    const refused = await write()
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate-limited', '1'])
    expect(refused.headers.get('ratelimit-policy')).toBe('"writes";q=3;w=3')
    expect(refused.headers.get('ratelimit')).toBe('"writes";r=0;t=3')
    expect(refused.body.detail).toBe('The limit is 60 writes a minute, and at most 3 at once. Wait 1 s.')
    expect((await read()).status).toBe(200)
    pass(2)
    expect([(await write()).status, (await write()).status, (await write()).status]).toEqual([202, 202, 429])
  })

  test('count reads separately, with all reads of a minute at once', async () => {
    const { read, pass } = await limited({ readsPerMinute: 5 })
    for (let left = 4; left >= 0; left -= 1)
      expect((await read()).headers.get('ratelimit')).toMatch(new RegExp(`^"reads";r=${left};`))
    expect((await read()).headers.get('retry-after')).toBe('12')
    pass(12)
    expect([(await read()).status, (await read()).status]).toEqual([200, 429])
  })

  test('apply to each person, and to the whole tenant', async () => {
    const { write } = await limited({ writesPerMinute: 60, writeBurst: 2, tenantWritesPerMinute: 3 })
    expect([(await write(1)).status, (await write(1)).status, (await write(1)).status]).toEqual([202, 202, 429])
    expect([(await write(2)).status, (await write(2)).status]).toEqual([202, 429])
  })

  test('count calls with refused bodies', async () => {
    const { write } = await limited({ writesPerMinute: 60, writeBurst: 1 })
    expect([(await write(1, {}, '{')).status, (await write()).status]).toEqual([400, 429])
  })

  test('do not count replayed answers', async () => {
    const { write } = await limited({ writesPerMinute: 60, writeBurst: 1 })
    await write()
    const again = await write(1, { 'idempotency-key': 'k' })
    expect([again.status, again.headers.get('ratelimit')]).toEqual([202, null])
    expect((await write()).status).toBe(429)
  })

  test('of zero allow any number of calls', async () => {
    const { read, write } = await limited({})
    for (let count = 0; count < 50; count += 1) expect((await read()).status).toBe(200)
    const last = await write()
    expect([last.status, last.headers.get('ratelimit')]).toEqual([202, null])
  })
})
