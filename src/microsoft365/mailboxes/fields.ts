import {
  applies,
  countryCode,
  type MailboxDetails,
  type MailboxField,
  type MailboxKind,
  type MailboxStep,
  type MailboxStepInput,
  mailboxFields,
  mailboxSteps,
  type Tenant,
} from '../../core/index.ts'
import { type CmdletParameters, customAttributeNumbers, localPartOf, type WritingCmdlet } from '../wire/index.ts'
import { htmlOf } from './html.ts'

/** What is asked for of a mailbox. */
export type Asked = Pick<MailboxStepInput, 'kind' | 'address' | 'aliasAddress' | 'details' | 'customAttributes'>

/** The step that runs each cmdlet. */
const steps = {
  'New-Mailbox': 'create-mailbox',
  'Set-Mailbox': 'apply-settings',
  'Set-User': 'apply-contact',
  'Set-Place': 'apply-place',
  'Set-CalendarProcessing': 'apply-booking',
  'Add-MailboxPermission': 'grant-access',
  'Add-RecipientPermission': 'grant-access',
  'Set-MailboxAutoReplyConfiguration': 'apply-automatic-reply',
} as const satisfies Record<WritingCmdlet, MailboxStep>

/** One place in the tenant that a field of the API goes to. */
export interface Destination {
  readonly step: MailboxStep
  readonly cmdlet: WritingCmdlet
  readonly parameter: string
  /** Kinds of mailbox that have this place. */
  readonly kinds: readonly MailboxKind[]
  /** What the parameter gets; undefined when it was not asked for, and where the step gives one person at a time. */
  readonly value: (asked: Asked) => unknown
}

const everyKind = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const
const room = ['roomMailbox'] as const

function to<C extends WritingCmdlet, P extends keyof CmdletParameters[C] & string>(
  cmdlet: C,
  parameter: P,
  value: (asked: Asked) => CmdletParameters[C][P] | undefined,
  kinds: readonly MailboxKind[] = everyKind,
): Destination {
  return { step: steps[cmdlet], cmdlet, parameter, kinds, value }
}
/** The step runs the cmdlet once for each person. */
const forEach = () => undefined
const isKind = () => true as const
const field =
  <F extends keyof MailboxDetails>(name: F) =>
  ({ details }: Asked): MailboxDetails[F] =>
    details[name]
const country = ({ details }: Asked) => (details.country === undefined ? undefined : countryCode(details.country))
const seats = ({ details }: Asked) =>
  details.metadata['seats'] === undefined ? undefined : Number(details.metadata['seats'])
const reply = ({ details }: Asked) =>
  details.automaticReply === undefined ? undefined : htmlOf(details.automaticReply)
const ifReply =
  <T>(value: T) =>
  ({ details }: Asked): T | undefined =>
    details.automaticReply === undefined ? undefined : value
const quota =
  (name: keyof ReturnType<typeof quotasOf>) =>
  ({ details }: Asked) =>
    details.capacity === undefined ? undefined : quotasOf(details.capacity)[name]
const ownName = ({ address }: Asked) => localPartOf(address)
const ownAddress = ({ address }: Asked) => address
const furtherAddress = ({ aliasAddress }: Asked) =>
  aliasAddress === ''
    ? undefined
    : ({ '@odata.type': '#Exchange.GenericHashTable', add: [`smtp:${aliasAddress}`] } as const)

/**
 * Where each field of the API document goes: the one table that the steps, the ready check and the tests walk. A field
 * without a destination for a kind is kept on the request only; what a kind does not have is refused by core's rule 3.
 */
export const mailboxFieldTable: { readonly [F in MailboxField]: readonly Destination[] } = {
  name: [
    to('New-Mailbox', 'Name', ownName),
    to('New-Mailbox', 'Alias', ownName),
    to('New-Mailbox', 'PrimarySmtpAddress', ownAddress),
  ],
  domain: [to('New-Mailbox', 'PrimarySmtpAddress', ownAddress)],
  displayName: [to('New-Mailbox', 'DisplayName', field('displayName'))],
  templateId: [
    to('New-Mailbox', 'Shared', isKind, ['sharedMailbox']),
    to('New-Mailbox', 'Equipment', isKind, ['equipmentMailbox']),
    to('New-Mailbox', 'Room', isKind, room),
  ],
  permissions: [to('Add-MailboxPermission', 'User', forEach), to('Add-RecipientPermission', 'Trustee', forEach)],
  autoMapping: [to('Add-MailboxPermission', 'AutoMapping', field('autoMapping'), ['sharedMailbox'])],
  metadata: [
    ...customAttributeNumbers.map((number) =>
      to('Set-Mailbox', `CustomAttribute${number}`, ({ customAttributes }) => customAttributes.get(number)),
    ),
    to('Set-Mailbox', 'ResourceCapacity', seats, room),
    to('Set-Place', 'Capacity', seats, room),
  ],
  capacity: [
    to('Set-Mailbox', 'IssueWarningQuota', quota('warning')),
    to('Set-Mailbox', 'ProhibitSendQuota', quota('send')),
    to('Set-Mailbox', 'ProhibitSendReceiveQuota', quota('sendReceive')),
  ],
  hideFromGAL: [to('Set-Mailbox', 'HiddenFromAddressListsEnabled', field('hideFromGAL'))],
  alias: [to('Set-Mailbox', 'EmailAddresses', furtherAddress, ['sharedMailbox'])],
  state: [to('Set-User', 'StateOrProvince', field('state')), to('Set-Place', 'State', field('state'), room)],
  streetAddress: [
    to('Set-User', 'StreetAddress', field('streetAddress')),
    to('Set-Place', 'Street', field('streetAddress'), room),
  ],
  postalCode: [
    to('Set-User', 'PostalCode', field('postalCode')),
    to('Set-Place', 'PostalCode', field('postalCode'), room),
  ],
  city: [to('Set-User', 'City', field('city')), to('Set-Place', 'City', field('city'), room)],
  country: [to('Set-User', 'CountryOrRegion', country), to('Set-Place', 'CountryOrRegion', country, room)],
  phone: [to('Set-User', 'Phone', field('phone')), to('Set-Place', 'Phone', field('phone'), room)],
  businessPhones: [to('Set-User', 'OtherTelephone', field('businessPhones'))],
  officeLocation: [to('Set-User', 'Office', field('officeLocation'), room)],
  companyName: [to('Set-User', 'Company', field('companyName'))],
  department: [to('Set-User', 'Department', field('department'))],
  notes: [to('Set-User', 'Notes', field('notes'))],
  audioDeviceName: [to('Set-Place', 'AudioDeviceName', field('audioDeviceName'), room)],
  displayDeviceName: [to('Set-Place', 'DisplayDeviceName', field('displayDeviceName'), room)],
  videoDeviceName: [to('Set-Place', 'VideoDeviceName', field('videoDeviceName'), room)],
  tags: [to('Set-Place', 'Tags', field('tags'), room)],
  roomMailboxMetadata: [to('Set-Place', 'Tags', ({ details }) => roomTags(details.roomMailboxMetadata), room)],
  isWheelChairAccessible: [to('Set-Place', 'IsWheelChairAccessible', field('isWheelChairAccessible'), room)],
  automaticReply: [
    to('Set-MailboxAutoReplyConfiguration', 'AutoReplyState', ifReply('Enabled')),
    to('Set-MailboxAutoReplyConfiguration', 'InternalMessage', reply),
    to('Set-MailboxAutoReplyConfiguration', 'ExternalMessage', reply),
    to('Set-MailboxAutoReplyConfiguration', 'ExternalAudience', ifReply('All')),
  ],
  // Exchange knows no owner of a mailbox, no rule about its reply, and nothing of why it was asked for.
  primaryOwner: [],
  secondaryOwner: [],
  isAllowAutomaticReplyOverride: [],
  reason: [],
}

/** Where a field of a kind goes; `request` = it is kept on the request only, `refused` = the kind does not have it. */
export function destinationsOf(name: MailboxField, kind: MailboxKind): readonly Destination[] | 'request' | 'refused' {
  if (!applies(name, kind)) return 'refused'
  const destinations = mailboxFieldTable[name].filter(({ kinds }) => kinds.includes(kind))
  return destinations.length > 0 ? destinations : 'request'
}

/** The parameters of a cmdlet that were asked for. Of several fields for one parameter, lists are joined. */
export function parametersFor<C extends WritingCmdlet>(cmdlet: C, asked: Asked): Partial<CmdletParameters[C]> {
  const parameters: Record<string, unknown> = {}
  for (const name of mailboxFields) {
    const destinations = destinationsOf(name, asked.kind)
    if (typeof destinations === 'string') continue
    for (const { cmdlet: its, parameter, value } of destinations) {
      const given = its === cmdlet ? value(asked) : undefined
      if (given === undefined) continue
      const known = parameters[parameter]
      parameters[parameter] = Array.isArray(given) && Array.isArray(known) ? unlike([...known, ...given]) : given
    }
  }
  // A new mailbox has no tags and no numbers: an empty list asks for nothing.
  const asks = Object.entries(parameters).filter(([, value]) => !Array.isArray(value) || value.length > 0)
  return Object.fromEntries(asks) as Partial<CmdletParameters[C]>
}

const whereabouts: readonly string[] = ['Street', 'City', 'State', 'PostalCode', 'CountryOrRegion']

/** What Set-Place is called with: once with the address and once with the rest, as far as they were asked for. */
export function placeParts(asked: Asked): Partial<CmdletParameters['Set-Place']>[] {
  const all = Object.entries(parametersFor('Set-Place', asked))
  const [address, others] = [true, false].map((is) => all.filter(([name]) => whereabouts.includes(name) === is))
  return [address, others].flatMap((part) => (part && part.length > 0 ? [Object.fromEntries(part)] : []))
}

/** Texts that differ by more than their case, in order. */
function unlike(texts: readonly string[]): string[] {
  const folded = texts.map((text) => text.toLowerCase())
  return texts.filter((_, index) => folded.indexOf(folded[index] ?? '') === index)
}

/** Core's `mailboxStepsOf`: the steps, in core's order, that have something to do. */
export const mailboxStepsOf: Tenant['mailboxStepsOf'] = (wanted) => {
  const { kind, details } = wanted
  const asked = { ...wanted, address: '' }
  const asks = (cmdlet: WritingCmdlet) => Object.keys(parametersFor(cmdlet, asked)).length > 0
  const needed: { readonly [S in MailboxStep]: () => boolean } = {
    'create-mailbox': isKind,
    'block-sign-in': isKind,
    'apply-settings': () => asks('Set-Mailbox'),
    'apply-contact': () => asks('Set-User'),
    'apply-place': () => asks('Set-Place'),
    'apply-booking': () => kind !== 'sharedMailbox',
    'grant-access': () => Object.values(details.permissions).some((level) => level !== 'None'),
    'apply-automatic-reply': () => asks('Set-MailboxAutoReplyConfiguration'),
    'ready-check': isKind,
  }
  return mailboxSteps.filter((step) => needed[step]())
}

/**
 * Exchange's three quotas for a capacity in MB: it stops receiving when the capacity is used up, sending a little before,
 * and warns earlier still. Each is at most the next, as Set-Mailbox demands; as text, since a bare number means bytes.
 */
export function quotasOf(capacity: number): { warning: string; send: string; sendReceive: string } {
  const part = (share: number) => `${Math.max(1, Math.floor(capacity * share))} MB`
  return { warning: part(0.95), send: part(0.99), sendReceive: `${capacity} MB` }
}

/** Tags by which Outlook's room finder shows what a room has. */
export function roomTags(has: MailboxDetails['roomMailboxMetadata']): string[] | undefined {
  if (!has) return undefined
  return [
    ...(has.hasConferencePhone ? ['Conference phone'] : []),
    ...(has.hasWhiteboard ? ['Whiteboard'] : []),
    ...(has.hasVideoConferencing ? ['Video conferencing'] : []),
  ]
}
