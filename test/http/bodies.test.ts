import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

const path = '/collab/v1/spo/'
const good = { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }
const started = async () => startRest(await startIssuer())
const nested = (levels: number): string => `{"metadata":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

/** Bodies that the HTTP layer refuses, with the answers. */
const refusedBodies: Record<string, readonly [body: string | Uint8Array, status: number, code: string]> = {
  empty: ['', 400, 'malformed-json'],
  'white space': ['  \n', 400, 'malformed-json'],
  'not JSON': ['{"displayName": Apollo}', 400, 'malformed-json'],
  'cut off': ['{"displayName":"Apo', 400, 'malformed-json'],
  'two values': ['{}{}', 400, 'malformed-json'],
  'a form': ['displayName=Apollo', 400, 'malformed-json'],
  'not UTF-8': [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed-json'],
  'UTF-16': [Buffer.from(JSON.stringify(good), 'utf16le'), 400, 'malformed-json'],
  'deep arrays': [nested(11), 400, 'too-deep'],
  'a thousand levels': [nested(1000), 400, 'too-deep'],
  'the same key twice': ['{"displayName":"a","displayName":"b"}', 400, 'duplicate-key'],
  'the same key twice, once escaped': ['{"displayName":"a","display\\u004eame":"b"}', 400, 'duplicate-key'],
  'the same key twice, deeper': ['{"metadata":{"a":1,"b":"\\"","a":2}}', 400, 'duplicate-key'],
  'an array': ['[]', 422, 'validation-failed'],
  null: ['null', 422, 'validation-failed'],
  'text only': ['"site"', 422, 'validation-failed'],
}

describe('an invalid body', () => {
  test.each(Object.entries(refusedBodies))('is refused: %s', async (_, [body, status, code]) => {
    const answer = await (await started()).call('POST', path, { body })
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('may nest ten levels, and may repeat keys in different objects', async () => {
    const rest = await started()
    const deep = await rest.call('POST', path, { body: nested(10) })
    expect([deep.status, deep.body.errors[0].pointer]).toEqual([422, '#/displayName'])
    const body = '{"metadata":{"a":"{\\"a\\":1,\\"a\\":2}"},"owners":[{"a":1},{"a":1}]}'
    expect((await rest.call('POST', path, { body })).status).toBe(422)
  })

  test.each([
    ['{"alias":"a","alias":"b"}', '#/alias', '"alias"'],
    ['{"owners":[{"a":[1,2]},{"b/c":1,"x":{},"b/c":2}]}', '#/owners/1/b~1c', '"b/c"'],
    [`{"a":[1,{"b":${'['.repeat(9)}${']'.repeat(9)}}]}`, '#/a/1/b/0/0/0/0/0/0/0', 'deeper than 10 levels'],
  ])('%s is refused with the pointer %s', async (text, pointer, reason) => {
    const { body } = await (await started()).call('POST', path, { body: text })
    expect([body.errors.length, body.errors[0].pointer]).toEqual([1, pointer])
    expect(body.detail).toContain(reason)
  })

  test.each([
    ['a NUL', { ...good, description: 'a\0b' }, '#/description'],
    ['half a surrogate pair', { ...good, metadata: { note: '\ud800' } }, '#/metadata/note'],
    ['a NUL in a key', { ...good, metadata: { 'a\0': 'b' } }, '#/metadata'],
  ])('with %s is refused with the pointer of the field', async (_, body, pointer) => {
    const answer = await (await started()).call('POST', path, { body })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
  })

  test('treats JavaScript’s special keys as unknown fields', async () => {
    const rest = await started()
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const body = `{"displayName":"a","templateId":"b","${key}":{"isAdmin":true}}`
      const answer = await rest.call('POST', path, { body })
      expect([answer.status, answer.body.errors[0].pointer, answer.body.errors[0].code]).toEqual([
        422,
        `#/${key}`,
        'unknown-field',
      ])
    }
  })
})

describe('a body of another media type', () => {
  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/json; charset=utf-16'],
    ['application/jsonp'],
    [''],
  ])('%s is refused with 415', async (type) => {
    const answer = await (await started()).call('POST', path, { body: good, headers: { 'content-type': type } })
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported-media-type'])
  })

  test('is accepted if it is JSON with a charset', async () => {
    const provisioning = coreWith({ submitSite: async () => requestOf() })
    const rest = await startRest(await startIssuer(), { core: provisioning })
    for (const type of ['application/json; charset=UTF-8', 'Application/JSON;charset="utf-8"']) {
      expect((await rest.call('POST', path, { body: good, headers: { 'content-type': type } })).status).toBe(202)
    }
  })

  test.each([
    ['gzip', gzipSync(JSON.stringify(good))],
    ['gzip', Buffer.from('garbage that calls itself gzip')],
    ['gzip', gzipSync(Buffer.alloc(30_000_000))],
    ['deflate', Buffer.from('x')],
    ['br', Buffer.from('x')],
  ])('with the content coding %s is refused with 415, and the service continues', async (coding, body) => {
    const rest = await started()
    const answer = await rest.call('POST', path, { body, headers: { 'content-encoding': coding } })
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity'])
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
  })
})

describe('a large body', () => {
  const sized = (bytes: number): string => JSON.stringify({ a: 'x'.repeat(bytes - 8) })

  test('is accepted up to 64 KiB, and refused with 413 above', async () => {
    const rest = await started()
    expect((await rest.call('POST', path, { body: sized(65_536) })).status).toBe(422)
    const answer = await rest.call('POST', path, { body: sized(65_537) })
    expect([answer.status, answer.body.code]).toEqual([413, 'body-too-large'])
  })

  test('is refused with 413 also without Content-Length', async () => {
    const body = new Blob([sized(65_537)]).stream()
    const answer = await (await started()).call('POST', path, { body })
    expect(answer.status).toBe(413)
  })

  test('without an end is cut off, and other calls are answered', async () => {
    const rest = await started()
    const chunk = new Uint8Array(65_536)
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
    // The network decides whether the sender can still read the 413.
    const outcome = await rest.call('POST', path, { body: endless }).catch(() => ({ status: 413 }))
    expect(outcome.status).toBe(413)
    expect((await rest.call('GET', '/healthz')).status).toBe(200)
  })

  test('of a caller without a token is not read', async () => {
    const rest = await started()
    const head =
      'POST /collab/v1/spo/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n'
    const answer = await rest.raw(`${head}{`)
    expect(answer).toMatch(/^HTTP\/1.1 401 [\s\S]*connection: close/i)
  })

  test('after Expect: 100-continue is requested only from a caller with a valid token', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer)
    const head = 'POST /collab/v1/spo/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n'
    const body = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
    expect(await rest.raw(`${head}${body}`)).toMatch(/^HTTP\/1.1 401 /)
    const signedIn = `${head}Authorization: Bearer ${await issuer.token()}\r\n${body}`
    expect(await rest.raw(signedIn)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 422 /)
  })
})

describe('a decision', () => {
  const approve = '/requests/v1/aaaaaaaa-0000-4000-8000-000000000001/approve'
  const approving = async () => {
    const comments: unknown[] = []
    const provisioning = coreWith({
      approve: async (_: unknown, { comment }: { comment?: string }) => {
        comments.push(comment)
        return requestOf()
      },
    })
    return { comments, rest: await startRest(await startIssuer(), { core: provisioning }) }
  }

  test('accepts no body, an empty body, and null', async () => {
    const { rest, comments } = await approving()
    expect((await rest.call('POST', approve)).status).toBe(200)
    expect((await rest.call('POST', approve, { body: {} })).status).toBe(200)
    expect((await rest.call('POST', approve, { body: { comment: null } })).status).toBe(200)
    expect((await rest.call('POST', `${approve}/`, { body: { comment: ' fine ' } })).status).toBe(200)
    expect(comments).toEqual([undefined, undefined, undefined, 'fine'])
  })

  test.each([
    [{ comment: 7 }, '#/comment', 'wrong-type'],
    [{ comment: 'x'.repeat(501) }, '#/comment', 'too-long'],
    [{ remark: 'fine' }, '#/remark', 'unknown-field'],
  ])('refuses %j with 422', async (body, pointer, code) => {
    const { rest } = await approving()
    const answer = await rest.call('POST', approve, { body })
    expect(answer.status).toBe(422)
    expect(answer.body.errors[0]).toMatchObject({ pointer, code })
  })
})

describe('an activity', () => {
  test('of up to 256 KiB reaches the bot parsed, and the bot answers', async () => {
    const sizes: number[] = []
    const rest = await startRest(await startIssuer(), {
      messages: async (request, response) => {
        sizes.push(JSON.stringify(request.body).length)
        response.status(201)
        response.send({ id: 'activity' })
      },
    })
    const url = `${rest.server.url}/api/messages`
    const post = (bytes: number) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({ a: 'x'.repeat(bytes - 8) }),
      })
    const answer = await post(262_144)
    expect([answer.status, await answer.json()]).toEqual([201, { id: 'activity' }])
    expect((await post(262_145)).status).toBe(413)
    expect(sizes).toEqual([262_144])
  })

  test('that makes the bot fail is answered with an opaque 500', async () => {
    const rest = await startRest(await startIssuer(), {
      messages: async () => {
        throw new Error('jwt signature is required')
      },
    })
    const answer = await rest.call('POST', '/api/messages', { body: { type: 'message' } })
    expect([answer.status, answer.text.includes('jwt')]).toEqual([500, false])
  })
})
