import { z } from 'zod'
import {
  type Actor,
  type Candidate,
  type Context,
  person,
  type ResourceKind,
  resourceKind,
  type SimilarQuery,
  TenantError,
} from '../shared/index.ts'
import { beginningsOf, likeness, similarFrom } from './name-likeness.ts'
import type { NamingPorts } from './ports.ts'

/** This many are told of one by one, with this many owners each. */
const mostShown = 3
const mostOwners = 3
/** Of more than these, the most alike, nobody asks who may know of them: the number of the others ends here. */
const mostAsked = 25
/** For so long a person waits for each of the two questions, in milliseconds; then there is nothing similar. */
const patience = 1500

export const similarResource = z.object({
  kind: resourceKind.optional().describe('What it is; left out for a site of which the directory does not say more.'),
  displayName: z.string().describe('Its name.'),
  address: z.string().describe('The URL of a site, or a mail address where that is all that is known.'),
  access: z
    .enum(['own', 'open', 'ask'])
    .describe(
      '`own`: the person owns it. `open`: they can open or book it already. `ask`: somebody has to let them in.',
    ),
  owners: z
    .array(person)
    .max(mostOwners)
    .describe('Whom to ask for access: at most three; none where they are unknown.'),
})
export type SimilarResource = z.output<typeof similarResource>

export const similarResources = z.object({
  resources: z.array(similarResource).max(mostShown).describe('The most similar ones, at most three.'),
  more: z.int().min(0).describe('How many others there are.'),
})
export type SimilarResources = z.output<typeof similarResources>

/** What is asked for: `address` is that which the request keeps for itself, once it is known. */
export interface Sought {
  readonly kind: ResourceKind
  readonly displayName: string
  readonly address?: string
}
const nothing: SimilarResources = { resources: [], more: 0 }

/**
 * What the tenant has already with a name like this, for this person's eyes: nothing whose name is hidden from them.
 * A hint, so it stops nobody: while the directory does not answer in time there is nothing similar.
 */
export const findSimilar = async (context: Context<NamingPorts>, sought: Sought): Promise<SimilarResources> =>
  similarAmong(context, sought, await similarCandidates(context.ports, sought))

/** The first half, which needs no address yet, so that it can be asked while the request is checked. */
export async function similarCandidates(
  { directory }: NamingPorts,
  { kind, displayName }: Sought,
): Promise<readonly Candidate[]> {
  const beginnings = beginningsOf(displayName)
  if (beginnings.length === 0) return []
  const found = await inTime((signal) => directory.similar({ kind, beginnings, signal }))
  return mostAlike(found ?? [], displayName)
}

/** The second half: which of them this person may know of, and whom to ask. */
export async function similarAmong(
  context: Context<NamingPorts>,
  sought: Sought,
  candidates: readonly Candidate[],
): Promise<SimilarResources> {
  const others = candidates.filter((candidate) => !isOwn(candidate, sought)).slice(0, mostAsked)
  if (others.length === 0) return nothing
  const { kind, displayName } = sought
  const query = { kind, beginnings: beginningsOf(displayName) }
  const found = await inTime((signal) => told(context, others, { ...query, signal }))
  return found ?? nothing
}

async function told(
  { ports, actor }: Context<NamingPorts>,
  candidates: readonly Candidate[],
  query: SimilarQuery,
): Promise<SimilarResources> {
  const visible = await ports.directory.visibleTo(actor, candidates, query)
  const shown = visible.slice(0, mostShown)
  const resources = await Promise.all(shown.map((candidate) => resourceOf(ports, actor, candidate, query.kind)))
  return { resources, more: visible.length - shown.length }
}

async function resourceOf(
  { directory }: NamingPorts,
  actor: Actor,
  { of, id, displayName, address, isPublic }: Candidate,
  kind: ResourceKind,
): Promise<SimilarResource> {
  // Everybody may book a room or a device; a shared mailbox has no owner that the directory could name.
  if (of === 'account')
    return { kind, displayName, address, access: kind === 'sharedMailbox' ? 'ask' : 'open', owners: [] }
  // What is no group's is visible to those alone who can open it.
  if (of === 'site') return { displayName, address, access: 'open', owners: [] }
  const [owners, groups] = await Promise.all([directory.ownersOf(id), directory.groupsOf(actor.id)])
  const owns = owners.some((owner) => owner.id === actor.id)
  const isIn = isPublic || groups.has(id)
  const asked = owners
    .filter((owner) => owner.id !== actor.id && !owner.isBlocked && !owner.unread)
    .slice(0, mostOwners)
  return {
    kind: 'teamSite',
    displayName,
    address,
    access: owns ? 'own' : isIn ? 'open' : 'ask',
    owners: asked.map(({ id, displayName, userPrincipalName }) => ({ id, displayName, userPrincipalName })),
  }
}

/** Those with a similar name, the most alike first. */
function mostAlike(candidates: readonly Candidate[], displayName: string): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, alike: likeness(displayName, candidate.displayName) }))
    .filter(({ alike }) => alike >= similarFrom)
    .sort((a, b) => b.alike - a.alike || a.candidate.displayName.localeCompare(b.candidate.displayName, 'en'))
    .map(({ candidate }) => candidate)
}

/** What a failed request has left behind is what this one takes over: nobody needs access to it. */
function isOwn({ address, alias }: Candidate, sought: Sought): boolean {
  const kept = sought.address?.toLowerCase().replace(/\/+$/, '')
  if (kept === undefined) return false
  return address.toLowerCase() === kept || (alias !== '' && kept.endsWith(`/${alias.toLowerCase()}`))
}

/** What was asked, or nothing when Microsoft 365 refuses or takes longer than anybody wants to wait. */
async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const signal = AbortSignal.timeout(patience)
  const late = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const answer = ask(signal).catch((error: unknown) => {
    if (error instanceof TenantError) return undefined
    throw error
  })
  return Promise.race([answer, late])
}
