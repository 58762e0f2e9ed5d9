import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClaimsIdentity } from 'botframework-connector'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { clouds } from '../../src/app/addresses.ts'
import { ConfigurationError, readConfig } from '../../src/app/config.ts'
import { tokensOf } from '../../src/app/connections.ts'
import { findEndpoints } from '../../src/app/endpoints.ts'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { createGuard } from '../../src/bot/channel/guard.ts'
import { createSigningKeys } from '../../src/http/index.ts'
import { connectMicrosoft365 } from '../../src/microsoft365/index.ts'
import { type Simulator, startSimulator } from '../../src/simulator/index.ts'
import { clicking } from '../support/bot-activities.ts'
import { selfSigned } from '../support/certificates.ts'
import { botAppId, withConnectorKeys } from '../support/connector-keys.ts'
import { certificate } from '../support/microsoft365.ts'
import { coreWith, startIssuer, startRest } from '../support/rest.ts'
import { ask } from '../support/simulator.ts'
import { apiIds, contosoTenant, people, scopes } from '../support/teams-user.ts'

const settings = {
  MODE: 'production',
  MICROSOFT_APP_ID: botAppId,
  MICROSOFT_APP_PASSWORD: 'secret',
  CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001',
  TENANT_ID: contosoTenant,
  DIRECTORY_EXTENSION: 'svc_group',
  AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64'),
  COLLAB_AUDIENCE: apiIds.collab,
  MAIL_AUDIENCE: apiIds.mail,
  BASE_URL: 'https://quartermaster.contoso.example',
  ADMINS: people.sam.id,
}

/** The settings with a certificate file, which the configuration reads. */
function complete(variables: Record<string, string>): Record<string, string> {
  const { key, certificate: certificateText } = selfSigned()
  const path = join(mkdtempSync(join(inject('runFolder'), 'clouds-')), 'client.pem')
  writeFileSync(path, key + certificateText)
  return { ...settings, CLIENT_CERTIFICATE_PATH: path, ...variables }
}

function faultsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(complete({ DATA_DIR: 'data', ...variables }))
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
}

/** The hosts of each cloud, a second time, so that an error in the table is found. */
const rows = {
  public: {
    hosts: ['login.microsoftonline.com', 'graph.microsoft.com', 'contoso.sharepoint.com', 'outlook.office365.com'],
    admin: 'https://contoso-admin.sharepoint.com',
    outlook: 'https://outlook.office.com/',
    bot: ['https://api.botframework.com', 'https://login.botframework.com/v1/.well-known/keys'],
    serviceUrls: ['https://smba.trafficmanager.net/emea/', 'https://smba.infra.gcc.teams.microsoft.com/gcc'],
  },
  usgov: {
    hosts: ['login.microsoftonline.us', 'graph.microsoft.us', 'contoso.sharepoint.us', 'outlook.office365.us'],
    admin: 'https://contoso-admin.sharepoint.us',
    outlook: 'https://outlook.office365.us/',
    bot: ['https://api.botframework.us', 'https://login.botframework.azure.us/v1/.well-known/keys'],
    serviceUrls: ['https://smba.infra.gov.teams.microsoft.us/gcch'],
  },
} as const
const exchangeOnline = 'https://outlook.office365.com'
const names = Object.keys(clouds) as (keyof typeof clouds)[]

/** Returns the address and the audience with which the SDK requests the bot's own token. */
class SigningIn extends GuardedAdapter {
  async tokenRequest(serviceUrl: string) {
    const identity = new ClaimsIdentity([{ type: 'aud', value: botAppId }], true)
    const factory = this.botFrameworkAuthentication.createConnectorFactory(identity)
    // A proactive card names no audience, so the SDK uses the audience of the cloud.
    const noAudience = undefined as unknown as string
    const { credentials } = await factory.create(serviceUrl, noAudience)
    const { oAuthEndpoint, oAuthScope } = Object(credentials)
    return { oAuthEndpoint, oAuthScope }
  }
}

describe.each(names)('in the cloud %s', (name) => {
  const keys = withConnectorKeys()
  const row = rows[name]
  const other = rows[name === 'public' ? 'usgov' : 'public']
  const [login, , sharePoint] = row.hosts
  let simulator: Simulator
  let endpoints: Awaited<ReturnType<typeof findEndpoints>>
  const called = new Set<string>()
  /** Sends all calls to the simulator and records their hosts. Also translates the scope of a sign-in. */
  const outgoing: typeof fetch = (input, init) => {
    const { host, origin, pathname, search } = new URL(String(input))
    called.add(host)
    const body = typeof init?.body === 'string' && host === login ? { body: translated(init.body) } : {}
    expect(origin).toBe(`https://${host}`)
    return fetch(`${simulator.url}${pathname}${search}`, { ...init, ...body })
  }
  const translated = (form: string): string => {
    const fields = new URLSearchParams(form)
    const { host } = new URL(fields.get('scope')?.split(' ')[0] ?? '')
    const [, graph, sites, exchange] = row.hosts
    const simulated = { [graph]: 'https://graph.microsoft.com', [sites]: simulator.url, [exchange]: exchangeOnline }
    expect(Object.keys(simulated)).toContain(host)
    fields.set('scope', `${simulated[host]}/.default`)
    return fields.toString()
  }
  beforeAll(async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'clouds-'))
    simulator = await startSimulator({ dataDir: folder, port: 0, siteReadySeconds: 0 })
    const cloud = { CLOUD: name, SHAREPOINT_URL: `https://${sharePoint}`, DATA_DIR: join(folder, 'data') }
    endpoints = await findEndpoints(readConfig(complete(cloud)))
    return () => simulator.close()
  })

  it('the service calls Graph, SharePoint and Exchange only at the hosts of that cloud', async () => {
    const { tenant } = connectMicrosoft365({ ...endpoints, certificate, fetch: outgoing })
    const health = await tenant.health()
    expect(health.map(({ name: service, problem }) => [service, problem])).toEqual([
      ['graph', undefined],
      ['sharePoint', undefined],
      ['exchange', undefined],
    ])
    expect(called).toEqual(new Set(row.hosts))
    expect([endpoints.sharePointAdminUrl, tenant.outlookRoot]).toEqual([row.admin, row.outlook])
  })

  it('the APIs accept version 1 and 2 tokens of that login, and no tokens of another cloud', async () => {
    const provisioning = coreWith({
      actor: async (identity: object) => identity,
      listRequests: async () => ({ requests: [] }),
    })
    const { server } = await startRest(await startIssuer(), {
      core: provisioning,
      tokens: { ...tokensOf(endpoints), fetch: outgoing },
    })
    const statusOf = async (claims: object) => {
      const body = { userId: people.kim.id, scope: scopes.collab, claims }
      const { access_token } = (await ask('POST', `${simulator.url}/control/token`, { body })).body
      return (await ask('GET', `${server.url}/requests/v1/`, { token: access_token })).status
    }
    expect(await statusOf({ iss: `https://${login}/${contosoTenant}/v2.0` })).toBe(200)
    expect(await statusOf({ iss: `https://${other.hosts[0]}/${contosoTenant}/v2.0` })).toBe(401)
    await ask('POST', `${simulator.url}/control/tenant`, { body: { apiTokenVersion: 1 } })
    expect(await statusOf({ aud: apiIds.collab })).toBe(200)
  })

  it('the bot accepts activities only from that connector, and answers there', async () => {
    const { connector } = clouds[name]
    const [issuer, keysUrl] = row.bot
    expect([connector.issuer, connector.keysUrl]).toEqual([issuer, keysUrl])
    const own = createSigningKeys({ url: `${keys.url}/keys`, fetch, now: Date.now })
    const guard = createGuard({ appId: botAppId, tenantId: contosoTenant, keys: own, connector })
    const verdict = async (iss: string, serviceUrl: string) => {
      const token = await keys.token({ iss, serviceurl: serviceUrl })
      const activity = clicking('kim', 'request.choose', {}, { serviceUrl })
      const result = guard.judge(await guard.admit([`Bearer ${token}`]), activity)
      return result.ok ? 200 : result.status
    }
    for (const serviceUrl of row.serviceUrls) expect(await verdict(issuer, serviceUrl)).toBe(200)
    for (const serviceUrl of other.serviceUrls) expect(await verdict(issuer, serviceUrl)).toBe(403)
    expect(await verdict(other.bot[0], row.serviceUrls[0])).toBe(401)
    const credentials = { appId: botAppId, password: 'secret', tenantId: contosoTenant, type: 'SingleTenant' }
    expect(await new SigningIn(credentials, connector).tokenRequest(row.serviceUrls[0])).toEqual({
      oAuthEndpoint: `https://${login}/${contosoTenant}`,
      oAuthScope: connector.audience,
    })
  })
})

describe('CLOUD', () => {
  it.each([
    ['usgov-dod', 'CLOUD must not be usgov-dod: the service does not work in that cloud. Microsoft documents bots'],
    ['china', 'CLOUD must not be china: the service does not work in that cloud.'],
    ['gcc', 'CLOUD must be public (also for GCC) or usgov (GCC High).'],
    ['constructor', 'CLOUD must be public (also for GCC) or usgov (GCC High).'],
  ])('%s is refused with the reason', (CLOUD, fault) => {
    const SHAREPOINT_URL = 'https://sites.contoso.example'
    expect(faultsOf({ CLOUD, SHAREPOINT_URL })).toEqual([expect.stringContaining(fault)])
  })

  it.each([
    ['https://contoso.sharepoint.us', 'public', 'the cloud usgov: CLOUD must be usgov.'],
    ['https://contoso.sharepoint.com', 'usgov', 'the cloud public: CLOUD must be public.'],
    [
      'https://contoso.sharepoint-mil.us',
      'usgov',
      'the cloud usgov-dod: CLOUD must not be usgov-dod: the service does',
    ],
  ])('must be the cloud of the organisation’s sites: %s', (SHAREPOINT_URL, CLOUD, fault) => {
    const expected = expect.stringContaining(`an address of ${fault}`)
    expect(faultsOf({ CLOUD, SHAREPOINT_URL })).toEqual([expected])
  })
})
