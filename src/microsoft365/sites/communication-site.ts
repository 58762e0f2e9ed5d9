import { type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { type Administered, claimOf, isSameLogin, needed, siteStatus } from '../wire/index.ts'
import { nameTaken, notReady, ownersOf, type SiteActions, type SiteServices } from './site-step.ts'

/** A communication site has no Microsoft 365 group. SharePoint creates it under its address, with an own group of owners. */
export const communicationSite: SiteActions = { create, wait, addOwners, missingOwners }

async function create(services: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const { sharePoint } = services
  const { displayName: title, description, alias, requester, progress, signal } = input
  const address = sharePoint.addressOf(alias)
  // This step stored the address, so the site is ours.
  if (progress.url) return { done: true, made: {} }
  const before = await sharePoint.creationStatus(address, signal)
  if (before.SiteStatus !== siteStatus.notFound) return adopt(services, input, before)
  const owner = requester.userPrincipalName
  const created = await sharePoint.createCommunicationSite({ title, description, address, owner }, signal)
  if (created.SiteStatus === siteStatus.error) throw creationFailed()
  // Somebody else created it meanwhile, or our earlier attempt did and its answer was lost.
  if (created.SiteStatus === siteStatus.alreadyExists) {
    const current = await sharePoint.creationStatus(address, signal)
    // A deleted site has the address, or a group without its site yet.
    if (current.SiteStatus === siteStatus.notFound) throw nameTaken(alias)
    return adopt(services, input, current)
  }
  return { done: true, made: { url: sharePoint.onTenant(created.SiteUrl || address) } }
}

/**
 * Adopts a site that exists at our address: it is ours when the answer of an earlier attempt was lost. SharePoint stores no
 * key of the caller, so title, description and owner must match the request. The name has been reserved since the request,
 * so only the requester could have created another matching site manually, for the same purpose.
 */
async function adopt(
  { sharePoint }: SiteServices,
  input: SiteStepInput,
  { SiteStatus, SiteId, SiteUrl }: { SiteStatus: number; SiteId: string; SiteUrl: string },
): Promise<StepResult> {
  const { displayName, description, alias, requester, signal } = input
  if (SiteStatus === siteStatus.error) throw creationFailed()
  const url = sharePoint.onTenant(SiteUrl || sharePoint.addressOf(alias))
  const web = await sharePoint.web(url, signal)
  if (!web) return notReady
  const site = SiteId ? await sharePoint.administered(SiteId, signal) : undefined
  if (SiteId && !site) return notReady
  const isOwner = isSitesOwner(site, requester.userPrincipalName)
  const isSame = plain(web.Title) === plain(displayName) && plain(web.Description ?? '') === plain(description)
  if (!isOwner || !isSame) throw nameTaken(alias)
  return { done: true, made: { url } }
}

/** SharePoint may change the white space of texts. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

async function wait({ graph, sharePoint }: SiteServices, { progress, signal }: SiteStepInput): Promise<StepResult> {
  const address = needed(progress, 'url')
  const { SiteStatus } = await sharePoint.creationStatus(address, signal)
  if (SiteStatus === siteStatus.error) throw creationFailed()
  if (SiteStatus === siteStatus.provisioning || SiteStatus === siteStatus.notFound) return notReady
  // SharePoint still works on a "ready" site; the web says when it is complete.
  const web = await sharePoint.web(address, signal)
  if (web?.IsProvisioningComplete === false || !web) return notReady
  const site = await graph.siteAt(address, signal)
  return site ? { done: true, made: { siteId: site.id, url: sharePoint.onTenant(site.webUrl) } } : notReady
}

async function addOwners({ sharePoint }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const url = needed(input.progress, 'url')
  const present = await sharePoint.owners(url, input.signal)
  for (const { userPrincipalName } of ownersOf(input)) {
    const isThere = present.some((login) => isSameLogin(login, claimOf(userPrincipalName)))
    if (!isThere) await sharePoint.addOwner(url, userPrincipalName, input.signal)
  }
  return { done: true, made: {} }
}

/** The requester owns the site collection; the other owners are in the site's owners group. */
async function missingOwners({ sharePoint }: SiteServices, input: SiteStepInput): Promise<string[]> {
  const { progress, signal } = input
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  const logins = await sharePoint.owners(needed(progress, 'url'), signal)
  const owns = (upn: string) => isSitesOwner(site, upn) || logins.some((login) => isSameLogin(login, claimOf(upn)))
  return ownersOf(input).flatMap(({ userPrincipalName, displayName }) => (owns(userPrincipalName) ? [] : [displayName]))
}

/** Whether a person is the site collection's owner, by login name or by UPN. */
const isSitesOwner = (site: Administered | undefined, userPrincipalName: string): boolean =>
  isSameLogin(site?.OwnerLoginName ?? '', claimOf(userPrincipalName)) ||
  isSameLogin(site?.Owner ?? '', userPrincipalName)

const creationFailed = (): TenantError =>
  new TenantError('site-creation-failed', 'SharePoint could not make the site.', { retryable: true })
