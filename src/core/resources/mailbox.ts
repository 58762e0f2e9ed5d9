import { z } from 'zod'
import { addReasons, because, instant, issueOf, type MailboxKind, metadata } from '../shared/index.ts'

/** The levels of access to a mailbox (API document, "Permissions object"). */
export const accessLevels = ['None', 'SendAs', 'FullAccess'] as const
export const accessLevel = z.enum(accessLevels)
export type AccessLevel = z.output<typeof accessLevel>

/** The part before the `@` that Exchange accepts as an address, a group's nickname and a sign-in name. */
const localPart = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*(?<![._-])$/
const domain = /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/
const text = (longest: number) => z.string().trim().max(longest).optional()
const personId = z.uuid().toLowerCase()

/** The maximum number of people who get access by one request. */
const maxPeople = 100

/** One level for each person. Ids that differ only in case are equal. */
const permissions = z
  .record(z.uuid(), accessLevel)
  .refine((people) => Object.keys(people).length <= maxPeople, issueOf('tooManyPeople', { most: maxPeople }))
  .superRefine((people, context) => {
    const ids = Object.keys(people).map((id) => id.toLowerCase())
    const repeated = Object.keys(people).filter((id, index) => ids.indexOf(id.toLowerCase()) < index)
    addReasons(
      context,
      repeated.map((id) => ({ path: [id], reason: because('personNamedTwice') })),
    )
  })
  .overwrite((people) => Object.fromEntries(Object.entries(people).map(([id, level]) => [id.toLowerCase(), level])))

/**
 * The body of `POST {base_url}/mail/v1/mailboxes/` (API document, "Mailbox creation request"), all 32 fields. Limits are
 * Microsoft's (New-Mailbox, Set-Mailbox, Set-User, Set-Place). {@link applicability} has the kinds that a property applies to.
 */
export const mailboxRequest = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .refine((name) => name === '' || localPart.test(name), issueOf('mailboxNameCharacters'))
    .describe('Unique name: the part of the address before the @'),
  displayName: z.string().trim().min(1).max(256).describe('Name for people'),
  templateId: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Template id. Default: the default template of the kind that the other fields imply'),
  permissions: permissions.default({}).describe('Access levels by user id'),
  metadata: metadata.default({}).describe('Answers to the questions of the template, and free keys'),
  /** Storage in MB for all kinds; the seats of a room are `metadata.seats`. */
  capacity: z.int().min(1).max(102_400).optional().describe('Storage, in MB'),
  state: text(128).describe('State or province'),
  streetAddress: text(1024).describe('Street and number'),
  officeLocation: text(128).describe('Location of the room in the building'),
  companyName: text(64).describe('Company'),
  postalCode: text(40).describe('Postal code'),
  city: text(128).describe('City'),
  country: text(128).describe('Country: ISO 3166-1 code, or name in English, German, French or Spanish'),
  businessPhones: z.array(z.string().trim().min(1).max(64)).max(20).optional().describe('Business phone numbers'),
  phone: text(64).describe('Primary phone number'),
  department: text(64).describe('Department'),
  primaryOwner: personId.optional().describe('User id of the primary owner'),
  secondaryOwner: personId.optional().describe('User id of the secondary owner'),
  automaticReply: text(32_000).describe('Automatic reply to each message; empty switches it off'),
  isAllowAutomaticReplyOverride: z.boolean().optional().describe('Whether users may change the automatic reply'),
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .refine((name) => name === '' || domain.test(name), issueOf('domainForm'))
    .optional()
    .describe('Mail domain of the organisation. Default: its default domain'),
  audioDeviceName: text(128).describe('Audio device of the room or equipment'),
  displayDeviceName: text(128).describe('Display of the room or equipment'),
  videoDeviceName: text(128).describe('Video device of the room or equipment'),
  tags: z.array(z.string().trim().min(1).max(64)).max(20).optional().describe('Tags for searches'),
  isWheelChairAccessible: z.boolean().optional().describe('Whether the room is accessible by wheelchair'),
  roomMailboxMetadata: z
    .strictObject({
      hasConferencePhone: z.boolean().optional(),
      hasWhiteboard: z.boolean().optional(),
      hasVideoConferencing: z.boolean().optional(),
    })
    .optional()
    .describe('Features of the room'),
  hideFromGAL: z.boolean().optional().describe('Whether to hide the mailbox from the global address list'),
  notes: text(1024).describe('Notes'),
  reason: text(1024).describe('Reason for the request; approvers read it'),
  autoMapping: z
    .boolean()
    .optional()
    .describe('Whether Outlook opens the mailbox automatically for people with full access'),
  alias: z
    .string()
    .trim()
    .max(254)
    .refine((alias) => alias === '' || isAddress(alias), issueOf('additionalAddressForm', { longest: 64 }))
    .optional()
    .describe('Additional address. A name without a domain gets the domain of the mailbox'),
})
export type MailboxField = keyof typeof mailboxRequest.shape
export const mailboxFields = Object.keys(mailboxRequest.shape) as readonly MailboxField[]

/** The stored details of a request: all fields without the template and the reason, which the request stores itself. */
export const mailboxDetails = mailboxRequest.omit({ templateId: true, reason: true })
export type MailboxDetails = z.output<typeof mailboxDetails>

function isAddress(alias: string): boolean {
  const [local = '', host, ...more] = alias.split('@')
  return more.length === 0 && local.length <= 64 && localPart.test(local) && (host === undefined || domain.test(host))
}

const every = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const
/**
 * The kinds that a property applies to (API document, rule 3). All other properties apply to all kinds. Without a template, a
 * property of exactly one kind implies that kind.
 */
export const applicability: Readonly<Record<string, readonly MailboxKind[]>> = {
  autoMapping: ['sharedMailbox'],
  alias: ['sharedMailbox'],
  capacity: every,
  automaticReply: every,
  permissions: every,
  roomMailboxMetadata: ['roomMailbox'],
  isWheelChairAccessible: ['roomMailbox'],
  officeLocation: ['roomMailbox'],
  'metadata/equipmentType': ['equipmentMailbox'],
} satisfies Partial<Record<MailboxField | 'metadata/equipmentType', readonly MailboxKind[]>>

export const applies = (property: string, kind: MailboxKind): boolean =>
  (applicability[property] ?? every).includes(kind)

/** The fields that Exchange cannot hold, with the kinds without a place for them. A test compares this with the connector. */
const withoutPlace: Partial<Record<MailboxField, readonly MailboxKind[]>> = {
  primaryOwner: every,
  secondaryOwner: every,
  isAllowAutomaticReplyOverride: every,
  audioDeviceName: ['sharedMailbox', 'equipmentMailbox'],
  displayDeviceName: ['sharedMailbox', 'equipmentMailbox'],
  videoDeviceName: ['sharedMailbox', 'equipmentMailbox'],
  tags: ['sharedMailbox', 'equipmentMailbox'],
}

/** Whether the tenant has a place for a field of this kind of mailbox. Other values stay on the request only. */
export const tenantHolds = (field: MailboxField, kind: MailboxKind): boolean =>
  withoutPlace[field]?.includes(kind) !== true

/** Whether `metadata.seats` of a room is a number from 1 to 99999. */
export const isSeatCount = (seats: unknown): boolean =>
  typeof seats !== 'object' && /^[1-9]\d{0,4}$/.test(String(seats))

/**
 * Status values that people may put into `state` by mistake. `state` is part of the postal address, so such a value would damage
 * an address unnoticed (DESIGN §5).
 */
const statusValues = new Set([
  ...['active', 'inactive', 'enabled', 'disabled', 'archived', 'deleted', 'removed', 'suspended', 'blocked', 'locked'],
  ...['pending', 'provisioned', 'provisioning', 'created', 'ready', 'new', 'open', 'closed', 'online', 'offline'],
  ...['activated', 'deactivated', 'softdeleted', 'soft-deleted', 'hidden', 'visible', 'retired', 'failed', 'queued'],
])
export const isStatusValue = (state: string): boolean => statusValues.has(state.trim().toLowerCase())

/** The durable steps of creating a mailbox, in order: one for each group of Exchange's cmdlets. */
export const mailboxSteps = [
  'create-mailbox',
  'block-sign-in',
  'apply-settings',
  'apply-contact',
  'apply-place',
  'apply-booking',
  'apply-automatic-reply',
  'grant-access',
  'ready-check',
] as const
export const mailboxStep = z.enum(mailboxSteps)
export type MailboxStep = z.output<typeof mailboxStep>

/** The results of the steps so far, with ids from Exchange and Entra ID. */
export const mailboxProgress = z.object({
  mailboxId: z.string().optional(),
  userId: z.string().optional(),
  userPrincipalName: z.string().optional(),
  /** The time just before the first call that creates the mailbox. An older mailbox belongs to somebody else. */
  createSince: instant.optional(),
  /** The time since which Exchange reports the name as taken without showing a holder. */
  heldSince: instant.optional(),
  /** Whether the call was repeated after a long time in that state. */
  triedAgain: z.boolean().optional(),
  /** The time since which the ready check has failed. */
  checkedSince: instant.optional(),
})
export type MailboxProgress = z.output<typeof mailboxProgress>

/** `resource` of a finished mailbox (DESIGN §5): its primary address and its id in Exchange. */
export const mailboxResource = z.object({ address: z.string(), mailboxId: z.string() })
