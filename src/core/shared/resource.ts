import { z } from 'zod'

/** The kinds of resource of the API document. The template's kind decides what a request makes. */
export const siteKinds = ['teamSite', 'communicationSite'] as const
export const mailboxKinds = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const
export const resourceKinds = [...mailboxKinds, ...siteKinds] as const
export const resourceKind = z.enum(resourceKinds)
export type ResourceKind = z.output<typeof resourceKind>
export const siteKind = z.enum(siteKinds)
export type SiteKind = z.output<typeof siteKind>
export const mailboxKind = z.enum(mailboxKinds)
export type MailboxKind = z.output<typeof mailboxKind>
export const isMailboxKind = (kind: ResourceKind): kind is MailboxKind => mailboxKind.safeParse(kind).success

/** A person of the tenant. `id` is the Entra object id: the only part that decides anything. */
export const person = z.object({ id: z.uuid(), displayName: z.string(), userPrincipalName: z.string() })
export type Person = z.output<typeof person>
/** A person without what else is known of the account. */
export const asPerson = ({ id, displayName, userPrincipalName }: Person): Person => ({
  id,
  displayName,
  userPrincipalName,
})

/** The most keys of a request's metadata. */
export const mostMetadata = 50

/** Custom key-value pairs (API document, "Metadata object"); numbers and booleans are kept as what they are. */
export const metadata = z
  .record(z.string().min(1).max(64), z.union([z.string().max(1024), z.number(), z.boolean()]))
  .refine((value) => Object.keys(value).length <= mostMetadata, { error: `At most ${mostMetadata} keys.` })
export type Metadata = z.output<typeof metadata>

/** A moment as stored and sent: ISO 8601 in UTC. */
export const instant = z.iso.datetime()
