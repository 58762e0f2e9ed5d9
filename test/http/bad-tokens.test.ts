import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { withAccessWorld } from '../support/access-world.ts'
import { encoded, signedWithPublicKey, tampered, under } from '../support/forged-tokens.ts'
import { type Issuer, personId, tenantId } from '../support/rest.ts'
import { type Call, calls } from '../support/token-endpoint.ts'
import { withTrap } from '../support/trap.ts'

const otherTenant = 'dddddddd-1111-4111-8111-000000000009'
const challenge = 'Bearer realm="quartermaster"'
const [collab, mail] = ['api://contoso/collab/App.ReadWrite.All', 'api://contoso/mail/App.ReadWrite.All']
const names: readonly Call[] = ['site', 'mailbox', 'requests', 'templates']
/** The right audience of each address, and a wrong audience of ours. */
const audiences: Readonly<Record<Call, readonly [right: string, wrong: string]>> = {
  site: ['api://contoso/collab', 'api://contoso/mail'],
  mailbox: ['api://contoso/mail', 'api://contoso/collab'],
  requests: ['api://contoso/collab', 'api://contoso/else'],
  templates: ['api://contoso/mail', 'api://contoso/else'],
}

describe('a bad token', () => {
  const world = withAccessWorld()
  const trap = withTrap()
  type Make = (issuer: Issuer, aud: string, wrong: string) => string | Promise<string>
  const claims = (change: (issuer: Issuer) => object): Make => {
    return (issuer, aud) => issuer.token({ aud, ...change(issuer) })
  }
  const good: Make = (issuer, aud) => issuer.token({ aud })
  const byStranger = async (issuer: Issuer, aud: string, header: Record<string, unknown>, kid = 'stranger') =>
    issuer.token({ aud }, header, await issuer.makeKey(kid))

  /** Invalid tokens: 401 `invalid_token` at every address. */
  const badTokens: Record<string, Make> = {
    'no token after the scheme': () => '',
    'not a JWT': () => 'secret',
    'two tokens': async (...to) => `${await good(...to)} ${await good(...to)}`,
    'five parts, encrypted': () => `${encoded({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`,
    'no signature': (...to) => tampered(good(...to), ([header, body]) => [header, body, '']),
    'cut off': async (...to) => (await good(...to)).slice(0, -20),
    'claims changed': (issuer, aud) =>
      tampered(issuer.token({ aud }), ([header, , sign]) => [
        header,
        encoded(issuer.claims({ aud, oid: otherTenant })),
        sign,
      ]),
    'claims that are not an object': (...to) =>
      tampered(good(...to), ([header, , sign]) => [header, encoded('x'), sign]),
    'alg none': (...to) => under(good(...to), { alg: 'none', typ: 'JWT' }),
    'alg none under our key id, with the old signature': (...to) =>
      tampered(good(...to), ([, body, sign]) => [encoded({ alg: 'none', kid: 'first' }), body, sign]),
    'HS256 with the public key as the secret': async (issuer, aud) =>
      signedWithPublicKey(issuer.token({ aud }), { ...(await exportJWK(issuer.key.publicKey)), kid: 'first' }),
    'PS256 under our key id': async (issuer, aud) => {
      const { privateKey } = await generateKeyPair('PS256')
      return new SignJWT(issuer.claims({ aud })).setProtectedHeader({ alg: 'PS256', kid: 'first' }).sign(privateKey)
    },
    'another key under our key id': (issuer, aud) => byStranger(issuer, aud, {}, 'first'),
    'an unknown key id': (issuer, aud) => byStranger(issuer, aud, {}),
    'no key id': (issuer, aud) => issuer.token({ aud }, { kid: undefined }),
    'a key id that is a list': (...to) =>
      tampered(good(...to), ([, body, sign]) => [encoded({ alg: 'RS256', kid: ['first'] }), body, sign]),
    'a key id with a path': (issuer, aud) => issuer.token({ aud }, { kid: '../../../../dev/null' }),
    'an unknown critical header': (...to) =>
      tampered(good(...to), ([, body, sign]) => [
        encoded({ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 }),
        body,
        sign,
      ]),
    'its own key in the header (jwk)': async (issuer, aud) =>
      byStranger(issuer, aud, { jwk: await exportJWK((await issuer.makeKey('own')).publicKey) }),
    'the address of its own keys (jku)': (issuer, aud) => byStranger(issuer, aud, { jku: `${trap.url}/keys` }),
    'jku under our key id': (issuer, aud) => byStranger(issuer, aud, { jku: `${trap.url}/keys` }, 'first'),
    'the address of its own certificate (x5u)': (issuer, aud) => byStranger(issuer, aud, { x5u: `${trap.url}/cert` }),
    'its own certificate (x5c)': (issuer, aud) => byStranger(issuer, aud, { x5c: ['MIIB'] }),
    'expired 61 s ago': claims(({ now }) => ({ exp: now() - 61 })),
    'not valid before 2 minutes from now': claims(({ now }) => ({ nbf: now() + 120 })),
    'no expiry': claims(() => ({ exp: undefined })),
    'an expiry that is text': claims(() => ({ exp: '2099' })),
    'for Microsoft Graph': claims(() => ({ aud: 'https://graph.microsoft.com' })),
    'for another API of ours': (issuer, _, wrong) => issuer.token({ aud: wrong }),
    'for several other audiences': (issuer, _, wrong) => issuer.token({ aud: [wrong, 'api://contoso/collab2'] }),
    'for a prefix of our audience': (issuer, aud) => issuer.token({ aud: aud.slice(0, -1) }),
    'for the bot': claims(() => ({ aud: randomUUID() })),
    'for no audience': claims(() => ({ aud: undefined })),
    'by the issuer of another tenant': claims(() => ({
      ...{ iss: `https://login.contoso.example/${otherTenant}/v2.0`, tid: otherTenant },
    })),
    'by the version 1 issuer of another tenant': claims(() => ({
      ...{ iss: `https://sts.windows.net/${otherTenant}/`, tid: otherTenant, ver: '1.0' },
    })),
    'by the issuer for all organisations': claims(() => ({ iss: 'https://login.contoso.example/common/v2.0' })),
    'by no issuer': claims(() => ({ iss: undefined })),
    'by an issuer that starts like ours': claims(() => ({ iss: `https://login.contoso.example/${tenantId}/v2.0/` })),
    'by the Bot connector': claims(() => ({ iss: 'https://api.botframework.com' })),
    'version 2 by the version 1 issuer': claims(({ v1Issuer }) => ({ iss: v1Issuer })),
    'version 1 by the version 2 issuer': claims(() => ({ ver: '1.0' })),
    'of an unknown version': claims(() => ({ ver: '3.0' })),
    'of another tenant than the issuer’s': claims(() => ({ tid: otherTenant })),
    'of no tenant': claims(() => ({ tid: undefined })),
    'an ID token': claims(() => ({ scp: undefined, azp: undefined, nonce: 'n' })),
    'a scope that is a list': claims(() => ({ scp: ['App.ReadWrite.All'] })),
    'no object id': claims(() => ({ oid: undefined })),
    'an object id that is an address': claims(() => ({ oid: 'kim@contoso.example' })),
  }
  /** Valid tokens without the required scope or role: 403 `insufficient_scope`. */
  const weakTokens: Record<string, object> = {
    'another scope': { scp: 'User.Read' },
    'a longer scope': { scp: 'App.ReadWrite.Allx' },
    'a scope inside another': { scp: 'My.App.ReadWrite.All' },
    'the scope in lower case': { scp: 'app.readwrite.all' },
    'the scope with its address': { scp: 'api://contoso/collab/App.ReadWrite.All' },
    'the scope after a tab': { scp: 'User.Read\tApp.ReadWrite.All' },
    'an empty scope': { scp: '' },
    'an unlisted application without a person': {
      scp: undefined,
      idtyp: 'app',
      roles: ['App.ReadWrite.All'],
      azp: randomUUID(),
    },
    'an application with a scope': { idtyp: 'app', azp: randomUUID() },
  }

  async function expectRefusal(name: Call, token: string, status: 401 | 403) {
    const { rest } = world.doors
    const before = await world.rows()
    const [method, path, body] = calls[name]
    const answer = await rest.call(method, path, { body, headers: { authorization: `Bearer ${token}` } })
    const code = status === 401 ? 'invalid-token' : 'insufficient-scope'
    expect([name, answer.status, answer.body.code]).toEqual([name, status, code])
    expect(await world.rows()).toEqual(before)
    expect(trap.hits).toEqual([])
    return answer
  }

  it('has at least 25 cases', () => expect(Object.keys(badTokens).length).toBeGreaterThanOrEqual(25))

  it.each(Object.entries(badTokens))(
    '%s: is refused with 401 invalid_token, without writes or calls',
    async (_, make) => {
      const { issuer } = world.doors
      for (const name of names) {
        const answer = await expectRefusal(name, await make(issuer, ...audiences[name]), 401)
        const wanted = { site: [collab], mailbox: [mail], requests: [collab, mail], templates: [collab, mail] }[name]
        const expected = `${challenge}, error="invalid_token", scope="${wanted.join(' ')}"`
        expect(answer.headers.get('www-authenticate')).toBe(expected)
        expect(answer.body.detail).toMatch(/^The access token is not valid for this API\. /)
      }
    },
  )

  it.each(Object.entries(weakTokens))(
    '%s: is refused with 403 insufficient_scope, without writes',
    async (_, change) => {
      for (const name of names) {
        const token = await world.doors.issuer.token({ aud: audiences[name][0], ...change })
        const answer = await expectRefusal(name, token, 403)
        const wanted = /scope="(?<scopes>[^"]+)"$/.exec(answer.headers.get('www-authenticate') ?? '')?.groups?.[
          'scopes'
        ]
        for (const scope of wanted?.split(' ') ?? ['']) expect([collab, mail]).toContain(scope)
      }
    },
  )

  it('with roles and without a scope counts as an application, which the sites API refuses', async () => {
    const app = { scp: undefined, roles: ['App.ReadWrite.All'], sub: personId }
    const answer = await expectRefusal('site', await world.doors.issuer.token(app), 403)
    expect(answer.body.detail).toContain('Application permissions are not supported')
    expect(answer.headers.get('www-authenticate')).toBe(`${challenge}, error="insufficient_scope", scope="${collab}"`)
  })
})
