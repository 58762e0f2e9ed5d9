import { because, type Person, type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import {
  type Administered,
  claimOf,
  errorOf,
  type FoundGroup,
  type Graph,
  type GroupBody,
  graphService,
  isSameLogin,
  namingPolicyError,
  needed,
  normalizeSpace,
  notThereYet,
  type Relation,
  type Services,
  siteStatus,
  upsertRefusal,
} from '../wire/index.ts'
import { isHeld, isHeldByAccount, isHeldByGroup, nameTaken, whileHeld } from './held-names.ts'

export interface SiteServices extends Pick<Services, 'graph' | 'sharePoint'> {
  /** How long a fault must last before the ready check reports it. Seconds. */
  readonly settleSeconds: number
}

/** One step for one kind of site. */
export type SiteAction = (services: SiteServices, input: SiteStepInput) => Promise<StepResult>
/**
 * The differences between the two kinds of sites. `missingOwners` returns the names of owners who are not owners of the
 * site yet.
 */
export interface SiteActions {
  readonly create: SiteAction
  readonly wait: SiteAction
  readonly addOwners: SiteAction
  readonly missingOwners: (services: SiteServices, input: SiteStepInput) => Promise<string[]>
}

/** Returns all owners of the site without duplicates, the requester first. */
export function ownersOf({ requester, owners }: Pick<SiteStepInput, 'requester' | 'owners'>): Person[] {
  return [requester, ...owners.filter(({ id }) => id !== requester.id)]
}

/** Result while the site is not ready. SharePoint does not report when to check again. */
const notReady = { done: false, retryAfterSeconds: 2 } as const

/** A team site is the site of a Microsoft 365 group. The group's alternate key is the request's id. */
export const teamSite: SiteActions = {
  create: createGroup,
  wait: waitForGroupSite,
  addOwners: addGroupOwners,
  missingOwners: missingGroupOwners,
}

async function createGroup({ graph }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const { requestId, displayName, description, alias, requester, progress, signal } = input
  const found = await graph.groupByUniqueName(requestId, signal)
  if (found) return groupMade(found)
  if (isHeld(progress)) return whileHeld(alias, input)
  const group = {
    displayName,
    mailNickname: alias,
    // Graph refuses an empty description.
    ...(description && { description }),
    groupTypes: ['Unified'],
    mailEnabled: true,
    securityEnabled: false,
    visibility: 'Private',
  } as const satisfies GroupBody
  // A group that an app creates has only the owners in this call. Without an owner it may never get a site.
  const people = { owners: [requester.id], members: [requester.id] }
  const takenAlias = await upsert(graph, requestId, group, people, signal)
  const created = await graph.groupByUniqueName(requestId, signal)
  if (created) return groupMade(created)
  if (takenAlias === undefined) throw notThereYet('group')
  const holders = [isHeldByGroup(graph, takenAlias, input), isHeldByAccount(graph, takenAlias, input)]
  if ((await Promise.all(holders)).includes(true)) throw nameTaken(takenAlias)
  return whileHeld(takenAlias, input)
}

/** Returns the group's names from Graph: the tenant's naming policy may have changed them. */
const groupMade = ({ id, displayName, mailNickname: alias, mail }: FoundGroup): StepResult => ({
  done: true,
  made: { groupId: id, createdAs: { displayName, alias, ...(mail && { mail }) } },
})

/** Graph suggests one property at a time: the name, then the alias. */
const maxSuggestions = 2

/**
 * Creates the group. If Graph refuses the names under the tenant's naming policy, uses the names that Graph suggests.
 * Returns the alias if it is taken, perhaps by our earlier attempt; else undefined.
 */
async function upsert(
  graph: Graph,
  requestId: string,
  group: GroupBody,
  people: { readonly [R in Relation]: readonly string[] },
  signal: AbortSignal,
  suggestions = 0,
): Promise<string | undefined> {
  const answer = await graph.upsertGroup(requestId, group, people, signal)
  const refusal = answer.status === 400 && upsertRefusal(answer, because('creatingGroup'))
  if (refusal instanceof TenantError) throw refusal
  if (typeof refusal === 'object') {
    if (suggestions === maxSuggestions) throw namingPolicyError()
    return upsert(graph, requestId, { ...group, ...refusal.suggested }, people, signal, suggestions + 1)
  }
  if (refusal === 'name-taken') return group.mailNickname
  if (refusal === 'already-bound') {
    const again = await graph.upsertGroup(requestId, group, {}, signal)
    if (again.status === 400) throw errorOf(graphService, because('creatingGroup'), again)
  }
  return undefined
}

/** Polls the group's site. The first poll also causes Microsoft 365 to create the site. */
async function waitForGroupSite(
  { graph, sharePoint }: SiteServices,
  { progress, signal }: SiteStepInput,
): Promise<StepResult> {
  const { site, retryAfterSeconds } = await graph.siteOfGroup(needed(progress, 'groupId'), signal)
  if (!site) return retryAfterSeconds ? { done: false, retryAfterSeconds } : notReady
  const url = sharePoint.onTenant(site.webUrl)
  const web = await sharePoint.web(url, signal)
  return web?.IsProvisioningComplete === false || !web ? notReady : { done: true, made: { siteId: site.id, url } }
}

async function addGroupOwners({ graph }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const groupId = needed(input.progress, 'groupId')
  // Members first: an owner who is not a member has no access to the group's content.
  for (const relation of ['members', 'owners'] as const) {
    const present = new Set(await graph.related(groupId, relation, input.signal))
    for (const { id, displayName } of ownersOf(input)) {
      if (!present.has(id)) await addRelated(graph, groupId, relation, { id, displayName }, input.signal)
    }
  }
  return { done: true, made: {} }
}

async function addRelated(
  graph: Graph,
  groupId: string,
  relation: Relation,
  { id, displayName }: { id: string; displayName: string },
  signal: AbortSignal,
): Promise<void> {
  const answer = await graph.addRelated(groupId, relation, id, signal)
  if (answer.status === 404) {
    if (await graph.user(id)) throw notThereYet('group')
    throw new TenantError('owner-not-found', because('personLeft', { person: displayName }), { retryable: false })
  }
  // A 400 has no code for "already added", so the list of owners or members decides.
  if (answer.status === 400 && !(await graph.related(groupId, relation, signal)).includes(id))
    throw errorOf(graphService, because('addingToGroup', { relation }), answer)
}

async function missingGroupOwners({ graph }: SiteServices, input: SiteStepInput): Promise<string[]> {
  const present = new Set(await graph.related(needed(input.progress, 'groupId'), 'owners', input.signal))
  return ownersOf(input).flatMap(({ id, displayName }) => (present.has(id) ? [] : [displayName]))
}

/**
 * A communication site has no Microsoft 365 group. SharePoint creates it at its address, with its own group of owners.
 */
export const communicationSite: SiteActions = {
  create: createSite,
  wait: waitForSite,
  addOwners: addSiteOwners,
  missingOwners: missingSiteOwners,
}

async function createSite(services: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const { graph, sharePoint } = services
  const { displayName: title, description, alias, requester, progress, signal } = input
  const address = sharePoint.addressOf(alias)
  // This step stored the address, so the site is ours.
  if (progress.url) return { done: true, made: {} }
  const before = await sharePoint.creationStatus(address, signal)
  if (before.SiteStatus !== siteStatus.notFound) return adopt(services, input, before)
  if (isHeld(progress)) return whileHeld(alias, input)
  const owner = requester.userPrincipalName
  const created = await sharePoint.createCommunicationSite({ title, description, address, owner }, signal)
  if (created.SiteStatus === siteStatus.error) throw creationFailed()
  // Another person created the site in the meantime, or our earlier attempt created it and its answer was lost.
  if (created.SiteStatus === siteStatus.alreadyExists) {
    const current = await sharePoint.creationStatus(address, signal)
    if (current.SiteStatus !== siteStatus.notFound) return adopt(services, input, current)
    // A group whose site does not exist yet also has the address.
    if (await isHeldByGroup(graph, alias, input)) throw nameTaken(alias)
    return whileHeld(alias, input)
  }
  return { done: true, made: { url: sharePoint.onTenant(created.SiteUrl || address) } }
}

/**
 * Adopts a site that exists at our address: it is ours when the answer of an earlier attempt was lost. SharePoint
 * stores no key of the caller, so title, description and owner must match the request. The name has been reserved since
 * the request. Only the requester could therefore have created another matching site manually, for the same purpose.
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
  const isSame =
    normalizeSpace(web.Title) === normalizeSpace(displayName) &&
    normalizeSpace(web.Description ?? '') === normalizeSpace(description)
  if (!isSame || (site && !isSitesOwner(site, requester.userPrincipalName))) throw nameTaken(alias)
  // SharePoint may omit the id while it creates the site, and only the id leads to the owner.
  return site ? { done: true, made: { url } } : whileHeld(alias, input)
}

async function waitForSite(
  { graph, sharePoint }: SiteServices,
  { progress, signal }: SiteStepInput,
): Promise<StepResult> {
  const address = needed(progress, 'url')
  const { SiteStatus } = await sharePoint.creationStatus(address, signal)
  if (SiteStatus === siteStatus.error) throw creationFailed()
  if (SiteStatus === siteStatus.provisioning || SiteStatus === siteStatus.notFound) return notReady
  // SharePoint still works on a "ready" site. Its web shows whether the site is complete.
  const web = await sharePoint.web(address, signal)
  if (web?.IsProvisioningComplete === false || !web) return notReady
  const site = await graph.siteAt(address, signal)
  return site ? { done: true, made: { siteId: site.id, url: sharePoint.onTenant(site.webUrl) } } : notReady
}

async function addSiteOwners({ sharePoint }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const url = needed(input.progress, 'url')
  const present = await sharePoint.owners(url, input.signal)
  for (const { userPrincipalName } of ownersOf(input)) {
    const isThere = present.some((login) => isSameLogin(login, claimOf(userPrincipalName)))
    if (!isThere) await sharePoint.addOwner(url, userPrincipalName, input.signal)
  }
  return { done: true, made: {} }
}

/** The requester owns the site collection; the other owners are in the site's owners group. */
async function missingSiteOwners({ sharePoint }: SiteServices, input: SiteStepInput): Promise<string[]> {
  const { progress, signal } = input
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  const logins = await sharePoint.owners(needed(progress, 'url'), signal)
  const owns = (upn: string) => isSitesOwner(site, upn) || logins.some((login) => isSameLogin(login, claimOf(upn)))
  return ownersOf(input).flatMap(({ userPrincipalName, displayName }) => (owns(userPrincipalName) ? [] : [displayName]))
}

/** Returns whether a person is the site collection's owner, by login name or by UPN. */
const isSitesOwner = (site: Administered | undefined, userPrincipalName: string): boolean =>
  isSameLogin(site?.OwnerLoginName ?? '', claimOf(userPrincipalName)) ||
  isSameLogin(site?.Owner ?? '', userPrincipalName)

const creationFailed = (): TenantError =>
  new TenantError('site-creation-failed', because('siteNotCreated'), { retryable: true })
