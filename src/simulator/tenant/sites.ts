import { randomUUID } from 'node:crypto'
import { contoso } from './contoso.ts'
import { addObject, findUnifiedByNickname, insertGroup } from './groups.ts'
import { now, type Row, stamp, type Tenant } from './state.ts'

/** Properties of a site. `label` is the id of a sensitivity label. */
interface SiteDoc {
  readonly title: string
  readonly description: string
  readonly template: string
  readonly lcid: number
  readonly label: string | undefined
  /** Whether "Everyone except external users" may open the site. */
  readonly openToAll?: boolean
  /** Host name in a multi-geo tenant. Absent for the tenant's own host. */
  readonly host?: string | undefined
  /** Whether the site was created in the mode `siteReadySeconds`, which determines when it is ready. */
  readonly isSlow?: boolean | undefined
}

/** A stored site. `path` is the part after `/sites/`, `readyAt` is milliseconds since 1970. */
export interface Site {
  readonly id: string
  readonly webId: string
  readonly path: string
  readonly groupId: string | undefined
  readonly readyAt: number
  readonly doc: SiteDoc
  readonly createdAt: string
}

function siteOf({ modes }: Tenant, row: Row): Site {
  const doc: SiteDoc = JSON.parse(String(row['doc']))
  const isSlow = doc.isSlow === true && modes.siteReadySeconds !== null
  const slowUntil = Date.parse(String(row['created_at'])) + (modes.siteReadySeconds ?? 0) * 1000
  return {
    id: String(row['id']),
    webId: String(row['web_id']),
    path: String(row['path']),
    groupId: row['group_id'] === null ? undefined : String(row['group_id']),
    readyAt: isSlow ? slowUntil : Number(row['ready_at']),
    doc,
    createdAt: String(row['created_at']),
  }
}

/** The site at the root of the tenant's host. Lists of sites omit it. */
export const rootSite: Site = {
  id: '88888888-0000-4000-8000-000000000001',
  webId: '88888888-0000-4000-8000-000000000002',
  path: '',
  groupId: undefined,
  readyAt: 0,
  doc: { title: contoso.displayName, description: '', template: 'SITEPAGEPUBLISHING#0', lcid: 1033, label: undefined },
  createdAt: '2026-01-05T08:00:00Z',
}

export function findSite(tenant: Tenant, by: 'id' | 'path' | 'group_id', value: string): Site | undefined {
  if (by === 'id' && value.toLowerCase() === rootSite.id) return rootSite
  const row = tenant.row(`select * from sites where ${by} = ?`, by === 'path' ? value : value.toLowerCase())
  return row && siteOf(tenant, row)
}

export const allSites = (tenant: Tenant): Site[] =>
  tenant.rows('select * from sites order by created_at, rowid').map((row) => siteOf(tenant, row))

/** Returns the origin of the tenant's SharePoint, or of another host of the same tenant. */
export function originOf(host: string | undefined, url: string): string {
  const origin = new URL(url)
  if (host !== undefined) origin.hostname = host
  return origin.origin
}

/** Returns the site's address at its host. `url` is the tenant's own host. */
export function addressOf({ path, doc }: Site, url: string): string {
  return path === '' ? originOf(doc.host, url) : `${originOf(doc.host, url)}/sites/${path}`
}

export const isReady = (site: Site): boolean => now() >= site.readyAt

/** Returns the path, or the first free one of `path2`, `path3` …, like SharePoint for a group's site. */
export function freePath(tenant: Tenant, wanted: string): string {
  let path = wanted
  for (let number = 2; findSite(tenant, 'path', path); number += 1) path = `${wanted}${number}`
  return path
}

/** Creates Contoso's sites and their groups in a new state. */
export function seedSites(tenant: Tenant): void {
  if (tenant.row("select 1 from seeds where name = 'sites'")) return
  tenant.run("insert into seeds (name) values ('sites')")
  for (const { path, title, description, group, owners, openToAll } of contoso.sites) {
    if (findSite(tenant, 'path', path) || findUnifiedByNickname(tenant, path)) continue
    const template = group ? 'GROUP#0' : 'SITEPAGEPUBLISHING#0'
    const doc = { title, description, template, lcid: 1033, label: undefined, openToAll }
    if (!group) {
      const site = insertSite(tenant, { path, doc })
      for (const owner of owners) addSiteOwner(tenant, site.id, owner)
      continue
    }
    const { visibility, hideFromAddressLists, members } = group
    const of = { displayName: title, description, visibility, hideFromAddressLists }
    const newGroup = { unified: true, mailNickname: path, uniqueName: undefined, extensions: {}, doc: of }
    const { id } = insertGroup(tenant, newGroup)
    for (const owner of owners) addObject(tenant, id, 'owners', owner)
    for (const member of [...owners, ...members]) addObject(tenant, id, 'members', member)
    insertSite(tenant, { path, groupId: id, doc })
  }
}

/**
 * Creates a site. It is ready after `readySeconds`, or when the mode says so; without `readySeconds` it is ready now.
 */
export function insertSite(
  tenant: Tenant,
  site: { path: string; groupId?: string; doc: SiteDoc; readySeconds?: number },
): Site {
  const isSlow = site.readySeconds !== undefined && tenant.modes.siteReadySeconds !== null
  const created: Site = {
    id: randomUUID(),
    webId: randomUUID(),
    path: site.path,
    groupId: site.groupId,
    readyAt: now() + (site.readySeconds ?? 0) * 1000,
    doc: { ...site.doc, isSlow },
    createdAt: stamp(),
  }
  tenant.run(
    'insert into sites (id, web_id, path, group_id, ready_at, doc, created_at) values (?, ?, ?, ?, ?, ?, ?)',
    created.id,
    created.webId,
    created.path,
    created.groupId ?? null,
    created.readyAt,
    JSON.stringify(created.doc),
    created.createdAt,
  )
  return findSite(tenant, 'id', created.id) ?? created
}

export function updateSite(tenant: Tenant, site: Site, change: Partial<SiteDoc>): void {
  tenant.run('update sites set doc = ? where id = ?', JSON.stringify({ ...site.doc, ...change }), site.id)
}

/** Deletes a site with its owners. Its address is free at once: this tenant has no recycle bin. */
export function removeSite(tenant: Tenant, { id }: Site): void {
  tenant.run('delete from site_owners where site_id = ?', id)
  tenant.run('delete from sites where id = ?', id)
}

/** Returns the people in the site's Owners group, with their numbers in SharePoint. */
export const siteOwners = (tenant: Tenant, siteId: string): { number: number; userId: string }[] =>
  tenant
    .rows('select number, user_id from site_owners where site_id = ? order by number', siteId)
    .map((row) => ({ number: Number(row['number']), userId: String(row['user_id']) }))

/** Adds a person to the Owners group, unless the person is a member. */
export function addSiteOwner(tenant: Tenant, siteId: string, userId: string): void {
  tenant.run('insert into site_owners (site_id, user_id) values (?, ?) on conflict do nothing', siteId, userId)
}
