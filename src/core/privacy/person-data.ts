import { z } from 'zod'
import { noteAct } from '../audit/organisation-audit.ts'
import type { KnownPerson } from '../audit/ports.ts'
import type { Actor } from '../shared/access.ts'
import { asking } from '../shared/directory.ts'
import { ProvisioningError } from '../shared/errors.ts'
import type { Person } from '../shared/resource.ts'
import type { Settings } from '../shared/settings.ts'
import { issueLinks } from './exporting.ts'
import type { PrivacyPorts } from './ports.ts'

/** How much of each was removed, or is kept without their name. */
export const erasureCounts = z.object({
  /** Those that they had sent, and those of others that named them. */
  requests: z.int(),
  entries: z.int(),
  drafts: z.int(),
  delegations: z.int(),
  batches: z.int(),
  /** Whether there was a chat, and what was known of it. */
  chats: z.int(),
  /** Copies elsewhere: answers that were kept for a repeat, where cards are, versions of templates. */
  copies: z.int(),
})
export type ErasureCounts = z.output<typeof erasureCounts>

/** One thing that is stored of a person, and in which table. */
export interface PersonRecord {
  readonly table: string
  readonly record: unknown
}

/** What the store as a whole holds of a person. */
export interface PersonStore {
  /** Whoever has this id, or this sign-in name, as the store knows them: also who has left the organisation. */
  known(tenantId: string, idOrAddress: string): Promise<Person[]>
  /** Every name and sign-in name that the store has beside this id. */
  namesOf(tenantId: string, personId: string): Promise<string[]>
  /** All that is stored of a person, table by table, a page at a time; never a secret. It has all that {@link forget} changes. */
  records(tenantId: string, person: KnownPerson): AsyncIterable<readonly PersonRecord[]>
  /** Ids of the requests in which they stand, those that they sent among them. */
  requestsWith(tenantId: string, person: KnownPerson): Promise<string[]>
  /** Ids of requests of others that have not ended and would be made with their account, the first ones. */
  openWith(tenantId: string, personId: string): Promise<string[]>
  /** Forgets what is theirs alone, and takes their name out of copies; of requests and the audit it touches nothing. */
  forget(tenantId: string, person: KnownPerson): Promise<Omit<ErasureCounts, 'requests' | 'entries'>>
}

/** Whom an admin may mean: of the directory, or somebody whom only the store still knows. */
export async function findPerson(ports: PrivacyPorts, actor: Actor, typed: string): Promise<Person[]> {
  const text = typed.trim()
  if (text === '') return []
  const id = z.uuid().safeParse(text).data?.toLowerCase()
  const ofDirectory = await asking(async () => {
    if (id === undefined) return ports.directory.findPeople(text)
    const found = await ports.directory.person(id)
    return found ? [found] : []
  })
  const ofStore = await ports.personData.known(actor.tenantId, id ?? text)
  const all = [...ofDirectory, ...ofStore].map(({ id, displayName, userPrincipalName }) => {
    return { id, displayName, userPrincipalName }
  })
  return [...new Map(all.reverse().map((one) => [one.id, one])).values()].reverse()
}

/** A person by id, as the directory or the store knows them. Throws `not-found`. */
export async function personOf(ports: PrivacyPorts, actor: Actor, personId: string): Promise<Person> {
  const [found] = await findPerson(ports, actor, personId)
  if (!found) throw new ProvisioningError('not-found', 'There is nobody with this id, and nothing of them.')
  return found
}

/** A link to all that is stored of somebody. */
export interface PersonExportOffer {
  readonly person: Person
  readonly url: string
  readonly until: string
}

/** Issues a link to all that the store holds about a person. It works once, within a quarter of an hour. */
export async function offerPersonExport(
  ports: PrivacyPorts,
  settings: Settings,
  actor: Actor,
  personId: string,
): Promise<PersonExportOffer> {
  const person = await personOf(ports, actor, personId)
  const today = ports.clock.now().toISOString().slice(0, 10)
  const content = { what: 'person', format: 'json', from: today, to: today, personId: person.id } as const
  const { links, until } = await issueLinks(ports, settings, actor, [content], (until) =>
    noteAct(ports, actor, 'person-exported', { personId: person.id, until }),
  )
  return { person, url: links[0]?.url ?? '', until }
}
