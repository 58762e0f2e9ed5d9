import type { Tenant } from './state.ts'

/** Microsoft's services that check an application's roles. */
export const resources = ['graph', 'sharepoint', 'exchange'] as const
export type Resource = (typeof resources)[number]

/** The directory role of Exchange. It is no application permission: tokens carry its id in `wids`. */
export const exchangeAdministrator = { name: 'Exchange Administrator', id: '29232cdf-9323-42fd-ade2-1d097af3e4de' }

/** What an admin of Contoso has granted to the service's registration: the documented permissions and no others. */
const usualRoles: Readonly<Record<Resource, readonly string[]>> = {
  graph: [
    'Group.ReadWrite.All',
    'User.Read.All',
    'User.EnableDisableAccount.All',
    'Sites.Read.All',
    'TeamsAppInstallation.ReadWriteSelfForUser.All',
  ],
  sharepoint: ['Sites.FullControl.All'],
  exchange: ['Exchange.ManageAsApp', exchangeAdministrator.name],
}

/** Returns the roles that new tokens of an application carry. Issued tokens keep the roles of their time of issue. */
export function grantedRoles(tenant: Tenant, resource: Resource): readonly string[] {
  const stored = tenant.row('select roles from consents where resource = ?', resource)?.['roles']
  return stored === undefined ? usualRoles[resource] : JSON.parse(String(stored))
}

/** Grants exactly these roles for a resource. */
export function grantRoles(tenant: Tenant, resource: Resource, roles: readonly string[]): void {
  tenant.run('insert or replace into consents (resource, roles) values (?, ?)', resource, JSON.stringify(roles))
}

/** Restores the documented roles of all resources. */
export const resetConsents = (tenant: Tenant): void => tenant.run('delete from consents')

const appIds: Readonly<Record<string, Resource>> = {
  '00000003-0000-0000-c000-000000000000': 'graph',
  'https://graph.microsoft.com': 'graph',
  '00000003-0000-0ff1-ce00-000000000000': 'sharepoint',
  '00000002-0000-0ff1-ce00-000000000000': 'exchange',
  'https://outlook.office365.com': 'exchange',
}

/**
 * Returns the service that accepts a token with this audience. SharePoint's audience is the host of the sites, so the
 * simulator's own root (and another name of it, as in a multi-geo tenant) belongs to SharePoint alone.
 */
export function resourceOf(audience: unknown): Resource | undefined {
  if (typeof audience !== 'string') return undefined
  const isSites = /^https:\/\/[\w-]+\.sharepoint\.com$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+$/
  return appIds[audience] ?? (isSites.test(audience) ? 'sharepoint' : undefined)
}
