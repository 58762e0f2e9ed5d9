import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { asWritten, ProvisioningError } from '../../src/core/index.ts'
import { preferredWait } from '../../src/http/server/waiting.ts'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'
import { until } from '../support/until.ts'

const requestId = requestOf().requestId
const path = `/requests/v1/${requestId}`
const waiting = { prefer: 'wait=30', 'if-none-match': '"1"' }
const applied = (answer: { headers: Headers }) => answer.headers.get('preference-applied')

/** Starts a server with a request that a test changes, and records the server's polls of the store. */
async function serve(more: Parameters<typeof requestOf>[0] = {}) {
  const changed = new Map<string, number>()
  const looks: (readonly string[])[] = []
  const versionOf = (id: string) => changed.get(id) ?? 1
  let fault: ProvisioningError | undefined
  const fail = () => {
    if (fault) throw fault
  }
  const issuer = await startIssuer()
  const rest = await startRest(issuer, {
    core: coreWith({
      async readRequest(_: unknown, { requestId }: { requestId: string }) {
        fail()
        return requestOf({ requestId, version: versionOf(requestId), ...more })
      },
      system: {
        async readVersions(ids: readonly string[]) {
          looks.push(ids)
          fail()
          return new Map(ids.map((id) => [id, versionOf(id)]))
        },
      },
    }),
  })
  return {
    rest,
    issuer,
    looks,
    change: (id = requestId) => void changed.set(id, versionOf(id) + 1),
    failWith: (error: ProvisioningError) => {
      fault = error
    },
    wait: (headers: Record<string, string> = waiting) => rest.call('GET', path, { headers }),
    looked: (times: number) => until(() => looks.length >= times, `${times} looks`),
  }
}

describe('Prefer: wait', () => {
  test('holds the answer until the request has another version', async () => {
    const { wait, change, looked } = await serve()
    let answered = false
    const answer = wait().finally(() => {
      answered = true
    })
    await looked(2)
    expect(answered).toBe(false)
    change()
    expect(await answer).toMatchObject({ status: 200, body: { requestId } })
    expect([(await answer).headers.get('etag'), applied(await answer)]).toEqual(['"2"', 'wait=30'])
  })

  test('ends with 304 after the wait', async () => {
    const answer = await (await serve()).wait({ ...waiting, prefer: 'respond-async, wait=1' })
    expect([answer.status, answer.text, applied(answer)]).toEqual([304, '', 'wait=1'])
  })

  test('without an ETag waits for the next version', async () => {
    const { wait, change, looked } = await serve()
    const answer = wait({ prefer: 'wait=30' })
    await looked(1)
    change()
    expect((await answer).headers.get('etag')).toBe('"2"')
  })

  test('answers at once for an older version of the caller, or if no other version will follow', async () => {
    const old = await serve({ version: 7 })
    expect([(await old.wait()).status, applied(await old.wait()), old.looks]).toEqual([200, 'wait=30', []])
    const over = await serve({ status: 'succeeded' })
    expect([(await over.wait()).status, applied(await over.wait()), over.looks]).toEqual([304, 'wait=30', []])
  })

  test('checks read access again after a change', async () => {
    const { wait, failWith, looked } = await serve()
    const answer = wait()
    await looked(1)
    failWith(new ProvisioningError('not-found', asWritten('There is no such request.')))
    expect(await answer).toMatchObject({ status: 404, body: { code: 'not-found' } })
  })

  test('reports an unavailable store at once', async () => {
    const { wait, failWith, looked } = await serve()
    const answer = wait()
    await looked(1)
    failWith(new ProvisioningError('unavailable', asWritten('Please try again in a minute.')))
    expect(await answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })

  test('polls once for all waiting calls, and not at all without them', async () => {
    const { rest, issuer, looks, change, looked } = await serve()
    const ids = Array.from({ length: 120 }, () => randomUUID())
    const calls = ids.map(async (id, index) => {
      const authorization = `Bearer ${await issuer.token({ oid: ids[index % 20] })}`
      return rest.call('GET', `/requests/v1/${id}`, { headers: { ...waiting, authorization } })
    })
    await until(() => looks.at(-1)?.length === ids.length, 'one look for all')
    for (const id of ids) change(id)
    const answers = await Promise.all(calls)
    expect(answers.map(({ status, headers }) => [status, headers.get('etag')])).toEqual(ids.map(() => [200, '"2"']))
    const before = looks.length
    const last = rest.call('GET', path, { headers: waiting })
    await looked(before + 1)
    // From then on the polls contain only the single waiting call.
    expect(looks.slice(before).every((ids) => ids.length === 1)).toBe(true)
    change()
    await last
  })

  test('answers at once for a caller with eight waiting calls, until one of them is aborted', async () => {
    const { rest, issuer, wait } = await serve()
    const authorization = `Bearer ${await issuer.token()}`
    const callers = Array.from({ length: 8 }, () => new AbortController())
    const held = callers.map(({ signal }) =>
      fetch(rest.server.url + path, { headers: { ...waiting, authorization }, signal }).catch(() => 'gone'),
    )
    await until(async () => applied(await wait({ ...waiting, prefer: 'wait=1' })) === null, 'no place')
    const refused = await wait()
    expect([refused.status, applied(refused)]).toEqual([304, null])
    const other = await issuer.token({ oid: randomUUID() })
    const short = { ...waiting, prefer: 'wait=1', authorization: `Bearer ${other}` }
    expect(applied(await rest.call('GET', path, { headers: short }))).toBe('wait=1')
    callers[0]?.abort()
    await until(async () => applied(await wait({ ...waiting, prefer: 'wait=1' })) === 'wait=1', 'a place')
    for (const caller of callers) caller.abort()
    expect(await Promise.all(held)).toEqual(held.map(() => 'gone'))
  })

  test('answers its waiting calls when the server stops', async () => {
    const { rest, wait, looked } = await serve()
    const answers = [wait(), wait({ prefer: 'wait=30' })]
    await looked(1)
    await rest.server.close()
    expect((await Promise.all(answers)).map((answer) => [answer.status, applied(answer)])).toEqual([
      [304, null],
      [200, null],
    ])
  })

  test('counts as one read', async () => {
    const issuer = await startIssuer()
    const limits = { writesPerMinute: 0, writeBurst: 0, readsPerMinute: 2, tenantWritesPerMinute: 0 }
    const readVersions = async () => new Map([[requestId, 1]])
    const provisioning = coreWith({ readRequest: async () => requestOf(), system: { readVersions } })
    const now = new Date()
    const rest = await startRest(issuer, { core: provisioning, limits, clock: { now: () => now } })
    const headers = { ...waiting, prefer: 'wait=1' }
    expect((await rest.call('GET', path, { headers })).headers.get('ratelimit')).toContain('r=1;')
    expect((await rest.call('GET', path, { headers })).headers.get('ratelimit')).toContain('r=0;')
    expect(await rest.call('GET', path, { headers })).toMatchObject({ status: 429, body: { code: 'rate-limited' } })
  })
})

test.each([
  ['wait=30', 30],
  ['Wait = 5', 5],
  ['wait=100000', 30],
  ['wait=0', 0],
  ['respond-async, wait=10', 10],
  ['wait=3, wait=9', 3],
  ['wait=12; foo="bar"', 12],
  ['foo="a, wait=7", wait=8', 8],
  ['foo="never ends, wait=7', 0],
  ['wait', 0],
  ['wait=', 0],
  ['wait=-1', 0],
  ['wait=1.5', 0],
  ['wait=1e3', 0],
  ['waiting=5', 0],
  ['', 0],
  [undefined, 0],
])('Prefer: %s requests a wait of %i s', (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds)
})
