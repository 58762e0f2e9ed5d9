import { z } from 'zod'
import contosoJson from './contoso.json' with { type: 'json' }
import { stamp, type Tenant } from './state.ts'

const person = z.object({
  id: z.uuid(),
  displayName: z.string(),
  givenName: z.string(),
  surname: z.string(),
  userPrincipalName: z.string(),
  jobTitle: z.string(),
  department: z.string(),
  city: z.string(),
  country: z.string(),
  officeLocation: z.string(),
  managerId: z.uuid().nullable(),
  /** The primary address, where it is not the sign-in name. */
  mail: z.string().optional(),
  /** False of somebody without a licence: Graph knows the account, Exchange does not. */
  hasMailbox: z.boolean().default(true),
  /** False of an account that may not sign in any more. */
  accountEnabled: z.boolean().default(true),
  /** A guest signs in at another organisation, and has the mail address of there. */
  userType: z.enum(['Member', 'Guest']).default('Member'),
})
/** One person of the tenant; `managerId` is the object id of another. */
export type Person = z.infer<typeof person>

/** The tenant before anybody asked for anything: people, groups, sites, labels, mailboxes, accepted domains (default first). */
export const contoso = z
  .object({
    tenantId: z.uuid(),
    displayName: z.string(),
    domains: z.tuple([z.string()], z.string()),
    labels: z.array(z.object({ id: z.uuid(), name: z.string() })),
    /** What the organisation has in its Teams catalogue; `externalId` stands in the app's manifest. */
    teamsApps: z.array(z.object({ id: z.uuid(), externalId: z.uuid(), displayName: z.string() })),
    groups: z.array(
      z.object({
        id: z.uuid(),
        displayName: z.string(),
        mailNickname: z.string(),
        description: z.string(),
        owners: z.array(z.uuid()).default([]),
        members: z.array(z.uuid()),
      }),
    ),
    /** Sites that are there from the beginning; `group` is what a team site's Microsoft 365 group has of its own. */
    sites: z.array(
      z.object({
        path: z.string(),
        title: z.string(),
        description: z.string(),
        owners: z.array(z.uuid()).nonempty(),
        openToAll: z.boolean().default(false),
        group: z
          .object({
            visibility: z.enum(['Public', 'Private', 'HiddenMembership']),
            hideFromAddressLists: z.boolean().default(false),
            members: z.array(z.uuid()).default([]),
          })
          .optional(),
      }),
    ),
    mailboxes: z.array(
      z.object({
        id: z.uuid(),
        guid: z.uuid(),
        type: z.enum(['SharedMailbox', 'RoomMailbox', 'EquipmentMailbox']),
        name: z.string(),
        displayName: z.string(),
        addresses: z.array(z.string()).nonempty(),
      }),
    ),
    people: z.array(person),
  })
  .parse(contosoJson)

const byId = new Map(contoso.people.map((each) => [each.id, each]))
const byUpn = new Map(contoso.people.map((each) => [each.userPrincipalName.toLowerCase(), each]))

/** A person by object id or userPrincipalName, as Graph's `/users/{id | upn}` finds them. */
export function findPerson(idOrUpn: string): Person | undefined {
  const key = idOrUpn.toLowerCase()
  return byId.get(key) ?? byUpn.get(key)
}

/** A person by any address of their mailbox. */
export const findPersonByAddress = (address: string): Person | undefined =>
  contoso.people.find((each) => addressesOf(each).some((one) => one.toLowerCase() === address.toLowerCase()))

/** The addresses of a person's mailbox, the primary one first; none without a mailbox. */
export const addressesOf = ({ mail, userPrincipalName, hasMailbox }: Person): string[] =>
  hasMailbox ? [...(mail === undefined ? [] : [mail]), userPrincipalName] : []

/** The domain of every new account's userPrincipalName, and of a Microsoft 365 group's address. */
export const defaultDomain: string = contoso.domains[0]

/** A sensitivity label of the tenant by id. */
export function findLabel(id: string): { id: string; name: string } | undefined {
  return contoso.labels.find((label) => label.id === id.toLowerCase())
}

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
