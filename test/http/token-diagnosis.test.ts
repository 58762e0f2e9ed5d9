import { describe, expect, test } from 'vitest'
import { tampered } from '../support/forged-tokens.ts'
import { appClientId, personId, tenantId } from '../support/rest.ts'
import { type Call, startTokenDoor } from '../support/token-endpoint.ts'

const collab = ['api://contoso/collab', 'c0ffee00-0000-4000-8000-000000000001']
const issuers = [`https://login.contoso.example/${tenantId}/v2.0`, `https://sts.windows.net/${tenantId}/`]
const other = 'dddddddd-1111-4111-8111-000000000009'
const at = Date.parse('2026-03-02T09:00:00Z')
const seconds = at / 1000

/** Wrong claims of tokens, and the expected `tokenClaims` of the problem. */
const cases: Record<string, readonly [Call, Record<string, unknown>, readonly object[]]> = {
  'the audience of Microsoft Graph': [
    'site',
    { aud: 'https://graph.microsoft.com' },
    [{ claim: 'aud', got: 'https://graph.microsoft.com', expected: collab }],
  ],
  'the audience of the other API': [
    'mailbox',
    {},
    [{ claim: 'aud', got: 'api://contoso/collab', expected: ['api://contoso/mail'] }],
  ],
  'no audience, at an address of both APIs': [
    'requests',
    { aud: undefined },
    [{ claim: 'aud', expected: [...collab, 'api://contoso/mail'] }],
  ],
  'the issuer and tenant of another organisation': [
    'site',
    { iss: `https://login.contoso.example/${other}/v2.0`, tid: other },
    [
      { claim: 'iss', got: `https://login.contoso.example/${other}/v2.0`, expected: issuers },
      { claim: 'tid', got: other, expected: [tenantId] },
    ],
  ],
  'another version than the issuer’s': ['site', { ver: '1.0' }, [{ claim: 'ver', got: '1.0', expected: ['2.0'] }]],
  'no scope, as an ID token': ['site', { scp: undefined }, [{ claim: 'scp', expected: ['App.ReadWrite.All'] }]],
  'no object id': ['site', { oid: undefined }, [{ claim: 'oid', expected: ['an object id'] }]],
  'a past expiry': [
    'site',
    { exp: seconds - 61 },
    [{ claim: 'exp', got: String(seconds - 61), expected: [`later than ${seconds} (2026-03-02T09:00:00.000Z)`] }],
  ],
  'a start in the future': [
    'site',
    { nbf: seconds + 61 },
    [{ claim: 'nbf', got: String(seconds + 61), expected: [`not later than ${seconds} (2026-03-02T09:00:00.000Z)`] }],
  ],
  'more than one wrong claim': [
    'site',
    { aud: ['x', 'y'], scp: 'User.Read' },
    [
      { claim: 'aud', got: '["x","y"]', expected: collab },
      { claim: 'scp', got: 'User.Read', expected: ['App.ReadWrite.All'] },
    ],
  ],
}

/** Times of a token that match the server's clock. */
const timed = { nbf: seconds, exp: seconds + 3600 }
const start = () => startTokenDoor({ now: () => new Date(at) })

describe('a 401 explains the wrong claims of a token', () => {
  test.each(Object.entries(cases))('%s', async (_, [name, claims, expected]) => {
    const { issuer, rest, call } = await start()
    const token = await issuer.token({ ...timed, ...claims })
    const answer = await call(name, token)
    expect([answer.status, answer.body.code, answer.body.tokenClaims]).toEqual([401, 'invalid-token', expected])
    for (const { claim, expected: values } of answer.body.tokenClaims) {
      expect(answer.body.detail).toContain(`(${claim})`)
      for (const value of values) expect(answer.body.detail).toContain(`“${value}”`)
    }
    const line = rest.lines.find(({ traceId }) => traceId === answer.body.traceId)
    expect(line).toMatchObject({ level: 'info', status: 401, code: 'invalid-token', tokenClaims: expected })
    for (const part of token.split('.')) expect(JSON.stringify([answer.body, rest.lines])).not.toContain(part)
  })

  test('also for a token with a wrong signature', async () => {
    const { issuer, call } = await start()
    const changed = { ...timed, aud: 'https://graph.microsoft.com' }
    const signed = await call('site', await issuer.token(changed))
    const unsigned = await call('site', await tampered(issuer.token(changed), ([head, body]) => [head, body, 'AAAA']))
    expect(unsigned.body.detail).toBe(signed.body.detail)
  })

  test('and names the signature only if every claim is right', async () => {
    const { issuer, rest, call } = await start()
    const stranger = await issuer.makeKey('stranger')
    const { body } = await call('site', await issuer.token(timed, {}, stranger))
    expect(body.detail).toBe(
      `The access token is not valid for this API. Its signature does not match a key of https://login.contoso.example/${tenantId}. Get a new token there.`,
    )
    expect(body.tokenClaims).toBeUndefined()
    expect(rest.lines).toContainEqual(expect.objectContaining({ traceId: body.traceId, code: 'invalid-token' }))
  })

  test('and reports text that is not a JWT, or two headers, without quoting them', async () => {
    const { rest, call } = await start()
    for (const text of ['my-secret-password', 'my.secret.password']) {
      const { body } = await call('site', text)
      expect(body.detail).toContain('The text after Bearer is not a signed JWT.')
      expect(JSON.stringify([body, rest.lines])).not.toContain('secret')
    }
    const two = await rest.raw(
      'GET /requests/v1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
    )
    expect(two).toContain('The call has more than one Authorization header. Send one.')
  })

  test('with long values cut and control characters replaced', async () => {
    const { issuer, call } = await start()
    const { body } = await call('site', await issuer.token({ ...timed, aud: `a\n\u001b[31m\u202e${'x'.repeat(5000)}` }))
    const [{ got }] = body.tokenClaims
    expect([got.length, got.slice(0, 9)]).toEqual([200, 'a\ufffd\ufffd[31m\ufffdx'])
  })
})

describe('a 403 shows the scope or role of the token', () => {
  const app = { aud: 'api://contoso/mail', scp: undefined, idtyp: 'app', azp: appClientId, sub: personId }
  test.each([
    ['site', { scp: 'User.Read Mail.Read' }, { claim: 'scp', got: 'User.Read Mail.Read' }],
    ['mailbox', { ...app, roles: ['App.Read.All'] }, { claim: 'roles', got: '["App.Read.All"]' }],
    ['site', { ...app, aud: 'api://contoso/collab', roles: ['App.ReadWrite.All'] }, { claim: 'scp' }],
  ] as const)('at the %s: %j', async (name, claims, expected) => {
    const { issuer, rest, call } = await start()
    const answer = await call(name, await issuer.token({ ...timed, ...claims }))
    const tokenClaims = [{ ...expected, expected: ['App.ReadWrite.All'] }]
    expect([answer.status, answer.body.tokenClaims]).toEqual([403, tokenClaims])
    expect(rest.lines).toContainEqual(expect.objectContaining({ code: 'insufficient-scope', tokenClaims }))
  })

  test('and the client id of the application, but no listed client ids', async () => {
    const { issuer, rest, call } = await start()
    const answer = await call('mailbox', await issuer.token({ ...timed, ...app, azp: other }))
    const tokenClaims = [{ claim: 'azp', got: other, expected: ['a client id in MAIL_APP_CLIENTS'] }]
    expect([answer.status, answer.body.tokenClaims]).toEqual([403, tokenClaims])
    expect(JSON.stringify([answer.body, rest.lines])).not.toContain(appClientId)
  })
})

test('the log line of every problem contains its code', async () => {
  const { rest } = await start()
  const { body } = await rest.call('GET', '/nothing-here')
  expect(rest.lines).toContainEqual(expect.objectContaining({ traceId: body.traceId, code: 'no-such-address' }))
})
