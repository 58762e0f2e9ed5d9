import type { MailboxStep, SiteStep } from '../resources/index.ts'
import {
  type Account,
  because,
  type Fault,
  fault,
  type Metadata,
  type Person,
  pointerOf,
  type Reason,
  type ReasonKey,
  TenantError,
  unreadableAccount,
} from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import type { RequestPorts } from './ports.ts'
import { isForMailbox, type Problem, type Request, type RequestStep, referenceOf } from './request.ts'

/** The problem code of a request with people who may not get access. */
export const peopleUnavailable = 'people-unavailable'

/** Some people of a request may not get access. The step has changed nothing. */
export class PeopleUnavailable extends TenantError {
  readonly people: NonNullable<Problem['people']>
  constructor(people: NonNullable<Problem['people']>, request: Request) {
    super(peopleUnavailable, reasonOf(people, request), { retryable: false })
    this.people = people
  }
}

/** The steps that give rights, and the first step, so that nothing is created. The people are checked before these steps. */
const givesRights: readonly RequestStep['name'][] = [
  ...(['create-site', 'add-owners'] satisfies SiteStep[]),
  ...(['create-mailbox', 'grant-access'] satisfies MailboxStep[]),
]
const reads = 'ready-check' satisfies SiteStep & MailboxStep

/**
 * Returns the request with the current names of its people. A name may belong to somebody else since the submission, so only the
 * object id identifies a person. Before a step that gives rights, throws {@link PeopleUnavailable} if somebody has left the
 * directory, is blocked, cannot be read, or is a guest without approval. Throws `TenantError` if the directory does not answer.
 */
export async function withPeopleOfToday<R extends Request>(
  ports: Pick<RequestPorts, 'directory'>,
  request: R,
  step: RequestStep['name'],
): Promise<R> {
  if (!givesRights.includes(step) && step !== reads) return request
  const people = peopleWithRights(request)
  const found = await ports.directory.people(people.map(({ id }) => id))
  const accounts = new Map(found.map((account) => [account.id.toLowerCase(), account]))
  const lost = people.flatMap(({ id, displayName, userPrincipalName }) => {
    const account = accounts.get(id.toLowerCase())
    const why = reasonAgainst(account, wasGuest(request, id))
    return why ? [{ id, displayName: account?.displayName ?? displayName, userPrincipalName, why }] : []
  })
  // The ready check only reads: it reports missing rights itself.
  if (lost.length > 0 && step !== reads) throw new PeopleUnavailable(lost, request)
  return renamed(request, accounts)
}

/**
 * Whether a person was approved as a guest owner. Requests of earlier versions do not record guests, so each owner may be a
 * guest there.
 */
function wasGuest(request: Request, id: string): boolean {
  if (request.guests) return request.guests.includes(id)
  if (!isForMailbox(request)) return request.owners.some((owner) => owner.id === id)
  return id === request.details.primaryOwner || id === request.details.secondaryOwner
}

function reasonAgainst(account: Account | undefined, isApprovedGuest = false) {
  if (!account) return 'gone' as const
  if (account.isBlocked) return 'blocked' as const
  if (account.unread) return 'unread' as const
  return account.isGuest && !isApprovedGuest ? ('guest' as const) : undefined
}

/** Returns the requester and the people who get rights, each once. An application is not a person in the directory. */
function peopleWithRights(request: Request): Person[] {
  const { requester } = request
  const named = isForMailbox(request) ? peopleOfMailbox(request) : request.owners
  const all = requester.userPrincipalName === '' ? named : [requester, ...named]
  return [...new Map(all.map((one) => [one.id, one])).values()]
}

function peopleOfMailbox({ people, details }: Extract<Request, { address: string }>): Person[] {
  const { permissions, primaryOwner, secondaryOwner } = details
  return people.filter(
    ({ id }) => id === primaryOwner || id === secondaryOwner || (permissions[id] ?? 'None') !== 'None',
  )
}

function renamed<R extends Request>(request: R, accounts: ReadonlyMap<string, Person>): R {
  const today = (one: Person): Person => {
    const { id, displayName, userPrincipalName } = accounts.get(one.id.toLowerCase()) ?? one
    return { id, displayName, userPrincipalName }
  }
  const requester = today(request.requester)
  return isForMailbox(request)
    ? { ...request, requester, people: request.people.map(today) }
    : { ...request, requester, owners: request.owners.map(today) }
}

/** The maximum number of people in the sentence. */
const maxNamed = 5

function reasonOf(people: PeopleUnavailable['people'], request: Request): Reason {
  const more = people.length - maxNamed
  return because('peopleWithoutAccess', {
    people: [
      ...people.slice(0, maxNamed).map(withoutAccess),
      ...(more > 0 ? [because('morePeopleWithoutAccess', { count: more })] : []),
    ],
    requester: people.some(({ id }) => id === request.requester.id) ? 'isOne' : 'isNone',
    reference: referenceOf(request),
    retry: { command: 'admin retry' },
    cancel: { command: 'admin cancel' },
  })
}

/** Returns why a person cannot get access. */
export const withoutAccess = ({ why, displayName }: PeopleUnavailable['people'][number]): Reason =>
  because(whys[why], { person: displayName })

const whys = {
  gone: 'personGone',
  blocked: 'personIsBlocked',
  guest: 'personIsGuest',
  unread: 'personUnread',
} as const satisfies Record<PeopleUnavailable['people'][number]['why'], ReasonKey>

/** A person at a pointer of a body, and the right that they would get. */
interface NamedAccount {
  readonly account: Account
  readonly pointer: string
  readonly gets: 'ownership' | 'access'
}

/** Returns the accounts of the ids in a body, with their pointers. */
export const accountsAt = (
  named: readonly { readonly id: string; readonly pointer: string }[],
  accounts: readonly Account[],
  gets: NamedAccount['gets'],
): NamedAccount[] =>
  named.flatMap(({ id, pointer }) => {
    const account = accounts.find((one) => one.id.toLowerCase() === id)
    return account ? [{ account, pointer, gets }] : []
  })

export const guestsAmong = (accounts: readonly Account[]): string[] => [
  ...new Set(accounts.filter(({ isGuest }) => isGuest).map(({ id }) => id)),
]

/** Returns faults for blocked accounts, and for guests who would get access to a mailbox. */
export const unavailableFaults = (named: readonly NamedAccount[]): Fault[] =>
  named.flatMap(({ account: { displayName, isBlocked, isGuest }, pointer, gets }) => {
    const facts = { name: displayName }
    if (isBlocked) return [fault(pointer, 'person-blocked', because('personBlocked', facts))]
    if (!isGuest || gets === 'ownership') return []
    return [fault(pointer, 'person-guest', because('personGuest', facts))]
  })

/** The role of a person in a body: `siteOwner` for owners of a site, or the label of the template's question. */
type NamedAs = 'owner' | 'person' | 'siteOwner' | { readonly label: string }

/** Looks up the people of the ids in a body. Returns a fault at the pointer for each unknown person. */
export async function peopleNamed(
  ports: RequestPorts,
  named: readonly { readonly id: string; readonly pointer: string; readonly as: NamedAs }[],
): Promise<{ people: Person[]; accounts: Account[]; faults: Fault[] }> {
  const found = await Promise.all(named.map(({ id }) => ports.directory.person(id)))
  const faults = named.flatMap(({ id, pointer, as }, index) => {
    const { displayName, unread } = found[index] ?? {}
    if (displayName === undefined)
      return [fault(pointer, 'unknown-person', because('personUnknown', { id, ...labelled(as) }))]
    return unread ? [fault(pointer, 'unreadable-person', unreadableAccount(displayName, unread), displayName)] : []
  })
  const byId = new Map(
    found.flatMap((known) => {
      if (!known) return []
      const { id, displayName, userPrincipalName } = known
      return [[id, { id, displayName, userPrincipalName }] as const]
    }),
  )
  return { people: [...byId.values()], accounts: found.filter((one) => one !== undefined), faults }
}

const labelled = (as: NamedAs) => (typeof as === 'string' ? { as, label: '' } : { as: 'answer', label: as.label })

/** Looks up the people in the answers to the template's questions. */
export async function answeredPeople(
  ports: RequestPorts,
  { fields }: Pick<Template, 'fields'>,
  metadata: Metadata,
): Promise<{ people: Person[]; faults: Fault[] }> {
  const named = fields.flatMap(({ type, key, label }) =>
    type === 'person' && Object.hasOwn(metadata, key)
      ? [{ id: String(metadata[key]), pointer: `/metadata${pointerOf([key])}`, as: { label } }]
      : [],
  )
  return peopleNamed(ports, named)
}

/** Returns faults for owners from outside, if the template does not allow them. */
export async function externalOwners(
  { directory }: Pick<RequestPorts, 'directory'>,
  { limits }: Pick<Template, 'limits'>,
  owners: readonly { readonly person: Person; readonly pointer: string }[],
): Promise<Fault[]> {
  if (limits.externalOwners) return []
  const external = await Promise.all(owners.map(({ person }) => directory.isExternal(person.id)))
  return owners
    .filter((_, index) => external[index])
    .map(({ person: { displayName }, pointer }) =>
      fault(pointer, 'external-owner', because('ownerExternal', { name: displayName }), displayName),
    )
}
