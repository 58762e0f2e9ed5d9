import { type Actor, dayAfter, inAdvance, type Settings, type SystemContext } from '../shared/index.ts'
import { type NamingPolicy, reservedIn } from '../templates/index.ts'
import type { CreatedResource, Inquiry, NamingPorts, ResourceName } from './inquiry.ts'
import { type Address, type Around, alternatives, ownAddress, withWord } from './naming.ts'

// Keys of addresses that were in use. The store keeps no address and no id, only digests by a key outside of the store.

export const mailKey = (address: string): string => `mail:${address.toLowerCase()}`
/**
 * Returns the keys of a mailbox's own address. Its account also gets a sign-in name with the same name in the default domain, so
 * that sign-in name must be free too.
 */
export const mailboxKeys = (address: string, defaultDomain: string): string[] => [
  ...new Set([mailKey(address), mailKey(`${address.slice(0, address.indexOf('@'))}@${defaultDomain}`)]),
]
export const siteKey = (alias: string): string => `site:${alias.toLowerCase()}`

/**
 * Returns the day from which an unused address is free for this person; undefined: it is free now. The last holder, and the
 * requester of the resource that had it last, can use it again at any time.
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

/** Returns the ids of a created resource in the directory. */
function idsOf(request: CreatedResource | undefined): string[] {
  const { userId, groupId, siteId } = request?.progress ?? {}
  return [userId, groupId, siteId].flatMap((id) => id ?? [])
}

/** Records all addresses of the tenant once a day (UTC). A stopped round starts again an hour later. */
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

export type NameInquirer = Pick<Inquiry, 'ports' | 'settings' | 'actor' | 'requestId' | 'replaces'>
type Exceptions = Pick<NamingPolicy, 'allowReservedNames' | 'allowFormerAddresses'>
/**
 * Whether a request can have a name. `taken`: a resource in the tenant or another request has it. `reserved`: see
 * {@link reservedIn}. `freeFrom`: it belonged to somebody else and is free from that day (UTC, `2027-01-31`). `ownNumber`: the
 * number of the person's own request that has it.
 */
export type Availability =
  | 'free'
  | 'taken'
  | 'reserved'
  | { readonly freeFrom: string }
  | { readonly ownNumber: number }
/** `isTyped`: a person typed the name and reads the reason, which takes one more call. */
export type AvailabilityOf = (name: string, isTyped?: boolean) => Promise<Availability>

/** Returns the names that a mailbox takes: its address, and its name, which is unique over all domains. */
export const mailboxNames = (address: string): string[] => [address, address.slice(0, address.indexOf('@'))]

/** Returns a function that checks whether a new site can have an alias. */
export const siteNameFree = (inquirer: NameInquirer, exceptions: Exceptions): AvailabilityOf => {
  const { directory } = inquirer.ports
  return async (alias, isTyped) => {
    if (reservedIn(exceptions, alias)) return 'reserved'
    const takenBy = () => (isTyped ? ownOrTaken(inquirer, [alias], { alias }) : 'taken')
    // The site's group also has a mail address.
    const keys = async () => [siteKey(alias), mailKey(`${alias}@${(await directory.mailDomains()).default}`)]
    const former = inAdvance(unlessFormer(inquirer, exceptions, keys, { alias }))
    if (!(await isUnheld(inquirer, [alias]))) return takenBy()
    if (!(await directory.isSiteAddressFree(alias)))
      return (isTyped && sinceDeleted(inquirer, exceptions, await directory.deletedSite(alias))) || takenBy()
    return former
  }
}

/** Returns a function that checks whether a new mailbox can have a name in the domain. */
export const mailboxNameFree = (inquirer: NameInquirer, domain: string, exceptions: Exceptions): AvailabilityOf => {
  const { directory } = inquirer.ports
  return async (name, isTyped) => {
    const address = `${name}@${domain}`
    if (reservedIn(exceptions, name)) return 'reserved'
    const takenBy = () => (isTyped ? ownOrTaken(inquirer, mailboxNames(address), { address }) : 'taken')
    const keys = async () => mailboxKeys(address, (await directory.mailDomains()).default)
    const former = inAdvance(unlessFormer(inquirer, exceptions, keys, { address }))
    if (!(await isUnheld(inquirer, mailboxNames(address)))) return takenBy()
    if (!(await directory.isMailboxNameFree(address)))
      return (isTyped && sinceDeleted(inquirer, exceptions, await directory.deletedMail(address))) || takenBy()
    return former
  }
}

/** Returns a function that checks whether a mailbox can have an additional address. */
export const mailAddressFree = (inquirer: NameInquirer, exceptions: Exceptions): AvailabilityOf => {
  const { directory } = inquirer.ports
  return async (address) => {
    if (reservedIn(exceptions, address.slice(0, address.indexOf('@')))) return 'reserved'
    const former = inAdvance(unlessFormer(inquirer, exceptions, async () => [mailKey(address)], { address }))
    if (!(await isUnheld(inquirer, [address]))) return 'taken'
    // Exchange does not show deleted objects.
    const [isFree, deletedAt] = await Promise.all([
      directory.isMailAddressFree(address),
      directory.deletedMail(address),
    ])
    if (!isFree || deletedAt) return sinceDeleted(inquirer, exceptions, deletedAt) ?? 'taken'
    return former
  }
}

/** The days for which Entra ID keeps deleted objects, and Microsoft 365 their names. */
const restorableDays = 30

/** Returns from when the address of a deleted resource is free; undefined if none was deleted. */
function sinceDeleted(
  { settings }: NameInquirer,
  { allowFormerAddresses }: Exceptions,
  deletedAt: Date | undefined,
): Availability | undefined {
  if (!deletedAt) return undefined
  const days = allowFormerAddresses ? restorableDays : Math.max(restorableDays, settings.formerAddressDays ?? 0)
  return { freeFrom: dayAfter(deletedAt.toISOString().slice(0, 10), days) }
}

async function unlessFormer(
  inquirer: NameInquirer,
  { allowFormerAddresses }: Exceptions,
  keys: () => Promise<readonly string[]>,
  name: ResourceName,
): Promise<Availability> {
  const { ports, settings } = inquirer
  if (allowFormerAddresses || !settings.formerAddressDays) return 'free'
  const day = await freeFrom(ports, settings, await keys(), name, inquirer)
  return day === undefined ? 'free' : { freeFrom: day }
}

/** Returns the ids of other requests that hold these names. */
async function holdersOf(
  { ports, actor, requestId, replaces }: NameInquirer,
  names: readonly string[],
): Promise<string[]> {
  const holders = await Promise.all(names.map((name) => ports.reservations.holder(actor.tenantId, name)))
  return holders.filter((holder) => holder !== undefined && holder !== requestId && holder !== replaces) as string[]
}

const isUnheld = async (inquirer: NameInquirer, names: readonly string[]): Promise<boolean> =>
  (await holdersOf(inquirer, names)).length === 0

/** Returns the person's own request that holds these names or has created this resource; else `taken`. */
async function ownOrTaken(
  inquirer: NameInquirer,
  names: readonly string[],
  created: ResourceName,
): Promise<Availability> {
  const { ports, actor, requestId } = inquirer
  const [holder] = await holdersOf(inquirer, names)
  const request =
    holder === undefined
      ? await ports.requests.lastCreated(actor.tenantId, created, requestId)
      : await ports.requests.find(holder)
  return request?.requester.id === actor.id ? { ownNumber: request.number } : 'taken'
}

/** The result of a search for a free name. `taken`: the name is not free; with the reason and a free suggestion, or `''`. */
export interface FoundName {
  readonly name: string
  /** The names before it that were taken. */
  readonly passedOver?: string[]
  readonly taken?: { readonly suggestion: string; readonly why: Exclude<Availability, 'free'> }
}

/** Finds a free name. A typed name must itself be free; a derived name is replaced by the next free one. */
export async function freeName(
  { requestId, crowded }: Pick<Inquiry, 'requestId' | 'crowded'>,
  { alias, isTyped, around }: Pick<Address, 'alias' | 'isTyped' | 'around'>,
  availabilityOf: AvailabilityOf,
): Promise<FoundName> {
  const own = crowded && !isTyped ? [ownAddress(around, alias, requestId)] : []
  const [first, ...others] = own.length > 0 ? own : [...alternatives(around, alias, requestId)]
  // The first name is nearly always free, so it is checked alone.
  const availability = await availabilityOf(first ?? alias, isTyped)
  const name = availability === 'free' ? (first ?? alias) : await firstFree(others, availabilityOf)
  if (name !== undefined && (name === alias || !isTyped)) {
    const tried = own.length > 0 ? own : [first ?? alias, ...others]
    return { name, passedOver: tried.slice(0, tried.indexOf(name)) }
  }
  return {
    name: name ?? alias,
    taken: { suggestion: name ?? '', why: availability === 'free' ? 'taken' : availability },
  }
}

/** The affixes of an address without a policy. */
export const plain: Around = { prefix: '', suffix: '', separator: '-' }

/** The number of names that are checked at a time: each needs one or two calls to Microsoft 365. */
const atOnce = 3

/** Returns the first free name. Checks {@link atOnce} names at a time and stops after the first free one. */
async function firstFree(names: readonly string[], availabilityOf: AvailabilityOf): Promise<string | undefined> {
  for (let from = 0; from < names.length; from += atOnce) {
    const group = names.slice(from, from + atOnce)
    const results = await Promise.all(group.map((name) => availabilityOf(name)))
    const found = group.find((_, index) => results[index] === 'free')
    if (found !== undefined) return found
  }
  return undefined
}

/** Finds a free name similar to a reserved one, with a noun after it: `admin` → `admin-team`. Else returns `''`. */
export async function unreservedName(
  { requestId }: Pick<Inquiry, 'requestId'>,
  { alias, around }: Pick<Address, 'alias' | 'around'>,
  word: string,
  availabilityOf: AvailabilityOf,
): Promise<string> {
  const longer = withWord(around, alias, word)
  return (await firstFree([...alternatives(around, longer, requestId)], availabilityOf)) ?? ''
}

/** Finds the first free alternative to a name, or `''`. */
export async function another(
  around: Around,
  name: string,
  requestId: string,
  availabilityOf: AvailabilityOf,
): Promise<string> {
  const [, ...others] = alternatives(around, name, requestId)
  return (await firstFree(others, availabilityOf)) ?? ''
}
