import { CryptoProvider, PublicClientApplication } from '@azure/msal-node'
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import { administrator, emptyTenant, register } from '../support/administrator.ts'
import { http, network } from '../support/msal-network.ts'
import { ask, kim, tenantFor } from '../support/simulator.ts'
import { scopes } from '../support/teams-user.ts'

const sam = '11111111-aaaa-4aaa-8aaa-000000000004'
const page = 'https://service.contoso.example/docs/oauth2-redirect.html'
const origin = new URL(page).origin
const readMe = 'https://graph.microsoft.com/User.Read'

const oauth = (simulator: Simulator, path: string) => `${simulator.url}/${simulator.tenantId}/oauth2/v2.0/${path}`

type Fields = Record<string, string>

/** Opens the sign-in page with these parameters; `answers` submits its form and does not follow the redirect. */
async function opens(simulator: Simulator, parameters: Fields) {
  const url = `${oauth(simulator, 'authorize')}?${new URLSearchParams(parameters)}`
  const shown = await fetch(url, { redirect: 'manual' })
  return {
    status: shown.status,
    location: new URL(shown.headers.get('location') ?? 'none:'),
    text: await shown.text(),
    policy: shown.headers.get('content-security-policy') ?? '',
    async answers(form: Fields) {
      const body = new URLSearchParams({ answer: 'allow', ...form })
      const response = await fetch(url, { method: 'POST', body, redirect: 'manual' })
      return {
        status: response.status,
        text: await response.text(),
        location: new URL(response.headers.get('location') ?? 'none:'),
      }
    },
  }
}

const redeems = (simulator: Simulator, form: Fields, headers: Fields = {}) =>
  ask('POST', oauth(simulator, 'token'), {
    body: new URLSearchParams({ grant_type: 'authorization_code', ...form }),
    headers,
  })

const pkce = await new CryptoProvider().generatePkceCodes()
const challenged = { code_challenge: pkce.challenge, code_challenge_method: 'S256' }

/** Creates a tenant with a registered web page, and a code for the page that belongs to Sam. */
async function withPage() {
  const simulator = await emptyTenant()
  const graph = await administrator(simulator)
  const { appId } = await register(graph, {
    spa: { redirectUris: [page] },
    publicClient: { redirectUris: ['http://localhost'] },
    web: { redirectUris: ['https://server.contoso.example/signin'] },
  })
  const parameters = { client_id: appId, redirect_uri: page, response_type: 'code', scope: readMe, ...challenged }
  const signedIn = async (more: Fields = {}) => {
    const shown = await opens(simulator, { ...parameters, ...more })
    const { location } = await shown.answers({ person: sam })
    const code = location.searchParams.get('code') ?? ''
    return { client_id: appId, redirect_uri: location.href.split('?')[0] ?? '', code, code_verifier: pkce.verifier }
  }
  return { simulator, graph, appId, parameters, signedIn }
}

describe('MSAL with an authorization code and PKCE', () => {
  it('signs a person in on the page, and renews the token', async () => {
    const simulator = await tenantFor()
    const { host } = new URL(simulator.url)
    const client = new PublicClientApplication({
      auth: { clientId: 'cli', authority: `https://${host}/${simulator.tenantId}`, knownAuthorities: [host] },
      system: { networkClient: network },
    })
    const request = { scopes: [scopes.collab], redirectUri: 'http://localhost:4321/done' }
    const codes = { codeChallenge: pkce.challenge, codeChallengeMethod: 'S256' }
    const url = http(await client.getAuthCodeUrl({ ...request, ...codes, state: 'a b', nonce: 'once' }))
    const form = await fetch(url)
    expect(await form.text()).toContain('Kim Lee')
    const body = new URLSearchParams({ person: kim, answer: 'allow' })
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
    const location = new URL(answer.headers.get('location') ?? '')
    expect([answer.status, location.origin, location.searchParams.get('state')]).toEqual([
      302,
      'http://localhost:4321',
      'a b',
    ])
    const code = location.searchParams.get('code') ?? ''
    const result = await client.acquireTokenByCode({ ...request, code, codeVerifier: pkce.verifier, nonce: 'once' })
    expect(result.account).toMatchObject({ localAccountId: kim, username: 'kim@contoso.example' })
    expect(decodeJwt(result.accessToken)).toMatchObject({ oid: kim, scp: 'App.ReadWrite.All' })
    if (!result.account) throw new Error('MSAL has kept no account')
    const silent = { account: result.account, scopes: request.scopes, forceRefresh: true }
    expect((await client.acquireTokenSilent(silent)).fromCache).toBe(false)
  })
})

describe('a registered web page', () => {
  it('redeems a code from its own origin, once', async () => {
    const { simulator, signedIn } = await withPage()
    const form = await signedIn({ scope: `${readMe} offline_access` })
    const requestHeaders = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-requested-with',
    }
    const preflight = await ask('OPTIONS', oauth(simulator, 'token'), { headers: { origin, ...requestHeaders } })
    expect(preflight.status).toBe(200)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-requested-with')

    const first = await redeems(simulator, form, { origin })
    expect([first.status, first.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(decodeJwt(first.body.access_token)).toMatchObject({ oid: sam, scp: 'User.Read' })
    const again = await redeems(simulator, form, { origin })
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant', error_codes: [54005] } })

    const renew = { grant_type: 'refresh_token', client_id: form.client_id, refresh_token: first.body.refresh_token }
    expect((await redeems(simulator, renew, { origin })).status).toBe(200)
    expect((await redeems(simulator, renew)).body.error_codes).toEqual([9002327])
  })

  it.each<[number, Fields, Fields]>([
    [501481, { code_verifier: 'x'.repeat(43) }, { origin }],
    [50148, { code_verifier: '' }, { origin }],
    [500112, { redirect_uri: 'https://service.contoso.example/docs' }, { origin }],
    [70000, { client_id: 'another' }, { origin }],
    [70000, { code: 'x' }, { origin }],
    [700025, { client_secret: 'x' }, { origin }],
    [9002326, {}, { origin: 'https://evil.example' }],
    [9002327, {}, {}],
  ])('receives AADSTS%i for %j from %j, and the code stays valid', async (number, wrong, headers) => {
    const { simulator, signedIn } = await withPage()
    const form = await signedIn()
    const refused = await redeems(simulator, { ...form, ...wrong }, headers)
    expect(refused.body.error_codes).toEqual([number])
    expect(refused.body).not.toHaveProperty('access_token')
    expect((await redeems(simulator, form, { origin })).status).toBe(200)
  })

  it('needs the exact redirect URI: a person sees the error, and the wrong address receives nothing', async () => {
    const { simulator, parameters } = await withPage()
    for (const redirect_uri of [`${page}/`, 'https://evil.example/', 'http://localhost.evil.example', '']) {
      const shown = await opens(simulator, { ...parameters, redirect_uri })
      expect([redirect_uri, shown.status, shown.location.href]).toEqual([redirect_uri, 400, 'none:'])
      expect(shown.text).toContain('AADSTS50011')
      expect((await shown.answers({ person: sam })).text).toContain('AADSTS50011')
    }
    expect((await opens(simulator, { ...parameters, client_id: 'unknown' })).text).toContain('AADSTS700016')
  })

  it('receives the other errors at its redirect URI, with the state', async () => {
    const { simulator, parameters } = await withPage()
    const errorOf = async (more: Fields) => {
      const { location } = await opens(simulator, { ...parameters, state: 's', ...more })
      const [error, text = '', state] = ['error', 'error_description', 'state'].map((one) =>
        location.searchParams.get(one),
      )
      return [location.href.startsWith(page), error, /AADSTS\d+/.exec(text ?? '')?.[0], state]
    }
    expect(await errorOf({ code_challenge: '' })).toEqual([true, 'invalid_request', 'AADSTS9002325', 's'])
    expect(await errorOf({ code_challenge_method: 'plain' })).toEqual([true, 'invalid_request', 'AADSTS50149', 's'])
    expect(await errorOf({ scope: 'api://x/y' })).toEqual([true, 'invalid_resource', 'AADSTS500011', 's'])
    expect(await errorOf({ prompt: 'none' })).toEqual([true, 'login_required', 'AADSTS50058', 's'])
    const shown = await opens(simulator, { ...parameters, response_mode: 'fragment' })
    expect(shown.policy).toContain(`form-action 'self' ${origin};`)
    const { location } = await shown.answers({ person: sam, answer: 'decline' })
    expect(new URLSearchParams(location.hash.slice(1)).get('error')).toBe('access_denied')
  })

  it('requires consent: an administrator consents, other people need an administrator', async () => {
    const { simulator, parameters } = await withPage()
    const shown = await opens(simulator, { ...parameters, scope: 'https://graph.microsoft.com/Group.ReadWrite.All' })
    const refused = await shown.answers({ person: kim })
    expect([refused.status, refused.location.href]).toEqual([403, 'none:'])
    expect(refused.text).toContain('AADSTS90094')
    expect((await shown.answers({ person: sam, consent: 'organisation' })).status).toBe(302)
    expect((await shown.answers({ person: kim })).status).toBe(302)
  })
})

describe('a program', () => {
  it('on the person’s computer redeems its code with any port, but not from a web page', async () => {
    const { simulator, signedIn } = await withPage()
    const form = await signedIn({ redirect_uri: 'http://localhost:5555' })
    const sent = { ...form, redirect_uri: 'http://localhost:5555' }
    const stolen = await redeems(simulator, sent, { origin: 'http://localhost:5555' })
    expect(stolen.body.error_codes).toEqual([9002326])
    expect((await redeems(simulator, sent)).status).toBe(200)
  })

  it('on a server proves itself with its secret', async () => {
    const { simulator, graph, appId, signedIn } = await withPage()
    const form = await signedIn({ redirect_uri: 'https://server.contoso.example/signin' })
    expect((await redeems(simulator, form)).body.error_codes).toEqual([7000218])
    const { value } = await graph.api('/applications').filter(`appId eq '${appId}'`).get()
    const { secretText } = await graph.api(`/applications/${value[0].id}/addPassword`).post({})
    expect((await redeems(simulator, { ...form, client_secret: secretText })).status).toBe(200)
  })
})

it('the login returns only page tokens to web pages; an unregistered client receives codes for this computer only', async () => {
  const simulator = await tenantFor()
  const app = {
    grant_type: 'client_credentials',
    client_id: 'x',
    client_secret: 'y',
    scope: `${simulator.url}/.default`,
  }
  expect((await redeems(simulator, app, { origin: 'http://evil.example' })).body.error_codes).toEqual([9002326])
  const parameters = { client_id: 'x', response_type: 'code', scope: scopes.collab, ...challenged }
  expect((await opens(simulator, { ...parameters, redirect_uri: page })).text).toContain('AADSTS50011')
  expect((await opens(simulator, { ...parameters, redirect_uri: 'http://127.0.0.1:1/x' })).status).toBe(200)
  const control = await ask('POST', `${simulator.url}/control/token`, { body: {}, headers: { origin } })
  expect(control.status).toBe(403)
})
