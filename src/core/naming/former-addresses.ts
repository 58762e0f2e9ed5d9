import { type Actor, dayAfter, type Settings, type SystemContext } from '../shared/index.ts'
import type { CreatedResource, NamingPorts, ResourceName } from './ports.ts'

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
