import { randomUUID } from 'node:crypto'
import { now, type Row, stamp, type Tenant } from './tenant.ts'

/** What a site says of itself. `label` is a sensitivity label's id, `owner` a person's object id. */
export interface SiteDoc {
  readonly title: string
  readonly description: string
  readonly template: string
  readonly lcid: number
  readonly label: string | undefined
}

/** A site as it is kept; `path` is the part after `/sites/`, `readyAt` milliseconds since 1970. */
export interface Site {
  readonly id: string
  readonly webId: string
  readonly path: string
  readonly groupId: string | undefined
  readonly readyAt: number
  readonly doc: SiteDoc
  readonly createdAt: string
}

function siteOf(row: Row): Site {
  return {
    id: String(row['id']),
    webId: String(row['web_id']),
    path: String(row['path']),
    groupId: row['group_id'] === null ? undefined : String(row['group_id']),
    readyAt: Number(row['ready_at']),
    doc: JSON.parse(String(row['doc'])),
    createdAt: String(row['created_at']),
  }
}

export function findSite(tenant: Tenant, by: 'id' | 'path' | 'group_id', value: string): Site | undefined {
  const row = tenant.row(`select * from sites where ${by} = ?`, by === 'path' ? value : value.toLowerCase())
  return row && siteOf(row)
}

export const isReady = (site: Site): boolean => now() >= site.readyAt

/** The path itself or, when a site holds it, the first free `path2`, `path3` …, as SharePoint picks one for a group. */
export function freePath(tenant: Tenant, wanted: string): string {
  let path = wanted
  for (let number = 2; findSite(tenant, 'path', path); number += 1) path = `${wanted}${number}`
  return path
}

/** Begins a site, ready after `readySeconds`. */
export function insertSite(
  tenant: Tenant,
  site: { path: string; groupId?: string; doc: SiteDoc; readySeconds: number },
): Site {
  const made: Site = {
    id: randomUUID(),
    webId: randomUUID(),
    path: site.path,
    groupId: site.groupId,
    readyAt: now() + site.readySeconds * 1000,
    doc: site.doc,
    createdAt: stamp(),
  }
  tenant.run(
    'insert into sites (id, web_id, path, group_id, ready_at, doc, created_at) values (?, ?, ?, ?, ?, ?, ?)',
    made.id,
    made.webId,
    made.path,
    made.groupId ?? null,
    made.readyAt,
    JSON.stringify(made.doc),
    made.createdAt,
  )
  return made
}

export function updateSite(tenant: Tenant, site: Site, change: Partial<SiteDoc>): void {
  tenant.run('update sites set doc = ? where id = ?', JSON.stringify({ ...site.doc, ...change }), site.id)
}

/** The people in the site's own Owners group, with the numbers SharePoint knows them by. */
export const siteOwners = (tenant: Tenant, siteId: string): { number: number; userId: string }[] =>
  tenant
    .rows('select number, user_id from site_owners where site_id = ? order by number', siteId)
    .map((row) => ({ number: Number(row['number']), userId: String(row['user_id']) }))

/** Adds a person to the Owners group; adding one again changes nothing. */
export function addSiteOwner(tenant: Tenant, siteId: string, userId: string): void {
  tenant.run('insert into site_owners (site_id, user_id) values (?, ?) on conflict do nothing', siteId, userId)
}
