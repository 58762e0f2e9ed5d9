import type { Client } from '@microsoft/microsoft-graph-client'
import type { Application, ServicePrincipal } from '@microsoft/microsoft-graph-types'
import type { Simulator } from '../../src/simulator/index.ts'
import { graphClient } from './graph-client.ts'
import { ask, tenantFor } from './simulator.ts'

/** Microsoft Graph Command Line Tools, the public client of Microsoft's own command line. */
export const commandLineTools = '14d82eec-204b-4c2f-b7e8-296a70dab67e'
export const exchangeAdministrator = '29232cdf-9323-42fd-ade2-1d097af3e4de'
export const microsoft = {
  graph: '00000003-0000-0000-c000-000000000000',
  sharePoint: '00000003-0000-0ff1-ce00-000000000000',
  exchange: '00000002-0000-0ff1-ce00-000000000000',
} as const

/** The scopes that an organisation's setup needs, by Microsoft's permission table. */
export const setupScopes = [
  'Application.ReadWrite.All',
  'AppRoleAssignment.ReadWrite.All',
  'DelegatedPermissionGrant.ReadWrite.All',
  'Directory.Read.All',
  'RoleManagement.ReadWrite.Directory',
  'Group.ReadWrite.All',
  'AppCatalog.ReadWrite.All',
  'User.Read',
] as const

/** Starts an empty tenant for one test. By default its servers know new objects at once. */
export const emptyTenant = (replicationSeconds = 0): Promise<Simulator> =>
  tenantFor({ tenant: 'empty', replicationSeconds })

/** Returns a person's token for the command-line tools from the control endpoint, without a sign-in and consent. */
export async function delegatedToken(
  { url }: Pick<Simulator, 'url'>,
  person = 'sam',
  scopes: readonly string[] = setupScopes,
): Promise<string> {
  const { body } = await ask('POST', `${url}/control/token`, {
    body: {
      userPrincipalName: `${person}@contoso.example`,
      scope: scopes.map((scope) => `https://graph.microsoft.com/${scope}`).join(' '),
      clientId: commandLineTools,
    },
  })
  return body.access_token
}

/** Creates Microsoft's Graph client with a person's token. The default person is the Global Administrator. */
export const administrator = async (
  simulator: Pick<Simulator, 'url'>,
  person?: string,
  scopes?: readonly string[],
): Promise<Client> => graphClient(simulator.url, await delegatedToken(simulator, person, scopes))

/** Creates a registration with its service principal. */
export async function register(graph: Client, application: Application) {
  const created: Application = await graph
    .api('/applications')
    .post({ displayName: 'An app', signInAudience: 'AzureADMyOrg', ...application })
  const principal: ServicePrincipal = await graph.api('/servicePrincipals').post({ appId: created.appId })
  return { id: created.id ?? '', appId: created.appId ?? '', principalId: principal.id ?? '' }
}

/** Grants an application permission of one of Microsoft's services. */
export async function grant(graph: Client, principalId: string, appId: string, permission: string): Promise<void> {
  const resource: ServicePrincipal = await graph.api(`/servicePrincipals(appId='${appId}')`).select('id,appRoles').get()
  const role = resource.appRoles?.find(({ value }) => value === permission)
  await graph
    .api(`/servicePrincipals/${principalId}/appRoleAssignments`)
    .post({ principalId, resourceId: resource.id, appRoleId: role?.id })
}
