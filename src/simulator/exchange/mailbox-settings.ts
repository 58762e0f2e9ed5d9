import {
  allMailboxes,
  findMailbox,
  findPerson,
  type Mailbox,
  now,
  type Tenant,
  updateMailbox,
  upnOf,
} from '../tenant/index.ts'
import { type Cmdlet, changedList, only, type Parameters, textOf } from './parameters.ts'
import { settledMailbox } from './recipients.ts'
import { exceptions, fail, failLimit, notFound } from './wire.ts'

const texts = [
  ...['StreetAddress', 'Office', 'Company', 'PostalCode', 'City', 'StateOrProvince', 'CountryOrRegion', 'Phone'],
  ...['MobilePhone', 'HomePhone', 'Fax', 'Department', 'Notes', 'Title', 'FirstName', 'LastName', 'WebPage'],
]
const lists = ['OtherTelephone', 'OtherHomePhone', 'OtherFax', 'PostOfficeBox']

/** Creates Set-User and Get-User: the address-book entry of a mailbox's account. A person's entry is read-only. */
export function userCmdlets(tenant: Tenant): readonly Cmdlet[] {
  return [
    {
      name: 'Set-User',
      takes: ['Identity', 'DisplayName', 'Manager', ...texts, ...lists],
      run: (parameters) => {
        const identity = textOf(parameters, 'Identity') ?? ''
        if (findPerson(identity)) failLimit('changes to people by Set-User')
        const mailbox = settledMailbox(tenant, identity)
        const { user, displayName } = mailbox.doc
        const changed = lists
          .filter((name) => name in parameters)
          .map((name) => [name, changedList(parameters, name, textsOf(user[name]))])
        const manager = textOf(parameters, 'Manager')
        updateMailbox(tenant, mailbox, {
          displayName: textOf(parameters, 'DisplayName') ?? displayName,
          user: {
            ...user,
            ...only(parameters, texts),
            ...Object.fromEntries(changed),
            ...(manager === undefined ? {} : { Manager: managerName(manager) }),
          },
        })
        return { value: [] }
      },
    },
    {
      name: 'Get-User',
      takes: ['Identity'],
      run: (parameters) => {
        const identity = textOf(parameters, 'Identity')
        if (identity === undefined) return failLimit('Get-User without Identity')
        return { value: [personDoc(identity) ?? userDoc(settledMailbox(tenant, identity))] }
      },
    },
  ]
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const managerName = (identity: string): string =>
  identity === '' ? '' : (findPerson(identity)?.displayName ?? notFound(identity))

function userDoc(mailbox: Mailbox): Record<string, unknown> {
  const { user, displayName } = mailbox.doc
  return {
    Identity: mailbox.name,
    Name: mailbox.name,
    DisplayName: displayName,
    Guid: mailbox.guid,
    ExternalDirectoryObjectId: mailbox.id,
    UserPrincipalName: upnOf(mailbox),
    WindowsEmailAddress: mailbox.addresses[0],
    RecipientType: 'UserMailbox',
    RecipientTypeDetails: mailbox.type,
    AccountDisabled: !mailbox.accountEnabled,
    Manager: user['Manager'] || null,
    ...Object.fromEntries(texts.map((name) => [name, user[name] ?? ''])),
    CountryOrRegion: user['CountryOrRegion'] || null,
    ...Object.fromEntries(lists.map((name) => [name, user[name] ?? []])),
  }
}

function personDoc(identity: string): Record<string, unknown> | undefined {
  const person = findPerson(identity)
  return (
    person && {
      Identity: person.displayName,
      Name: person.displayName,
      DisplayName: person.displayName,
      ExternalDirectoryObjectId: person.id,
      UserPrincipalName: person.userPrincipalName,
      RecipientType: person.hasMailbox ? 'UserMailbox' : 'User',
      RecipientTypeDetails: person.hasMailbox ? 'UserMailbox' : 'User',
      AccountDisabled: false,
      Title: person.jobTitle,
      Department: person.department,
      Office: person.officeLocation,
      City: person.city,
      Manager: (person.managerId && findPerson(person.managerId)?.displayName) || null,
    }
  )
}

type Doc = Readonly<Record<string, unknown>>

/** Values of a room before Set-Place, with Exchange Online's names. */
const placeDefaults: Doc = {
  Street: '',
  City: '',
  State: '',
  PostalCode: '',
  CountryOrRegion: '',
  Phone: '',
  Capacity: null,
  Building: '',
  Label: '',
  AudioDeviceName: '',
  VideoDeviceName: '',
  DisplayDeviceName: '',
  IsWheelChairAccessible: false,
  Floor: null,
  FloorLabel: '',
  MTREnabled: false,
  ParentId: '',
  Tags: [],
}

/** Values of a resource before Set-CalendarProcessing. A shared mailbox only updates its calendar. */
const calendarDefaults: Doc = {
  AutomateProcessing: 'AutoAccept',
  AllowConflicts: false,
  AllowRecurringMeetings: true,
  BookingWindowInDays: 180,
  MaximumDurationInMinutes: 1440,
  MinimumDurationInMinutes: 0,
  ConflictPercentageAllowed: 0,
  MaximumConflictInstances: 0,
  ScheduleOnlyDuringWorkHours: false,
  EnforceSchedulingHorizon: true,
  EnforceCapacity: false,
  ForwardRequestsToDelegates: true,
  ResourceDelegates: [],
  AllBookInPolicy: true,
  BookInPolicy: [],
  AllRequestInPolicy: false,
  RequestInPolicy: [],
  AllRequestOutOfPolicy: false,
  RequestOutOfPolicy: [],
  AddAdditionalResponse: false,
  AdditionalResponse: '',
  AddOrganizerToSubject: true,
  DeleteAttachments: true,
  DeleteComments: true,
  DeleteNonCalendarItems: true,
  DeleteSubject: true,
  OrganizerInfo: true,
  ProcessExternalMeetingMessages: false,
  RemovePrivateProperty: true,
  TentativePendingApproval: true,
}

const autoReplyDefaults: Doc = {
  AutoReplyState: 'Disabled',
  InternalMessage: '',
  ExternalMessage: '',
  ExternalAudience: 'All',
  StartTime: null,
  EndTime: null,
  AutoDeclineFutureRequestsWhenOOF: false,
  CreateOOFEvent: false,
  DeclineMeetingMessage: '',
  OOFEventSubject: '',
}

/** Creates the cmdlets of places, calendar processing and automatic replies: one Set and one Get cmdlet each. */
export function resourceCmdlets(tenant: Tenant): readonly Cmdlet[] {
  const mailboxOf = (parameters: Parameters) => settledMailbox(tenant, textOf(parameters, 'Identity') ?? '')
  return [
    {
      name: 'Set-Place',
      takes: ['Identity', ...Object.keys(placeDefaults)],
      run: (parameters) => {
        const mailbox = room(mailboxOf(parameters), parameters)
        checkPlace(parameters)
        const place = { ...mailbox.doc.place, ...only(parameters, Object.keys(placeDefaults)) }
        updateMailbox(tenant, mailbox, { place, formerPlace: { place: visiblePlace(tenant, mailbox), setAt: now() } })
        return { value: [] }
      },
    },
    {
      name: 'Get-Place',
      takes: ['Identity', 'Type', 'ResultSize'],
      run: (parameters) => {
        const listedAt = now() - tenant.modes.newPlaceSeconds * 1000
        const rooms = allMailboxes(tenant).filter((each) => each.type === 'RoomMailbox' && each.settledAt <= listedAt)
        const named = findMailbox(tenant, textOf(parameters, 'Identity') ?? '')
        const found = rooms.filter(({ id }) => id === named?.id)
        if (!['Room', undefined].includes(textOf(parameters, 'Type'))) return { value: [] }
        // Like Exchange, returns all places for an unknown identity.
        return { value: (found.length > 0 ? found : rooms).map((each) => placeDoc(tenant, each)) }
      },
    },
    {
      name: 'Set-CalendarProcessing',
      takes: ['Identity', ...Object.keys(calendarDefaults)],
      run: (parameters) => {
        const mailbox = mailboxOf(parameters)
        checkCalendar(mailbox, parameters)
        const calendar = { ...mailbox.doc.calendar, ...only(parameters, Object.keys(calendarDefaults)) }
        updateMailbox(tenant, mailbox, { calendar })
        return { value: [] }
      },
    },
    {
      name: 'Get-CalendarProcessing',
      takes: ['Identity'],
      run: (parameters) => {
        const mailbox = mailboxOf(parameters)
        const shared = mailbox.type === 'SharedMailbox' ? { AutomateProcessing: 'AutoUpdate' } : {}
        return { value: [shownDoc(mailbox, { ...calendarDefaults, ...shared, ...mailbox.doc.calendar })] }
      },
    },
    {
      name: 'Set-MailboxAutoReplyConfiguration',
      takes: ['Identity', ...Object.keys(autoReplyDefaults)],
      run: (parameters) => {
        const mailbox = mailboxOf(parameters)
        const autoReply = { ...mailbox.doc.autoReply, ...only(parameters, Object.keys(autoReplyDefaults)) }
        checkSchedule({ ...autoReplyDefaults, ...autoReply })
        updateMailbox(tenant, mailbox, { autoReply })
        return { value: [] }
      },
    },
    {
      name: 'Get-MailboxAutoReplyConfiguration',
      takes: ['Identity'],
      run: (parameters) => {
        const mailbox = mailboxOf(parameters)
        return { value: [shownDoc(mailbox, asPages({ ...autoReplyDefaults, ...mailbox.doc.autoReply }))] }
      },
    },
  ]
}

/** Returns a room. Throws "not found" for any other mailbox. */
const room = (mailbox: Mailbox, parameters: Parameters): Mailbox =>
  mailbox.type === 'RoomMailbox' ? mailbox : notFound(textOf(parameters, 'Identity') ?? '')

/** Returns the place's values that Get-Place shows now. */
function visiblePlace(tenant: Tenant, { doc }: Mailbox): Doc {
  const { place, formerPlace } = doc
  const isLate = formerPlace && now() < formerPlace.setAt + tenant.modes.placeLagSeconds * 1000
  return isLate ? formerPlace.place : place
}

function placeDoc(tenant: Tenant, mailbox: Mailbox): Record<string, unknown> {
  // Default: the capacity of the room's mailbox.
  const capacity = { Capacity: mailbox.doc.mailbox['ResourceCapacity'] ?? null }
  const place = { ...placeDefaults, ...capacity, ...visiblePlace(tenant, mailbox) }
  return { ...shownDoc(mailbox, place), DisplayName: mailbox.doc.displayName, Type: 'Room' }
}

const shownDoc = (mailbox: Mailbox, doc: Doc): Record<string, unknown> => ({
  Identity: mailbox.addresses[0],
  MailboxOwnerId: mailbox.name,
  ...doc,
})

function checkPlace(parameters: Parameters): void {
  const capacity = parameters['Capacity']
  if (typeof capacity === 'number' && capacity < 0) {
    fail(exceptions.validation, `The value '${capacity}' of property 'Capacity' must be 0 or more.`)
  }
}

function checkCalendar(mailbox: Mailbox, parameters: Parameters): void {
  if (mailbox.type === 'SharedMailbox') {
    fail(exceptions.argument, 'Calendar processing settings can only be set on resource mailboxes.')
  }
  const days = parameters['BookingWindowInDays']
  if (typeof days === 'number' && (days < 0 || days > 1080)) {
    fail(exceptions.validation, `The value '${days}' of property 'BookingWindowInDays' must be between 0 and 1080.`)
  }
}

function checkSchedule(doc: Doc): void {
  if (doc['AutoReplyState'] !== 'Scheduled') return
  const [start, end] = [Date.parse(String(doc['StartTime'])), Date.parse(String(doc['EndTime']))]
  if (start < end) return
  fail(exceptions.validation, 'A scheduled automatic reply needs a StartTime before its EndTime.')
}

const namedEntities: Readonly<Record<string, string>> = {
  ä: 'auml',
  ö: 'ouml',
  ü: 'uuml',
  é: 'eacute',
  '…': 'hellip',
  '–': 'ndash',
}

const head = `<head>\r
<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\r
<style type="text/css" style="display:none">\r
<!--\r
p\r
	{margin-top:0;\r
	margin-bottom:0}\r
-->\r
</style>\r
</head>`

/**
 * Converts an automatic reply to Exchange's format: each message becomes a page with a style, and entities replace
 * letters.
 */
function asPages(reply: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { InternalMessage, ExternalMessage } = reply
  return { ...reply, InternalMessage: asPage(InternalMessage), ExternalMessage: asPage(ExternalMessage) }
}

function asPage(html: unknown): unknown {
  if (typeof html !== 'string' || html === '') return html
  const body = html
    .replaceAll('&#39;', "'")
    .replaceAll('<br>', '<br>\r\n')
    .replaceAll('  ', '&nbsp; ')
    .replace(/[^\s\u0020-\u007e]/gu, (letter) => `&${namedEntities[letter] ?? `#${letter.codePointAt(0)}`};`)
  return `<html>\r\n${head}\r\n<body>\r\n${body}\r\n</body>\r\n</html>\r\n`
}
