import {
  addressOf,
  asRecord,
  type Call,
  findGroup,
  findLabel,
  findPerson,
  findSite,
  isReady,
  type Operation,
  operation,
  type Site,
  select,
  siteOwners,
  type Tenant,
  updateGroup,
  updateSite,
} from '../tenant/index.ts'
import { badArgument, groupClaim, personClaim, refuse, type SharePointSettings } from './wire.ts'

/** `SPO.Tenant` is the short name of `Microsoft.Online.SharePoint.TenantAdministration.Tenant`; both are routes. */
const siteProperties =
  /^\/_api\/(?:SPO\.Tenant|Microsoft\.Online\.SharePoint\.TenantAdministration\.Tenant)\/sites\('\{?([0-9a-f-]{36})\}?'\)$/i
const noLabel = '00000000-0000-0000-0000-000000000000'

/**
 * The tenant administration's site properties, on the admin host: `GET` and `PATCH /_api/SPO.Tenant/sites('{siteId}')`.
 * The route and PATCH with `odata-version: 4.0` are those of pnp/cli-microsoft365 (spo site admin add, spo tenant site
 * get) and CIPP-API; the property `SensitivityLabel2` is the one PnP sets app-only on a group's site
 * (pnpcore #1352, pnpframework; Graph's assignedLabels refuses app-only). A POST with `X-HTTP-Method: MERGE` is the same.
 */
export function adminOperations(tenant: Tenant, settings: SharePointSettings): readonly Operation[] {
  const site = (call: Call): Site => {
    const found = findSite(tenant, 'id', call.params[0] ?? '')
    if (found && isReady(found)) return found
    return refuse(404, '-1, Microsoft.Online.SharePoint.Common.SpoNoSiteException', 'Cannot get site.')
  }
  const update = (call: Call) => {
    setProperties(tenant, site(call), asRecord(call.body))
    return { status: 204 }
  }
  return [
    operation('sharepoint.tenant.site.get', 'GET', siteProperties, (call) => {
      const doc = propertiesOf(tenant, site(call), settings.url)
      return { status: 200, body: select(doc, call.query) }
    }),
    operation('sharepoint.tenant.site.update', 'PATCH', siteProperties, update),
    operation('sharepoint.tenant.site.update', 'POST', siteProperties, (call) => {
      const method = String(call.headers['x-http-method'] ?? '').toUpperCase()
      return method === 'MERGE' || method === 'PATCH' ? update(call) : badArgument('X-HTTP-Method must be MERGE.')
    }),
  ]
}

function setProperties(tenant: Tenant, site: Site, body: Record<string, unknown>): void {
  const { SensitivityLabel2: label, SensitivityLabel: older, Title: title, ...others } = body
  const unknown = Object.keys(others).find((name) => !name.startsWith('odata.') && name !== '__metadata')
  if (unknown) badArgument(`The property '${unknown}' does not exist on type 'SiteProperties'.`)
  const value = label ?? older
  const change = typeof title === 'string' && title !== '' ? { title } : {}
  updateSite(tenant, site, value === undefined ? change : { ...change, label: setLabel(tenant, site, value) })
}

/** Sets or clears the label and returns its id. A group's site shares its label with the group (`assignedLabels`). */
function setLabel(tenant: Tenant, site: Site, value: unknown): string | undefined {
  const id = typeof value === 'string' ? value.toLowerCase() : 'none'
  const label = findLabel(id)
  const cleared = id === '' || id === noLabel
  if (!label && !cleared) badArgument('The sensitivity label is not known.')
  const group = site.groupId === undefined ? undefined : findGroup(tenant, 'id', site.groupId)
  const assignedLabels = label ? [{ labelId: label.id, displayName: label.name }] : []
  if (group) updateGroup(tenant, group, { doc: { assignedLabels } })
  return label?.id
}

function propertiesOf(tenant: Tenant, site: Site, url: string): Record<string, unknown> {
  const person = siteOwners(tenant, site.id).map(({ userId }) => findPerson(userId))[0]?.userPrincipalName ?? ''
  // A group's site belongs to the group's owners, which SharePoint shows as one claim.
  const owner = site.groupId === undefined ? person : `${site.groupId}_o`
  return {
    SiteId: site.id,
    GroupId: site.groupId ?? noLabel,
    Title: site.doc.title,
    Url: addressOf(site, url),
    Template: site.doc.template,
    Lcid: site.doc.lcid,
    Status: 'Active',
    Owner: owner,
    OwnerLoginName: `${site.groupId === undefined ? personClaim : groupClaim}${owner}`,
    SensitivityLabel: site.doc.label ?? noLabel,
    SensitivityLabel2: site.doc.label ?? '',
  }
}
