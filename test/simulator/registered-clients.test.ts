import { setTimeout } from 'node:timers/promises'
import { ConfidentialClientApplication, PublicClientApplication } from '@azure/msal-node'
import type { Client } from '@microsoft/microsoft-graph-client'
import type { Application, PasswordCredential, ServicePrincipal } from '@microsoft/microsoft-graph-types'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import {
  administrator,
  commandLineTools,
  emptyTenant,
  exchangeAdministrator,
  grant,
  microsoft,
  register,
  setupScopes,
} from '../support/administrator.ts'
import { selfSigned } from '../support/certificates.ts'
import { http, network } from '../support/msal-network.ts'
import { ask, dana, kim, scopes } from '../support/simulator.ts'

const sam = '11111111-aaaa-4aaa-8aaa-000000000004'
const graphScopes = setupScopes.map((scope) => `https://graph.microsoft.com/${scope}`)
const apiScope = {
  ...{ id: '0c1d2e3f-1111-4222-8333-444455556666', value: 'App.ReadWrite.All', type: 'User', isEnabled: true },
  ...{ adminConsentDisplayName: 'Use it', adminConsentDescription: 'Uses it.' },
}
const apiRole = {
  ...{ id: apiScope.id, value: apiScope.value, isEnabled: true, allowedMemberTypes: ['Application'] },
  ...{ displayName: apiScope.adminConsentDisplayName, description: apiScope.adminConsentDescription },
}
const failure = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error)

describe('MSAL in a tenant that accepts only registered clients', () => {
  let tenant: Simulator
  let graph: Client
  beforeEach(async () => {
    tenant = await emptyTenant()
    graph = await administrator(tenant)
  })
  const auth = (clientId: string) => {
    const { host } = new URL(tenant.url)
    return { clientId, authority: `https://${host}/${tenant.tenantId}`, knownAuthorities: [host] }
  }
  const publicClient = (clientId: string) =>
    new PublicClientApplication({ auth: auth(clientId), system: { networkClient: network } })
  const confidential = (clientId: string, credential: object) =>
    new ConfidentialClientApplication({
      auth: { ...auth(clientId), ...credential },
      system: { networkClient: network },
    })

  /** Signs a person in with a device code; `pages` collects the text of the sign-in page. */
  const signIn = (
    client: PublicClientApplication,
    wanted: readonly string[],
    person: string,
    { consent = '', pages = [] as string[] } = {},
  ) =>
    client.acquireTokenByDeviceCode({
      scopes: [...wanted],
      deviceCodeCallback: ({ userCode, verificationUri }) => {
        const form = { user_code: userCode, person, answer: 'allow', consent }
        void ask('POST', http(verificationUri), { body: new URLSearchParams(form) }).then(({ body }) =>
          pages.push(body),
        )
      },
    })

  /** Returns Entra ID's last answer to a sign-in with a device code: MSAL hides the number of the error. */
  async function answerTo(client_id: string, scope: string, person: string, pages: string[] = []) {
    const post = (path: string, form: Record<string, string>) =>
      ask('POST', `${tenant.url}/${path}`, { body: new URLSearchParams(form) })
    const oauth = `${tenant.tenantId}/oauth2/v2.0`
    const { status, body } = await post(`${oauth}/devicecode`, { client_id, scope })
    if (status !== 200) return { status, body }
    const page = await post('devicelogin', { user_code: body.user_code, person, answer: 'allow' })
    pages.push(page.body)
    return post(`${oauth}/token`, { client_id, grant_type: 'device_code', device_code: body.device_code })
  }
  const consentRequired = {
    status: 400,
    body: { error: 'invalid_grant', error_codes: [65001], suberror: 'consent_required' },
  }

  describe('with a device code of Microsoft Graph Command Line Tools', () => {
    it('signs in an administrator, who consents; Graph accepts the scopes of the consent', async () => {
      const result = await signIn(publicClient(commandLineTools), graphScopes, sam)
      const token = result?.accessToken ?? ''
      expect(decodeJwt(token)['scp']).toBe([...setupScopes].toSorted().join(' '))
      const created = await ask('POST', `${tenant.url}/v1.0/applications`, { token, body: { displayName: 'x' } })
      expect(created.status).toBe(201)
      const me = await ask('GET', `${tenant.url}/v1.0/me`, { token })
      expect(me.body).toMatchObject({ id: sam, displayName: 'Sam Roy' })
      expect((await ask('GET', `${tenant.url}/v1.0/domains`, { token })).status).toBe(200)
      // Consent for oneself does not apply to other people.
      const { value } = await graph.api('/oauth2PermissionGrants').get()
      expect(value).toMatchObject([{ consentType: 'Principal', principalId: sam }])
    })

    it('refuses other people, until an administrator consents for the organisation', async () => {
      const pages: string[] = []
      expect(await answerTo(commandLineTools, graphScopes.join(' '), kim, pages)).toMatchObject(consentRequired)
      expect(pages.join()).toMatch(/Need admin approval.*AADSTS90094/s)
      await signIn(publicClient(commandLineTools), graphScopes, sam, { consent: 'organisation' })
      const result = await signIn(publicClient(commandLineTools), graphScopes, kim)
      const token = result?.accessToken ?? ''
      // The permission alone does not make Kim an administrator.
      expect(await ask('POST', `${tenant.url}/v1.0/applications`, { token, body: { displayName: 'x' } })).toMatchObject(
        {
          status: 403,
          body: { error: { code: 'Authorization_RequestDenied' } },
        },
      )
    })

    it('lets a person consent to reading their own profile', async () => {
      const result = await signIn(publicClient(commandLineTools), ['https://graph.microsoft.com/User.Read'], kim)
      expect(decodeJwt(result?.accessToken ?? '')['scp']).toBe('User.Read')
    })

    it('requires consent again for a further permission', async () => {
      const client = publicClient(commandLineTools)
      const [first = ''] = graphScopes
      const result = await signIn(client, [first], sam)
      const account = result?.account
      if (!account) throw new Error('MSAL has kept no account')
      const further = { account, scopes: ['https://graph.microsoft.com/Sites.Read.All'], forceRefresh: true }
      expect(await failure(client.acquireTokenSilent(further))).toMatchObject({ subError: 'consent_required' })
    })

    it('reports a permission that Graph does not have', async () => {
      const pages: string[] = []
      expect(await answerTo(commandLineTools, 'Weather.Read', sam, pages)).toMatchObject(consentRequired)
      expect(pages.join()).toMatch(/AADSTS650053.*Weather\.Read/)
    })
  })

  it('refuses an unregistered client', async () => {
    const unknown = 'c0ffee00-0000-4000-8000-000000000001'
    const expected = { errorMessage: expect.stringMatching(/AADSTS700016/) }
    const secret = confidential(unknown, { clientSecret: 'x' })
    expect(await failure(secret.acquireTokenByClientCredential({ scopes: [scopes.graph] }))).toMatchObject(expected)
    expect(await answerTo(unknown, 'User.Read', kim)).toMatchObject({
      ...{ status: 400, body: { error: 'unauthorized_client', error_codes: [700016] } },
    })
    const created: Application = await graph.api('/applications').post({ displayName: 'x' })
    const known = confidential(created.appId ?? '', { clientSecret: 'x' })
    expect(await failure(known.acquireTokenByClientCredential({ scopes: [scopes.graph] }))).toMatchObject({
      errorMessage: expect.stringMatching(/AADSTS7000229.*missing service principal/),
    })
  })

  describe('with a certificate', () => {
    const certificateOf = (own: ReturnType<typeof selfSigned>) => ({
      clientCertificate: { privateKey: own.key, thumbprintSha256: own.thumbprint },
    })
    const upload = (id: string, ...all: ReturnType<typeof selfSigned>[]) =>
      graph.api(`/applications/${id}`).patch({
        keyCredentials: all.map(({ certificate }) => ({
          ...{ type: 'AsymmetricX509Cert', usage: 'Verify', key: certificate.replace(/-----.*-----|\n/g, '') },
        })),
      })

    it('signs a service in only while the certificate belongs to its registration', async () => {
      const { id, appId } = await register(graph, {})
      const [own, other] = [selfSigned(), selfSigned()]
      const token = (one: typeof own) =>
        confidential(appId, certificateOf(one)).acquireTokenByClientCredential({ scopes: [scopes.graph] })
      const refusal = { errorCode: 'invalid_client', errorMessage: expect.stringMatching(/AADSTS700027.*not found/) }
      expect(await failure(token(own))).toMatchObject(refusal)
      await upload(id, own)
      expect((await token(own))?.accessToken).toBeTruthy()
      expect(await failure(token(other))).toMatchObject(refusal)
      // A forged credential: another certificate's key with the thumbprint of the right certificate.
      const forged = { ...other, thumbprint: own.thumbprint }
      expect(await failure(token(forged))).toMatchObject({
        errorMessage: expect.stringMatching(/AADSTS700027.*verify/),
      })
      await upload(id)
      expect(await failure(token(own))).toMatchObject(refusal)
    })

    it('returns the roles that the service principal has at that time', async () => {
      const { id, appId, principalId } = await register(graph, {})
      const own = selfSigned()
      await upload(id, own)
      const claims = async (scope: string) => {
        const client = confidential(appId, certificateOf(own))
        const result = await client.acquireTokenByClientCredential({ scopes: [scope] })
        return decodeJwt(result?.accessToken ?? '')
      }
      const before = await claims(scopes.graph)
      expect(before).toMatchObject({ oid: principalId, azp: appId, idtyp: 'app', azpacr: '2', wids: [] })
      expect(before).not.toHaveProperty('roles')
      await grant(graph, principalId, microsoft.graph, 'User.Read.All')
      await grant(graph, principalId, microsoft.exchange, 'Exchange.ManageAsApp')
      await grant(graph, principalId, microsoft.sharePoint, 'Sites.FullControl.All')
      await graph
        .api('/roleManagement/directory/roleAssignments')
        .post({ principalId, roleDefinitionId: exchangeAdministrator, directoryScopeId: '/' })
      expect(await claims(scopes.graph)).toMatchObject({ roles: ['User.Read.All'], wids: [exchangeAdministrator] })
      expect(await claims(scopes.exchange)).toMatchObject({ roles: ['Exchange.ManageAsApp'] })
      expect(await claims(scopes.sharePoint)).toMatchObject({ roles: ['Sites.FullControl.All'] })
      expect(await claims(`${tenant.url}/.default`)).toMatchObject({ roles: ['Sites.FullControl.All'] })
    })
  })

  it('signs a bot in with a secret from addPassword, and refuses every other secret', async () => {
    const { id, appId } = await register(graph, { displayName: 'Bot' })
    const add = (change = {}): Promise<PasswordCredential> =>
      graph.api(`/applications/${id}/addPassword`).post({ passwordCredential: { displayName: 'x', ...change } })
    const { secretText, keyId } = await add()
    const token = (clientSecret: string) =>
      confidential(appId, { clientSecret }).acquireTokenByClientCredential({
        scopes: ['https://api.botframework.com/.default'],
      })
    expect(decodeJwt((await token(secretText ?? ''))?.accessToken ?? '')).toMatchObject({
      ...{ aud: 'https://api.botframework.com', azp: appId, azpacr: '1' },
    })
    const wrong = { errorMessage: expect.stringMatching(/AADSTS7000215/) }
    expect(await failure(token(keyId ?? ''))).toMatchObject(wrong)
    const times = { startDateTime: '2025-01-01T00:00:00Z', endDateTime: '2026-01-01T00:00:00Z' }
    expect(await failure(token((await add(times)).secretText ?? ''))).toMatchObject({
      errorMessage: expect.stringMatching(/AADSTS7000222/),
    })
    const enable = (accountEnabled: boolean) =>
      graph.api(`/servicePrincipals(appId='${appId}')`).patch({ accountEnabled })
    await enable(false)
    expect(await failure(token(secretText ?? ''))).toMatchObject({
      errorMessage: expect.stringMatching(/AADSTS7000112/),
    })
    await enable(true)
    await graph.api(`/applications/${id}/removePassword`).post({ keyId })
    expect(await failure(token(secretText ?? ''))).toMatchObject(wrong)
  })

  it('does not know a new secret for a moment', async () => {
    const { id, appId } = await register(graph, {})
    await setTimeout(2100)
    const replication = (seconds: number) =>
      ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: seconds } })
    await replication(2)
    const { secretText }: PasswordCredential = await graph.api(`/applications/${id}/addPassword`).post({})
    const token = () =>
      confidential(appId, { clientSecret: secretText ?? '' }).acquireTokenByClientCredential({ scopes: [scopes.graph] })
    expect(await failure(token())).toMatchObject({ errorMessage: expect.stringMatching(/AADSTS7000215/) })
    await replication(0)
    expect((await token())?.accessToken).toBeTruthy()
  })

  describe('for an API of the organisation', () => {
    /** Registers an API with a scope and a role, and a command line that is a public client. */
    async function apiWith(change: Application = {}) {
      const api = await register(graph, {
        ...{ displayName: 'API', appRoles: [apiRole] },
        api: { requestedAccessTokenVersion: 2, oauth2PermissionScopes: [apiScope] },
        ...change,
      })
      await graph.api(`/applications/${api.id}`).patch({ identifierUris: [`api://${api.appId}`] })
      const cli = await register(graph, { displayName: 'Command line', isFallbackPublicClient: true })
      return { api, cli, scope: `api://${api.appId}/App.ReadWrite.All` }
    }

    it('returns a person’s token of version 2, only with consent', async () => {
      const { api, cli, scope } = await apiWith()
      expect(await answerTo(cli.appId, scope, kim)).toMatchObject(consentRequired)
      const consent = { clientId: cli.principalId, resourceId: api.principalId, scope: 'App.ReadWrite.All' }
      await graph.api('/oauth2PermissionGrants').post({ ...consent, consentType: 'AllPrincipals' })
      const claims = decodeJwt((await signIn(publicClient(cli.appId), [scope], kim))?.accessToken ?? '')
      expect(claims).toMatchObject({
        ...{ aud: api.appId, iss: `${tenant.url}/${tenant.tenantId}/v2.0`, ver: '2.0', oid: kim },
        ...{ azp: cli.appId, azpacr: '0', scp: 'App.ReadWrite.All' },
      })
      expect(claims).not.toHaveProperty('roles')
    })

    it('does not apply the consent of one person to other people', async () => {
      const { api, cli, scope } = await apiWith()
      const consent = { clientId: cli.principalId, resourceId: api.principalId, scope: 'App.ReadWrite.All' }
      await graph.api('/oauth2PermissionGrants').post({ ...consent, consentType: 'Principal', principalId: dana })
      const client = publicClient(cli.appId)
      expect(decodeJwt((await signIn(client, [scope], dana))?.accessToken ?? '')).toMatchObject({ oid: dana })
      expect(await answerTo(cli.appId, scope, kim)).toMatchObject(consentRequired)
    })

    it('trusts a client that the API has pre-authorised', async () => {
      const { api, cli, scope } = await apiWith()
      const trusted = [{ appId: cli.appId, delegatedPermissionIds: [apiScope.id] }]
      await graph.api(`/applications/${api.id}`).patch({ api: { preAuthorizedApplications: trusted } })
      expect(decodeJwt((await signIn(publicClient(cli.appId), [scope], kim))?.accessToken ?? '')).toMatchObject({
        scp: 'App.ReadWrite.All',
      })
    })

    it('refuses a command line that is not a public client', async () => {
      const { api, cli, scope } = await apiWith()
      const consent = { clientId: cli.principalId, resourceId: api.principalId, scope: 'App.ReadWrite.All' }
      await graph.api('/oauth2PermissionGrants').post({ ...consent, consentType: 'AllPrincipals' })
      await graph.api(`/applications/${cli.id}`).patch({ isFallbackPublicClient: false })
      expect(await answerTo(cli.appId, scope, kim)).toMatchObject({ status: 401, body: { error_codes: [7000218] } })
    })

    it('returns tokens of version 1 unless the registration requests version 2', async () => {
      const { cli, api } = await apiWith({ api: { oauth2PermissionScopes: [apiScope] } })
      const consent = { clientId: cli.principalId, resourceId: api.principalId, scope: 'App.ReadWrite.All' }
      await graph.api('/oauth2PermissionGrants').post({ ...consent, consentType: 'AllPrincipals' })
      const result = await signIn(publicClient(cli.appId), [`api://${api.appId}/App.ReadWrite.All`], kim)
      expect(decodeJwt(result?.accessToken ?? '')).toMatchObject({
        ver: '1.0',
        aud: `api://${api.appId}`,
        appid: cli.appId,
      })
    })

    it('returns the granted roles of an application, and idtyp on request', async () => {
      const { api } = await apiWith({ optionalClaims: { accessToken: [{ name: 'idtyp' }] } })
      const { id, appId, principalId } = await register(graph, { displayName: 'Program' })
      const { secretText }: PasswordCredential = await graph.api(`/applications/${id}/addPassword`).post({})
      const token = async () => {
        const client = confidential(appId, { clientSecret: secretText ?? '' })
        const result = await client.acquireTokenByClientCredential({ scopes: [`api://${api.appId}/.default`] })
        return decodeJwt(result?.accessToken ?? '')
      }
      expect(await token()).not.toHaveProperty('roles')
      await grant(graph, principalId, api.appId, 'App.ReadWrite.All')
      expect(await token()).toMatchObject({
        aud: api.appId,
        roles: ['App.ReadWrite.All'],
        idtyp: 'app',
        oid: principalId,
      })
    })

    it('refuses an API without a service principal, and a scope that the API does not have', async () => {
      const { cli, api } = await apiWith()
      const lonely: Application = await graph.api('/applications').post({ displayName: 'Lonely' })
      const refusal = await answerTo(cli.appId, `${lonely.appId}/App.ReadWrite.All`, kim)
      expect(refusal).toMatchObject({ status: 400, body: { error: 'invalid_resource', error_codes: [500011] } })
      const unknown = await answerTo(cli.appId, `api://${api.appId}/Other`, kim)
      expect(unknown).toMatchObject({ status: 400, body: { error: 'invalid_scope', error_codes: [70011] } })
    })
  })

  it('contains no registration, consent, role, extension, group or app at the start', async () => {
    const { value: apps } = await graph.api('/applications').get()
    const { value: principals }: { value: ServicePrincipal[] } = await graph.api('/servicePrincipals').get()
    const { value: groups } = await graph.api('/groups').filter('securityEnabled eq true').get()
    const others = ['/oauth2PermissionGrants', '/schemaExtensions', '/appCatalogs/teamsApps']
    expect([apps, groups]).toEqual([[], []])
    for (const path of others) expect((await graph.api(path).get()).value, path).toEqual([])
    expect(principals.map(({ displayName }) => displayName)).toEqual([
      'Microsoft Graph',
      'Office 365 SharePoint Online',
      'Office 365 Exchange Online',
      'Microsoft Graph Command Line Tools',
    ])
    const { value: roles } = await graph.api('/roleManagement/directory/roleAssignments').get()
    expect(roles).toMatchObject([{ principalId: sam }])
    expect((await graph.api('/users').get()).value.length).toBeGreaterThan(40)
    // Contoso's own service has no roles here either.
    expect((await ask('GET', `${tenant.url}/control/consents`)).body).toEqual({
      graph: [],
      sharepoint: [],
      exchange: [],
    })
  })
})
