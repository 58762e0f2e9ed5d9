import { z } from 'zod'
import contosoJson from './contoso.json' with { type: 'json' }

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
