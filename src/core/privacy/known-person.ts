import type { KnownPerson } from '../audit/index.ts'
import type { PersonRecord, PrivacyPorts } from './ports.ts'

/** What stands for somebody who was erased; their id stays. */
export const erasedName = 'Erased person'

/**
 * A person by id with all that stands for them. The store comes first: what is stored has to go. A run before this one may
 * have left no name there.
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

/** All that is stored of a person, found as erasing finds it. */
export async function* personRecords(
  ports: PrivacyPorts,
  tenantId: string,
  personId: string,
): AsyncGenerator<readonly PersonRecord[]> {
  yield* ports.personData.records(tenantId, await knownPerson(ports, tenantId, personId))
}
