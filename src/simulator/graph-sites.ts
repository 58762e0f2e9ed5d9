import { type GraphSettings, graphError, notFound, refuse } from './graph-wire.ts'
import { select } from './odata.ts'
import type { Tenant } from './tenant.ts'
import { findGroup, type Group } from './tenant-groups.ts'
import { findSite, freePath, insertSite, isReady, type Site } from './tenant-sites.ts'
import { type Call, type Operation, type Reply, text } from './wire.ts'

/** Sites as Graph shows them: of a group, by host and path, by id. */
export function siteOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const shown = (call: Call, site: Site | undefined): Reply => {
    if (!site || !isReady(site)) return refuse(call, 404, 'itemNotFound', 'Requested site could not be found')
    const doc = siteDoc(site, settings.url)
    const context = `${settings.url}/v1.0/$metadata#sites/$entity`
    return { status: 200, body: { '@odata.context': context, ...select(doc, call.query, Object.keys(doc)) } }
  }
  return [
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
