import { type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { type Administered, claimOf, needed, sameLogin, siteStatus } from '../wire/index.ts'
import { type KindOfSite, lookAgain, nameTaken, ownersOf, type Services } from './site-step.ts'

/** A communication site has no group: SharePoint makes it under its address, and its owners are a group of its own. */
export const communicationSite: KindOfSite = { create, wait, addOwners, missingOwners }

async function create(services: Services, input: SiteStepInput): Promise<StepResult> {
  const { sharePoint } = services
  const { displayName: title, description, alias, requester, progress, signal } = input
  const address = sharePoint.addressOf(alias)
  // A stored address is ours: it was stored by this step.
  if (progress.url) return { done: true, made: {} }
  const before = await sharePoint.creationStatus(address, signal)
  if (before.SiteStatus !== siteStatus.notFound) return adopt(services, input, before)
  const owner = requester.userPrincipalName
  const made = await sharePoint.createCommunicationSite({ title, description, address, owner }, signal)
  if (made.SiteStatus === siteStatus.error) throw creationFailed()
  // Made by somebody else between our look and our call, or by our own attempt whose answer was lost.
  if (made.SiteStatus === siteStatus.alreadyExists) {
    const held = await sharePoint.creationStatus(address, signal)
    // Held by what is no site (any more): a deleted site, or a group whose site is not made yet.
    if (held.SiteStatus === siteStatus.notFound) throw nameTaken(alias)
    return adopt(services, input, held)
  }
  return { done: true, made: { url: sharePoint.onTenant(made.SiteUrl || address) } }
}

/**
 * A site at our address that no answer told us of: ours, when an earlier attempt's answer was lost. SharePoint keeps no
 * key of the caller's and a site has no place for one that people do not see, so it is recognised by what we ask for:
 * title, description and owner, all the same. The name was free when the request came and is reserved since then, so
 * anything else that fits was made meanwhile by the requester, by hand, for the same purpose.
 */
async function adopt(
  { sharePoint }: Services,
  input: SiteStepInput,
  { SiteStatus, SiteId, SiteUrl }: { SiteStatus: number; SiteId: string; SiteUrl: string },
): Promise<StepResult> {
  const { displayName, description, alias, requester, signal } = input
  if (SiteStatus === siteStatus.error) throw creationFailed()
  const url = sharePoint.onTenant(SiteUrl || sharePoint.addressOf(alias))
  const web = await sharePoint.web(url, signal)
  if (!web) return lookAgain
  const site = SiteId ? await sharePoint.administered(SiteId, signal) : undefined
  if (SiteId && !site) return lookAgain
  const isOwner = isSitesOwner(site, requester.userPrincipalName)
  const isSame = plain(web.Title) === plain(displayName) && plain(web.Description ?? '') === plain(description)
  if (!isOwner || !isSame) throw nameTaken(alias)
  return { done: true, made: { url } }
}

/** SharePoint keeps texts but for their white space. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

async function wait({ graph, sharePoint }: Services, { progress, signal }: SiteStepInput): Promise<StepResult> {
  const address = needed(progress, 'url')
  const { SiteStatus } = await sharePoint.creationStatus(address, signal)
  if (SiteStatus === siteStatus.error) throw creationFailed()
  if (SiteStatus === siteStatus.provisioning || SiteStatus === siteStatus.notFound) return lookAgain
  // "Ready" is not the end of SharePoint's own work on the site; the web itself says when that is over.
  const web = await sharePoint.web(address, signal)
  if (web?.IsProvisioningComplete === false || !web) return lookAgain
  const site = await graph.siteAt(address, signal)
  return site ? { done: true, made: { siteId: site.id, url: sharePoint.onTenant(site.webUrl) } } : lookAgain
}

async function addOwners({ sharePoint }: Services, input: SiteStepInput): Promise<StepResult> {
  const url = needed(input.progress, 'url')
  const present = await sharePoint.owners(url, input.signal)
  for (const { userPrincipalName } of ownersOf(input)) {
    const isThere = present.some((login) => sameLogin(login, claimOf(userPrincipalName)))
    if (!isThere) await sharePoint.addOwner(url, userPrincipalName, input.signal)
  }
  return { done: true, made: {} }
}

/** The requester owns the site collection itself; the others are in the site's owners group. */
async function missingOwners({ sharePoint }: Services, input: SiteStepInput): Promise<string[]> {
  const { progress, signal } = input
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  const logins = await sharePoint.owners(needed(progress, 'url'), signal)
  const owns = (upn: string) => isSitesOwner(site, upn) || logins.some((login) => sameLogin(login, claimOf(upn)))
  return ownersOf(input).flatMap(({ userPrincipalName, displayName }) => (owns(userPrincipalName) ? [] : [displayName]))
}

/** The site collection's owner, whom the administration names by login name, or by UPN alone. */
const isSitesOwner = (site: Administered | undefined, userPrincipalName: string): boolean =>
  sameLogin(site?.OwnerLoginName ?? '', claimOf(userPrincipalName)) || sameLogin(site?.Owner ?? '', userPrincipalName)

const creationFailed = (): TenantError =>
  new TenantError('site-creation-failed', 'SharePoint could not make the site.', { retryable: true })
