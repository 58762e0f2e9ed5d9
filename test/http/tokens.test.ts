import { describe, expect, test } from 'vitest'
import { personId, tenantId } from '../support/rest.ts'
import { callNames, granted, startTokenDoor } from '../support/token-endpoint.ts'

const both = 'scope="api://contoso/collab/App.ReadWrite.All api://contoso/mail/App.ReadWrite.All"'
const bare = `Bearer realm="quartermaster", ${both}`

describe('a call without a valid token', () => {
  test('is refused with 401 and a challenge with the scopes: no token, another scheme, or a token in the query', async () => {
    const { issuer, rest, actors } = await startTokenDoor()
    const none = await fetch(`${rest.server.url}/requests/v1/?access_token=${await issuer.token()}`)
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, bare])
    expect(await none.text()).not.toContain('access_token')
    for (const authorization of ['Basic a2ltOmtpbQ==', '', 'Bearerx y', 'DPoP a.b.c', 'Token a.b.c']) {
      const answer = await rest.call('GET', '/requests/v1/', { headers: { authorization } })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, bare])
    }
    expect(actors).toEqual([])
  })

  test('with two Authorization headers is refused, even if both are valid', async () => {
    const { issuer, rest, actors } = await startTokenDoor()
    const good = `Authorization: Bearer ${await issuer.token()}\r\n`
    for (const headers of [`${good}${good}`, `${good}Authorization: Bearer a.b.c\r\n`, `Authorization: x\r\n${good}`]) {
      const answer = await rest.raw(`GET /requests/v1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 401 /)
    }
    expect(actors).toEqual([])
  })

  test('with a token of a megabyte is refused before it is read', async () => {
    const { rest } = await startTokenDoor()
    const answer = await rest.raw(
      `GET /requests/v1/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(1e6)}\r\n\r\n`,
    )
    expect(answer).toMatch(/^(HTTP\/1.1 431 |$)/)
  })
})

describe('a call with a valid token', () => {
  test('uses only the tenant and the object id of the token', async () => {
    const { issuer, rest, actors } = await startTokenDoor()
    const named = { preferred_username: 'dana@contoso.example', name: 'Dana Fox', upn: 'dana@contoso.example' }
    const token = await issuer.token({ ...named, oid: personId.toUpperCase(), sub: 'dana', groups: ['admins'] })
    const answer = await rest.call('GET', '/requests/v1/', { headers: { authorization: `bearer ${token}` } })
    expect([answer.status, actors]).toEqual([200, [{ tenantId, id: personId }]])
  })

  test('reads requests and templates with a token of either API, by address or client id', async () => {
    const { issuer, call } = await startTokenDoor()
    for (const aud of ['api://contoso/mail', 'api://contoso/collab', ['x', 'c0ffee00-0000-4000-8000-000000000001']])
      for (const name of ['requests', 'templates'] as const)
        expect((await call(name, await issuer.token({ aud }))).status).toBe(200)
  })

  test('is accepted with version 1 and version 2 tokens of their own issuers at every address', async () => {
    const { issuer, call } = await startTokenDoor()
    for (const name of callNames) {
      const aud = name === 'mailbox' ? 'api://contoso/mail' : 'api://contoso/collab'
      for (const version of [{}, { iss: issuer.v1Issuer, ver: '1.0' }])
        expect((await call(name, await issuer.token({ aud, ...version }))).status).toBe(granted[name])
    }
  })

  test('allows a clock difference of sixty seconds', async () => {
    const at = Math.floor(Date.now() / 1000)
    const { issuer, call } = await startTokenDoor({ now: () => new Date(at * 1000) })
    const cases = [
      [{ exp: at - 59 }, 200],
      [{ exp: at - 60 }, 401],
      [{ exp: at - 61 }, 401],
      [{ nbf: at + 60 }, 200],
      [{ nbf: at + 61 }, 401],
    ] as const
    for (const [claims, status] of cases)
      expect([claims, (await call('requests', await issuer.token(claims))).status]).toEqual([claims, status])
  })
})
