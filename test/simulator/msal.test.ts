import { ConfidentialClientApplication, PublicClientApplication } from '@azure/msal-node'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localCertificate } from '../../src/microsoft365/index.ts'
import { http, network } from '../support/msal-network.ts'
import { startTenant } from '../support/simulated-tenant.ts'
import { ask, kim } from '../support/simulator.ts'

const clientId = '44444444-dddd-4ddd-8ddd-000000000001'
const graph = 'https://graph.microsoft.com'

describe('MSAL with the metadata that the simulated Entra ID publishes', () => {
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let auth: { clientId: string; authority: string; knownAuthorities: string[] }
  beforeAll(async () => {
    tenant = await startTenant()
    const { host } = new URL(tenant.simulator.url)
    auth = { clientId, authority: `https://${host}/${tenant.simulator.tenantId}`, knownAuthorities: [host] }
  })
  afterAll(() => tenant.close())
  const readMe = (token: string) =>
    ask('GET', `${tenant.simulator.url}/v1.0/users/${kim}?$select=displayName`, { token })

  it('signs an app in with a certificate, and Graph accepts the token', async () => {
    const { privateKey, thumbprintSha256 } = localCertificate()
    const clientCertificate = { privateKey, thumbprintSha256 }
    const app = new ConfidentialClientApplication({
      auth: { ...auth, clientCertificate },
      system: { networkClient: network },
    })
    const request = { scopes: [`${graph}/.default`] }
    const result = await app.acquireTokenByClientCredential(request)
    const token = result?.accessToken ?? ''
    expect(decodeJwt(token)).toMatchObject({ idtyp: 'app', azp: clientId, tid: tenant.simulator.tenantId })
    expect((await readMe(token)).body.displayName).toBe('Kim Lee')
    expect((await app.acquireTokenByClientCredential(request))?.fromCache).toBe(true)
  })

  it('shows Entra ID’s error for a refused scope', async () => {
    const clientCertificate = { ...localCertificate() }
    const app = new ConfidentialClientApplication({
      auth: { ...auth, clientCertificate },
      system: { networkClient: network },
    })
    const refusal = app.acquireTokenByClientCredential({ scopes: [`${graph}/User.Read.All`] })
    await expect(refusal).rejects.toMatchObject({
      errorCode: 'invalid_scope',
      errorMessage: expect.stringMatching(/AADSTS1002012/),
    })
  })

  it('signs a person in with a device code, and renews the token', async () => {
    const app = new PublicClientApplication({ auth, system: { networkClient: network } })
    const scopes = [`${graph}/User.Read.All`]
    const result = await app.acquireTokenByDeviceCode({
      scopes,
      deviceCodeCallback: ({ userCode, verificationUri }) => {
        const form = { user_code: userCode, person: kim, answer: 'allow' }
        void ask('POST', http(verificationUri), { body: new URLSearchParams(form) })
      },
    })
    expect(result?.account).toMatchObject({ localAccountId: kim, username: 'kim@contoso.example' })
    expect(result?.scopes).toContain(scopes[0])
    expect((await readMe(result?.accessToken ?? '')).body.displayName).toBe('Kim Lee')
    const [account] = await app.getTokenCache().getAllAccounts()
    if (!account) throw new Error('MSAL has kept no account')
    const silent = { account, scopes }
    expect((await app.acquireTokenSilent(silent)).fromCache).toBe(true)
    expect((await app.acquireTokenSilent({ ...silent, forceRefresh: true })).fromCache).toBe(false)
  })
})
