/** SharePoint's REST API: site creation, a site's web, the tenant's administration. Imports `tenant` and `login`. */
import type { Tokens } from '../login/index.ts'
import {
  addSiteOwner,
  asRecord,
  type Call,
  contoso,
  findLabel,
  findPerson,
  findSite,
  findUnifiedByNickname,
  insertSite,
  type Operation,
  operation,
  originOf,
  Refused,
  type Reply,
  removeSite,
  type Service,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { adminOperations, webOperations } from './sites.ts'
import {
  badArgument,
  emptyStatus,
  hostOf,
  parameter,
  pathOf,
  permitted,
  refuse,
  type SharePointSettings,
  sharePointError,
  siteStatuses,
  statusOf,
} from './wire.ts'

/** SharePoint's application id, which is an audience of all hosts. */
const sharePointAppId = '00000003-0000-0ff1-ce00-000000000000'

/** Creates the service of SharePoint's REST API. */
export function sharePointService(tenant: Tenant, tokens: Tokens, settings: SharePointSettings): Service {
  return {
    name: 'sharepoint',
    observed: true,
    owns: (path) => /^(\/sites\/[^/]+)?\/_api\/|^\/_vti_bin\/client\.svc$/i.test(path),
    operations: [
      // Clients call this address without a token, to learn from the refusal which tenant has the host.
      operation('sharepoint.realm', 'GET', /^\/_vti_bin\/client\.svc$/i, () => ({ status: 404 })),
      ...creationOperations(tenant, settings),
      ...webOperations(tenant, settings),
      ...adminOperations(tenant, settings),
    ].map(permitted),
    admit: async (call) => {
      const audience = originOf(otherHostOf(tenant, call), settings.url)
      const accepted = [audience, sharePointAppId]
      const caller = await tokens.verify(call.headers.authorization, 'sharepoint', accepted).catch(() => {
        throw new Refused({
          status: 401,
          headers: {
            'www-authenticate': `Bearer realm="${contoso.tenantId}",client_id="${sharePointAppId}",error="invalid_token"`,
          },
          body: { error: 'invalid_token', error_description: 'The access token is missing, invalid or expired.' },
        })
      })
      // SharePoint accepts an app's token only if the app signed in with a certificate.
      if (caller.appOnly && caller.proof !== '2') {
        throw new Refused({ status: 401, body: { error_description: 'Unsupported app only token.' } })
      }
      return caller
    },
    refusal: (status, message) =>
      sharePointError(status, '-1, Microsoft.SharePoint.Client.InvalidClientQueryException', message),
  }
}

/** Returns the tenant's other host that a call concerns. A token for one host is not valid for another host. */
function otherHostOf(tenant: Tenant, call: Pick<Call, 'path' | 'headers'>): string | undefined {
  const [, path = ''] = /^\/sites\/([^/]+)\//.exec(call.path) ?? []
  const { newSitesHost } = tenant.modes
  return findSite(tenant, 'path', path)?.doc.host ?? (newSitesHost === hostOf(call) ? newSitesHost : undefined)
}

const anySite = '(?:/sites/[^/]+)?/_api'

function creationOperations(tenant: Tenant, settings: SharePointSettings): readonly Operation[] {
  return [
    operation('sharepoint.site.create', 'POST', new RegExp(`^${anySite}/SPSiteManager/create$`, 'i'), (call) => {
      refuseODataVersion(tenant, call)
      return createSite(tenant, settings, call)
    }),
    operation('sharepoint.site.status', 'GET', new RegExp(`^${anySite}/SPSiteManager/status$`, 'i'), (call) => {
      refuseODataVersion(tenant, call)
      const path = pathOf(settings.url, parameter(call, 'url'))
      const site = path === undefined ? undefined : findSite(tenant, 'path', path)
      const { siteStatusShows } = tenant.modes
      if (!site || siteStatusShows === 'nothing') return emptyStatus(siteStatuses.notFound)
      return statusOf(siteStatusShows === 'noId' ? { ...site, id: '' } : site, settings.url)
    }),
    operation('sharepoint.site.delete', 'POST', new RegExp(`^${anySite}/SPSiteManager/delete$`, 'i'), (call) => {
      refuseODataVersion(tenant, call)
      const site = findSite(tenant, 'id', text(asRecord(call.body), 'siteId'))
      if (!site || site.path === '')
        return refuse(404, '-2147024894, System.IO.FileNotFoundException', 'Cannot get site.')
      // SharePoint deletes a group's site only together with its group.
      if (site.groupId !== undefined) return badArgument('This site belongs to a Microsoft 365 group.')
      removeSite(tenant, site)
      return { status: 200, body: { 'odata.null': true } }
    }),
    operation('sharepoint.site.exists', 'POST', new RegExp(`^${anySite}/SP\\.Site\\.Exists$`, 'i'), (call) => {
      const path = pathOf(settings.url, text(asRecord(call.body), 'url'))
      return { status: 200, body: { value: path !== undefined && findSite(tenant, 'path', path) !== undefined } }
    }),
    operation(
      'sharepoint.alias.check',
      'GET',
      new RegExp(`^${anySite}/GroupSiteManager/GetValidSiteUrlFromAlias$`, 'i'),
      (call) => {
        const alias = parameter(call, 'alias')
        const existing = findSite(tenant, 'path', alias) ?? findUnifiedByNickname(tenant, alias)
        return { status: 200, body: { value: existing ? '' : `${settings.url}/sites/${alias}` } }
      },
    ),
  ]
}

/**
 * Refuses a call in the mode `refusesODataVersion`. Public reports have the text; the status and the type are an
 * assumption.
 */
function refuseODataVersion({ modes }: Tenant, { caller, headers }: Call): void {
  if (!modes.refusesODataVersion || !caller.appOnly || headers['odata-version'] === undefined) return
  const text = 'Elevated context should be used only to create service asserted level PoP'
  refuse(400, '-1, System.InvalidOperationException', text)
}

const templates = ['SITEPAGEPUBLISHING#0', 'STS#3']

/**
 * Handles SPSiteManager/create. Answers HTTP 200 with SiteStatus 3 for an impossible site and 4 for an address in use.
 */
function createSite(tenant: Tenant, settings: SharePointSettings, call: Call): Reply {
  const body = asRecord(call.body)['request']
  if (typeof body !== 'object' || body === null) return badArgument("The parameter 'request' is missing.")
  const request = asRecord(body)
  const path = pathOf(settings.url, text(request, 'Url'))
  const owner = ownerOf(call, request)
  const label = text(request, 'SensitivityLabel')
  const impossible =
    path === undefined ||
    owner === undefined ||
    text(request, 'Title') === '' ||
    !templates.includes(text(request, 'WebTemplate')) ||
    (label !== '' && !findLabel(label))
  if (impossible) return emptyStatus(siteStatuses.error)
  if (findSite(tenant, 'path', path) || findUnifiedByNickname(tenant, path))
    return emptyStatus(siteStatuses.alreadyExists)
  const site = insertSite(tenant, {
    path,
    readySeconds: settings.siteReadySeconds,
    doc: {
      title: text(request, 'Title'),
      description: text(request, 'Description'),
      template: text(request, 'WebTemplate'),
      lcid: Number(request['Lcid'] ?? 1033),
      label: label === '' ? undefined : label.toLowerCase(),
    },
  })
  addSiteOwner(tenant, site.id, owner)
  return statusOf(site, settings.url)
}

/**
 * Returns the owner's object id: the person with this UPN, or else the caller. An app-only call has no person as
 * caller.
 */
function ownerOf(call: Call, request: Record<string, unknown>): string | undefined {
  const named = text(request, 'Owner')
  if (named === '') return call.caller.userId
  return named.includes('@') ? findPerson(named)?.id : undefined
}
