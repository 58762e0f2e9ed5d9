import { describe, expect, test } from 'vitest'
import { appClientId, type Issuer, personId, startIssuer, startRest, tenantId } from '../support/rest.ts'
import { type Call, callNames, granted, startTokenDoor } from '../support/token-endpoint.ts'

const mail = 'api://contoso/mail'
const collab = 'api://contoso/collab'
const role = 'App.ReadWrite.All'
/** Entra ID's claims of an application without a person. */
const app = { aud: mail, scp: undefined, idtyp: 'app', roles: [role], azp: appClientId, sub: personId }

/** The expected result of each token at each address: `yes`, or the status of the refusal. */
const matrix: Record<string, readonly [claims: Record<string, unknown>, Record<Call, 'yes' | 401 | 403>]> = {
  'a listed application, for mail': [app, { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' }],
  'a listed application, for mail, in a version 1 token': [
    { ...app, iss: 'v1', ver: '1.0', azp: undefined, appid: appClientId },
    { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' },
  ],
  'a listed application whose token has no idtyp': [
    { ...app, idtyp: undefined },
    { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' },
  ],
  'a listed application with its id in capitals': [
    { ...app, azp: appClientId.toUpperCase() },
    { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' },
  ],
  'a listed application, for sites': [
    { ...app, aud: collab },
    { mailbox: 401, site: 403, requests: 403, templates: 403 },
  ],
  'an application that is not listed': [
    { ...app, azp: personId },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'a listed application without the role': [
    { ...app, roles: ['App.Read.All'] },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'a listed application without any role': [
    { ...app, roles: undefined },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'an application with the role as a text': [
    { ...app, roles: role },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'an application with a scope instead of the role': [
    { ...app, roles: undefined, scp: role },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'an application without a client id': [
    { ...app, azp: undefined },
    { mailbox: 401, site: 401, requests: 401, templates: 401 },
  ],
  'an application with the other version’s client id': [
    { ...app, azp: undefined, appid: appClientId },
    { mailbox: 401, site: 401, requests: 401, templates: 401 },
  ],
  'a person’s ID token with roles': [
    { ...app, idtyp: undefined, azp: undefined, nonce: 'n', sub: 'of-kim' },
    { mailbox: 401, site: 401, requests: 401, templates: 401 },
  ],
  'a person’s token with roles and no scope': [
    { ...app, idtyp: 'user' },
    { mailbox: 401, site: 401, requests: 401, templates: 401 },
  ],
  'a person’s token with roles, without scope and idtyp': [
    { ...app, idtyp: undefined, sub: 'of-kim' },
    { mailbox: 401, site: 401, requests: 401, templates: 401 },
  ],
  'a person, for mail': [{ aud: mail }, { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' }],
  'a person, for mail, by a listed application': [
    { aud: mail, azp: appClientId },
    { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' },
  ],
  'a person with roles in addition to the scope': [
    { aud: mail, roles: [role] },
    { mailbox: 'yes', site: 401, requests: 'yes', templates: 'yes' },
  ],
  'a person, for mail, with another scope': [
    { aud: mail, scp: 'Mail.Read' },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'a person with the role, but another scope': [
    { aud: mail, scp: 'Mail.Read', roles: [role] },
    { mailbox: 403, site: 401, requests: 403, templates: 403 },
  ],
  'a person, for sites': [{ aud: collab }, { mailbox: 401, site: 'yes', requests: 'yes', templates: 'yes' }],
}
const cases = Object.entries(matrix).flatMap(([who, [claims, expected]]) =>
  callNames.map((name) => ({ who, name, claims, expected: expected[name] })),
)
const tokenOf = (issuer: Issuer, claims: Record<string, unknown>) =>
  issuer.token({ ...claims, ...(claims['iss'] === 'v1' && { iss: issuer.v1Issuer }) })

describe('an access token at each API', () => {
  test.each(cases)('of $who calls $name: $expected', async ({ name, claims, expected }) => {
    const { issuer, actors, call } = await startTokenDoor()
    const answer = await call(name, await tokenOf(issuer, claims))
    const status = expected === 'yes' ? granted[name] : expected
    expect(answer.status).toBe(status)
    if (expected === 401) expect(answer.body.code).toBe('invalid-token')
    if (expected === 403) expect(answer.body.code).toBe('insufficient-scope')
    expect(actors).toHaveLength(expected === 'yes' ? 1 : 0)
  })

  test('identifies an application by object id and client id, and a person without client id', async () => {
    const { issuer, actors, call } = await startTokenDoor()
    await call('mailbox', await issuer.token({ ...app, azp: appClientId.toUpperCase() }))
    await call('mailbox', await issuer.token({ aud: mail, azp: appClientId }))
    expect(actors).toStrictEqual([
      { tenantId, id: personId, clientId: appClientId },
      { tenantId, id: personId },
    ])
  })

  test('of an unlisted application is refused with the setting MAIL_APP_CLIENTS and the scope of the API', async () => {
    const { issuer, call } = await startTokenDoor()
    const answer = await call('requests', await issuer.token({ ...app, azp: personId }))
    expect(answer.body.detail).toContain('MAIL_APP_CLIENTS')
    expect(answer.body.detail).not.toContain(appClientId)
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="quartermaster", error="insufficient_scope", scope="${mail}/${role}"`,
    )
  })

  test('of an application for the sites API is refused, because a person must sign in', async () => {
    const { issuer, call } = await startTokenDoor()
    const answer = await call('requests', await issuer.token({ ...app, aud: collab }))
    expect(answer.body.detail).toContain('Application permissions are not supported')
  })

  test('of any application is refused without MAIL_APP_CLIENTS', async () => {
    const issuer = await startIssuer()
    const tokens = { ...issuer.options, mailAppClients: [] }
    const rest = await startRest(issuer, { tokens })
    const headers = { authorization: `Bearer ${await issuer.token(app)}` }
    expect((await rest.call('GET', '/requests/v1/', { headers })).status).toBe(403)
  })
})
