import {
  addressOf,
  type Call,
  findSite,
  isReady,
  now,
  type Operation,
  Refused,
  type Reply,
  type Site,
  type Tenant,
} from '../tenant/index.ts'

/** Settings of SharePoint's operations. Times are seconds. */
export interface SharePointSettings {
  readonly url: string
  readonly siteReadySeconds: number
}

/** Prefixes of login names: a person by UPN, the owners of a Microsoft 365 group by `{groupId}_o`. */
export const personClaim = 'i:0#.f|membership|'
export const groupClaim = 'c:0o.c|federateddirectoryclaimprovider|'

/** Creates SharePoint's error: `{"odata.error": {code: "-1, Type", message: {lang, value}}}`. */
export function sharePointError(status: number, type: string, message: string): Reply {
  return { status, body: { 'odata.error': { code: type, message: { lang: 'en-US', value: message } } } }
}

/** Ends the operation with a SharePoint error and undoes what it wrote. */
export function refuse(status: number, type: string, message: string): never {
  throw new Refused(sharePointError(status, type, message), message)
}

export const badArgument = (message: string): never => refuse(400, '-1, System.ArgumentException', message)

/** Finds the site of `/sites/{path}/_api/…` at the host of the call: other hosts of the tenant do not know it. */
export function hostedSite(tenant: Tenant, call: Call): Site | undefined {
  const site = findSite(tenant, 'path', call.params[0] ?? '')
  return site?.doc.host === undefined || site.doc.host === hostOf(call) ? site : undefined
}

/** Returns the host name to which a call was sent. */
export const hostOf = ({ headers }: Pick<Call, 'headers'>): string => (headers.host ?? '').replace(/:\d+$/, '')

/** Returns the site of `/sites/{path}/_api/…`. Answers 404 before the site is ready, as SharePoint does. */
export function readySite(tenant: Tenant, call: Call): Site {
  const site = hostedSite(tenant, call)
  return site && isReady(site)
    ? site
    : refuse(404, '-2147024894, System.IO.FileNotFoundException', '404 FILE NOT FOUND')
}

/** Reads a function's parameter from the query: OData quotes text as `'…'` with doubled quotes. */
export function parameter(call: Call, name: string): string {
  const value = (call.query.get(name) ?? '').trim()
  const quoted = /^'((?:[^']|'')*)'$/.exec(value)
  if (!quoted) return badArgument(`The parameter ${name} must be a quoted string.`)
  return (quoted[1] ?? '').replaceAll("''", "'")
}

/** Returns a site's path below `{url}/sites/`, or undefined for any other address. */
export function pathOf(url: string, address: string): string | undefined {
  const root = `${url}/sites/`
  if (!address.toLowerCase().startsWith(root.toLowerCase())) return undefined
  const path = address.slice(root.length).replace(/\/$/, '')
  return /^[^\s/\\?#%*:"<>|]{1,128}$/.test(path) ? path : undefined
}

/** Statuses of SPSiteManager's answers, all with HTTP 200 (sp-dev-docs, site-creation-rest.md). */
export const siteStatuses = { notFound: 0, provisioning: 1, ready: 2, error: 3, alreadyExists: 4 } as const

/** Returns the status answer for a site that exists or is being created. */
export function statusOf(site: Site, url: string): Reply {
  const status = now() >= site.readyAt ? siteStatuses.ready : siteStatuses.provisioning
  return { status: 200, body: { SiteId: site.id, SiteStatus: status, SiteUrl: addressOf(site, url) } }
}

/** Returns a status answer without a site. */
export const emptyStatus = (status: number): Reply => ({
  status: 200,
  body: { SiteId: '', SiteStatus: status, SiteUrl: '' },
})

/** SharePoint's application permissions: each permission includes the previous ones. */
const levels = ['Sites.Read.All', 'Sites.ReadWrite.All', 'Sites.Manage.All', 'Sites.FullControl.All']

/**
 * Operations that read a site's own properties. All others create sites, change owners or read people's permissions.
 */
const reads = [
  'sharepoint.rootSite.get',
  'sharepoint.web.get',
  'sharepoint.site.get',
  'sharepoint.owners.list',
  'sharepoint.site.exists',
  'sharepoint.alias.check',
]

/**
 * Refuses apps without the permission that an operation needs: any level for reads, Sites.FullControl.All for the
 * others. The answer is 401 without any SharePoint role, otherwise 403. The sites themselves check people.
 */
export function permitted(one: Operation): Operation {
  const needed = reads.includes(one.name) ? levels : levels.slice(-1)
  return {
    ...one,
    handle: (call) => {
      const { appOnly, permissions } = call.caller
      if (!appOnly || permissions.some((name) => needed.includes(name))) return one.handle(call)
      const message = 'Attempted to perform an unauthorized operation.'
      const status = permissions.some((name) => levels.includes(name)) ? 403 : 401
      throw new Refused(sharePointError(status, '-2147024891, System.UnauthorizedAccessException', message))
    },
  }
}
