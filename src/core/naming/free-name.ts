import { type Actor, dayAfter, type Settings, type SystemContext } from '../shared/index.ts'
import { type NamingPolicy, reservedIn } from '../templates/index.ts'
import type { CreatedResource, Inquiry, NamingPorts, ResourceName } from './inquiry.ts'
import { type Address, type Around, alternatives, ownAddress, withWord } from './naming.ts'

/** What is known of addresses that were in use. Keeps no address and no id, only digests by a key outside of the store. */

export const mailKey = (address: string): string => `mail:${address.toLowerCase()}`
/**
 * The keys of a mailbox's own address. Its account also gets a sign-in name of the same name in the default domain, whatever
 * the domain of the address is, so that name must not belong to somebody else either.
 */
export const mailboxKeys = (address: string, defaultDomain: string): string[] => [
  ...new Set([mailKey(address), mailKey(`${address.slice(0, address.indexOf('@'))}@${defaultDomain}`)]),
]
export const siteKey = (alias: string): string => `site:${alias.toLowerCase()}`

/**
 * The day from which an address that nobody holds now is free for this person; undefined: it is free. The last holder, and the
 * requester of the resource that held it last, have it back at any time.
 */
export async function freeFrom(
  { clock, addresses, requests }: Pick<NamingPorts, 'clock' | 'addresses' | 'requests'>,
  { formerAddressDays = 0 }: Pick<Settings, 'formerAddressDays'>,
  keys: readonly string[],
  name: ResourceName,
  { actor, requestId }: { readonly actor: Pick<Actor, 'id' | 'tenantId'>; readonly requestId: string },
): Promise<string | undefined> {
  if (formerAddressDays === 0) return undefined
  const today = clock.now().toISOString().slice(0, 10)
  const [known, last] = await Promise.all([
    addresses.find(actor.tenantId, keys),
    requests.lastCreated(actor.tenantId, name, requestId),
  ])
  const isOwn = last?.requester.id === actor.id
  const foreign = known.filter(
    ({ isHolder }) => !isHolder(actor.id) && !(isOwn && idsOf(last).some((id) => isHolder(id))),
  )
  const days = foreign.map(({ lastDay }) => lastDay)
  if (last && !isOwn) days.push((last.finishedAt ?? last.updatedAt).slice(0, 10))
  const until = days
    .map((day) => dayAfter(day, formerAddressDays))
    .toSorted()
    .at(-1)
  return until !== undefined && until > today ? until : undefined
}

/** What a request has created, by the ids under which the directory shows it. */
function idsOf(request: CreatedResource | undefined): string[] {
  const { userId, groupId, siteId } = request?.progress ?? {}
  return [userId, groupId, siteId].flatMap((id) => id ?? [])
}

/** Notes all addresses of the tenant, once a day (UTC). A round that was stopped begins again an hour later. */
export async function noteAddresses(
  { ports, settings }: SystemContext<NamingPorts>,
  stopping: AbortSignal,
): Promise<void> {
  const { tenantId, formerAddressDays = 0 } = settings
  const today = ports.clock.now().toISOString().slice(0, 10)
  if ((await ports.addresses.notedOn(tenantId)) === today) return
  if (formerAddressDays > 0)
    for await (const held of ports.directory.addressesInUse()) {
      if (stopping.aborted) return
      await ports.addresses.note(tenantId, today, held)
    }
  await ports.addresses.finish(tenantId, today, dayAfter(today, -formerAddressDays))
}

export type Asker = Pick<Inquiry, 'ports' | 'settings' | 'actor' | 'requestId' | 'replaces'>
type Lifted = Pick<NamingPolicy, 'allowReservedNames' | 'allowFormerAddresses'>
/**
 * Whether a request can have a name. `taken`: something in the tenant or another request holds it. `reserved`: see
 * {@link reservedIn}. `freeFrom`: it belonged to somebody else, and is free from that day (UTC, `2027-01-31`).
 */
export type Standing = 'free' | 'taken' | 'reserved' | { readonly freeFrom: string }
/** `isTyped`: somebody wants to know why they cannot have it, which takes a further question. */
export type StandingOf = (name: string, isTyped?: boolean) => Promise<Standing>

/** The names that a mailbox keeps others from: its address, and what it is called, which is one in all domains. */
export const mailboxNames = (address: string): string[] => [address, address.slice(0, address.indexOf('@'))]

/** Whether a site of this alias can be made. */
export const siteNameFree = (asker: Asker, lifted: Lifted): StandingOf => {
  const { directory } = asker.ports
  return async (alias, isTyped) => {
    if (reservedIn(lifted, alias)) return 'reserved'
    if (!(await isUnheld(asker, [alias]))) return 'taken'
    if (!(await directory.isSiteAddressFree(alias)))
      return isTyped ? sinceDeleted(asker, lifted, await directory.deletedSite(alias)) : 'taken'
    // The site's group has a mail address too.
    const keys = async () => [siteKey(alias), mailKey(`${alias}@${(await directory.mailDomains()).default}`)]
    return unlessFormer(asker, lifted, keys, { alias })
  }
}

/** Whether a mailbox of this name can be made in the domain. */
export const mailboxNameFree = (asker: Asker, domain: string, lifted: Lifted): StandingOf => {
  const { directory } = asker.ports
  return async (name, isTyped) => {
    const address = `${name}@${domain}`
    if (reservedIn(lifted, name)) return 'reserved'
    if (!(await isUnheld(asker, mailboxNames(address)))) return 'taken'
    if (!(await directory.isMailboxNameFree(address)))
      return isTyped ? sinceDeleted(asker, lifted, await directory.deletedMail(address)) : 'taken'
    const keys = async () => mailboxKeys(address, (await directory.mailDomains()).default)
    return unlessFormer(asker, lifted, keys, { address })
  }
}

/** Whether a mailbox can have this further address. */
export const mailAddressFree = (asker: Asker, lifted: Lifted): StandingOf => {
  const { directory } = asker.ports
  return async (address) => {
    if (reservedIn(lifted, address.slice(0, address.indexOf('@')))) return 'reserved'
    if (!(await isUnheld(asker, [address]))) return 'taken'
    // Exchange shows nobody who was deleted.
    const [isFree, deletedAt] = await Promise.all([
      directory.isMailAddressFree(address),
      directory.deletedMail(address),
    ])
    if (!isFree || deletedAt) return sinceDeleted(asker, lifted, deletedAt)
    return unlessFormer(asker, lifted, async () => [mailKey(address)], { address })
  }
}

/** For how many days Entra ID keeps what was deleted, and Microsoft 365 its names with it. */
const restorableDays = 30

function sinceDeleted({ settings }: Asker, { allowFormerAddresses }: Lifted, deletedAt: Date | undefined): Standing {
  if (!deletedAt) return 'taken'
  const days = allowFormerAddresses ? restorableDays : Math.max(restorableDays, settings.formerAddressDays ?? 0)
  return { freeFrom: dayAfter(deletedAt.toISOString().slice(0, 10), days) }
}

async function unlessFormer(
  asker: Asker,
  { allowFormerAddresses }: Lifted,
  keys: () => Promise<readonly string[]>,
  name: ResourceName,
): Promise<Standing> {
  const { ports, settings } = asker
  if (allowFormerAddresses || !settings.formerAddressDays) return 'free'
  const day = await freeFrom(ports, settings, await keys(), name, asker)
  return day === undefined ? 'free' : { freeFrom: day }
}

async function isUnheld({ ports, actor, requestId, replaces }: Asker, names: readonly string[]): Promise<boolean> {
  const holders = await Promise.all(names.map((name) => ports.reservations.holder(actor.tenantId, name)))
  return holders.every((holder) => holder === undefined || holder === requestId || holder === replaces)
}

/** What came of looking for a free name. `taken`: it is not, for this reason, and the suggestion is (`''` when we found none). */
export interface FoundName {
  readonly name: string
  /** Those before it that were held. */
  readonly passedOver?: string[]
  readonly taken?: { readonly suggestion: string; readonly why: Exclude<Standing, 'free'> }
}

/** A name that was asked for must itself be free; one that we derive moves on to the next free one. */
export async function freeName(
  { requestId, crowded }: Pick<Inquiry, 'requestId' | 'crowded'>,
  { alias, asked, around }: Pick<Address, 'alias' | 'asked' | 'around'>,
  standingOf: StandingOf,
): Promise<FoundName> {
  const own = crowded && !asked ? [ownAddress(around, alias, requestId)] : []
  const [first, ...others] = own.length > 0 ? own : [...alternatives(around, alias, requestId)]
  // The first is nearly always free; when it is not, somebody waits for the next one.
  const standing = await standingOf(first ?? alias, asked)
  const name = standing === 'free' ? (first ?? alias) : await firstFree(others, standingOf)
  if (name !== undefined && (name === alias || !asked)) {
    const tried = own.length > 0 ? own : [first ?? alias, ...others]
    return { name, passedOver: tried.slice(0, tried.indexOf(name)) }
  }
  return { name: name ?? alias, taken: { suggestion: name ?? '', why: standing === 'free' ? 'taken' : standing } }
}

/** Around an address that no policy shapes. */
export const plain: Around = { prefix: '', suffix: '', separator: '-' }

/** How many names are looked at together: each is a question or two to Microsoft 365. */
const atOnce = 3

/** The first in order that is free; beyond those looked at together with it none is looked at. */
export async function firstFree(names: readonly string[], standingOf: StandingOf): Promise<string | undefined> {
  for (let from = 0; from < names.length; from += atOnce) {
    const looked = names.slice(from, from + atOnce)
    const standings = await Promise.all(looked.map((name) => standingOf(name)))
    const found = looked.find((_, index) => standings[index] === 'free')
    if (found !== undefined) return found
  }
  return undefined
}

/** A free name like a reserved one, with a word after it: `admin` → `admin-team`. `''` when there is none. */
export async function unreservedName(
  { requestId }: Pick<Inquiry, 'requestId'>,
  { alias, around }: Pick<Address, 'alias' | 'around'>,
  word: string,
  standingOf: StandingOf,
): Promise<string> {
  const longer = withWord(around, alias, word)
  return (await firstFree([...alternatives(around, longer, requestId)], standingOf)) ?? ''
}

/** The first free alternative to a name; `''` when there is none. */
export async function another(
  around: Around,
  name: string,
  requestId: string,
  standingOf: StandingOf,
): Promise<string> {
  const [, ...others] = alternatives(around, name, requestId)
  return (await firstFree(others, standingOf)) ?? ''
}
