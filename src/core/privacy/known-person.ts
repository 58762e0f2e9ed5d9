import { z } from 'zod'
import type { KnownPerson } from '../audit/index.ts'
import { asking, because, type Context, defineUseCase, type Person, ProvisioningError } from '../shared/index.ts'
import type { PrivacyPorts } from './ports.ts'

/** The display name of an erased person; their id stays. */
export const erasedName = 'Erased person'

/**
 * Returns a person by id with all their names and addresses. Prefers stored names to the directory's, because
 * stored names must be removed. An earlier run may have removed all stored names.
 */
export async function knownPerson(ports: PrivacyPorts, tenantId: string, id: string): Promise<KnownPerson> {
  const [stored, names, account, addresses] = await Promise.all([
    ports.personData.known(tenantId, id),
    ports.personData.namesOf(tenantId, id),
    ports.directory.person(id),
    ports.directory.addressesOf(id),
  ])
  const best = stored.find(({ displayName }) => displayName !== erasedName) ?? account
  const own = account ? [account.displayName, account.userPrincipalName] : []
  return {
    id,
    displayName: best?.displayName ?? '',
    userPrincipalName: best?.userPrincipalName ?? '',
    alsoKnownAs: [...new Set([...names, ...own, ...addresses])],
  }
}

/** Finds people by a typed text or id, in the directory and in the store. */
export const findPerson = defineUseCase({
  permission: 'export.create',
  input: z.object({ typed: z.string() }),
  async handle({ ports, actor }: Context<PrivacyPorts>, { typed }): Promise<Person[]> {
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
  },
})

/** Reads a person by id from the directory or the store. Throws `not-found`. */
export async function personOf(context: Context<PrivacyPorts>, personId: string): Promise<Person> {
  const [found] = await findPerson.handle(context, { typed: personId })
  if (!found) throw new ProvisioningError('not-found', because('noSuchPerson'))
  return found
}
