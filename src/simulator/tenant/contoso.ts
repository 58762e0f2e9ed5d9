import { z } from 'zod'
import contosoJson from './contoso.json' with { type: 'json' }
import { apiRegistration, stamp, type Tenant } from './state.ts'
import type { Caller } from './wire.ts'

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
  /** The primary address, when it is not the sign-in name. */
  mail: z.string().optional(),
  /** False without a licence: then Graph knows the account, and Exchange does not. */
  hasMailbox: z.boolean().default(true),
  /** False for a blocked account. */
  accountEnabled: z.boolean().default(true),
  /** A guest signs in at another organisation and has a mail address there. */
  userType: z.enum(['Member', 'Guest']).default('Member'),
})
/** One person of the tenant; `managerId` is the object id of another. */
export type Person = z.infer<typeof person>

/** The tenant at the start: people, groups, sites, labels, mailboxes, accepted domains (default first). */
export const contoso = z
  .object({
    tenantId: z.uuid(),
    displayName: z.string(),
    domains: z.tuple([z.string()], z.string()),
    labels: z.array(z.object({ id: z.uuid(), name: z.string() })),
    /** Apps in the organisation's Teams catalogue; `externalId` is the id in the app's manifest. */
    teamsApps: z.array(z.object({ id: z.uuid(), externalId: z.uuid(), displayName: z.string() })),
    /** APIs that the organisation has registered with Entra ID, one registration each. */
    apis: z.object({ collab: apiRegistration, mail: apiRegistration }),
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
    /** Sites at the start. `group` has the properties of a team site's Microsoft 365 group. */
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

/**
 * Adds employees to Contoso, for measurements of a large tenant: `Person 1` with the sign-in name
 * `person1@contoso.example`, and so on.
 */
export function addEmployees(count: number): void {
  for (let number = 1; number <= count; number += 1) {
    const one = {
      ...{ id: `11111111-cccc-4ccc-8ccc-${String(number).padStart(12, '0')}`, displayName: `Person ${number}` },
      ...{ givenName: 'Person', surname: String(number), userPrincipalName: `person${number}@${defaultDomain}` },
      ...{ jobTitle: 'Employee', department: 'Sales', city: 'Zürich', country: 'CH', officeLocation: '' },
      ...{ managerId: null, hasMailbox: true, accountEnabled: true, userType: 'Member' as const },
    }
    contoso.people.push(one)
    byId.set(one.id, one)
    byUpn.set(one.userPrincipalName, one)
  }
}

/** Finds a person by object id or userPrincipalName, as Graph's `/users/{id | upn}` does. */
export function findPerson(idOrUpn: string): Person | undefined {
  const key = idOrUpn.toLowerCase()
  return byId.get(key) ?? byUpn.get(key)
}

/** Finds a person by any address of the mailbox. */
export const findPersonByAddress = (address: string): Person | undefined =>
  contoso.people.find((each) => addressesOf(each).some((one) => one.toLowerCase() === address.toLowerCase()))

/** Returns the addresses of a person's mailbox, the primary address first; `[]` without a mailbox. */
export const addressesOf = ({ mail, userPrincipalName, hasMailbox }: Person): string[] =>
  hasMailbox ? [...(mail === undefined ? [] : [mail]), userPrincipalName] : []

/** The domain of every new account's userPrincipalName, and of a Microsoft 365 group's address. */
export const defaultDomain: string = contoso.domains[0]

/** Finds a sensitivity label by id. */
export function findLabel(id: string): { id: string; name: string } | undefined {
  return contoso.labels.find((label) => label.id === id.toLowerCase())
}

/** States of an account: `active` is the initial state, `unclassified` has no user type. */
export const accountStates = ['active', 'blocked', 'guest', 'deleted', 'unclassified'] as const
type AccountState = (typeof accountStates)[number]

/** Changes the state of a person's account. */
export function setAccount(tenant: Tenant, { id }: Person, state: AccountState): void {
  tenant.run('insert or replace into people_changed (id, state, changed_at) values (?, ?, ?)', id, state, stamp())
}

/** Installs an app of the catalogue for a person. Returns false when the person has it already. */
export function installApp(tenant: Tenant, { id }: Person, appId: string): boolean {
  const app = appId.toLowerCase()
  if (tenant.row('select 1 from installed_apps where user_id = ? and app_id = ?', id, app)) return false
  // Graph's id of an installation names the person and the app.
  const installation = Buffer.from(`${id}##${app}`).toString('base64')
  tenant.run('insert into installed_apps (id, user_id, app_id) values (?, ?, ?)', installation, id, app)
  return true
}

/** Finds a person with the current state, by object id or userPrincipalName; undefined for a deleted account. */
export function personNow(tenant: Tenant, idOrUpn: string): Person | undefined {
  const person = findPerson(idOrUpn)
  return person && asNow(person, stateOf(tenant, person.id))
}

/** Returns the states of the accounts that were changed, by object id. */
export const changedPeople = (tenant: Tenant): ReadonlyMap<unknown, unknown> =>
  new Map(tenant.rows('select id, state from people_changed').map(({ id, state }) => [id, state]))

/** Returns all people in the directory with their current state. */
export function peopleNow(tenant: Tenant): Person[] {
  const changed = changedPeople(tenant)
  return contoso.people.flatMap((person) => asNow(person, changed.get(person.id)) ?? [])
}

/**
 * Returns deleted people, as Graph lists deleted users. Entra ID puts the id before the sign-in name, which frees the
 * name.
 */
export const deletedPeople = (tenant: Tenant): Record<string, unknown>[] =>
  tenant.rows("select id, changed_at from people_changed where state = 'deleted'").flatMap(({ id, changed_at }) => {
    const person = findPerson(String(id))
    if (!person) return []
    const userPrincipalName = `${person.id.replaceAll('-', '')}${person.userPrincipalName}`
    const { displayName } = person
    const mail = addressesOf(person)[0] ?? null
    return [{ id: person.id, displayName, userPrincipalName, mail, deletedDateTime: changed_at }]
  })

const fullProfiles = ['User.Read.All', 'User.ReadWrite.All', 'Directory.Read.All', 'Directory.ReadWrite.All']

/** Whether a caller has only User.ReadBasic.All. */
export const isBasic = ({ permissions }: Caller): boolean => !permissions.some((one) => fullProfiles.includes(one))

/**
 * Returns a test for the properties of a person that Graph shows as null: all but names and addresses, for a caller who
 * has only User.ReadBasic.All.
 */
export function hiddenOf(tenant: Tenant, { id }: Person, caller: Caller): (property: string) => boolean {
  const hidesMore = isBasic(caller)
  const isUnclassified = stateOf(tenant, id) === 'unclassified'
  return (property) => (hidesMore && !basic.has(property)) || (isUnclassified && property === 'userType')
}
const basic = new Set(['id', 'displayName', 'givenName', 'surname', 'mail', 'userPrincipalName'])

const stateOf = (tenant: Tenant, id: string) =>
  tenant.row('select state from people_changed where id = ?', id)?.['state']

function asNow(person: Person, state: unknown): Person | undefined {
  if (state === 'deleted') return undefined
  if (state === 'guest') return { ...person, userType: 'Guest' }
  return state === 'blocked' ? { ...person, accountEnabled: false } : person
}

/** Microsoft's services that check an application's roles. */
export const resources = ['graph', 'sharepoint', 'exchange'] as const
export type Resource = (typeof resources)[number]

/** The directory role that Exchange requires. It is no application permission: tokens contain its id in `wids`. */
export const exchangeAdministrator = { name: 'Exchange Administrator', id: '29232cdf-9323-42fd-ade2-1d097af3e4de' }

/** The roles that an admin of Contoso has granted to the service's registration: exactly the documented permissions. */
const usualRoles: Readonly<Record<Resource, readonly string[]>> = {
  graph: [
    'Group.ReadWrite.All',
    'User.Read.All',
    'User.EnableDisableAccount.All',
    'Sites.Read.All',
    'TeamsAppInstallation.ReadWriteSelfForUser.All',
  ],
  sharepoint: ['Sites.FullControl.All'],
  exchange: ['Exchange.ManageAsApp', exchangeAdministrator.name],
}

/** Returns the roles that new tokens of an application contain. Issued tokens keep the roles of their time of issue. */
export function grantedRoles(tenant: Tenant, resource: Resource): readonly string[] {
  const stored = tenant.row('select roles from consents where resource = ?', resource)?.['roles']
  if (stored !== undefined) return JSON.parse(String(stored))
  return tenant.isEmpty ? [] : usualRoles[resource]
}

/** Grants exactly these roles for a resource. */
export function grantRoles(tenant: Tenant, resource: Resource, roles: readonly string[]): void {
  tenant.run('insert or replace into consents (resource, roles) values (?, ?)', resource, JSON.stringify(roles))
}

/** Restores the documented roles of all resources. */
export const resetConsents = (tenant: Tenant): void => tenant.run('delete from consents')

const appIds: Readonly<Record<string, Resource>> = {
  '00000003-0000-0000-c000-000000000000': 'graph',
  'https://graph.microsoft.com': 'graph',
  '00000003-0000-0ff1-ce00-000000000000': 'sharepoint',
  '00000002-0000-0ff1-ce00-000000000000': 'exchange',
  'https://outlook.office365.com': 'exchange',
}

/**
 * Returns the service that accepts a token with this audience. SharePoint's audience is the host of the sites.
 * Therefore the simulator's own root (and another name of it, as in a multi-geo tenant) belongs to SharePoint alone.
 */
export function resourceOf(audience: unknown): Resource | undefined {
  if (typeof audience !== 'string') return undefined
  const isSites = /^https:\/\/[\w-]+\.sharepoint\.com$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+$/
  return appIds[audience] ?? (isSites.test(audience) ? 'sharepoint' : undefined)
}
