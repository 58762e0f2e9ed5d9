import { randomUUID } from 'node:crypto'
import { errors, exportJWK, generateKeyPair, type JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { createSigningKeys } from '../../src/http/index.ts'

const publicKey = async (change: Partial<JWK> = {}): Promise<JWK> => {
  const { publicKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(publicKey)), kid: 'first', use: 'sig', alg: 'RS256', ...change }
}
const answering =
  (body: unknown, status = 200) =>
  async () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })

/** The keys of an issuer whose answers and clock the test sets. */
function issuer(answer: () => Promise<Response>) {
  let at = Date.parse('2026-03-02T09:00:00Z')
  const state = { answer, fetches: 0 }
  const fetching: typeof fetch = async () => {
    state.fetches += 1
    return state.answer()
  }
  const keys = createSigningKeys({ url: 'https://login.example/keys', fetch: fetching, now: () => at })
  const token = { payload: '', signature: '' }
  /** Returns `found`, or the name of the error. */
  const ask = async (kid: string, alg = 'RS256'): Promise<string> => {
    try {
      await keys({ kid, alg }, token)
      return 'found'
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? 'unknown' : error instanceof Error ? error.name : ''
    }
  }
  return {
    state,
    ask,
    pass: (seconds: number) => {
      at += seconds * 1000
    },
  }
}

describe('the keys of an issuer', () => {
  it('are fetched once for all callers that wait', async () => {
    const { ask, state } = issuer(answering({ keys: [await publicKey()] }))
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('first')))
    expect([new Set(answers), state.fetches]).toEqual([new Set(['found']), 1])
  })

  it('are fetched at most once a minute, for any number of unknown ids', async () => {
    const { ask, pass, state } = issuer(answering({ keys: [await publicKey()] }))
    const storm = () => Promise.all(Array.from({ length: 500 }, () => ask(randomUUID())))
    expect(await ask('first')).toBe('found')
    for (let second = 0; second < 180; second += 1) {
      await ask(randomUUID())
      if (second % 20 === 0) expect(new Set(await storm())).toEqual(new Set(['unknown']))
      expect(await ask('first')).toBe('found')
      pass(1)
    }
    expect(state.fetches).toBe(3)
  })

  const useless: Record<string, () => Promise<Response>> = {
    'an error': answering({ keys: [] }, 500),
    'a page': answering('<html>Sign in to the guest network</html>'),
    nothing: answering(''),
    'no keys': answering({}),
    'an empty set': answering({ keys: [] }),
    'a set that is no list': answering({ keys: 'first' }),
    'keys that are invalid': answering({ keys: [null, 'first'] }),
    'a failed connection': async () => {
      throw new TypeError('fetch failed')
    },
  }
  it.each(Object.entries(useless))(
    'stay the same while the issuer answers %s, and unknown keys are refused',
    async (_, answer) => {
      const { ask, pass, state } = issuer(answering({ keys: [await publicKey()] }))
      expect(await ask('first')).toBe('found')
      state.answer = answer
      for (let minute = 0; minute < 30; minute += 1) {
        pass(60)
        expect(await ask('next')).toBe('unknown')
        expect(await ask('next')).toBe('unknown')
        expect(await ask('first')).toBe('found')
      }
      expect(state.fetches).toBe(31)
    },
  )

  it.each(Object.entries(useless))('are unreachable while the issuer has only answered %s', async (_, answer) => {
    const { ask, pass, state } = issuer(answer)
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => ask('first'))))).toEqual(
      new Set(['KeysUnreachable']),
    )
    expect(state.fetches).toBe(1)
    state.answer = answering({ keys: [await publicKey()] })
    pass(1)
    expect(await ask('first')).toBe('found')
  })

  it('include only keys that may sign, with the requested algorithm', async () => {
    const shared: JWK = { kty: 'oct', k: Buffer.from('a secret').toString('base64url'), kid: 'shared' }
    const keys = [await publicKey({ kid: 'other', use: 'enc' }), await publicKey({ kid: 'weak', alg: 'PS256' }), shared]
    const { ask } = issuer(answering({ keys: [await publicKey(), ...keys] }))
    expect(await ask('first')).toBe('found')
    for (const [kid, alg] of [
      ['other', 'RS256'],
      ['weak', 'RS256'],
      ['shared', 'RS256'],
      ['first', 'ES256'],
    ] as const)
      expect([kid, await ask(kid, alg)]).toEqual([kid, 'unknown'])
    for (const alg of ['HS256', 'none']) expect(await ask('shared', alg)).not.toBe('found')
  })

  it('are fetched again after the clock was set back', async () => {
    const first = await publicKey()
    const { ask, pass, state } = issuer(answering({ keys: [first] }))
    expect(await ask('first')).toBe('found')
    state.answer = answering({ keys: [first, await publicKey({ kid: 'next' })] })
    pass(-3600)
    expect(await ask('next')).toBe('found')
    expect(await ask('third')).toBe('unknown')
    expect(state.fetches).toBe(2)
  })
})
