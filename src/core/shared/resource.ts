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

/** The maximum length of a metadata value, in characters. A list or object counts with its JSON text. */
const longestValue = 1024

/** A list or object in metadata. The request keeps it unchanged, and people read its text. */
const structuredValue = z
  .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
  .superRefine((value, context) => {
    if (JSON.stringify(value).length > longestValue)
      context.addIssue({ code: 'too_big', origin: 'string', maximum: longestValue, inclusive: true, input: value })
  })
  .describe(`A list or object: at most ${longestValue} characters as JSON text`)

/** Custom key-value pairs (API document, "Metadata object"); all values keep their type. */
export const metadata = z
  .record(z.string().min(1).max(64), z.union([z.string().max(longestValue), z.number(), z.boolean(), structuredValue]))
  .refine((value) => Object.keys(value).length <= maxMetadata, issueOf('tooManyKeys', { most: maxMetadata }))
export type Metadata = z.output<typeof metadata>

/** Returns a metadata value as text: a list of plain values joined by commas, any other list or object as JSON. */
export function metadataText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  const isPlain = Array.isArray(value) && value.every((one) => one === null || typeof one !== 'object')
  return isPlain ? value.map((one) => String(one ?? '')).join(', ') : JSON.stringify(value)
}

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
