import { addressesOf, contoso, findPerson, type Person } from './contoso.ts'
import { stamp, type Tenant } from './tenant.ts'

/** What can become of an account: it is as Contoso began, may not sign in, is a guest's, is gone from the directory, or has no user type. */
export const accountStates = ['active', 'blocked', 'guest', 'deleted', 'unclassified'] as const
type AccountState = (typeof accountStates)[number]

/** Blocks, deletes or restores the account of a person of Contoso. */
export function setAccount(tenant: Tenant, { id }: Person, state: AccountState): void {
  tenant.run('insert or replace into people_changed (id, state, changed_at) values (?, ?, ?)', id, state, stamp())
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

/** People who were deleted, as Graph lists deleted users: Entra ID frees the sign-in name, which has the id before it from then on. */
export const deletedPeople = (tenant: Tenant): Record<string, unknown>[] =>
  tenant.rows("select id, changed_at from people_changed where state = 'deleted'").flatMap(({ id, changed_at }) => {
    const person = findPerson(String(id))
    if (!person) return []
    const userPrincipalName = `${person.id.replaceAll('-', '')}${person.userPrincipalName}`
    const { displayName } = person
    const mail = addressesOf(person)[0] ?? null
    return [{ id: person.id, displayName, userPrincipalName, mail, deletedDateTime: changed_at }]
  })

/** How much of people Graph shows to applications: with the basic permission, little more than their names. */
export const userPermissions = ['User.Read.All', 'User.ReadBasic.All'] as const
const everybody = '*'
export const setUserPermission = (tenant: Tenant, permission: (typeof userPermissions)[number]): void =>
  tenant.run('insert or replace into people_changed (id, state) values (?, ?)', everybody, permission)

/** A property of a person that Graph shows as null now, or not. */
export function hiddenOf(tenant: Tenant, { id }: Person): (property: string) => boolean {
  const isBasic = stateOf(tenant, everybody) === 'User.ReadBasic.All'
  const isUnclassified = stateOf(tenant, id) === 'unclassified'
  return (property) => (isBasic && !basic.has(property)) || (isUnclassified && property === 'userType')
}
const basic = new Set(['id', 'displayName', 'givenName', 'surname', 'mail', 'userPrincipalName'])

const stateOf = (tenant: Tenant, id: string) =>
  tenant.row('select state from people_changed where id = ?', id)?.['state']

function asNow(person: Person, state: unknown): Person | undefined {
  if (state === 'deleted') return undefined
  if (state === 'guest') return { ...person, userType: 'Guest' }
  return state === 'blocked' ? { ...person, accountEnabled: false } : person
}
