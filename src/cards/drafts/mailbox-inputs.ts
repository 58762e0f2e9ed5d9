import { applies, type MailboxKind, type Template } from '../../core/index.ts'

/** How an input of the mailbox form is filled in. */
interface MailboxInput {
  readonly type: 'text' | 'multiline' | 'number' | 'toggle' | 'people' | 'person'
  /** The most characters in chat, where a card holds only so much; the API may take more. */
  readonly most: number
}
const text = (most: number): MailboxInput => ({ type: 'text', most })
const multiline = (most: number): MailboxInput => ({ type: 'multiline', most })
const number: MailboxInput = { type: 'number', most: 16 }
const toggle: MailboxInput = { type: 'toggle', most: 5 }
const people: MailboxInput = { type: 'people', most: 4000 }
const person: MailboxInput = { type: 'person', most: 36 }

/**
 * Every input of the mailbox forms by its id, which is the API's name of what it holds. Each mailbox form shows those that
 * go with its kind (API document, rule 3): first what {@link front} names, then the others in this order behind "More".
 */
export const mailboxInputs = {
  displayName: text(100),
  name: text(64),
  alias: text(100),
  officeLocation: text(64),
  'metadata.seats': number,
  'metadata.equipmentType': text(64),
  isWheelChairAccessible: toggle,
  'roomMailboxMetadata.hasConferencePhone': toggle,
  'roomMailboxMetadata.hasWhiteboard': toggle,
  'roomMailboxMetadata.hasVideoConferencing': toggle,
  'permissions.FullAccess': people,
  'permissions.SendAs': people,
  reason: multiline(400),
  primaryOwner: person,
  secondaryOwner: person,
  phone: text(64),
  businessPhones: text(100),
  department: text(64),
  companyName: text(64),
  streetAddress: text(100),
  postalCode: text(40),
  city: text(64),
  state: text(64),
  country: text(64),
  audioDeviceName: text(64),
  displayDeviceName: text(64),
  videoDeviceName: text(64),
  tags: text(100),
  capacity: number,
  domain: text(64),
  automaticReply: multiline(2000),
  isAllowAutomaticReplyOverride: toggle,
  notes: multiline(200),
  hideFromGAL: toggle,
  autoMapping: toggle,
} as const satisfies Record<string, MailboxInput>
export type MailboxInputId = keyof typeof mailboxInputs
const ids = Object.keys(mailboxInputs) as MailboxInputId[]

export const roomFeatures = [
  'isWheelChairAccessible',
  'roomMailboxMetadata.hasConferencePhone',
  'roomMailboxMetadata.hasWhiteboard',
  'roomMailboxMetadata.hasVideoConferencing',
] as const satisfies readonly MailboxInputId[]
const access = ['permissions.FullAccess', 'permissions.SendAs'] as const

/** What stands in front on the form of each kind. The template's own fields and the reason follow. */
const front = {
  sharedMailbox: ['displayName', 'name', 'alias', ...access],
  equipmentMailbox: ['displayName', 'name', 'metadata.equipmentType', ...access],
  roomMailbox: ['displayName', 'name', 'officeLocation', 'metadata.seats', ...roomFeatures, ...access],
} as const satisfies Record<MailboxKind, readonly MailboxInputId[]>

/** The inputs that hold people's ids, joined by commas. */
export const mailboxPeople = ids.filter((id) => ['people', 'person'].includes(mailboxInputs[id].type))

/** `metadata.equipmentType` → `metadata/equipmentType`, `permissions.SendAs` → `permissions`: as rule 3's table names them. */
function propertyOf(id: MailboxInputId): string {
  const [field = '', key = ''] = id.split('.')
  return field === 'metadata' ? `${field}/${key}` : field
}

/** Seats are of rooms: rule 3 leaves the keys of metadata open, but a car's seats are no capacity of a place. */
const goesWith = (id: MailboxInputId, kind: MailboxKind): boolean =>
  id === 'metadata.seats' ? kind === 'roomMailbox' : applies(propertyOf(id), kind)

/** What the API takes for every kind, and nobody would look for in a mailbox that is only read. */
const ofDevices: readonly MailboxInputId[] = ['audioDeviceName', 'displayDeviceName', 'videoDeviceName']

/** The built-in inputs that the form of a kind asks for. */
export function formInputsOf(kind: MailboxKind, fields: Pick<Template, 'fields'>['fields']) {
  const { front, more } = inputsOf(kind, fields)
  return { front, more: more.filter((id) => kind !== 'sharedMailbox' || !ofDevices.includes(id)) }
}

/**
 * The built-in properties of a kind, by the inputs that ask for them: in front and behind "More". A field of the template with the key of a built-in
 * one (`seats`, `equipmentType`) stands in its place.
 */
export function inputsOf(kind: MailboxKind, fields: Pick<Template, 'fields'>['fields'] = []) {
  const replaced: readonly string[] = fields.map(({ key }) => `metadata.${key}`)
  const inFront: readonly MailboxInputId[] = front[kind]
  const shown = (id: MailboxInputId): boolean => goesWith(id, kind) && id !== 'reason' && !replaced.includes(id)
  return { front: inFront.filter(shown), more: ids.filter((id) => shown(id) && !inFront.includes(id)) }
}
