import { contoso, findPerson, type Person } from './contoso.ts'
import type { Tenant } from './tenant.ts'

/** What can become of somebody's account: it is as Contoso began, may not sign in, is a guest's, or is gone from the directory. */
export const accountStates = ['active', 'blocked', 'guest', 'deleted'] as const
type AccountState = (typeof accountStates)[number]

/** Blocks, deletes or restores the account of a person of Contoso. */
export function setAccount(tenant: Tenant, { id }: Person, state: AccountState): void {
  tenant.run('insert or replace into people_changed (id, state) values (?, ?)', id, state)
}

/** A person as the directory has them now, by object id or userPrincipalName; undefined of nobody, and of who was deleted. */
export function personNow(tenant: Tenant, idOrUpn: string): Person | undefined {
  const person = findPerson(idOrUpn)
  return person && asNow(person, stateOf(tenant, person.id))
}

/** Everybody whom the directory has now. */
export function peopleNow(tenant: Tenant): Person[] {
  const changed = new Map(tenant.rows('select id, state from people_changed').map(({ id, state }) => [id, state]))
  return contoso.people.flatMap((person) => asNow(person, changed.get(person.id)) ?? [])
}

const stateOf = (tenant: Tenant, id: string) =>
  tenant.row('select state from people_changed where id = ?', id)?.['state']

function asNow(person: Person, state: unknown): Person | undefined {
  if (state === 'deleted') return undefined
  if (state === 'guest') return { ...person, userType: 'Guest' }
  return state === 'blocked' ? { ...person, accountEnabled: false } : person
}
