import type { Client } from '@microsoft/microsoft-graph-client'
import type {
  Application,
  AppRoleAssignment,
  OAuth2PermissionGrant,
  PasswordCredential,
  ServicePrincipal,
  UnifiedRoleAssignment,
  UnifiedRoleDefinition,
} from '@microsoft/microsoft-graph-types'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import {
  administrator,
  emptyTenant,
  exchangeAdministrator,
  grant,
  microsoft,
  register,
} from '../support/administrator.ts'
import { selfSigned } from '../support/certificates.ts'
import { ask, kim, userUrl } from '../support/simulator.ts'

const sam = '11111111-aaaa-4aaa-8aaa-000000000004'
const scopeId = '0c1d2e3f-1111-4222-8333-444455556666'
const refused = (statusCode: number, code: string, message: string | RegExp) => ({
  ...{ statusCode, code },
  message: typeof message === 'string' ? message : expect.stringMatching(message),
})
const failure = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error)

describe('a registration, used with Microsoft’s own Graph client,', () => {
  let tenant: Simulator
  let graph: Client
  beforeEach(async () => {
    tenant = await emptyTenant()
    graph = await administrator(tenant)
  })
  const byName = (name: string) => graph.api(`/applications(uniqueName='${name}')`)
  const upsert = (name: string, body: Application) => byName(name).header('Prefer', 'create-if-missing').patch(body)

  it('is created once for a unique name, then changed', async () => {
    expect(await failure(byName('service').get())).toMatchObject({ statusCode: 404, code: 'Request_ResourceNotFound' })
    expect(await failure(byName('service').patch({ displayName: 'x' }))).toMatchObject({ statusCode: 404 })
    const created: Application = await upsert('service', { displayName: 'Service', signInAudience: 'AzureADMyOrg' })
    expect(created).toMatchObject({
      ...{ uniqueName: 'service', displayName: 'Service', signInAudience: 'AzureADMyOrg', identifierUris: [] },
      ...{ publisherDomain: 'contoso.example', api: { requestedAccessTokenVersion: null } },
    })
    await upsert('service', { displayName: 'Service 2', api: { requestedAccessTokenVersion: 2 } })
    const found: Application[] = await Promise.all([
      byName('service').get(),
      graph.api(`/applications/${created.id}`).get(),
      graph.api(`/applications(appId='${created.appId}')`).get(),
    ])
    for (const one of found)
      expect(one).toMatchObject({ id: created.id, displayName: 'Service 2', api: { requestedAccessTokenVersion: 2 } })
    const listed = await graph.api('/applications').filter("uniqueName eq 'service'").select('id').get()
    expect(listed.value).toEqual([{ id: created.id }])
  })

  it('has owners; Entra ID does not add an administrator as owner', async () => {
    const { id } = await register(graph, {})
    const owners = () => graph.api(`/applications/${id}/owners`).get()
    expect((await owners()).value).toEqual([])
    const add = () => graph.api(`/applications/${id}/owners/$ref`).post({ '@odata.id': userUrl(sam) })
    await add()
    expect((await owners()).value).toMatchObject([{ id: sam, '@odata.type': '#microsoft.graph.user' }])
    expect(await failure(add())).toMatchObject(refused(400, 'Request_BadRequest', /already exist.*'owners'/))
    const bound = await graph.api('/applications').post({ displayName: 'Bound', 'owners@odata.bind': [userUrl(sam)] })
    expect((await graph.api(`/applications/${bound.id}/owners`).get()).value).toMatchObject([{ id: sam }])
  })

  it('accepts an App ID URI of its own id or of a verified domain, and only once in the tenant', async () => {
    const { id, appId } = await register(graph, {})
    const set = (one: string, uri: string) => graph.api(`/applications/${one}`).patch({ identifierUris: [uri] })
    for (const uri of [`api://${appId}`, 'https://contoso.example/api', 'api://sites.contoso.example/x'])
      await set(id, uri)
    for (const uri of ['https://elsewhere.example', 'api://payroll'])
      expect(await failure(set(id, uri))).toMatchObject(refused(400, 'Request_BadRequest', /verified domain/))
    const other = await register(graph, {})
    expect(await failure(set(other.id, 'api://sites.contoso.example/x'))).toMatchObject(
      refused(
        400,
        'Request_BadRequest',
        'Another object with the same value for property identifierUris already exists.',
      ),
    )
  })

  it('has scopes and app roles, which must be disabled before they are removed', async () => {
    const { id } = await register(graph, {})
    const texts = { adminConsentDisplayName: 'Use it', adminConsentDescription: 'Uses it.' }
    const scope = { id: scopeId, value: 'App.ReadWrite.All', type: 'User', isEnabled: true, ...texts }
    const role = {
      ...{ id: scopeId, value: 'App.ReadWrite.All', isEnabled: true, allowedMemberTypes: ['Application'] },
      ...{ displayName: 'Use it', description: 'Uses it.' },
    }
    const patch = (body: object) => graph.api(`/applications/${id}`).patch(body)
    const other = { ...role, id: '0c1d2e3f-1111-4222-8333-444455557777' }
    await patch({ api: { oauth2PermissionScopes: [scope] } })
    expect(await failure(patch({ appRoles: [other] }))).toMatchObject(refused(400, 'Request_BadRequest', /duplicate/))
    expect(await failure(patch({ appRoles: [{ ...role, displayName: 'Other' }] }))).toMatchObject(
      refused(400, 'Request_BadRequest', /The following values must match/),
    )
    await patch({ appRoles: [role] })
    // A complex property keeps the values that the body omits.
    await patch({ api: { requestedAccessTokenVersion: 2 } })
    const { api }: Application = await graph.api(`/applications/${id}`).get()
    expect(api).toMatchObject({ requestedAccessTokenVersion: 2, oauth2PermissionScopes: [scope] })
    const remove = () => patch({ api: { oauth2PermissionScopes: [] }, appRoles: [] })
    expect(await failure(remove())).toMatchObject(refused(400, 'Request_BadRequest', /unless disabled first/))
    const disabled = { isEnabled: false }
    await patch({ api: { oauth2PermissionScopes: [{ ...scope, ...disabled }] }, appRoles: [{ ...role, ...disabled }] })
    await remove()
  })

  it('shows a secret once, and a certificate only if its property is selected', async () => {
    const { id } = await register(graph, {})
    const secret: PasswordCredential = await graph
      .api(`/applications/${id}/addPassword`)
      .post({ passwordCredential: { displayName: 'setup', endDateTime: '2030-01-01T00:00:00Z' } })
    expect(secret.secretText).toMatch(/^\S{36,}$/)
    const { certificate } = selfSigned()
    const key = certificate.replace(/-----.*-----|\n/g, '')
    const keyCredential = { type: 'AsymmetricX509Cert', usage: 'Verify', key, displayName: 'service' }
    await graph.api(`/applications/${id}`).patch({ keyCredentials: [keyCredential] })
    const shown: Application = await graph.api(`/applications/${id}`).get()
    expect(shown.passwordCredentials).toMatchObject([
      { keyId: secret.keyId, hint: secret.secretText?.slice(0, 3), secretText: null, displayName: 'setup' },
    ])
    expect(shown.keyCredentials).toMatchObject(
      [{ key: null, displayName: 'service', endDateTime: /^2045-01-01/ }].map((one) => ({
        ...one,
        endDateTime: expect.stringMatching(one.endDateTime),
      })),
    )
    const selected: Application = await graph.api(`/applications/${id}`).select('keyCredentials').get()
    expect(selected.keyCredentials).toMatchObject([{ key }])
    // An entry with a known keyId and no key keeps its certificate.
    await graph.api(`/applications/${id}`).patch({ keyCredentials: shown.keyCredentials })
    expect((await graph.api(`/applications/${id}`).select('keyCredentials').get()).keyCredentials).toMatchObject([
      { key },
    ])
    const ended = selfSigned(new Date('2026-01-01T00:00:00Z')).certificate.replace(/-----.*-----|\n/g, '')
    expect(
      await failure(graph.api(`/applications/${id}`).patch({ keyCredentials: [{ ...keyCredential, key: ended }] })),
    ).toMatchObject(refused(400, 'KeyCredentialsInvalidEndDate', 'Key credential end date is invalid.'))
    const remove = () => graph.api(`/applications/${id}/removePassword`).post({ keyId: secret.keyId })
    await remove()
    expect(await failure(remove())).toMatchObject(refused(400, 'Request_BadRequest', /No password credential/))
  })

  it.each([
    [{ displayName: '' }, "Invalid value specified for property 'displayName' of resource 'Application'."],
    [{ displayName: 'x', colour: 'red' }, "Invalid property 'colour'."],
    [{ signInAudience: 'AzureADMyOrg' }, "A value is required for property 'displayName' of resource 'Application'."],
    [{ displayName: 'x', appId: scopeId }, "Property 'appId' is read-only and cannot be set."],
    [{ displayName: 'x', api: { requestedAccessTokenVersion: 3 } }, /property 'api.requestedAccessTokenVersion'/],
    [{ displayName: 'x', passwordCredentials: [{}] }, /Use addPassword/],
    [
      { displayName: 'x', signInAudience: 'PersonalMicrosoftAccount', api: { requestedAccessTokenVersion: 1 } },
      /requestedAccessTokenVersion/,
    ],
  ])('is refused with the reason: %j', async (body, message) => {
    expect(await failure(graph.api('/applications').post(body))).toMatchObject(
      refused(400, 'Request_BadRequest', message),
    )
  })

  it('has one service principal, with the permissions that an administrator grants', async () => {
    const { appId, principalId } = await register(graph, {})
    expect(await failure(graph.api('/servicePrincipals').post({ appId }))).toMatchObject(
      refused(409, 'Request_MultipleObjectsWithSameKeyValue', /is already in use/),
    )
    expect(await failure(graph.api('/servicePrincipals').post({ appId: scopeId }))).toMatchObject(
      refused(400, 'Request_BadRequest', /does not reference a valid application object/),
    )
    await graph
      .api(`/servicePrincipals(appId='${appId}')`)
      .header('Prefer', 'create-if-missing')
      .patch({ tags: ['x'] })
    await grant(graph, principalId, microsoft.graph, 'User.Read.All')
    expect(await failure(grant(graph, principalId, microsoft.graph, 'User.Read.All'))).toMatchObject(
      refused(400, 'Request_BadRequest', 'Permission being assigned already exists on the object'),
    )
    await grant(graph, principalId, microsoft.sharePoint, 'Sites.FullControl.All')
    await grant(graph, principalId, microsoft.exchange, 'Exchange.ManageAsApp')
    const { value }: { value: AppRoleAssignment[] } = await graph
      .api(`/servicePrincipals/${principalId}/appRoleAssignments`)
      .get()
    expect(value.map(({ appRoleId, resourceDisplayName }) => [resourceDisplayName, appRoleId])).toEqual([
      ['Microsoft Graph', 'df021288-bdef-4463-88db-98f22de89214'],
      ['Office 365 SharePoint Online', '678536fe-1083-478a-9c59-b99265e6b0d3'],
      ['Office 365 Exchange Online', 'dc50a0fb-09a3-484d-be87-e023b12c6440'],
    ])
    const own: ServicePrincipal = await graph.api(`/servicePrincipals/${principalId}`).get()
    expect(own).toMatchObject({ appId, tags: ['x'], servicePrincipalType: 'Application' })
    await graph.api(`/servicePrincipals/${principalId}/appRoleAssignments/${value[0]?.id}`).delete()
    expect((await graph.api(`/servicePrincipals/${principalId}/appRoleAssignments`).get()).value).toHaveLength(2)
  })

  it('has a directory role at most once', async () => {
    const { principalId } = await register(graph, {})
    const definitions: { value: UnifiedRoleDefinition[] } = await graph
      .api('/roleManagement/directory/roleDefinitions')
      .filter("displayName eq 'Exchange Administrator'")
      .get()
    expect(definitions.value.map(({ id }) => id)).toEqual([exchangeAdministrator])
    const assign = () =>
      graph
        .api('/roleManagement/directory/roleAssignments')
        .post({ principalId, roleDefinitionId: exchangeAdministrator, directoryScopeId: '/' })
    const assignment: UnifiedRoleAssignment = await assign()
    expect(await failure(assign())).toMatchObject(refused(400, 'Request_BadRequest', /^A conflicting object/))
    const { value } = await graph
      .api('/roleManagement/directory/roleAssignments')
      .filter(`principalId eq '${principalId}'`)
      .get()
    expect(value).toMatchObject([{ id: assignment.id, roleDefinitionId: exchangeAdministrator }])
  })

  it('has one consent for each client and resource', async () => {
    const client = await register(graph, {})
    const resource: ServicePrincipal = await graph.api(`/servicePrincipals(appId='${microsoft.graph}')`).get()
    const consent = { clientId: client.principalId, resourceId: resource.id, consentType: 'AllPrincipals' }
    const post = (scope: string) => graph.api('/oauth2PermissionGrants').post({ ...consent, scope })
    const created: OAuth2PermissionGrant = await post('User.Read')
    expect(await failure(post('User.Read'))).toMatchObject(
      refused(409, 'Request_MultipleObjectsWithSameKeyValue', 'Permission entry already exists.'),
    )
    await graph.api(`/oauth2PermissionGrants/${created.id}`).patch({ scope: 'User.Read Group.Read.All' })
    const { value } = await graph
      .api('/oauth2PermissionGrants')
      .filter(`clientId eq '${client.principalId}' and consentType eq 'AllPrincipals'`)
      .get()
    expect(value).toMatchObject([{ id: created.id, scope: 'User.Read Group.Read.All', principalId: null }])
    expect(await failure(post('Weather.Read'))).toMatchObject(refused(400, 'Request_BadRequest', /property 'scope'/))
  })

  it('is unknown to some servers for a moment', async () => {
    await ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: 3600 } })
    const created: Application = await graph.api('/applications').post({ displayName: 'New' })
    const principal = () => graph.api('/servicePrincipals').post({ appId: created.appId })
    expect(await failure(principal())).toMatchObject(refused(400, 'Request_BadRequest', /does not reference a valid/))
    expect(await failure(graph.api(`/applications/${created.id}`).patch({ displayName: 'x' }))).toMatchObject({
      statusCode: 404,
    })
    await ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: 0 } })
    const { id }: ServicePrincipal = await principal()
    await ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: 3600 } })
    expect(await failure(grant(graph, id ?? '', microsoft.graph, 'User.Read.All'))).toMatchObject({ statusCode: 404 })
    const role = { principalId: id, roleDefinitionId: exchangeAdministrator, directoryScopeId: '/' }
    expect(await failure(graph.api('/roleManagement/directory/roleAssignments').post(role))).toMatchObject({
      statusCode: 404,
    })
  })

  it('disappears with its service principal and all its grants', async () => {
    const { id, principalId } = await register(graph, {})
    await grant(graph, principalId, microsoft.graph, 'User.Read.All')
    await graph.api(`/applications/${id}`).delete()
    expect(await failure(graph.api(`/servicePrincipals/${principalId}`).get())).toMatchObject({ statusCode: 404 })
    const resource: ServicePrincipal = await graph.api(`/servicePrincipals(appId='${microsoft.graph}')`).get()
    expect((await graph.api(`/servicePrincipals/${resource.id}/appRoleAssignedTo`).get()).value).toEqual([])
  })

  it('cannot be created by a person without a directory role, who may read it', async () => {
    const { id } = await register(graph, {})
    const ordinary = await administrator(tenant, 'kim')
    const denied = refused(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
    expect(await failure(ordinary.api('/applications').post({ displayName: 'x' }))).toMatchObject(denied)
    expect(await failure(ordinary.api(`/applications/${id}`).patch({ displayName: 'x' }))).toMatchObject(denied)
    expect(await ordinary.api(`/applications/${id}`).get()).toMatchObject({ id })
    await graph.api(`/applications/${id}/owners/$ref`).post({ '@odata.id': userUrl(kim) })
    await ordinary.api(`/applications/${id}`).patch({ displayName: 'Kim’s' })
  })
})
