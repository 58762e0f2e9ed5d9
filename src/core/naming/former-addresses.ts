import type { Actor } from '../shared/access.ts'
import type { HeldAddress } from '../shared/directory.ts'
import { dayAfter } from '../shared/local-time.ts'
import type { Settings } from '../shared/settings.ts'
import type { NamingPorts } from './ports.ts'

/** What is known of addresses that were in use. Keeps no address and no id, only digests by a key outside of the store. */
/** The newest request that created something of a name: who asked, until when it was in use, and what the directory shows of it. */
export interface CreatedResource {
  readonly requester: { readonly id: string }
  readonly updatedAt: string
  readonly finishedAt?: string | null | undefined
  readonly progress: {
    readonly userId?: string | undefined
    readonly groupId?: string | undefined
    readonly siteId?: string | undefined
  }
}
/** Finds the newest request, without the one named, that has created something of this name. */
export interface CreatedResources {
  lastCreated(tenantId: string, name: ResourceName, but: string): Promise<CreatedResource | undefined>
}

export interface AddressStore {
  /** Notes that these addresses were in use on a day. An address has one holder: the last. */
  note(tenantId: string, day: string, held: readonly HeldAddress[]): Promise<void>
  /** What is known of these addresses: the last day on which each was in use, and whether an id is its last holder's. */
  find(
    tenantId: string,
    keys: readonly string[],
  ): Promise<{ readonly lastDay: string; isHolder(id: string): boolean }[]>
  /** The day on which all addresses were last noted; `''` before the first. */
  notedOn(tenantId: string): Promise<string>
  /** Ends a day's round: all addresses were noted, and what was last in use before `keptSince` is forgotten. */
  finish(tenantId: string, day: string, keptSince: string): Promise<void>
}

export const mailKey = (address: string): string => `mail:${address.toLowerCase()}`
/**
 * The keys of a mailbox's own address. Its account also gets a sign-in name of the same name in the default domain, whatever
 * the domain of the address is, so that name must not belong to somebody else either.
 */
export const mailboxKeys = (address: string, defaultDomain: string): string[] => [
  ...new Set([mailKey(address), mailKey(`${address.slice(0, address.indexOf('@'))}@${defaultDomain}`)]),
]
export const siteKey = (alias: string): string => `site:${alias.toLowerCase()}`

/** A mail address of a mailbox, or the alias of a site. */
export type ResourceName = { readonly address: string } | { readonly alias: string }

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
export async function noteAddresses(ports: NamingPorts, settings: Settings, stopping: AbortSignal): Promise<void> {
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
