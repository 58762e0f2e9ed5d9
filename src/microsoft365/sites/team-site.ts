import { type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import {
  errorOf,
  type FoundGroup,
  type Graph,
  type GroupBody,
  graphService,
  namingPolicyError,
  needed,
  notThereYet,
  type Relation,
  upsertRefusal,
} from '../wire/index.ts'
import { nameTaken, notReady, ownersOf, type SiteActions, type SiteServices } from './site-step.ts'

/** A team site is the site of a Microsoft 365 group. The group's alternate key is the request's id. */
export const teamSite: SiteActions = { create, wait, addOwners, missingOwners }

async function create({ graph }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  const { requestId, displayName, description, alias, requester, signal } = input
  const found = await graph.groupByUniqueName(requestId, signal)
  if (found) return groupMade(found)
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
  // A group that an app creates has only the owners that are bound, and without an owner it may never get a site.
  const people = { owners: [requester.id], members: [requester.id] }
  await upsert(graph, requestId, group, people, signal)
  const created = await graph.groupByUniqueName(requestId, signal)
  if (!created) throw notThereYet('The new group')
  return groupMade(created)
}

/** The names are read back: the tenant's naming policy may have changed them. */
const groupMade = ({ id, displayName, mailNickname: alias, mail }: FoundGroup): StepResult => ({
  done: true,
  made: { groupId: id, createdAs: { displayName, alias, ...(mail && { mail }) } },
})

/** Graph reports one property at a time: the name, then the alias. */
const mostSuggestions = 2

/** Creates the group. Under the tenant's naming policy Graph may refuse the names; then those that it suggests are used. */
async function upsert(
  graph: Graph,
  requestId: string,
  group: GroupBody,
  people: { readonly [R in Relation]: readonly string[] },
  signal: AbortSignal,
  suggestions = 0,
): Promise<void> {
  const answer = await graph.upsertGroup(requestId, group, people, signal)
  const refusal = answer.status === 400 && upsertRefusal(answer, 'making the group')
  if (refusal instanceof TenantError) throw refusal
  if (typeof refusal === 'object') {
    if (suggestions === mostSuggestions) throw namingPolicyError()
    return upsert(graph, requestId, { ...group, ...refusal.suggested }, people, signal, suggestions + 1)
  }
  // Our earlier attempt may have the name while replicas do not show its key yet.
  if (refusal === 'name-taken' && !(await graph.groupByUniqueName(requestId, signal)))
    throw nameTaken(group.mailNickname)
  if (refusal === 'already-bound') {
    const again = await graph.upsertGroup(requestId, group, {}, signal)
    if (again.status === 400) throw errorOf(graphService, 'making the group', again)
  }
}

/** Polls the group's site. The first poll also makes Microsoft 365 create the site. */
async function wait({ graph, sharePoint }: SiteServices, { progress, signal }: SiteStepInput): Promise<StepResult> {
  const { site, retryAfterSeconds } = await graph.siteOfGroup(needed(progress, 'groupId'), signal)
  if (!site) return retryAfterSeconds ? { done: false, retryAfterSeconds } : notReady
  const url = sharePoint.onTenant(site.webUrl)
  const web = await sharePoint.web(url, signal)
  return web?.IsProvisioningComplete === false || !web ? notReady : { done: true, made: { siteId: site.id, url } }
}

async function addOwners({ graph }: SiteServices, input: SiteStepInput): Promise<StepResult> {
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
    if (await graph.user(id)) throw notThereYet('The new group')
    throw new TenantError('owner-not-found', `${displayName} is no longer in the directory.`, { retryable: false })
  }
  // A 400 has no code for "already added", so the list decides.
  if (answer.status === 400 && !(await graph.related(groupId, relation, signal)).includes(id))
    throw errorOf(graphService, `adding to the group's ${relation}`, answer)
}

async function missingOwners({ graph }: SiteServices, input: SiteStepInput): Promise<string[]> {
  const present = new Set(await graph.related(needed(input.progress, 'groupId'), 'owners', input.signal))
  return ownersOf(input).flatMap(({ id, displayName }) => (present.has(id) ? [] : [displayName]))
}
