import { z } from 'zod'
import { addReasons, because, instant, issueOf, type MailboxKind, metadata } from '../shared/index.ts'

/** What somebody may do with a mailbox (API document, "Permissions object"). */
export const accessLevels = ['None', 'SendAs', 'FullAccess'] as const
export const accessLevel = z.enum(accessLevels)
export type AccessLevel = z.output<typeof accessLevel>

/** What an address of Exchange may hold before its `@` that is also a group's nickname and a login name. */
const localPart = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*(?<![._-])$/
const domain = /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/
const text = (longest: number) => z.string().trim().max(longest).optional()
const personId = z.uuid().toLowerCase()

/** The most people who get access by one request. */
const mostPeople = 100

/** One level for each person: the same id in another case would be a second one. */
const permissions = z
  .record(z.uuid(), accessLevel)
  .refine((people) => Object.keys(people).length <= mostPeople, issueOf('tooManyPeople', { most: mostPeople }))
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
 * Microsoft's (New-Mailbox, Set-Mailbox, Set-User, Set-Place). What a property applies to is in {@link applicability}.
 */
export const mailboxRequest = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .refine((name) => name === '' || localPart.test(name), issueOf('mailboxNameCharacters'))
    .describe('Unique name; it becomes the address before the @'),
  displayName: z.string().trim().min(1).max(256).describe('What people see'),
  templateId: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Left out: the default template of the kind that the other fields imply'),
  permissions: permissions.default({}).describe('Who may do what: user ids and their access level'),
  metadata: metadata.default({}).describe('Answers to the questions of the template, and free keys'),
  /** MB, for every kind; seats of a room are `metadata.seats`. */
  capacity: z.int().min(1).max(102_400).optional().describe('Storage, in MB'),
  state: text(128).describe('State or province'),
  streetAddress: text(1024).describe('Street and number'),
  officeLocation: text(128).describe('Where in the building the room is'),
  companyName: text(64).describe('Company'),
  postalCode: text(40).describe('Postal code'),
  city: text(128).describe('City'),
  country: text(128).describe('Country, by its English name or its ISO 3166-1 code'),
  businessPhones: z.array(z.string().trim().min(1).max(64)).max(20).optional().describe('Business phone numbers'),
  phone: text(64).describe('Primary phone number'),
  department: text(64).describe('Department'),
  primaryOwner: personId.optional().describe('User id of the primary owner'),
  secondaryOwner: personId.optional().describe('User id of the secondary owner'),
  automaticReply: text(32_000).describe('What is answered to every message; empty switches it off'),
  isAllowAutomaticReplyOverride: z.boolean().optional().describe('Whether users may change the automatic reply'),
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .refine((name) => name === '' || domain.test(name), issueOf('domainForm'))
    .optional()
    .describe('A domain of the organisation; else its default'),
  audioDeviceName: text(128).describe('Audio device of the room or equipment'),
  displayDeviceName: text(128).describe('Display of the room or equipment'),
  videoDeviceName: text(128).describe('Video device of the room or equipment'),
  tags: z.array(z.string().trim().min(1).max(64)).max(20).optional().describe('Tags to find it by'),
  isWheelChairAccessible: z.boolean().optional().describe('Whether a wheelchair gets in'),
  roomMailboxMetadata: z
    .strictObject({
      hasConferencePhone: z.boolean().optional(),
      hasWhiteboard: z.boolean().optional(),
      hasVideoConferencing: z.boolean().optional(),
    })
    .optional()
    .describe('What the room has'),
  hideFromGAL: z.boolean().optional().describe('Whether the global address list leaves it out'),
  notes: text(1024).describe('Notes on its use'),
  reason: text(1024).describe('Why it is asked for; approvers read it'),
  autoMapping: z.boolean().optional().describe('Whether Outlook opens it by itself for those with full access'),
  alias: z
    .string()
    .trim()
    .max(254)
    .refine((alias) => alias === '' || isAddress(alias), issueOf('additionalAddressForm', { longest: 64 }))
    .optional()
    .describe('An additional address; a name alone gets the domain of the mailbox'),
})
export type MailboxRequest = z.output<typeof mailboxRequest>
export type MailboxField = keyof typeof mailboxRequest.shape
export const mailboxFields = Object.keys(mailboxRequest.shape) as readonly MailboxField[]

/** What a request keeps of it: everything but the template and the reason, which stand beside it. */
export const mailboxDetails = mailboxRequest.omit({ templateId: true, reason: true })
export type MailboxDetails = z.output<typeof mailboxDetails>

function isAddress(alias: string): boolean {
  const [local = '', host, ...more] = alias.split('@')
  return more.length === 0 && local.length <= 64 && localPart.test(local) && (host === undefined || domain.test(host))
}

const every = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const
/**
 * API document, rule 3: the kinds that a property applies to. What stands in no row applies to all. A property of one kind
 * alone also tells which kind is meant when no template is named.
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

/** Whether `metadata.seats` of a room says how many there are: 1 to 99999. */
export const isSeatCount = (seats: unknown): boolean => /^[1-9]\d{0,4}$/.test(String(seats))

/** The durable steps of making a mailbox, in order: one for each group of Exchange's cmdlets. */
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

/** What the steps have made so far. Ids as Exchange and Entra ID gave them. */
export const mailboxProgress = z.object({
  mailboxId: z.string().optional(),
  userId: z.string().optional(),
  userPrincipalName: z.string().optional(),
  /** When Exchange was first about to be told to make the mailbox: what is older is somebody else's. */
  createSince: instant.optional(),
  /** Since when Exchange says that the name is held, and shows nobody who holds it. */
  heldSince: instant.optional(),
  /** Whether it was told once more after that had lasted for long. */
  triedAgain: z.boolean().optional(),
  /** Since when the ready check finds something wrong. */
  checkedSince: instant.optional(),
})
export type MailboxProgress = z.output<typeof mailboxProgress>

/** `resource` of a finished mailbox (DESIGN §5): its primary address and Exchange's id of it. */
export const mailboxResource = z.object({ address: z.string(), mailboxId: z.string() })
