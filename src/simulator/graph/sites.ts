import {
  allSites,
  type Call,
  findGroup,
  findSite,
  freePath,
  type Group,
  insertSite,
  isReady,
  type Operation,
  type Reply,
  type Site,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { type GraphSettings, graphError, notFound, page, refuse } from './wire.ts'

/** Sites as Graph shows them: of a group, by host and path, by id. */
export function siteOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const shown = (call: Call, site: Site | undefined): Reply => {
    if (!site || !isShown(tenant, site)) return refuse(call, 404, 'itemNotFound', 'Requested site could not be found')
    const doc = siteDoc(site, settings.url)
    const context = `${settings.url}/v1.0/$metadata#sites/$entity`
    return { status: 200, body: { '@odata.context': context, ...select(doc, call.query, Object.keys(doc)) } }
  }
  return [
    {
      name: 'graph.sites.search',
      method: 'GET',
      path: /^\/v1\.0\/sites$/,
      handle: (call) => searchSites(tenant, settings, call),
    },
    {
      name: 'graph.sites.getAllSites',
      method: 'GET',
      path: /^\/v1\.0\/sites\/getAllSites$/,
      handle: (call) => {
        const found = allSites(tenant)
          .filter((site) => isShown(tenant, site))
          .map((site) => siteDoc(site, settings.url))
          .map((doc) => select(doc, call.query, Object.keys(doc)))
        const context = { '@odata.context': `${settings.url}/v1.0/$metadata#sites` }
        return { status: 200, body: { ...context, ...page(found, call.query, `${settings.url}${call.path}`) } }
      },
    },
    {
      name: 'graph.groups.site',
      method: 'GET',
      path: /^\/v1\.0\/groups\/([^/]+)\/sites\/root$/,
      handle: (call) => {
        const id = call.params[0] ?? ''
        const group = findGroup(tenant, 'id', id) ?? notFound(call, id)
        if (!group.unified) return refuse(call, 404, 'itemNotFound', 'The group has no site.')
        const site = siteOfGroup(tenant, settings, group)
        // Returned, not thrown: the asking itself began the site, and that must be kept.
        return isReady(site) ? shown(call, site) : inProgress(call)
      },
    },
    {
      name: 'graph.sites.getByPath',
      method: 'GET',
      path: /^\/v1\.0\/sites\/([^/,]+?):\/sites\/([^/:]+):?$/,
      handle: (call) => {
        const host = call.params[0] ?? ''
        const { hostname, host: hostAndPort } = new URL(settings.url)
        const known = host === hostname || host === hostAndPort
        return shown(call, known ? findSite(tenant, 'path', call.params[1] ?? '') : undefined)
      },
    },
    {
      name: 'graph.sites.get',
      method: 'GET',
      path: /^\/v1\.0\/sites\/([^/]+)$/,
      handle: (call) => {
        const parts = (call.params[0] ?? '').split(',')
        return shown(call, findSite(tenant, 'id', parts[1] ?? parts[0] ?? ''))
      },
    },
  ]
}

/** A site whose group was deleted is gone with it; its address stays held. */
const isShown = (tenant: Tenant, site: Site): boolean =>
  isReady(site) && (site.groupId === undefined || findGroup(tenant, 'id', site.groupId) !== undefined)

/**
 * "Search for sites": free text over what a site says of itself, all words of it, with `*` any that begin so. An app finds
 * every site, whoever may open it.
 */
function searchSites(tenant: Tenant, { url }: GraphSettings, call: Call): Reply {
  const search = call.query.get('search') ?? ''
  if (search.trim() === '') return refuse(call, 400, 'invalidRequest', 'A search needs words.')
  const wanted = search.toLowerCase().split(/\s+/)
  const found = allSites(tenant)
    .filter((site) => isShown(tenant, site))
    .filter(({ doc, path }) => {
      const words = `${doc.title} ${doc.description} ${path}`.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u)
      const has = (one: string) =>
        one.endsWith('*') ? words.some((word) => word.startsWith(one.slice(0, -1))) : words.includes(one)
      return wanted.every(has)
    })
    .map((site) => siteDoc(site, url))
    .map((doc) => select(doc, call.query, Object.keys(doc)))
  const context = { '@odata.context': `${url}/v1.0/$metadata#sites` }
  return { status: 200, body: { ...context, ...page(found, call.query, `${url}/v1.0/sites`) } }
}

const inProgress = (call: Call): Reply =>
  graphError(call, 404, 'ResourceNotFound', 'Resource provisioning is in progress. Please try again.')

/** The group's site; the first time it is asked for, SharePoint begins to make it (facts 1.7). */
function siteOfGroup(tenant: Tenant, settings: GraphSettings, group: Group): Site {
  const held = findSite(tenant, 'group_id', group.id)
  if (held) return held
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
    },
  })
}

/** A site in Graph's words; `id` is `host,siteId,webId`. */
function siteDoc(site: Site, url: string): Record<string, unknown> {
  const { hostname } = new URL(url)
  return {
    createdDateTime: site.createdAt,
    description: site.doc.description,
    id: `${hostname},${site.id},${site.webId}`,
    lastModifiedDateTime: site.createdAt,
    name: site.path,
    webUrl: `${url}/sites/${site.path}`,
    displayName: site.doc.title,
    root: {},
    siteCollection: { hostname },
  }
}
