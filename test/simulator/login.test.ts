import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import { ask, kim, tenantFor, tokenOf, scopes as wire } from '../support/simulator.ts'
import { apiIds, scopes } from '../support/teams-user.ts'

const loginUrl = (simulator: Simulator) => `${simulator.url}/${simulator.tenantId}/oauth2/v2.0`

function postForm(simulator: Simulator, path: string, form: Record<string, string>) {
  return ask('POST', `${loginUrl(simulator)}/${path}`, { body: new URLSearchParams(form) })
}

async function verified(simulator: Simulator, token: string, audience: string) {
  const metadata = await ask('GET', `${simulator.url}/${simulator.tenantId}/v2.0/.well-known/openid-configuration`)
  const keys = await ask('GET', metadata.body.jwks_uri)
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys.body), {
    issuer: metadata.body.issuer,
    audience,
    algorithms: ['RS256'],
  })
  return payload
}

const assertion = (clientId: string, expires: string) =>
  new SignJWT({ iss: clientId, sub: clientId, aud: 'https://login.microsoftonline.com/x/oauth2/v2.0/token' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(expires)
    .sign(new Uint8Array(32))

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

describe('an app on its own', () => {
  it('receives a token with roles and no scp for its certificate', async () => {
    const simulator = await tenantFor()
    const answer = await postForm(simulator, 'token', {
      grant_type: 'client_credentials',
      client_id: 'service',
      scope: 'https://graph.microsoft.com/.default',
      client_assertion_type: assertionType,
      client_assertion: await assertion('service', '5m'),
    })
    expect(answer.status).toBe(200)
    const claims = await verified(simulator, answer.body.access_token, 'https://graph.microsoft.com')
    expect(claims).toMatchObject({ tid: simulator.tenantId, idtyp: 'app', azp: 'service', azpacr: '2', ver: '2.0' })
    expect(claims['roles']).toContain('Group.ReadWrite.All')
    expect(claims).not.toHaveProperty('scp')
    expect(claims.sub).toBe(claims['oid'])
  })

  it('is refused with Entra ID’s error when the proof or the scope is missing', async () => {
    const simulator = await tenantFor()
    const base = { grant_type: 'client_credentials', client_id: 'service', scope: `${simulator.url}/.default` }
    const unproven = await postForm(simulator, 'token', base)
    expect(unproven).toMatchObject({ status: 401, body: { error: 'invalid_client', error_codes: [7000218] } })
    expect(unproven.body.error_description).toMatch(/^AADSTS7000218: /)
    const stale = { ...base, client_assertion: await assertion('service', '-1m') }
    expect((await postForm(simulator, 'token', stale)).body.error_codes).toEqual([700024])
    const delegated = { ...base, client_secret: 'secret', scope: 'https://graph.microsoft.com/User.Read' }
    expect((await postForm(simulator, 'token', delegated)).body.error).toBe('invalid_scope')
    const nowhere = await ask('POST', `${simulator.url}/nowhere/oauth2/v2.0/token`, { body: new URLSearchParams(base) })
    expect(nowhere).toMatchObject({ status: 400, body: { error_codes: [90002] } })
  })

  it('with a secret is accepted by Graph and refused by SharePoint', async () => {
    const simulator = await tenantFor()
    const answer = await postForm(simulator, 'token', {
      grant_type: 'client_credentials',
      client_id: 'service',
      client_secret: 'anything',
      scope: wire.graph,
    })
    const graph: string = answer.body.access_token
    expect((await ask('GET', `${simulator.url}/v1.0/groups`, { token: graph })).status).toBe(200)
    const form = { grant_type: 'client_credentials', client_id: 'service', client_secret: 'x' }
    const { body } = await postForm(simulator, 'token', { ...form, scope: `${simulator.url}/.default` })
    const token: string = body.access_token
    const refused = await ask('POST', `${simulator.url}/_api/SP.Site.Exists`, { token, body: { url: simulator.url } })
    expect(refused.status).toBe(401)
    expect(refused.body.error_description).toBe('Unsupported app only token.')
  })
})

describe('a device', () => {
  const client_id = 'cli'
  const scope = `${scopes.collab} openid profile offline_access`
  const poll = (simulator: Simulator, device_code: string) =>
    postForm(simulator, 'token', { grant_type: 'device_code', client_id, device_code })

  it('waits until a person signs in on the page, then receives tokens of that person', async () => {
    const simulator = await tenantFor()
    const started = await postForm(simulator, 'devicecode', { client_id, scope })
    expect(started.body).toMatchObject({ verification_uri: `${simulator.url}/devicelogin`, interval: 1 })
    const { device_code, user_code } = started.body
    expect(await poll(simulator, device_code)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })

    const page = await ask('GET', started.body.verification_uri)
    expect(page.body).toContain('Kim Lee')
    const done = await ask('POST', started.body.verification_uri, {
      body: new URLSearchParams({ user_code: ` ${user_code.toLowerCase()} `, person: kim, answer: 'allow' }),
    })
    expect(done.body).toContain('You have signed in')

    const { status, body } = await poll(simulator, device_code)
    expect(status).toBe(200)
    const claims = await verified(simulator, body.access_token, apiIds.collab)
    expect(claims).toMatchObject({ oid: kim, scp: 'App.ReadWrite.All', preferred_username: 'kim@contoso.example' })
    expect(claims).not.toHaveProperty('roles')
    expect(await verified(simulator, body.id_token, client_id)).toMatchObject({ name: 'Kim Lee', oid: kim })
    const clientInfo = JSON.parse(Buffer.from(body.client_info, 'base64url').toString())
    expect(clientInfo).toEqual({ uid: kim, utid: simulator.tenantId })
    expect((await poll(simulator, device_code)).body.error).toBe('bad_verification_code')
  })

  it('that polls too often is slowed down, and still receives its tokens', async () => {
    const simulator = await tenantFor()
    const { body } = await postForm(simulator, 'devicecode', { client_id, scope })
    const hurried = await Promise.all([1, 2, 3].map(() => poll(simulator, body.device_code)))
    expect(hurried.map((answer) => answer.body.error).sort()).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
    ])
    const form = new URLSearchParams({ user_code: body.user_code, person: kim, answer: 'allow' })
    await ask('POST', `${simulator.url}/devicelogin`, { body: form })
    expect((await poll(simulator, body.device_code)).status).toBe(200)
  })

  it('receives an error when the person declines', async () => {
    const simulator = await tenantFor()
    const { body } = await postForm(simulator, 'devicecode', { client_id, scope })
    const form = new URLSearchParams({ user_code: body.user_code, person: kim, answer: 'decline' })
    await ask('POST', `${simulator.url}/devicelogin`, { body: form })
    expect((await poll(simulator, body.device_code)).body.error).toBe('authorization_declined')
  })

  it('renews its tokens, for another resource too, and receives a new refresh token each time', async () => {
    const simulator = await tenantFor()
    const { body } = await postForm(simulator, 'devicecode', { client_id, scope })
    const form = new URLSearchParams({ user_code: body.user_code, person: kim, answer: 'allow' })
    await ask('POST', `${simulator.url}/devicelogin`, { body: form })
    const first = await poll(simulator, body.device_code)
    const renew = { grant_type: 'refresh_token', client_id, refresh_token: first.body.refresh_token }
    const second = await postForm(simulator, 'token', { ...renew, scope: `${scopes.mail} offline_access` })
    expect(decodeJwt(second.body.access_token).aud).toBe(apiIds.mail)
    expect(second.body.refresh_token).not.toBe(first.body.refresh_token)
    const foreign = await postForm(simulator, 'token', { ...renew, client_id: 'another' })
    expect(foreign).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })
})

describe('a token from the control service', () => {
  it('can be for any person, and can have expired already', async () => {
    const simulator = await tenantFor()
    const request = { userPrincipalName: 'kim@contoso.example', scope: `${simulator.url}/User.Read`, lifetime: -10 }
    const { body } = await ask('POST', `${simulator.url}/control/token`, { body: request })
    const refused = await ask('GET', `${simulator.url}/v1.0/users/${kim}`, { token: body.access_token })
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'InvalidAuthenticationToken' } } })
    const claims = decodeJwt(body.access_token)
    expect(claims.exp).toBeGreaterThan(claims.iat ?? Number.POSITIVE_INFINITY)
  })

  it('is refused for an unknown person; the error contains the name', async () => {
    const simulator = await tenantFor()
    const request = { userPrincipalName: 'nobody@contoso.example', scope: 'User.Read' }
    const answer = await ask('POST', `${simulator.url}/control/token`, { body: request })
    expect(answer.status).toBe(404)
    expect(answer.body.error.message).toContain('nobody@contoso.example')
  })

  it('for another audience is refused by Graph', async () => {
    const simulator = await tenantFor()
    const token = await tokenOf(simulator, 'kim@contoso.example', scopes.collab)
    expect((await ask('GET', `${simulator.url}/v1.0/users`, { token })).status).toBe(401)
    expect((await ask('GET', `${simulator.url}/v1.0/users`)).status).toBe(401)
  })
})
