import { describe, expect, it } from 'vitest'
import { createLog, maskSecrets } from '../../src/app/log.ts'

describe('a log line', () => {
  const lines = (secrets: string[], write: (log: ReturnType<typeof createLog>) => void): string => {
    let all = ''
    write(
      createLog('trace', secrets, (line) => {
        all += line
      }),
    )
    return all
  }

  it('contains the name, message, codes and causes of an error, but no other members', () => {
    const cause = Object.assign(new Error('inner'), { code: 'ECONNRESET', config: { headers: { cookie: 'canary' } } })
    const error = Object.assign(new TypeError('outer', { cause }), {
      ...{ statusCode: 500, request: { headers: { authorization: 'canary' }, body: 'canary' } },
      ...{ response: { bodyAsText: 'canary' }, params: ['canary'], query: 'canary', details: { a: 'canary' } },
    })
    const logged = lines([], (log) => log.error({ err: error }, 'it failed'))
    expect(logged).not.toContain('canary')
    expect(JSON.parse(logged)).toMatchObject({
      msg: 'it failed',
      err: { type: 'TypeError', message: 'outer', statusCode: 500, stack: expect.stringContaining('    at ') },
    })
    expect(JSON.parse(logged).err.cause).toMatchObject({ message: 'inner', code: 'ECONNRESET' })
  })

  it('contains neither a refused database statement nor its values', () => {
    const error = Object.assign(new Error('invalid input syntax for type integer: "canary"'), {
      ...{ severity: 'ERROR', code: '22P02', detail: 'canary', where: 'canary', routine: 'pg_strtoint32_safe' },
      ...{ query: 'select canary', params: ['canary'] },
    })
    const logged = lines([], (log) => log.error({ err: new Error('it failed', { cause: error }) }, 'it failed'))
    expect(logged).not.toContain('canary')
    expect(JSON.parse(logged).err.cause).toMatchObject({
      message: 'invalid input syntax for type integer',
      code: '22P02',
    })
  })

  it('is one line with any content', () => {
    const hostile = 'a\r\n{"level":60,"msg":"forged"}\u2028\u0085\n'
    const logged = lines([], (log) => log.warn({ reason: hostile, err: new Error(hostile) }, hostile))
    expect(logged.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(logged).reason).toBe(hostile)
  })

  it.each([
    ['a token', 'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl failed', 'c2lnbmF0dXJl'],
    ['a bearer token of another form', 'bearer abcdef0123456789', 'abcdef0123456789'],
    ['a webhook secret', 'whsec_c29tZSBzZWNyZXQgb2Ygb3Vycw== is bad', 'c29tZSBz'],
    ['a password in an address', 'connect postgres://someone:hunter2hunter2@db:5432/x', 'hunter2'],
    ['a form', 'client_id=a&client_secret=hunter2&grant_type=x', 'hunter2'],
    ['a key', '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----', 'MIIEvQ'],
  ])('masks %s', (_, text, secret) => {
    const logged = lines([], (log) => log.warn({ error: text, deep: { er: [text] } }, text))
    expect(logged).not.toContain(secret)
    expect(() => JSON.parse(logged)).not.toThrow()
  })

  it('masks the secrets of the settings, also in other encodings', () => {
    const secret = 'p"ss w\\rd/äöü&1'
    const mask = maskSecrets([secret])
    for (const form of [secret, JSON.stringify(secret), encodeURIComponent(secret)]) {
      expect(mask(`a ${form} b`)).toMatch(/^a "?\[secret\]"? b$/)
    }
  })
})
