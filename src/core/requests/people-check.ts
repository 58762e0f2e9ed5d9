import {
  type Asker,
  another,
  freeFrom,
  mailAddressFree,
  mailboxKeys,
  mailboxNameFree,
  mailKey,
  plain,
  siteKey,
  siteNameFree,
} from '../naming/index.ts'
import type { MailboxStep, SiteStep } from '../resources/index.ts'
import {
  type Account,
  because,
  type Fault,
  fault,
  type Person,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import { reservedIn } from '../templates/index.ts'
import type { RequestPorts } from './ports.ts'
import { isForMailbox, type Problem, type Request, type RequestStep, referenceOf } from './request.ts'

/** The problem of a request whose people may not have what it gives them. */
export const peopleUnavailable = 'people-unavailable'

/** Says that people of a request may not have what it gives them. Nothing of the step was done. */
export class PeopleUnavailable extends TenantError {
  readonly people: NonNullable<Problem['people']>
  constructor(people: NonNullable<Problem['people']>, request: Request) {
    super(peopleUnavailable, inWords(people, request), { retryable: false })
    this.people = people
  }
}

/** Steps before which the people are checked: those that give somebody rights, and the first, so that nothing is made. */
const givesRights: readonly RequestStep['name'][] = [
  ...(['create-site', 'add-owners'] satisfies SiteStep[]),
  ...(['create-mailbox', 'grant-access'] satisfies MailboxStep[]),
]
const reads = 'ready-check' satisfies SiteStep & MailboxStep

/**
 * The request with the names that its people have today. A name may belong to somebody else since the submission, so only the
 * object id identifies a person. Before a step that gives rights, throws {@link PeopleUnavailable} when somebody has left
 * the directory, is blocked, cannot be read, or is a guest whom nobody approved as one. Throws `TenantError` when the directory does not answer.
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
  // What exists already is only read back: the check itself says what is missing.
  if (lost.length > 0 && step !== reads) throw new PeopleUnavailable(lost, request)
  return renamed(request, accounts)
}

/**
 * Whether somebody may be a guest, as an owner whom the template and the approvers took as one. Requests of earlier versions do
 * not say who was a guest: of these every owner may be.
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

/** The requester and everybody who gets rights, each once. An application that asked is no person of the directory. */
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

/** As many people as the sentence names. */
const mostNamed = 5

function inWords(people: PeopleUnavailable['people'], request: Request): string {
  const says = {
    gone: ({ displayName }: Person) => `${displayName} has left the organisation.`,
    blocked: ({ displayName }: Person) => `The account of ${displayName} is blocked.`,
    guest: ({ displayName }: Person) => `${displayName} is a guest.`,
    unread: ({ displayName }: Person) => `The directory does not show whether ${displayName} is an enabled member.`,
  }
  const more = people.length - mostNamed
  const reference = referenceOf(request)
  const isAboutRequester = people.some(({ id }) => id === request.requester.id)
  return [
    ...people.slice(0, mostNamed).map((one) => says[one.why](one)),
    ...(more > 0 ? [`${more} more people cannot get access.`] : []),
    isAboutRequester ? 'Somebody else can send a new request.' : 'Send a new request without these people.',
    `Or an admin restores the accounts and types: admin retry ${reference}.`,
    `To end the request, an admin types: admin cancel ${reference}.`,
  ].join(' ')
}

/** Somebody who was named at a pointer of a body, and what they would get. */
export interface NamedAccount {
  readonly account: Account
  readonly pointer: string
  readonly gets: 'ownership' | 'access'
}

/** The accounts behind ids that a body names, each at its pointer. */
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

/** People who could never get what a body gives them: blocked accounts, and guests who would get access to a mailbox. */
export const unavailableFaults = (named: readonly NamedAccount[]): Fault[] =>
  named.flatMap(({ account: { displayName, isBlocked, isGuest }, pointer, gets }) => {
    const facts = { name: displayName }
    if (isBlocked) return [fault(pointer, 'person-blocked', because('personBlocked', facts))]
    if (!isGuest || gets === 'ownership') return []
    return [fault(pointer, 'person-guest', because('personGuest', facts))]
  })

/**
 * Holds the names of a request against the rules once more before anything is created under them: a request may be older than a
 * rule, and a name that somebody held may have become free since. Throws a `TenantError`, which no other attempt changes.
 */
export async function refuseName(
  { ports, settings }: SystemContext<RequestPorts>,
  request: Request,
  step: RequestStep['name'],
): Promise<void> {
  if (step !== 'create-site' && step !== 'create-mailbox') return
  for (const name of namesOf(request)) {
    const reserved = reservedIn(request.template.naming, name)
    if (reserved)
      throw refusal('reserved-name', `${name} is reserved for ${reserved}. Only a template that allows it can give it.`)
  }
  if (!settings.formerAddressDays || request.template.naming.allowFormerAddresses) return
  const { requestId, tenantId, requester } = request
  const actor = { id: requester.id, tenantId }
  for (const { shown, keys, name, isFree } of await addressesOf(ports, request)) {
    const day = await freeFrom(ports, settings, keys, name, { actor, requestId })
    // What is there may be our own, created by a run whose answer was lost: the step finds that out.
    if (day !== undefined && (await isFree()))
      throw refusal('former-address', `${shown} belonged to another person or resource. It is free from ${day}.`)
  }
}

const refusal = (code: 'reserved-name' | 'former-address', said: string): TenantError =>
  new TenantError(code, said, { retryable: false })

const beforeAt = (address: string): string => address.split('@')[0] ?? ''

const namesOf = (request: Request): string[] =>
  isForMailbox(request)
    ? [request.address, request.aliasAddress].filter((one) => one !== '').map(beforeAt)
    : [request.alias]

async function addressesOf({ directory }: RequestPorts, request: Request) {
  if (isForMailbox(request)) {
    const { address, aliasAddress } = request
    const own = {
      ...{ shown: address, keys: mailboxKeys(address, (await directory.mailDomains()).default), name: { address } },
      isFree: () => directory.isMailboxNameFree(address),
    }
    if (aliasAddress === '') return [own]
    const further = { shown: aliasAddress, keys: [mailKey(aliasAddress)], name: { address: aliasAddress } }
    return [own, { ...further, isFree: () => directory.isMailAddressFree(aliasAddress) }]
  }
  const { alias } = request
  const keys = [siteKey(alias), mailKey(`${alias}@${(await directory.mailDomains()).default}`)]
  return [{ shown: alias, keys, name: { alias }, isFree: () => directory.isSiteAddressFree(alias) }]
}

/** Who asks for a name in place of one that a request cannot have. */
export const askerOf = (
  { ports, settings }: SystemContext<RequestPorts>,
  { requester, requestId, tenantId }: Request,
): Asker => ({
  ...{ ports, settings, requestId },
  actor: { ...requester, tenantId, isAdmin: false },
})
/** A free name like the one that a request has and that turned out to be somebody else's; `''` when there is none. */
export function anotherName(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  const { template, requestId } = request
  const asker = askerOf(context, request)
  const around = request.around ?? { ...template.naming, separator: '-' }
  if (!isForMailbox(request)) return another(around, request.alias, requestId, siteNameFree(asker, template.naming))
  const [name = '', domain = ''] = request.address.split('@')
  return another(around, name, requestId, mailboxNameFree(asker, domain, template.naming))
}

/** A free additional address like the one that turned out to be somebody else's; `''` when there is none. */
export function anotherAlias(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  if (!isForMailbox(request)) return Promise.resolve('')
  const [local = '', domain = ''] = request.aliasAddress.split('@')
  const standingOf = mailAddressFree(askerOf(context, request), request.template.naming)
  const found = another(plain, local, request.requestId, (name) => standingOf(`${name}@${domain}`))
  return found.then((name) => name && `${name}@${domain}`)
}
