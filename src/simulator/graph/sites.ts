import {
  addressOf,
  allSites,
  type Call,
  findGroup,
  findSite,
  freePath,
  type Group,
  insertSite,
  isReady,
  type Operation,
  operation,
  originOf,
  type Reply,
  rootSite,
  type Site,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { groupOf } from './groups.ts'
import { type GraphSettings, graphError, listReply, refuse } from './wire.ts'

/** Creates the operations on sites: search, list, the site of a group, by host and path, by id. */
export function siteOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const shown = (call: Call, site: Site | undefined): Reply => {
    if (!site || !isShown(tenant, site)) return refuse(call, 404, 'itemNotFound', 'Requested site could not be found')
    const doc = siteDoc(site, settings.url)
    const context = `${settings.url}/v1.0/$metadata#sites/$entity`
    return { status: 200, body: { '@odata.context': context, ...select(doc, call.query) } }
  }
  return [
    operation('graph.sites.search', 'GET', /^\/v1\.0\/sites$/, (call) => searchSites(tenant, settings, call)),
    operation('graph.sites.getAllSites', 'GET', /^\/v1\.0\/sites\/getAllSites$/, (call) =>
      listSites(tenant, settings, call, () => true),
    ),
    operation('graph.sites.root', 'GET', /^\/v1\.0\/sites\/root$/, (call) => {
      const { hostname } = new URL(settings.url)
      const doc = {
        ...{ createdDateTime: '2026-01-05T08:00:00Z', description: '', name: '', displayName: 'Communication site' },
        ...{
          id: `${hostname},${rootSite.id},${rootSite.webId}`,
          lastModifiedDateTime: '2026-01-05T08:00:00Z',
          webUrl: settings.url,
        },
        ...{ root: {}, siteCollection: { hostname, root: {} } },
      }
      const context = `${settings.url}/v1.0/$metadata#sites/$entity`
      return { status: 200, body: { '@odata.context': context, ...select(doc, call.query) } }
    }),
    operation('graph.groups.site', 'GET', /^\/v1\.0\/groups\/([^/]+)\/sites\/root$/, (call) => {
      const group = groupOf(tenant, call)
      if (!group.unified) return refuse(call, 404, 'itemNotFound', 'The group has no site.')
      const site = siteOfGroup(tenant, settings, group)
      // Returned, not thrown: the request itself starts the creation of the site, and a thrown refusal would undo that.
      return isReady(site) ? shown(call, site) : inProgress(call)
    }),
    operation('graph.sites.getByPath', 'GET', /^\/v1\.0\/sites\/([^/,]+?):\/sites\/([^/:]+):?$/, (call) => {
      const host = call.params[0] ?? ''
      const site = findSite(tenant, 'path', call.params[1] ?? '')
      const { hostname, host: hostAndPort } = new URL(originOf(site?.doc.host, settings.url))
      return shown(call, host === hostname || host === hostAndPort ? site : undefined)
    }),
    operation('graph.sites.get', 'GET', /^\/v1\.0\/sites\/([^/]+)$/, (call) => {
      const parts = (call.params[0] ?? '').split(',')
      return shown(call, findSite(tenant, 'id', parts[1] ?? parts[0] ?? ''))
    }),
  ]
}

/** Returns whether Graph shows a site. A site disappears with its group, but its address stays in use. */
const isShown = (tenant: Tenant, site: Site): boolean =>
  isReady(site) && (site.groupId === undefined || findGroup(tenant, 'id', site.groupId) !== undefined)

/**
 * "Search for sites": finds sites whose title, description and path contain all search terms. A term with `*` matches
 * the beginning of a term. An app finds every site, whatever its permissions.
 */
function searchSites(tenant: Tenant, settings: GraphSettings, call: Call): Reply {
  const search = call.query.get('search') ?? ''
  if (search.trim() === '') return refuse(call, 400, 'invalidRequest', 'A search needs a text.')
  const wanted = search.toLowerCase().split(/\s+/)
  return listSites(tenant, settings, call, ({ doc, path }) => {
    const terms = `${doc.title} ${doc.description} ${path}`.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u)
    const has = (one: string) =>
      one.endsWith('*') ? terms.some((term) => term.startsWith(one.slice(0, -1))) : terms.includes(one)
    return wanted.every(has)
  })
}

function listSites(tenant: Tenant, { url }: GraphSettings, call: Call, test: (site: Site) => boolean): Reply {
  const found = allSites(tenant)
    .filter((site) => isShown(tenant, site) && test(site))
    .map((site) => select(siteDoc(site, url), call.query))
  return listReply(call, url, 'sites', found)
}

const inProgress = (call: Call): Reply =>
  graphError(call, 404, 'ResourceNotFound', 'Resource provisioning is in progress. Please try again.')

/** Returns the group's site. On the first request SharePoint starts to create it. */
function siteOfGroup(tenant: Tenant, settings: GraphSettings, group: Group): Site {
  const existing = findSite(tenant, 'group_id', group.id)
  if (existing) return existing
  return insertSite(tenant, {
    path: freePath(tenant, group.mailNickname),
    groupId: group.id,
    readySeconds: settings.siteReadySeconds,
    doc: {
      title: text(group.doc, 'displayName'),
      description: text(group.doc, 'description'),
      template: 'GROUP#0',
      lcid: 1033,
      label: undefined,
      host: tenant.modes.newSitesHost ?? undefined,
    },
  })
}

/** Returns a site as Graph does; `id` is `host,siteId,webId`. */
function siteDoc(site: Site, url: string): Record<string, unknown> {
  const { hostname } = new URL(originOf(site.doc.host, url))
  return {
    createdDateTime: site.createdAt,
    description: site.doc.description,
    id: `${hostname},${site.id},${site.webId}`,
    lastModifiedDateTime: site.createdAt,
    name: site.path,
    webUrl: addressOf(site, url),
    displayName: site.doc.title,
    root: {},
    siteCollection: { hostname },
  }
}
