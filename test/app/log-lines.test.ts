import { describe, expect, it } from 'vitest'
import { createLog, maskSecrets } from '../../src/app/log.ts'

describe('a line of the log', () => {
  const lines = (secrets: string[], write: (log: ReturnType<typeof createLog>) => void): string => {
    let all = ''
    write(
      createLog('trace', secrets, (line) => {
        all += line
      }),
    )
    return all
  }

  it('has of an error its name, words, codes and causes, and nothing that hangs on it', () => {
    const cause = Object.assign(new Error('inner'), { code: 'ECONNRESET', config: { headers: { cookie: 'canary' } } })
    const error = Object.assign(new TypeError('outer', { cause }), {
      ...{ statusCode: 500, request: { headers: { authorization: 'canary' }, body: 'canary' } },
      ...{ response: { bodyAsText: 'canary' }, params: ['canary'], query: 'canary', details: { a: 'canary' } },
    })
    const said = lines([], (log) => log.error({ err: error }, 'it failed'))
    expect(said).not.toContain('canary')
    expect(JSON.parse(said)).toMatchObject({
      msg: 'it failed',
      err: { type: 'TypeError', message: 'outer', statusCode: 500, stack: expect.stringContaining('    at ') },
    })
    expect(JSON.parse(said).err.cause).toMatchObject({ message: 'inner', code: 'ECONNRESET' })
  })

  it('has nothing of the statement that a database refused, nor of its values', () => {
    const error = Object.assign(new Error('invalid input syntax for type integer: "canary"'), {
      ...{ severity: 'ERROR', code: '22P02', detail: 'canary', where: 'canary', routine: 'pg_strtoint32_safe' },
      ...{ query: 'select canary', params: ['canary'] },
    })
    const said = lines([], (log) => log.error({ err: new Error('it failed', { cause: error }) }, 'it failed'))
    expect(said).not.toContain('canary')
    expect(JSON.parse(said).err.cause).toMatchObject({
      message: 'invalid input syntax for type integer',
      code: '22P02',
    })
  })

  it('is one line, whatever stands in it', () => {
    const hostile = 'a\r\n{"level":60,"msg":"forged"}\u2028\u0085\n'
    const said = lines([], (log) => log.warn({ reason: hostile, err: new Error(hostile) }, hostile))
    expect(said.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(said).reason).toBe(hostile)
  })

  it.each([
    ['a token', 'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl failed', 'c2lnbmF0dXJl'],
    ['a bearer token of another form', 'bearer abcdef0123456789', 'abcdef0123456789'],
    ['a webhook secret', 'whsec_c29tZSBzZWNyZXQgb2Ygb3Vycw== is bad', 'c29tZSBz'],
    ['a password in an address', 'connect postgres://someone:hunter2hunter2@db:5432/x', 'hunter2'],
    ['a form', 'client_id=a&client_secret=hunter2&grant_type=x', 'hunter2'],
    ['a key', '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----', 'MIIEvQ'],
  ])('has %s masked', (_, text, secret) => {
    const said = lines([], (log) => log.warn({ error: text, deep: { er: [text] } }, text))
    expect(said).not.toContain(secret)
    expect(() => JSON.parse(said)).not.toThrow()
  })

  it('has the secrets of the settings masked, as they are and as others write them', () => {
    const secret = 'p"ss w\\rd/äöü&1'
    const mask = maskSecrets([secret])
    for (const form of [secret, JSON.stringify(secret), encodeURIComponent(secret)]) {
      expect(mask(`a ${form} b`)).toMatch(/^a "?\[secret\]"? b$/)
    }
  })
})
