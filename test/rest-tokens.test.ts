import { createSecretKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  baseUrl,
  coreWith,
  type Issuer,
  personId,
  requestOf,
  startIssuer,
  startRest,
  tenantId,
} from './support/rest.ts'

const body = { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }
const bare = 'Bearer realm="quartermaster"'
const invalid = `${bare}, error="invalid_token"`
const insufficient = `${bare}, error="insufficient_scope", scope="${baseUrl}/collab/App.ReadWrite.All"`
const otherTenant = 'dddddddd-1111-4111-8111-000000000009'

const askForSite = (rest: Awaited<ReturnType<typeof startRest>>, authorization: string) =>
  rest.call('POST', '/collab/v1/spo/', { body, headers: { authorization } })

const bearer = async (token: Promise<string>): Promise<string> => `Bearer ${await token}`
const tampered = async (token: Promise<string>, change: (parts: string[]) => string[]): Promise<string> =>
  `Bearer ${change((await token).split('.')).join('.')}`
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Tokens that are nobody's: each is answered 401 `invalid_token`. */
const badTokens: Record<string, (issuer: Issuer) => Promise<string>> = {
  'no token behind the scheme': async () => 'Bearer ',
  'not a JWT': async () => 'Bearer secret',
  'two tokens': async (issuer) => `${await bearer(issuer.token())} ${await issuer.token()}`,
  'five parts, encrypted': async () => 'Bearer a.b.c.d.e',
  'no signature': (issuer) => tampered(issuer.token(), ([header = '', claims = '']) => [header, claims, '']),
  'cut off': async (issuer) => (await bearer(issuer.token())).slice(0, -20),
  'claims changed': (issuer) =>
    tampered(issuer.token(), ([header = '', , sign = '']) => [header, encoded(issuer.claims({ oid: tenantId })), sign]),
  'alg none': async (issuer) => `Bearer ${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(issuer.claims())}.`,
  'alg none with the old signature': (issuer) =>
    tampered(issuer.token(), ([, claims = '', sign = '']) => [encoded({ alg: 'none', kid: 'first' }), claims, sign]),
  'HS256 with the public key as the secret': async (issuer) => {
    const secret = createSecretKey(Buffer.from(await exportSPKI(issuer.key.publicKey)))
    const token = new SignJWT(issuer.claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' })
    return bearer(token.sign(secret))
  },
  'signed PS256 by the right key id': async (issuer) => {
    const { privateKey } = await generateKeyPair('PS256')
    return bearer(new SignJWT(issuer.claims()).setProtectedHeader({ alg: 'PS256', kid: 'first' }).sign(privateKey))
  },
  'another key under our key id': async (issuer) => bearer(issuer.token({}, {}, await issuer.makeKey('first'))),
  'an unknown key id': async (issuer) => bearer(issuer.token({}, {}, await issuer.makeKey('unknown'))),
  'no key id': (issuer) => bearer(issuer.token({}, { kid: undefined })),
  'a key id that climbs folders': (issuer) => bearer(issuer.token({}, { kid: '../../../../dev/null' })),
  'an unknown critical header': (issuer) =>
    tampered(issuer.token(), ([, claims = '', sign = '']) => [
      encoded({ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 }),
      claims,
      sign,
    ]),
  'expired 61 s ago': (issuer) => bearer(issuer.token({ exp: issuer.now() - 61 })),
  'not valid before 2 minutes from now': (issuer) => bearer(issuer.token({ nbf: issuer.now() + 120 })),
  'no end': (issuer) => bearer(issuer.token({ exp: undefined })),
  'an end that is text': (issuer) => bearer(issuer.token({ exp: '2099' })),
  'for Microsoft Graph': (issuer) => bearer(issuer.token({ aud: 'https://graph.microsoft.com' })),
  'for the mail API': (issuer) => bearer(issuer.token({ aud: 'api://contoso/mail' })),
  'for several others': (issuer) => bearer(issuer.token({ aud: ['api://contoso/mail', 'api://contoso/collab2'] })),
  'for nobody': (issuer) => bearer(issuer.token({ aud: undefined })),
  'by the issuer of another tenant': (issuer) =>
    bearer(issuer.token({ iss: `https://login.contoso.example/${otherTenant}/v2.0`, tid: otherTenant })),
  'by nobody': (issuer) => bearer(issuer.token({ iss: undefined })),
  'by an issuer that begins like ours': (issuer) =>
    bearer(issuer.token({ iss: `https://login.contoso.example/${tenantId}/v2.0/` })),
  'version 2 by the version 1 issuer': (issuer) => bearer(issuer.token({ iss: issuer.v1Issuer })),
  'version 1 by the version 2 issuer': (issuer) => bearer(issuer.token({ ver: '1.0' })),
  'of another tenant than its issuer': (issuer) => bearer(issuer.token({ tid: otherTenant })),
  'of no tenant': (issuer) => bearer(issuer.token({ tid: undefined })),
  'an ID token': (issuer) => bearer(issuer.token({ scp: undefined, azp: undefined, nonce: 'n' })),
  'no object id': (issuer) => bearer(issuer.token({ oid: undefined })),
  'an object id that is none': (issuer) => bearer(issuer.token({ oid: 'kim@contoso.example' })),
}

/** Tokens of ours that do not carry what the site API wants: 403 `insufficient_scope`. */
const weakTokens: Record<string, (issuer: Issuer) => Promise<string>> = {
  'another scope': (issuer) => issuer.token({ scp: 'User.Read' }),
  'a longer scope': (issuer) => issuer.token({ scp: 'App.ReadWrite.Allx' }),
  'a scope inside another': (issuer) => issuer.token({ scp: 'My.App.ReadWrite.All' }),
  'the scope in other letters': (issuer) => issuer.token({ scp: 'app.readwrite.all' }),
  'an empty scope': (issuer) => issuer.token({ scp: '' }),
  'roles alone': (issuer) => issuer.token({ scp: undefined, roles: ['App.ReadWrite.All'] }),
  'an app of its own': (issuer) => issuer.token({ scp: undefined, idtyp: 'app', roles: ['App.ReadWrite.All'] }),
  'an app that claims a scope': (issuer) => issuer.token({ idtyp: 'app' }),
}

describe('a call with a bad token', () => {
  test.each(Object.entries(badTokens))('%s: 401 invalid_token, and the core is not asked', async (_, make) => {
    const issuer = await startIssuer()
    const answer = await askForSite(await startRest(issuer), await make(issuer))
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid-token'])
    expect(answer.headers.get('www-authenticate')).toBe(invalid)
  })

  test.each(Object.entries(weakTokens))('%s: 403 insufficient_scope', async (_, make) => {
    const issuer = await startIssuer()
    const answer = await askForSite(await startRest(issuer), `Bearer ${await make(issuer)}`)
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient-scope'])
    expect(answer.headers.get('www-authenticate')).toBe(insufficient)
  })

  test('an app-only token is told that a person must sign in', async () => {
    const issuer = await startIssuer()
    const token = await issuer.token({ scp: undefined, idtyp: 'app', roles: ['App.ReadWrite.All'] })
    const answer = await askForSite(await startRest(issuer), `Bearer ${token}`)
    expect(answer.body.detail).toContain('Application permissions are not supported')
  })

  test('no token, another scheme or a token in the query: 401 with a bare challenge', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer)
    const none = await fetch(`${rest.server.url}/requests/v1/?access_token=${await issuer.token()}`)
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, bare])
    expect(await none.text()).not.toContain('access_token')
    const basic = await rest.call('GET', '/requests/v1/', { headers: { authorization: 'Basic a2ltOmtpbQ==' } })
    expect([basic.status, basic.headers.get('www-authenticate')]).toEqual([401, bare])
  })

  test('two Authorization headers are refused, however good they are', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer)
    const header = `Authorization: Bearer ${await issuer.token()}\r\n`
    const answer = await rest.raw(
      `GET /requests/v1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}${header}\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
  })

  test('a megabyte of token is refused before it is read', async () => {
    const rest = await startRest(await startIssuer())
    const answer = await rest.raw(
      `GET /requests/v1/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(1e6)}\r\n\r\n`,
    )
    expect(answer).toMatch(/^(HTTP\/1.1 431 |$)/)
  })

  test('keys that a token names itself are not fetched', async () => {
    const issuer = await startIssuer()
    let hits = 0
    const trap = createServer((_, response) => {
      hits += 1
      response.end('{"keys":[]}')
    })
    trap.listen(0, '127.0.0.1')
    await once(trap, 'listening')
    onTestFinished(() => void trap.close())
    const { port } = trap.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    const stranger = await issuer.makeKey('stranger')
    const token = await issuer.token({}, { jku: url, x5u: url, jwk: { kty: 'RSA' } }, stranger)
    const answer = await askForSite(await startRest(issuer), `Bearer ${token}`)
    expect([answer.status, hits]).toEqual([401, 0])
  })
})

describe('a call with a good token', () => {
  test('acts as the tenant and object id of the token, and nothing else of it', async () => {
    const issuer = await startIssuer()
    const asked: unknown[] = []
    const provisioning = coreWith({
      actor: async (identity: { tenantId: string; id: string }) => {
        asked.push(identity)
        return { ...identity, displayName: 'Kim Lee', userPrincipalName: 'kim@contoso.example', isAdmin: false }
      },
      list: async () => ({ requests: [requestOf()] }),
    })
    const rest = await startRest(issuer, { provisioning })
    const token = await issuer.token({ preferred_username: 'dana@contoso.example', name: 'Dana Fox' })
    const answer = await rest.call('GET', '/requests/v1/', { headers: { authorization: `bearer ${token}` } })
    expect([answer.status, asked]).toEqual([200, [{ tenantId, id: personId }]])
  })

  test('requests and templates take a token of either API', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { provisioning: coreWith({ list: async () => ({ requests: [] }) }) })
    for (const aud of ['api://contoso/mail', 'api://contoso/collab', ['x', 'c0ffee00-0000-4000-8000-000000000001']]) {
      const authorization = `Bearer ${await issuer.token({ aud })}`
      expect((await rest.call('GET', '/requests/v1/', { headers: { authorization } })).status).toBe(200)
    }
  })

  test('a version 1 token and one that ended within the skew are good', async () => {
    const issuer = await startIssuer()
    const rest = await startRest(issuer, { provisioning: coreWith({ list: async () => ({ requests: [] }) }) })
    for (const claims of [{ iss: issuer.v1Issuer, ver: '1.0' }, { exp: issuer.now() - 50 }]) {
      const authorization = `Bearer ${await issuer.token(claims)}`
      expect((await rest.call('GET', '/requests/v1/', { headers: { authorization } })).status).toBe(200)
    }
  })
})
