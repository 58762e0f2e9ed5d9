import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { asWritten, ProvisioningError } from '../../src/core/index.ts'
import { createIdempotencyKeys } from '../../src/store/shared/idempotency-keys.ts'
import { withDatabase } from '../support/database.ts'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

const store = withDatabase('embedded')
const body = { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }
const path = '/collab/v1/spo/'

type Submit = (actor: { id: string }, body: unknown, requestId: string) => Promise<unknown>

/** Starts a server with the real store of keys. `ids`: requestIds of submitted requests; `renewed`: ends of renewed leases. */
async function started(submit: Submit = async (_, __, requestId) => requestOf({ requestId }), renewed: Date[] = []) {
  const issuer = await startIssuer()
  const ids: string[] = []
  const submitSite = async (actor: { id: string }, { body, requestId }: { body: unknown; requestId: string }) => {
    ids.push(requestId)
    return submit(actor, body, requestId)
  }
  const verb = async (_: unknown, { requestId }: { requestId: string }) => requestOf({ requestId })
  let ahead = 0
  const keys = createIdempotencyKeys(store.database)
  const renew: typeof keys.renew = async (key, holder, leaseUntil) => {
    await keys.renew(key, holder, leaseUntil)
    renewed.push(leaseUntil)
  }
  const options = {
    core: coreWith({ submitSite, cancelRequest: verb, readRequest: verb }),
    idempotency: { ...keys, renew },
    clock: { now: () => new Date(Date.now() + ahead) },
  }
  const rest = await startRest(issuer, options)
  return {
    issuer,
    ids,
    rest,
    /** Another process with the same store. */
    restarted: () => startRest(issuer, options),
    post: (key: string, sent: unknown = body, headers = {}) =>
      rest.call('POST', path, { body: sent, headers: { 'idempotency-key': key, ...headers } }),
    pass: (seconds: number) => {
      ahead += seconds * 1000
    },
  }
}
const keyOf = (() => {
  let number = 0
  return () => `key ${process.pid} ${++number}`
})()

describe('a repeat with the same Idempotency-Key', () => {
  test('and the same body gets the first answer: status, body and Location', async () => {
    const { post, ids } = await started()
    const key = keyOf()
    const [first, second] = [await post(key), await post(key)]
    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text])
    for (const name of ['location', 'retry-after', 'content-type'])
      expect(second.headers.get(name)).toBe(first.headers.get(name))
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ])
    expect(ids).toEqual([first.body.requestId])
  })

  test('ignores the order of fields and white space in the body', async () => {
    const { post, ids } = await started()
    const key = keyOf()
    await post(key)
    const again = await post(key, `{ "templateId": "${body.templateId}",\n "displayName": "Apollo" }`)
    expect([again.status, ids.length]).toEqual([202, 1])
  })

  test('and another body or another request is refused with 422', async () => {
    const { post, ids, rest } = await started()
    const key = keyOf()
    await post(key)
    const other = await post(key, { ...body, displayName: 'Gemini' })
    expect([other.status, other.body.code, ids.length]).toEqual([422, 'idempotency-key-reused', 1])
    const headers = { 'idempotency-key': key }
    const cancel = (id: number) =>
      rest.call('POST', `/requests/v1/aaaaaaaa-0000-4000-8000-00000000000${id}/cancel`, { headers })
    expect([(await cancel(1)).status, (await cancel(1)).status, (await cancel(2)).status]).toEqual([200, 200, 422])
  })

  test('of another caller is a new call', async () => {
    const { post, issuer, ids } = await started()
    const key = keyOf()
    await post(key)
    const oid = '11111111-aaaa-4aaa-8aaa-000000000002'
    const other = await post(key, body, { authorization: `Bearer ${await issuer.token({ oid })}` })
    expect([other.status, new Set(ids).size]).toEqual([202, 2])
  })

  test('gets the same answer after a restart', async () => {
    const { post, restarted, ids } = await started()
    const key = keyOf()
    const first = await post(key)
    const later = await (await restarted()).call('POST', path, { body, headers: { 'idempotency-key': key } })
    expect([later.text, ids.length]).toEqual([first.text, 1])
  })

  test('gets the same answer for seven days, and then is a new request', async () => {
    const { post, pass, issuer, ids } = await started()
    const [key, day] = [keyOf(), 86_400]
    const authorization = `Bearer ${await issuer.token({ exp: issuer.now() + 9 * day })}`
    await post(key, body, { authorization })
    pass(7 * day - 60)
    await post(key, body, { authorization })
    expect(ids.length).toBe(1)
    pass(61)
    await post(key, body, { authorization })
    expect(new Set(ids).size).toBe(2)
  })
})

describe('a repeat after an incomplete first attempt', () => {
  test('gets 409 and Retry-After while the first attempt runs; fifty calls at once create one request', async () => {
    let finish: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { post, ids } = await started(async (_, __, requestId) => {
      await gate
      return requestOf({ requestId })
    })
    const key = keyOf()
    const calls = Array.from({ length: 50 }, async () => post(key))
    const waiting = await Promise.any(calls)
    expect([waiting.status, waiting.body.code]).toEqual([409, 'idempotency-key-in-flight'])
    expect(waiting.headers.get('retry-after')).toBe('1')
    finish()
    const answers = await Promise.all(calls)
    const accepted = answers.filter(({ status }) => status === 202)
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1)
    expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true)
    expect(ids.length).toBe(1)
  })

  test('can use the same key with a corrected body after a refusal', async () => {
    let refuse = true
    const { post, ids } = await started(async (_, __, requestId) => {
      if (refuse) throw new ProvisioningError('name-taken', asWritten('apollo is taken.'))
      return requestOf({ requestId })
    })
    const key = keyOf()
    expect((await post(key)).status).toBe(409)
    expect((await post(key, { displayName: '' })).status).toBe(422)
    refuse = false
    const answer = await post(key, { ...body, displayName: 'Gemini' })
    expect([answer.status, answer.body.requestId]).toEqual([202, ids[1]])
    expect((await post(key)).body.code).toBe('idempotency-key-reused')
  })

  test('keeps the request id of a failed attempt also after a refusal', async () => {
    const outcomes = [
      new Error('the connection broke after the commit'),
      new ProvisioningError('name-taken', asWritten('Taken.')),
    ]
    const { post, ids } = await started(async (_, __, requestId) => {
      const outcome = outcomes.shift()
      if (outcome) throw outcome
      return requestOf({ requestId })
    })
    const key = keyOf()
    expect([(await post(key)).status, (await post(key)).status]).toEqual([500, 409])
    expect((await post(key, { ...body, displayName: 'Gemini' })).body.code).toBe('idempotency-key-reused')
    const answer = await post(key)
    expect([answer.status, answer.body.requestId, new Set(ids).size]).toEqual([202, ids[0], 1])
  })

  test('continues the same request after an internal error', async () => {
    let fail = true
    const { post, ids } = await started(async (_, __, requestId) => {
      if (fail) throw new Error('the connection broke after the commit')
      return requestOf({ requestId })
    })
    const key = keyOf()
    expect((await post(key)).status).toBe(500)
    fail = false
    expect((await post(key, { ...body, displayName: 'Gemini' })).status).toBe(422)
    const answer = await post(key)
    expect([answer.status, ids[0], new Set(ids).size]).toEqual([202, answer.body.requestId, 1])
  })

  test('continues the request of a crashed process after ten seconds', async () => {
    let hang = true
    let finish: (value: unknown) => void = () => undefined
    const hanging = new Promise((resolve) => {
      finish = resolve
    })
    const { post, ids, pass } = await started(async (_, __, requestId) => {
      if (hang) return hanging
      return requestOf({ requestId })
    })
    const key = keyOf()
    const dead = post(key)
    await expect.poll(() => ids.length).toBe(1)
    hang = false
    expect((await post(key)).status).toBe(409)
    pass(11)
    const answer = await post(key)
    expect([answer.status, answer.body.requestId, ids.length]).toEqual([202, ids[0], 2])
    expect(ids[1]).toBe(ids[0])
    // The first attempt was only slow: its late answer does not replace the stored answer.
    finish(requestOf({ requestId: ids[0] ?? '', status: 'cancelled' }))
    expect((await dead).status).toBe(202)
    expect((await post(key)).text).toBe(answer.text)
  })
})

describe('a slow attempt', () => {
  test('keeps its key while its process runs, for at most a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const renewed: Date[] = []
    const { post, pass, ids } = await started(() => new Promise(() => undefined), renewed)
    const key = keyOf()
    post(key).catch(() => undefined)
    await expect.poll(() => ids.length).toBe(1)
    for (const times of [1, 2, 3]) {
      pass(9)
      vi.advanceTimersToNextTimer()
      await expect.poll(() => renewed.length).toBe(times)
      expect((await post(key)).status).toBe(409)
    }
    pass(34)
    // After more than a minute, no caller waits for the answer any more.
    vi.advanceTimersToNextTimer()
    expect(vi.getTimerCount()).toBe(0)
    post(key).catch(() => undefined)
    await expect.poll(() => ids.length).toBe(2)
    expect(vi.getTimerCount()).toBe(1)
    pass(11)
    // A process that ends stops its timers.
    vi.clearAllTimers()
    post(key).catch(() => undefined)
    await expect.poll(() => ids.length).toBe(3)
    expect(new Set(ids).size).toBe(1)
  })
})

describe('the form of an Idempotency-Key', () => {
  test.each([
    ['', 400],
    ['x'.repeat(256), 400],
    ['sch\u00f6n', 400],
    ['a\tb', 400],
    ['x'.repeat(255), 202],
    ['"quoted"', 202],
  ])('%j is answered with %i', async (key, status) => {
    const { post } = await started()
    expect((await post(key)).status).toBe(status)
  })

  test('is refused with 400 if it is sent twice', async () => {
    const { rest, issuer } = await started()
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${await issuer.token()}\r\n`
    const keys = 'Idempotency-Key: a\r\nIdempotency-Key: a\r\n'
    expect(await rest.raw(`${head}${keys}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`)).toMatch(
      /^HTTP\/1.1 400 [\s\S]*idempotency-key-malformed/,
    )
  })
})
