import { z } from 'zod'
import { because, type Person, TenantError } from '../../core/index.ts'
import { parseAnswer } from './answer.ts'
import type { Call, CallService } from './call.ts'
import { quoted } from './call.ts'

export const sharePointService = 'SharePoint'
const service = sharePointService

/** OData 4 without metadata: plain property names and `{value: …}`, as in PnP's recordings. */
const sharePointHeaders = { accept: 'application/json;odata.metadata=none', 'odata-version': '4.0' }
/** OData 3 without metadata, with the same bodies: some tenants refuse `odata-version` in app-only calls to the manager of sites. */
const plainHeaders = { accept: 'application/json;odata=nometadata' }

/** SPSiteManager answers with HTTP 200 and one of these (sp-dev-docs, "Creating SharePoint sites using REST"). */
export const siteStatus = { notFound: 0, provisioning: 1, ready: 2, error: 3, alreadyExists: 4 } as const
const creation = z.object({ SiteId: z.string().catch(''), SiteStatus: z.int(), SiteUrl: z.string().catch('') })
type SiteCreation = z.output<typeof creation>

const web = z.object({
  Title: z.string(),
  Description: z.string().nullish(),
  IsProvisioningComplete: z.boolean().nullish(),
})
const administered = z.object({
  Owner: z.string().nullish(),
  OwnerLoginName: z.string().nullish(),
  SensitivityLabel2: z.string().nullish(),
})
export type Administered = z.output<typeof administered>
const rootSite = z.object({ Id: z.guid() })
const loginName = z.object({ LoginName: z.string() })
const users = z.object({ value: z.array(loginName) })

/** SP.BasePermissions: 64 bits in two halves; `open` is the seventeenth (PermissionKind). */
const permissions = z.object({ Low: z.string().regex(/^\d{1,10}$/) })
const openSite = 1n << 16n

/** The communication site's web template, and US English, which every tenant has. */
const communicationTemplate = 'SITEPAGEPUBLISHING#0'
const language = 1033

/** Login name of a person from Entra ID: a claim with the UPN. */
export const claimOf = (userPrincipalName: string): string => `i:0#.f|membership|${userPrincipalName}`
/** Compares login names without case. */
export const isSameLogin = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

export type SharePoint = ReturnType<typeof createSharePoint>

/** A host of the tenant and the host of its administration, as URLs. */
export interface SharePointHost {
  readonly url: string
  readonly adminUrl: string
}
interface SharePointOptions {
  /** Creates the caller for one origin, which sends tokens for that origin alone, and these headers. */
  readonly callerFor: (origin: string, headers: Readonly<Record<string, string>>) => CallService
  /** The tenant's hosts. Communication sites are created at the first. A multi-geo tenant has one for each region. */
  readonly hosts: readonly [SharePointHost, ...SharePointHost[]]
}

/** Creates the app-only calls to SharePoint's REST API. */
export function createSharePoint({ callerFor, hosts }: SharePointOptions) {
  const callers = new Map(
    hosts.map(({ url, adminUrl }) => {
      const { origin, hostname } = new URL(url)
      const admin = new URL(adminUrl).origin
      const calls = { call: callerFor(origin, sharePointHeaders), callAdmin: callerFor(admin, sharePointHeaders) }
      return [origin, { hostname, admin, ...calls }]
    }),
  )
  const { origin } = new URL(hosts[0].url)
  const siteRoot = `${origin}/sites/`
  /** Whether the manager of sites refused `odata-version` and answered without it. */
  let isPlain = false
  const callPlain = callerFor(origin, plainHeaders)

  /** Returns the calls to one of the tenant's hosts, by its origin or its host name. Throws for any other host. */
  function at(host: string) {
    const found = callers.get(host) ?? [...callers.values()].find(({ hostname }) => hostname === host)
    if (found) return found
    throw foreignAddress(host)
  }
  const call = (request: Call) => at(new URL(request.url).origin).call(request)
  /** A Graph site id is "host,collection,web"; the administration of its host uses the collection's id. */
  function administration(siteId: string) {
    const [host = '', collection] = siteId.split(',')
    const { admin, callAdmin } = at(collection === undefined ? origin : host)
    const id = encodeURIComponent(quoted(collection ?? siteId))
    return { url: `${admin}/_api/SPO.Tenant/sites(${id})`, callAdmin }
  }

  /**
   * Calls the manager of sites. If it refuses `odata-version`, repeats the call without this header: the refusal
   * precedes all effects. The form that works is used until the process ends.
   */
  async function callManager(request: Call) {
    if (isPlain) return callPlain(request)
    try {
      return await call(request)
    } catch (error) {
      if (!isRefusedVersion(error)) throw error
      const answer = await callPlain(request)
      isPlain = true
      return answer
    }
  }

  /**
   * Returns whether an address is on one of the tenant's hosts: same scheme, host and port, without user name or
   * password.
   */
  function isOnTenant(address: string): boolean {
    if (!URL.canParse(address)) return false
    const url = new URL(address)
    return callers.has(url.origin) && url.username === '' && url.password === ''
  }
  /** Checks a site's address in an answer. Throws for another host: our token must not go there. */
  function onTenant(address: string): string {
    if (isOnTenant(address)) return address.replace(/\/+$/, '')
    throw foreignAddress(address)
  }

  return {
    siteRoot,
    hosts,
    /** Origins of the tenant's hosts except the first. */
    otherOrigins: [...callers.keys()].filter((one) => one !== origin),
    isOnTenant,
    onTenant,
    /**
     * Returns the alias of a site directly under `/sites/` of one of the hosts; undefined for subsites, OneDrive and
     * other hosts.
     */
    aliasOf(address: string): string | undefined {
      const [, alias] = /^https?:\/\/[^/]+\/sites\/([^/?#]+)\/*$/.exec(address) ?? []
      return isOnTenant(address) ? alias : undefined
    },
    addressOf: (alias: string): string => `${siteRoot}${alias}`,

    async siteExists(address: string): Promise<boolean> {
      const url = `${origin}/_api/SP.Site.Exists`
      const purpose = because('checkingAddress')
      const answer = await call({ method: 'POST', url, body: { url: address }, purpose, reads: true })
      return parseAnswer(z.object({ value: z.boolean() }), answer, service).value
    },

    /** Sends a cheap read: it reads the status of the tenant's root site. */
    async ping(signal: AbortSignal): Promise<void> {
      const url = `${origin}/_api/SPSiteManager/status?url=${encodeURIComponent(quoted(origin))}`
      await callManager({ url, purpose: because('checkingHealth'), signal })
    },

    /** Reads the id of the site at the root of a host, which every host has. */
    async rootSite(host: string, signal: AbortSignal): Promise<{ id: string }> {
      const url = `${new URL(host).origin}/_api/site?$select=Id`
      return { id: parseAnswer(rootSite, await call({ url, purpose: because('readingRootSite'), signal }), service).Id }
    },

    async creationStatus(address: string, signal: AbortSignal): Promise<SiteCreation> {
      const url = `${origin}/_api/SPSiteManager/status?url=${encodeURIComponent(quoted(address))}`
      return parseAnswer(creation, await callManager({ url, purpose: because('findingSite'), signal }), service)
    },

    /** Starts to create a communication site. App-only calls have to name the owner. */
    async createCommunicationSite(
      site: { title: string; description: string; address: string; owner: string },
      signal: AbortSignal,
    ): Promise<SiteCreation> {
      const request = {
        Title: site.title,
        Description: site.description,
        Url: site.address,
        Owner: site.owner,
        Lcid: language,
        ShareByEmailEnabled: false,
        WebTemplate: communicationTemplate,
      }
      const url = `${origin}/_api/SPSiteManager/create`
      const answer = await callManager({
        method: 'POST',
        url,
        body: { request },
        purpose: because('creatingSite'),
        signal,
      })
      return parseAnswer(creation, answer, service)
    },

    /** Deletes a communication site, into the recycle bin of the tenant. Returns false when the site is unknown. */
    async removeSite(siteId: string, signal?: AbortSignal): Promise<boolean> {
      const [, collection = siteId] = siteId.split(',')
      const url = `${origin}/_api/SPSiteManager/delete`
      const purpose = because('deletingCheckSite')
      const request = { method: 'POST', url, body: { siteId: collection }, purpose, accept: [404] } as const
      return (await callManager({ ...request, ...(signal && { signal }) })).status !== 404
    },

    /** Reads a site's web; undefined while it does not answer yet. */
    async web(address: string, signal: AbortSignal) {
      const url = `${onTenant(address)}/_api/web?$select=Title,Description,IsProvisioningComplete`
      const answer = await call({ url, purpose: because('readingSite'), accept: [404, 423], signal })
      return answer.status === 200 ? parseAnswer(web, answer, service) : undefined
    },

    /**
     * Reads a site's owner and label from the tenant's administration; undefined while the site is unknown.
     * `SPO.Tenant/sites('{id}')` is the REST form of the site properties (CLI for Microsoft 365 and CIPP use it).
     */
    async administered(siteId: string, signal: AbortSignal) {
      const { url: site, callAdmin } = administration(siteId)
      const url = `${site}?$select=Owner,OwnerLoginName,SensitivityLabel2`
      const answer = await callAdmin({ url, purpose: because('readingSiteProperties'), accept: [404], signal })
      return answer.status === 200 ? parseAnswer(administered, answer, service) : undefined
    },

    /** Sets the sensitivity label through the administration, because Graph accepts labels only from signed-in people. */
    async setLabel(siteId: string, labelId: string, signal: AbortSignal): Promise<void> {
      const body = { SensitivityLabel2: labelId }
      const purpose = because('applyingLabel')
      const { url, callAdmin } = administration(siteId)
      await callAdmin({ method: 'PATCH', url, body, purpose, signal })
    },

    /** Returns whether a person may open a site; false when SharePoint does not answer for that person. */
    async mayOpen(address: string, { userPrincipalName }: Pick<Person, 'userPrincipalName'>, signal: AbortSignal) {
      const user = encodeURIComponent(quoted(claimOf(userPrincipalName)))
      const url = `${onTenant(address)}/_api/web/getusereffectivepermissions(@user)?@user=${user}`
      const accept = [400, 403, 404, 423, 500]
      const answer = await call({ url, purpose: because('checkingVisitor'), accept, signal })
      return answer.status === 200 && (BigInt(parseAnswer(permissions, answer, service).Low) & openSite) !== 0n
    },

    /** Lists the login names in a site's owners group. */
    async owners(address: string, signal: AbortSignal): Promise<string[]> {
      const url = `${onTenant(address)}/_api/web/associatedownergroup/users?$select=LoginName`
      const answer = await call({ url, purpose: because('readingSiteOwners'), signal })
      return parseAnswer(users, answer, service).value.map(({ LoginName }) => LoginName)
    },

    /** Adds an owner; no change when the person is an owner already. */
    async addOwner(address: string, userPrincipalName: string, signal: AbortSignal): Promise<void> {
      const url = `${onTenant(address)}/_api/web/associatedownergroup/users`
      const body = { LoginName: claimOf(userPrincipalName) }
      await call({ method: 'POST', url, body, purpose: because('addingToSiteOwners'), signal })
    },
  }
}

/**
 * Returns whether the manager of sites refuses `odata-version`. Public reports agree on the text, not on the status.
 */
const isRefusedVersion = (error: unknown): boolean =>
  error instanceof TenantError &&
  error.cause instanceof Error &&
  /service asserted level PoP/i.test(error.cause.message)

/**
 * Error for a site on a host that is not configured. It names the setting, because the host may be a new region of the
 * tenant.
 */
function foreignAddress(address: string): TenantError {
  const host = (URL.canParse(address) ? new URL(address).host : address).slice(0, 253)
  return new TenantError('foreign-address', because('hostForeign', { host }), { retryable: false })
}
