import { z } from 'zod'
import { type Person, TenantError } from '../../core/index.ts'
import { type CallService, parseAnswer } from './call.ts'
import { quoted } from './odata.ts'

export const sharePointService = 'SharePoint'
const service = sharePointService

/** OData 4 without metadata: plain property names and `{value: …}`, as in PnP's recordings. */
export const sharePointHeaders = { accept: 'application/json;odata.metadata=none', 'odata-version': '4.0' }

/** SPSiteManager answers with HTTP 200 and one of these (sp-dev-docs, "Creating SharePoint sites using REST"). */
export const siteStatus = { notFound: 0, provisioning: 1, ready: 2, error: 3, alreadyExists: 4 } as const
const creation = z.object({ SiteId: z.string().catch(''), SiteStatus: z.int(), SiteUrl: z.string().catch('') })
export type SiteCreation = z.output<typeof creation>

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

export interface SharePointOptions {
  /** Calls with tokens for the tenant's sites, and for its admin host. */
  readonly call: CallService
  readonly callAdmin: CallService
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
}

/** Creates the app-only calls to SharePoint's REST API. */
export function createSharePoint({ call, callAdmin, sharePointUrl, sharePointAdminUrl }: SharePointOptions) {
  const { origin } = new URL(sharePointUrl)
  const admin = new URL(sharePointAdminUrl).origin
  const siteRoot = `${origin}/sites/`
  // A Graph site id is "host,collection,web"; the administration uses the collection's id.
  const administration = (siteId: string) =>
    `${admin}/_api/SPO.Tenant/sites(${encodeURIComponent(quoted(siteId.split(',')[1] ?? siteId))})`

  /** Whether an address is on this tenant's host: same scheme, host and port, without user name or password. */
  function isOnTenant(address: string): boolean {
    if (!URL.canParse(address)) return false
    const url = new URL(address)
    return url.origin === origin && url.username === '' && url.password === ''
  }
  /** Checks a site's address in an answer. Throws for another host: our token must not go there. */
  function onTenant(address: string): string {
    if (isOnTenant(address)) return address.replace(/\/+$/, '')
    throw new TenantError('foreign-address', `${service} reports a site outside the tenant's own host.`, {
      retryable: false,
    })
  }

  return {
    siteRoot,
    isOnTenant,
    onTenant,
    addressOf: (alias: string): string => `${siteRoot}${alias}`,

    async siteExists(address: string): Promise<boolean> {
      const url = `${origin}/_api/SP.Site.Exists`
      const purpose = 'checking whether an address is free'
      const answer = await call({ method: 'POST', url, body: { url: address }, purpose, reads: true })
      return parseAnswer(z.object({ value: z.boolean() }), answer, service).value
    },

    /** Sends a cheap read: the status of the tenant's root site. */
    async ping(signal: AbortSignal): Promise<void> {
      const url = `${origin}/_api/SPSiteManager/status?url=${encodeURIComponent(quoted(origin))}`
      await call({ url, purpose: 'asking how it does', signal })
    },

    async creationStatus(address: string, signal: AbortSignal): Promise<SiteCreation> {
      const url = `${origin}/_api/SPSiteManager/status?url=${encodeURIComponent(quoted(address))}`
      return parseAnswer(creation, await call({ url, purpose: 'looking the site up', signal }), service)
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
      const answer = await call({ method: 'POST', url, body: { request }, purpose: 'making the site', signal })
      return parseAnswer(creation, answer, service)
    },

    /** Reads a site's web; undefined while it does not answer yet. */
    async web(address: string, signal: AbortSignal) {
      const url = `${onTenant(address)}/_api/web?$select=Title,Description,IsProvisioningComplete`
      const answer = await call({ url, purpose: 'reading the site', accept: [404, 423], signal })
      return answer.status === 200 ? parseAnswer(web, answer, service) : undefined
    },

    /**
     * Reads a site's owner and label from the tenant's administration; undefined while the site is unknown.
     * `SPO.Tenant/sites('{id}')` is the REST form of the site properties (CLI for Microsoft 365 and CIPP use it).
     */
    async administered(siteId: string, signal: AbortSignal) {
      const url = `${administration(siteId)}?$select=Owner,OwnerLoginName,SensitivityLabel2`
      const answer = await callAdmin({ url, purpose: "reading the site's properties", accept: [404], signal })
      return answer.status === 200 ? parseAnswer(administered, answer, service) : undefined
    },

    /** Sets the sensitivity label through the administration, since Graph accepts labels only from signed-in people. */
    async setLabel(siteId: string, labelId: string, signal: AbortSignal): Promise<void> {
      const body = { SensitivityLabel2: labelId }
      const purpose = 'applying the sensitivity label'
      await callAdmin({ method: 'PATCH', url: administration(siteId), body, purpose, signal })
    },

    /** Whether a person may open a site; false when SharePoint does not answer for that person. */
    async mayOpen(address: string, { userPrincipalName }: Pick<Person, 'userPrincipalName'>, signal: AbortSignal) {
      const user = encodeURIComponent(quoted(claimOf(userPrincipalName)))
      const url = `${onTenant(address)}/_api/web/getusereffectivepermissions(@user)?@user=${user}`
      const accept = [400, 403, 404, 423, 500]
      const answer = await call({ url, purpose: 'asking who may open a site', accept, signal })
      return answer.status === 200 && (BigInt(parseAnswer(permissions, answer, service).Low) & openSite) !== 0n
    },

    /** Lists the login names in a site's owners group. */
    async owners(address: string, signal: AbortSignal): Promise<string[]> {
      const url = `${onTenant(address)}/_api/web/associatedownergroup/users?$select=LoginName`
      const answer = await call({ url, purpose: "reading the site's owners", signal })
      return parseAnswer(users, answer, service).value.map(({ LoginName }) => LoginName)
    },

    /** Adds an owner; no change when the person is an owner already. */
    async addOwner(address: string, userPrincipalName: string, signal: AbortSignal): Promise<void> {
      const url = `${onTenant(address)}/_api/web/associatedownergroup/users`
      const body = { LoginName: claimOf(userPrincipalName) }
      await call({ method: 'POST', url, body, purpose: "adding to the site's owners", signal })
    },
  }
}
