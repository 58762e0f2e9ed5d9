import { beforeAll, describe, expect, test } from 'vitest'
import {
  applies,
  type MailboxField,
  type MailboxKind,
  mailboxDetails,
  mailboxFields,
  mailboxKinds,
} from '../../src/core/index.ts'
import { destinationsOf, mailboxFieldTable } from '../../src/microsoft365/mailboxes/fields.ts'
import { cmdlets } from '../../src/microsoft365/wire/exchange-cmdlets.ts'
import published from '../../src/simulator/exchange/exo-cmdlet-parameters.json' with { type: 'json' }
import { mailboxInput, runMailbox } from '../support/mailbox-steps.ts'
import { dana, kim, omar } from '../support/microsoft365.ts'
import { type ObservedCall, withTenant } from '../support/simulated-tenant.ts'

const priya = '11111111-aaaa-4aaa-8aaa-000000000007'
/** A request with every field, except those that its kind does not have. */
const everything = mailboxDetails.parse({
  name: 'field-test',
  displayName: 'Every field',
  permissions: { [dana.id]: 'FullAccess', [omar.id]: 'SendAs', [kim.id]: 'None' },
  metadata: { seats: 12, costCentre: 'CC-4711', project: 'Aurora', unassigned: 'kept-with-us' },
  capacity: 10_240,
  state: 'Kanton Zürich',
  streetAddress: 'Bahnhofstrasse 1',
  officeLocation: 'ZRH/2',
  companyName: 'Contoso AG',
  postalCode: '8001',
  city: 'Zürich',
  country: 'switzerland',
  businessPhones: ['+41 44 100', '+41 44 200'],
  phone: '+41 44 300',
  department: 'Workplace',
  primaryOwner: priya,
  secondaryOwner: priya,
  automaticReply: 'Thanks & regards,\nthe <team>',
  isAllowAutomaticReplyOverride: true,
  domain: 'contoso-labs.example',
  audioDeviceName: 'Poly Audio',
  displayDeviceName: 'Surface Hub',
  videoDeviceName: 'Poly Video',
  tags: ['Quiet', 'whiteboard'],
  isWheelChairAccessible: true,
  roomMailboxMetadata: { hasConferencePhone: true, hasWhiteboard: true, hasVideoConferencing: false },
  hideFromGAL: true,
  notes: 'Ask the front desk.',
  autoMapping: false,
  alias: 'field-alias@contoso.example',
})

/** The parts of the Get- cmdlets' output that show a field in the tenant. */
type Held = 'request' | 'refused' | object
const everywhere = (held: Held): Record<MailboxKind, Held> => ({
  sharedMailbox: held,
  equipmentMailbox: held,
  roomMailbox: held,
})
const roomsOnly = (held: object, others: Held = 'request') => ({ ...everywhere(others), roomMailbox: held })
const sharedOnly = (held: object) => ({ ...everywhere('refused'), sharedMailbox: held })
const user = (held: object) => everywhere({ user: held })
const userAndPlace = (inUser: object, inPlace: object) => roomsOnly({ user: inUser, place: inPlace }, { user: inUser })
const attributes = { CustomAttribute3: 'CC-4711', CustomAttribute14: 'Aurora', CustomAttribute4: '' }
const shown = expect.stringMatching(/<body>\s*Thanks &amp; regards,<br>\s*the &lt;team&gt;\s*<\/body>/)

const expected: Record<MailboxField, Record<MailboxKind, Held>> = {
  name: {
    sharedMailbox: { mailbox: { Name: 'shared-fields', Alias: 'shared-fields' } },
    equipmentMailbox: { mailbox: { Name: 'equipment-fields', Alias: 'equipment-fields' } },
    roomMailbox: { mailbox: { Name: 'room-fields', Alias: 'room-fields' } },
  },
  domain: {
    sharedMailbox: { mailbox: { PrimarySmtpAddress: 'shared-fields@contoso-labs.example' } },
    equipmentMailbox: { mailbox: { PrimarySmtpAddress: 'equipment-fields@contoso-labs.example' } },
    roomMailbox: { mailbox: { PrimarySmtpAddress: 'room-fields@contoso-labs.example' } },
  },
  displayName: everywhere({ mailbox: { DisplayName: 'Every field' } }),
  templateId: {
    sharedMailbox: { mailbox: { RecipientTypeDetails: 'SharedMailbox' } },
    equipmentMailbox: { mailbox: { RecipientTypeDetails: 'EquipmentMailbox' } },
    roomMailbox: { mailbox: { RecipientTypeDetails: 'RoomMailbox' } },
  },
  permissions: everywhere({
    fullAccess: ['NT AUTHORITY\\SELF', dana.userPrincipalName],
    sendAs: ['NT AUTHORITY\\SELF', omar.userPrincipalName],
  }),
  autoMapping: sharedOnly({ granted: { User: dana.userPrincipalName, AutoMapping: false } }),
  metadata: roomsOnly(
    { mailbox: { ...attributes, ResourceCapacity: 12 }, place: { Capacity: 12 } },
    { mailbox: attributes },
  ),
  capacity: everywhere({
    mailbox: {
      ProhibitSendReceiveQuota: '10 GB (10,737,418,240 bytes)',
      ProhibitSendQuota: expect.stringMatching(/^9\.\d+ GB /),
      IssueWarningQuota: expect.stringMatching(/^9\.\d+ GB /),
    },
  }),
  state: userAndPlace({ StateOrProvince: 'Kanton Zürich' }, { State: 'Kanton Zürich' }),
  streetAddress: userAndPlace({ StreetAddress: 'Bahnhofstrasse 1' }, { Street: 'Bahnhofstrasse 1' }),
  postalCode: userAndPlace({ PostalCode: '8001' }, { PostalCode: '8001' }),
  city: userAndPlace({ City: 'Zürich' }, { City: 'Zürich' }),
  country: userAndPlace({ CountryOrRegion: 'Switzerland' }, { CountryOrRegion: expect.stringMatching(/^(CH|Switz)/) }),
  phone: userAndPlace({ Phone: '+41 44 300' }, { Phone: '+41 44 300' }),
  officeLocation: roomsOnly({ user: { Office: 'ZRH/2' } }, 'refused'),
  companyName: user({ Company: 'Contoso AG' }),
  businessPhones: user({ OtherTelephone: ['+41 44 100', '+41 44 200'] }),
  department: user({ Department: 'Workplace' }),
  notes: user({ Notes: 'Ask the front desk.' }),
  automaticReply: everywhere({
    reply: { AutoReplyState: 'Enabled', InternalMessage: shown, ExternalMessage: shown, ExternalAudience: 'All' },
  }),
  audioDeviceName: roomsOnly({ place: { AudioDeviceName: 'Poly Audio' } }),
  displayDeviceName: roomsOnly({ place: { DisplayDeviceName: 'Surface Hub' } }),
  videoDeviceName: roomsOnly({ place: { VideoDeviceName: 'Poly Video' } }),
  tags: roomsOnly({ place: { Tags: expect.arrayContaining(['Quiet', 'whiteboard']) } }),
  roomMailboxMetadata: roomsOnly({ place: { Tags: ['Quiet', 'whiteboard', 'Conference phone'] } }, 'refused'),
  isWheelChairAccessible: roomsOnly({ place: { IsWheelChairAccessible: true } }, 'refused'),
  hideFromGAL: everywhere({ mailbox: { HiddenFromAddressListsEnabled: true } }),
  alias: sharedOnly({ mailbox: { EmailAddresses: expect.arrayContaining(['smtp:field-alias@contoso.example']) } }),
  primaryOwner: everywhere('request'),
  secondaryOwner: everywhere('request'),
  isAllowAutomaticReplyOverride: everywhere('request'),
  reason: everywhere('request'),
}

const contoso = withTenant()
let calls: ObservedCall[]
const held = new Map<MailboxKind, unknown>()
beforeAll(async () => {
  for (const kind of mailboxKinds) held.set(kind, await makeAndReadBack(kind))
  calls = await contoso.calls()
})

async function makeAndReadBack(kind: MailboxKind) {
  const address = `${kind.replace('Mailbox', '')}-fields@contoso-labs.example`
  const has = Object.entries(everything).filter(([name]) => applies(name, kind))
  const input = mailboxInput({
    kind,
    address,
    aliasAddress: applies('alias', kind) ? (everything.alias ?? '') : '',
    details: Object.fromEntries(has),
    access: [
      { person: dana, level: 'FullAccess' },
      { person: omar, level: 'SendAs' },
    ],
    customAttributes: new Map([
      [3, 'CC-4711'],
      [14, 'Aurora'],
    ]),
  })
  const { progress } = await runMailbox(contoso.tenant, input)
  const check = await contoso.tenant.mailboxSteps['ready-check']({ ...input, progress })
  const read = (cmdlet: string) => contoso.found(cmdlet, { Identity: address })
  const [mailbox] = await read('Get-Mailbox')
  const granted = (await contoso.calls()).filter(({ operation }) => operation === 'exchange.add-mailboxpermission')
  return {
    mailbox,
    user: (await read('Get-User'))[0],
    place: (await read('Get-Place'))[0],
    calendar: (await read('Get-CalendarProcessing'))[0],
    reply: (await read('Get-MailboxAutoReplyConfiguration'))[0],
    fullAccess: (await read('Get-MailboxPermission')).map(({ User }) => User),
    sendAs: (await read('Get-RecipientPermission')).map(({ Trustee }) => Trustee),
    granted: parametersOf(granted.at(-1)),
    check,
  }
}

const inputOf = (call: ObservedCall | undefined): unknown => Reflect.get(Object(call?.body), 'CmdletInput')
const parametersOf = (call: ObservedCall | undefined): unknown => Reflect.get(Object(inputOf(call)), 'Parameters')

test('the API document has 32 fields, and each has a row in the table', () => {
  expect(mailboxFields).toHaveLength(32)
  expect(Object.keys(mailboxFieldTable).sort()).toEqual([...mailboxFields].sort())
})

describe.each(mailboxKinds)('a %s', (kind) => {
  test.each(mailboxFields)('has the field %s where the table says', (field) => {
    const want = expected[field][kind]
    const destinations = destinationsOf(field, kind)
    if (typeof want === 'string') {
      expect(destinations).toBe(want)
      const value = Reflect.get(everything, field)
      if (typeof value === 'string') expect(JSON.stringify(held.get(kind))).not.toContain(value)
      return
    }
    expect(destinations).toBeInstanceOf(Array)
    expect(held.get(kind)).toMatchObject(want)
  })

  test('with every field passes the ready check', () => {
    const { checks } = Object(Reflect.get(Object(held.get(kind)), 'check'))
    expect(checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    const names = checks.map(({ name }: { name: string }) => name)
    const common = ['address', 'mailboxType', 'signInBlocked', 'capacity', 'visibility', 'customAttributes', 'contact']
    const own = {
      sharedMailbox: ['alias'],
      equipmentMailbox: ['booking'],
      roomMailbox: ['booking', 'place'],
    }[kind]
    expect(names.sort()).toEqual([...common, 'fullAccess', 'sendAs', 'automaticReply', ...own].sort())
  })

  test('accepts bookings automatically if it can be booked', () => {
    const automatic = kind === 'sharedMailbox' ? 'AutoUpdate' : 'AutoAccept'
    expect(held.get(kind)).toMatchObject({ calendar: { AutomateProcessing: automatic } })
  })

  test('has an account with blocked sign-in', () => {
    expect(held.get(kind)).toMatchObject({ mailbox: { AccountDisabled: true } })
  })

  test('keeps metadata without a custom attribute on the request', () => {
    expect(JSON.stringify(held.get(kind))).not.toContain('kept-with-us')
  })
})

describe('each parameter is published for Exchange Online', () => {
  const known = (cmdlet: string): string[] => Object.keys(Reflect.get(published.cmdlets, cmdlet) ?? {})

  test.each(Object.entries(mailboxFieldTable).flatMap(([field, row]) => row.map((each) => [field, each] as const)))(
    'in the row %s: %o',
    (_, { cmdlet, parameter }) => {
      expect(known(cmdlet)).toContain(parameter)
    },
  )

  test('in every call that creates or reads back any kind of mailbox', () => {
    const exchange = calls.filter(({ operation }) => operation.startsWith('exchange.'))
    expect(exchange.filter(({ status }) => status !== 200)).toEqual([])
    const used = new Set<string>()
    for (const call of exchange.filter(({ status }) => status === 200)) {
      const cmdlet = String(Reflect.get(Object(inputOf(call)), 'CmdletName'))
      used.add(cmdlet)
      for (const name of Object.keys(Object(parametersOf(call)))) expect(known(cmdlet), cmdlet).toContain(name)
    }
    expect([...used].sort()).toEqual([...cmdlets].sort())
  })
})
