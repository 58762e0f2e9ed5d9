import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { appPackage } from '../../manifest/build.ts'
import { type Simulator, startSimulator } from '../../src/simulator/index.ts'
import { openTenant } from '../../src/simulator/tenant/index.ts'
import { administrator, delegatedToken, exchangeAdministrator, microsoft, register } from '../support/administrator.ts'
import { prepareTenant } from '../support/prepared-tenant.ts'
import { ask, kim, temporaryFolder, tokenOf, userUrl } from '../support/simulator.ts'

const sam = '11111111-aaaa-4aaa-8aaa-000000000004'
const unrelated = ['Mail.Read']

/** The objects that the calls of the table need. */
interface World {
  readonly app: { id: string; appId: string; principalId: string }
  readonly fresh: string
  readonly graphId: string
}
interface Row {
  readonly operation: string
  readonly method: string
  readonly path: (world: World) => string
  readonly body: ((world: World) => object) | undefined
  /** The least privileged delegated permissions, from Microsoft's page of the call. */
  readonly scopes: readonly string[]
  /** Whether people without a directory role may send the call. */
  readonly ordinary: boolean
  readonly status: number
}

const app =
  (rest = '') =>
  ({ app }: World) =>
    `/applications/${app.id}${rest}`
const principal =
  (rest = '') =>
  ({ app }: World) =>
    `/servicePrincipals/${app.principalId}${rest}`
const write = 'Application.ReadWrite.All'
type Cells = readonly [
  operation: string,
  method: string,
  path: Row['path'],
  body: Row['body'],
  scopes: readonly string[],
  status: number,
  ordinary?: true,
]
const table: readonly Cells[] = [
  ['applications.list', 'GET', () => '/applications', undefined, ['Application.Read.All'], 200, true],
  ['applications.get', 'GET', app(), undefined, ['Application.Read.All'], 200, true],
  ['applications.create', 'POST', () => '/applications', () => ({ displayName: 'x' }), [write], 201],
  ['applications.update', 'PATCH', app(), () => ({ displayName: 'y' }), [write], 204],
  ['applications.addPassword', 'POST', app('/addPassword'), () => ({}), [write], 200],
  [
    'applications.owners.add',
    'POST',
    app('/owners/$ref'),
    () => ({ '@odata.id': userUrl(sam) }),
    [write, 'Directory.Read.All'],
    204,
  ],
  ['servicePrincipals.list', 'GET', () => '/servicePrincipals', undefined, ['Application.Read.All'], 200, true],
  ['servicePrincipals.create', 'POST', () => '/servicePrincipals', ({ fresh }) => ({ appId: fresh }), [write], 201],
  ['servicePrincipals.update', 'PATCH', principal(), () => ({ tags: ['x'] }), [write], 204],
  [
    'appRoleAssignments.create',
    'POST',
    principal('/appRoleAssignments'),
    ({ app: { principalId }, graphId }) => ({
      ...{ principalId, resourceId: graphId, appRoleId: 'df021288-bdef-4463-88db-98f22de89214' },
    }),
    ['AppRoleAssignment.ReadWrite.All', 'Application.Read.All'],
    201,
  ],
  ['appRoleAssignments.list', 'GET', principal('/appRoleAssignments'), undefined, ['Application.Read.All'], 200, true],
  [
    'oauth2PermissionGrants.create',
    'POST',
    () => '/oauth2PermissionGrants',
    ({ app: { principalId }, graphId }) => ({
      ...{ clientId: principalId, resourceId: graphId, consentType: 'AllPrincipals', scope: 'User.Read' },
    }),
    ['DelegatedPermissionGrant.ReadWrite.All'],
    201,
  ],
  ['oauth2PermissionGrants.list', 'GET', () => '/oauth2PermissionGrants', undefined, ['Directory.Read.All'], 200, true],
  [
    'roleAssignments.create',
    'POST',
    () => '/roleManagement/directory/roleAssignments',
    ({ app: { principalId } }) => ({ principalId, roleDefinitionId: exchangeAdministrator, directoryScopeId: '/' }),
    ['RoleManagement.ReadWrite.Directory'],
    201,
  ],
  [
    'roleDefinitions.list',
    'GET',
    () => '/roleManagement/directory/roleDefinitions',
    undefined,
    ['RoleManagement.Read.Directory'],
    200,
    true,
  ],
  [
    'schemaExtensions.create',
    'POST',
    () => '/schemaExtensions',
    ({ app: { appId } }) => ({
      ...{ id: 'x', targetTypes: ['Group'], owner: appId, properties: [{ name: 'a', type: 'String' }] },
    }),
    [write],
    201,
  ],
  ['schemaExtensions.list', 'GET', () => '/schemaExtensions', undefined, ['User.Read'], 200, true],
  ['teamsApps.list', 'GET', () => '/appCatalogs/teamsApps', undefined, ['AppCatalog.Submit'], 200, true],
  ['organization.list', 'GET', () => '/organization', undefined, ['User.Read'], 200, true],
  ['domains.list', 'GET', () => '/domains', undefined, ['Domain.Read.All'], 200, true],
  ['me', 'GET', () => '/me', undefined, ['User.Read'], 200, true],
  ['sites.root', 'GET', () => '/sites/root', undefined, ['Sites.Read.All'], 200, true],
]
const rows = table.map(
  ([operation, method, path, body, scopes, status, ordinary = false]): Row => ({
    ...{ operation: `graph.${operation}`, method, path, body, scopes, status, ordinary },
  }),
)

describe('a call of an administrator', () => {
  let tenant: Simulator
  let world: World
  beforeAll(async () => {
    const dataDir = mkdtempSync(join(inject('runFolder'), 'administration-'))
    await prepareTenant(dataDir)
    tenant = await startSimulator({ dataDir, port: 0, tenant: 'empty', replicationSeconds: 0 })
    const graph = await administrator(tenant)
    const registered = await register(graph, {})
    const fresh = await graph.api('/applications').post({ displayName: 'Without a service principal' })
    const { id } = await graph.api(`/servicePrincipals(appId='${microsoft.graph}')`).get()
    world = { app: registered, fresh: fresh.appId, graphId: id }
    return () => tenant.close()
  })
  const call = async ({ method, path, body }: Row, token: string) =>
    ask(method, `${tenant.url}/v1.0${path(world)}`, { token, ...(body && { body: body(world) }) })

  it.each(rows)('$operation needs its permission, and a directory role if Microsoft requires one', async (row) => {
    const stranger = await call(row, await delegatedToken(tenant, 'sam', unrelated))
    expect(stranger).toMatchObject({ status: 403 })
    for (const scope of row.scopes.length > 1 ? row.scopes : [])
      expect((await call(row, await delegatedToken(tenant, 'sam', [scope]))).status, scope).toBe(403)
    const kimCalls = await call(row, await delegatedToken(tenant, 'kim', row.scopes))
    if (row.ordinary) expect(kimCalls.status).toBe(200)
    else expect(kimCalls).toMatchObject({ status: 403, body: { error: { code: 'Authorization_RequestDenied' } } })
    // Each call fails once, and then succeeds.
    const fault = { operation: row.operation, kind: 'failBeforeCommit', count: 1 }
    expect((await ask('POST', `${tenant.url}/control/faults`, { body: fault })).status).toBe(201)
    const token = await delegatedToken(tenant, 'sam', row.scopes)
    expect((await call(row, token)).status).toBe(503)
    const answer = await call(row, token)
    expect([answer.status, answer.body.error]).toEqual([row.status, undefined])
  })

  it('is in the log with its method, so that write calls can be counted', async () => {
    const token = await delegatedToken(tenant)
    const body = { displayName: 'Counted' }
    await ask('DELETE', `${tenant.url}/control/calls`)
    await ask('GET', `${tenant.url}/v1.0/applications`, { token })
    const { id } = (await ask('POST', `${tenant.url}/v1.0/applications`, { token, body })).body
    const { secretText } = (await ask('POST', `${tenant.url}/v1.0/applications/${id}/addPassword`, { token, body: {} }))
      .body
    await fetch(`${tenant.url}/v1.0/appCatalogs/teamsApps`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/zip' },
      body: new Uint8Array(appPackage({ MICROSOFT_APP_ID: kim, BASE_URL: 'https://contoso.example' })),
    })
    const { value } = (await ask('GET', `${tenant.url}/control/calls`)).body
    expect(value.map(({ operation, method }: Record<string, string>) => `${method} ${operation}`)).toEqual([
      'GET graph.applications.list',
      'POST graph.applications.create',
      'POST graph.applications.addPassword',
      'POST graph.teamsApps.publish',
    ])
    expect(JSON.stringify(value)).not.toContain(secretText)
    expect(value[3].body).toMatch(/^\(a file of \d+ bytes\)$/)
  })

  it('of an application needs no directory role, but its own permission', async () => {
    const roles = (names: readonly string[]) =>
      ask('POST', `${tenant.url}/control/consents`, { body: { resource: 'graph', roles: names } })
    await roles(['Application.ReadWrite.All'])
    const token = await tokenOf(tenant)
    const body = { displayName: 'By an application' }
    expect((await ask('POST', `${tenant.url}/v1.0/applications`, { token, body })).status).toBe(201)
    const grantRow = rows.find(({ operation }) => operation === 'graph.appRoleAssignments.create')
    // Application.ReadWrite.All alone does not allow grants of Graph's permissions.
    expect(grantRow && (await call(grantRow, token)).status).toBe(403)
    expect((await ask('GET', `${tenant.url}/v1.0/me`, { token })).status).toBe(403)
    await ask('DELETE', `${tenant.url}/control/consents`)
  })
})

describe('the data folder of a simulated tenant', () => {
  it('belongs to one tenant', async () => {
    const dataDir = await temporaryFolder()
    await prepareTenant(dataDir)
    const start = (tenant: 'contoso' | 'empty') => startSimulator({ dataDir, port: 0, tenant })
    await (await start('empty')).close()
    await expect(start('contoso')).rejects.toThrow("has the simulated tenant 'empty'")
    const again = await start('empty')
    await again.close()
  })

  it('keeps the data that an older simulator wrote without the extension’s name', async () => {
    const dataDir = await temporaryFolder()
    await prepareTenant(dataDir)
    const old = openTenant(dataDir)
    old.run(
      `insert into groups (id, unified, mail_nickname, doc, extension, extension_at, created_at)
       values ('22222222-bbbb-4bbb-8bbb-0000000000aa', 0, 'old', '{"displayName":"Old"}', '{"requestId":"r-1"}', 0, '2026')`,
    )
    old.close()
    const simulator = await startSimulator({ dataDir, port: 0 })
    const token = await tokenOf(simulator)
    const { body } = await ask(
      'GET',
      `${simulator.url}/v1.0/groups?$filter=svc_group/requestId eq 'r-1'&$select=id,svc_group`,
      { token },
    )
    await simulator.close()
    expect(body.value).toMatchObject([{ svc_group: { requestId: 'r-1' } }])
  })
})
