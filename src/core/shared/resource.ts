import { z } from 'zod'
import { issueOf } from './reason.ts'

/** The kinds of resource in the API document. A request creates a resource of its template's kind. */
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

/** A person of the tenant. `id` is the Entra object id; only ids decide rights. */
export const person = z.object({ id: z.uuid(), displayName: z.string(), userPrincipalName: z.string() })
export type Person = z.output<typeof person>
/** Returns a person without the other data of the account. */
export const asPerson = ({ id, displayName, userPrincipalName }: Person): Person => ({
  id,
  displayName,
  userPrincipalName,
})

/** The maximum number of keys in a request's metadata. */
export const maxMetadata = 50

/** Custom key-value pairs (API document, "Metadata object"); numbers and booleans keep their type. */
export const metadata = z
  .record(z.string().min(1).max(64), z.union([z.string().max(1024), z.number(), z.boolean()]))
  .refine((value) => Object.keys(value).length <= maxMetadata, issueOf('tooManyKeys', { most: maxMetadata }))
export type Metadata = z.output<typeof metadata>

/** A moment as stored and sent: ISO 8601 in UTC. */
export const instant = z.iso.datetime()

export const requestStates = [
  'pendingApproval',
  'queued',
  'provisioning',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export const requestState = z.enum(requestStates)
export type RequestState = z.output<typeof requestState>
/** The only legal moves (DESIGN §4). An empty list is a terminal state. */
export const transitions = {
  pendingApproval: ['queued', 'rejected', 'expired', 'cancelled'],
  queued: ['provisioning', 'cancelled'],
  provisioning: ['succeeded', 'failed'],
  failed: ['queued', 'cancelled'],
  succeeded: [],
  rejected: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<RequestState, readonly RequestState[]>

export const isTerminal = (state: RequestState): boolean => transitions[state].length === 0
/** The states of requests that have not ended. */
export const openStates = requestStates.filter((state) => !isTerminal(state))
/** The states that count against the limits of open requests. A failed request does not count: only an admin can end it. */
export const limitedStates = openStates.filter((state) => state !== 'failed')
