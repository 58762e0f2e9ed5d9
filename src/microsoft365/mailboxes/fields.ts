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
import {
  type CmdletParameters,
  customAttributeNumbers,
  localPartOf,
  normalizeSpace,
  type WritingCmdlet,
} from '../wire/index.ts'

/** The parts of a requested mailbox that the table reads. */
type RequestedMailbox = Pick<MailboxStepInput, 'kind' | 'address' | 'aliasAddress' | 'details' | 'customAttributes'>

/** A parameter of a cmdlet to which a field of the API document is written. */
interface Destination {
  readonly cmdlet: WritingCmdlet
  readonly parameter: string
  /** Kinds of mailbox that have this parameter. */
  readonly kinds: readonly MailboxKind[]
  /**
   * Returns the parameter's value; undefined when the value is not requested, or when the step passes one person at a
   * time.
   */
  readonly value: (requested: RequestedMailbox) => unknown
}

const everyKind = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const
const room = ['roomMailbox'] as const

function to<C extends WritingCmdlet, P extends keyof CmdletParameters[C] & string>(
  cmdlet: C,
  parameter: P,
  value: (requested: RequestedMailbox) => CmdletParameters[C][P] | undefined,
  kinds: readonly MailboxKind[] = everyKind,
): Destination {
  return { cmdlet, parameter, kinds, value }
}
/** Returns no value: the step runs the cmdlet once for each person. */
const perPerson = () => undefined
const isKind = () => true as const
const field =
  <F extends keyof MailboxDetails>(name: F) =>
  ({ details }: RequestedMailbox): MailboxDetails[F] =>
    details[name]
const country = ({ details }: RequestedMailbox) =>
  details.country === undefined ? undefined : countryCode(details.country)
const seats = ({ details }: RequestedMailbox) =>
  details.metadata['seats'] === undefined ? undefined : Number(details.metadata['seats'])
const reply = ({ details }: RequestedMailbox) =>
  details.automaticReply === undefined ? undefined : toHtml(details.automaticReply)
const ifReply =
  <T>(value: T) =>
  ({ details }: RequestedMailbox): T | undefined =>
    details.automaticReply === undefined ? undefined : value
const quota =
  (name: keyof ReturnType<typeof quotasOf>) =>
  ({ details }: RequestedMailbox) =>
    details.capacity === undefined ? undefined : quotasOf(details.capacity)[name]
const ownName = ({ address }: RequestedMailbox) => localPartOf(address)
const ownAddress = ({ address }: RequestedMailbox) => address
const additionalAddress = ({ aliasAddress }: RequestedMailbox) =>
  aliasAddress === ''
    ? undefined
    : ({ '@odata.type': '#Exchange.GenericHashTable', add: [`smtp:${aliasAddress}`] } as const)

/**
 * The destination in Exchange of each field of the API document. Steps, ready check and tests read this table. A field
 * without a destination for a kind stays on the request only; core refuses fields that a kind does not have.
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
  permissions: [to('Add-MailboxPermission', 'User', perPerson), to('Add-RecipientPermission', 'Trustee', perPerson)],
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
  alias: [to('Set-Mailbox', 'EmailAddresses', additionalAddress, ['sharedMailbox'])],
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
  // Exchange has no property for the owners, the rule about automatic replies or the reason.
  primaryOwner: [],
  secondaryOwner: [],
  isAllowAutomaticReplyOverride: [],
  reason: [],
}

/**
 * Returns the destinations of a field. `request`: it stays on the request only; `refused`: the kind does not have it.
 */
export function destinationsOf(name: MailboxField, kind: MailboxKind): readonly Destination[] | 'request' | 'refused' {
  if (!applies(name, kind)) return 'refused'
  const destinations = mailboxFieldTable[name].filter(({ kinds }) => kinds.includes(kind))
  return destinations.length > 0 ? destinations : 'request'
}

/** Returns the requested parameters of a cmdlet. Combines lists of several fields for one parameter. */
export function parametersFor<C extends WritingCmdlet>(
  cmdlet: C,
  requested: RequestedMailbox,
): Partial<CmdletParameters[C]> {
  const parameters: Record<string, unknown> = {}
  for (const name of mailboxFields) {
    const destinations = destinationsOf(name, requested.kind)
    if (typeof destinations === 'string') continue
    for (const { cmdlet: its, parameter, value } of destinations) {
      const entry = its === cmdlet ? value(requested) : undefined
      if (entry === undefined) continue
      const known = parameters[parameter]
      parameters[parameter] = Array.isArray(entry) && Array.isArray(known) ? distinctTexts([...known, ...entry]) : entry
    }
  }
  // An empty list changes nothing in a new mailbox.
  const requestedEntries = Object.entries(parameters).filter(([, value]) => !Array.isArray(value) || value.length > 0)
  return Object.fromEntries(requestedEntries) as Partial<CmdletParameters[C]>
}

const addressParameters: readonly string[] = ['Street', 'City', 'State', 'PostalCode', 'CountryOrRegion']

/** Returns the requested parameters of Set-Place in two parts: the address and the rest. */
export function placeParts(requested: RequestedMailbox): Partial<CmdletParameters['Set-Place']>[] {
  const all = Object.entries(parametersFor('Set-Place', requested))
  const [address, others] = [true, false].map((is) => all.filter(([name]) => addressParameters.includes(name) === is))
  return [address, others].flatMap((part) => (part && part.length > 0 ? [Object.fromEntries(part)] : []))
}

/** Removes duplicate texts, ignoring case. */
function distinctTexts(texts: readonly string[]): string[] {
  const folded = texts.map((text) => text.toLowerCase())
  return texts.filter((_, index) => folded.indexOf(folded[index] ?? '') === index)
}

/** Core's `mailboxStepsOf`: the steps that this mailbox needs, in core's order. */
export const mailboxStepsOf: Tenant['mailboxStepsOf'] = (wanted) => {
  const { kind, details } = wanted
  const requested = { ...wanted, address: '' }
  const uses = (cmdlet: WritingCmdlet) => Object.keys(parametersFor(cmdlet, requested)).length > 0
  const needed: { readonly [S in MailboxStep]: () => boolean } = {
    'create-mailbox': isKind,
    'block-sign-in': isKind,
    'apply-settings': () => uses('Set-Mailbox'),
    'apply-contact': () => uses('Set-User'),
    'apply-place': () => uses('Set-Place'),
    'apply-booking': () => kind !== 'sharedMailbox',
    'grant-access': () => Object.values(details.permissions).some((level) => level !== 'None'),
    'apply-automatic-reply': () => uses('Set-MailboxAutoReplyConfiguration'),
    'ready-check': isKind,
  }
  return mailboxSteps.filter((step) => needed[step]())
}

/** The largest mailbox without a licence. Megabytes. */
export const unlicensedMegabytes = 50 * 1024

/**
 * Returns Exchange's three quotas for a capacity in MB. The mailbox stops receiving at the capacity. Sending stops
 * earlier and the warning comes first, as Set-Mailbox requires. The text contains the unit, because a plain number means
 * bytes.
 */
function quotasOf(capacity: number): { warning: string; send: string; sendReceive: string } {
  const part = (share: number) => `${Math.max(1, Math.floor(capacity * share))} MB`
  return { warning: part(0.95), send: part(0.99), sendReceive: `${capacity} MB` }
}

/** Returns the tags that Outlook's room finder shows for a room. */
function roomTags(has: MailboxDetails['roomMailboxMetadata']): string[] | undefined {
  if (!has) return undefined
  return [
    ...(has.hasConferencePhone ? ['Conference phone'] : []),
    ...(has.hasWhiteboard ? ['Whiteboard'] : []),
    ...(has.hasVideoConferencing ? ['Video conferencing'] : []),
  ]
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const

/** Converts plain text to HTML that shows the text unchanged. */
const toHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => Reflect.get(entities, character)).replace(/\r\n|\r|\n/g, '<br>')

/** Maximum length of a reply, longer than any of our replies with its entities. Characters. */
const maxReply = 500_000

/**
 * Returns the visible text of HTML, with normalized white space. Exchange wraps a reply in a page with a style and
 * replaces letters by entities.
 */
export const visibleText = (html: string): string =>
  normalizeSpace(
    html
      .slice(0, maxReply)
      .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
      .replace(/<(head|style|script|title)\b[\s\S]*?(?:<\/\1[^<>]*>|$)/gi, '')
      .replace(/<(?:br|\/?(?:p|div|li|tr))\b[^<>]*>/gi, '\n')
      .replace(/<[^<>]*>/g, '')
      .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d*));/gi, decodeEntity),
  )

/** Named entities of western languages (HTML 4, Latin-1 and common punctuation). */
const latin1 = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
  'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave ' +
  'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc ' +
  'Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc ' +
  'iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
).split(' ')
const characters: ReadonlyMap<string, string> = new Map([
  ...latin1.map((name, index) => [name, String.fromCharCode(160 + index)] as const),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    hellip: '…',
    ndash: '–',
    mdash: '—',
    bull: '•',
  }),
  ...Object.entries({ lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', euro: '€', trade: '™' }),
  ...Object.entries({ OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', lsaquo: '‹', rsaquo: '›' }),
])

/** Returns the character of an entity; unknown entities stay unchanged. */
function decodeEntity(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return characters.get(name) ?? entity
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity
}
