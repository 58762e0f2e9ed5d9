import { describe, expect, it } from 'vitest'
import { ask, clientOf, exchangeOf, refusalOf, tenantFor } from '../support/simulator.ts'

const shared = (name: string, changes: Record<string, unknown> = {}) => ({
  Shared: true,
  Name: name,
  Alias: name,
  PrimarySmtpAddress: `${name}@contoso.example`,
  ...changes,
})
const group = (mailNickname: string) => ({
  displayName: 'Aurora',
  mailNickname,
  groupTypes: ['Unified'],
  mailEnabled: true,
  securityEnabled: false,
})
const names = (answer: { body: { value: { Name: string }[] } }) => answer.body.value.map(({ Name }) => Name)

describe('a new mailbox', () => {
  it.each([
    ['Shared', 'SharedMailbox', {}],
    ['Room', 'RoomMailbox', { ResourceCapacity: 12, Phone: '+41 44 1', Office: 'ZRH 2' }],
    ['Equipment', 'EquipmentMailbox', {}],
  ])('%s is read back as %s', async (kind, type, more) => {
    const run = await exchangeOf(await tenantFor())
    const { Shared: _, ...parameters } = shared('aurora', { DisplayName: 'Project Aurora', ...more })
    const made = await run('New-Mailbox', { ...parameters, [kind]: true })
    expect(made.status).toBe(200)
    const read = await run('Get-Mailbox', { Identity: 'aurora@contoso.example' })
    expect(read.body.value).toEqual(made.body.value)
    expect(read.body.value[0]).toMatchObject({
      Guid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ExternalDirectoryObjectId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      Name: 'aurora',
      DisplayName: 'Project Aurora',
      UserPrincipalName: 'aurora@contoso.example',
      PrimarySmtpAddress: 'aurora@contoso.example',
      EmailAddresses: ['SMTP:aurora@contoso.example'],
      RecipientTypeDetails: type,
      HiddenFromAddressListsEnabled: false,
      AccountDisabled: false,
      ProhibitSendQuota: '49.5 GB (53,150,220,288 bytes)',
      CustomAttribute15: '',
    })
  })

  it('has its alias in the default domain as sign-in name, whatever its address is', async () => {
    const run = await exchangeOf(await tenantFor())
    const made = await run('New-Mailbox', shared('lab', { PrimarySmtpAddress: 'lab@contoso-labs.example' }))
    expect(made.body.value[0].UserPrincipalName).toBe('lab@contoso.example')
    const second = await run('New-Mailbox', shared('lab-2', { Alias: 'lab' }))
    expect(refusalOf(second)).toMatchObject({ status: 400, type: 'WLCDManagedMemberExistsException' })
  })

  it.each([
    ['a person', { PrimarySmtpAddress: 'Kim@contoso.example' }, 'ProxyAddressExistsException'],
    ['a mailbox', { PrimarySmtpAddress: 'info@contoso.example' }, 'ProxyAddressExistsException'],
    ['a mailbox as another address', { PrimarySmtpAddress: 'VERKAUF@contoso.example' }, 'ProxyAddressExistsException'],
    ['a mailbox as its name', { Name: 'Info' }, 'NameNotAvailableException'],
    ['a mailbox as its alias', { Alias: 'info' }, 'WLCDManagedMemberExistsException'],
    ['a person as sign-in name', { Alias: 'kim' }, 'WLCDManagedMemberExistsException'],
  ])('is refused if its name is taken by %s', async (_, changes, type) => {
    const run = await exchangeOf(await tenantFor())
    const refusal = refusalOf(await run('New-Mailbox', shared('aurora', changes)))
    expect(refusal).toMatchObject({ status: 400, type })
    expect(refusal.text).toMatch(/^The (proxy address "SMTP:|name ").* is already being used/)
  })

  it('cannot have the same address as a Microsoft 365 group', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const graph = await clientOf(simulator)
    expect((await graph('POST', '/v1.0/groups', group('aurora'))).status).toBe(201)
    expect(refusalOf(await run('New-Mailbox', shared('aurora'))).type).toBe('ProxyAddressExistsException')
    const refused = await graph('POST', '/v1.0/groups', group('Verkauf'))
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { details: [{ code: 'ObjectConflict', target: 'mailNickname' }] } },
    })
  })

  it.each([
    ['two kinds', { Room: true }, 'ParameterBindingException'],
    ['no kind', { Shared: false }, 'ParameterBindingException'],
    ['a property that only rooms have', { Office: 'ZRH 2' }, 'ParameterBindingException'],
    ['a domain that is not ours', { PrimarySmtpAddress: 'a@fabrikam.example' }, 'NotAcceptedDomainException'],
    ['no address', { PrimarySmtpAddress: 'aurora' }, 'DataValidationException'],
    ['a name of 65 letters', { Name: 'x'.repeat(65) }, 'DataValidationException'],
    ['an alias of 65 letters', { Alias: 'x'.repeat(65) }, 'DataValidationException'],
    ['a space in the alias', { Alias: 'a b' }, 'DataValidationException'],
    ['two dots in the alias', { Alias: 'a..b' }, 'DataValidationException'],
  ])('is refused with %s', async (_, changes, type) => {
    const run = await exchangeOf(await tenantFor())
    expect(refusalOf(await run('New-Mailbox', shared('aurora', changes)))).toMatchObject({ status: 400, type })
  })
})

describe('Set-Mailbox', () => {
  it('is read back by Get-Mailbox, also after a repeat', async () => {
    const run = await exchangeOf(await tenantFor())
    const values = {
      DisplayName: 'Info desk',
      HiddenFromAddressListsEnabled: true,
      CustomAttribute1: 'cost centre 7',
      CustomAttribute15: 'r-1',
      MailTip: 'We answer within a day.',
      MessageCopyForSentAsEnabled: true,
    }
    const quotas = { IssueWarningQuota: '450 MB', ProhibitSendQuota: '0.5 GB', ProhibitSendReceiveQuota: '536870912' }
    for (const _ of [1, 2]) {
      expect((await run('Set-Mailbox', { Identity: 'info@contoso.example', ...values, ...quotas })).status).toBe(200)
    }
    expect((await run('Get-Mailbox', { Identity: 'info' })).body.value[0]).toMatchObject({
      ...values,
      IssueWarningQuota: '450 MB (471,859,200 bytes)',
      ProhibitSendQuota: '512 MB (536,870,912 bytes)',
      ProhibitSendReceiveQuota: '512 MB (536,870,912 bytes)',
    })
  })

  it.each([
    ['a quota below the warning', { ProhibitSendQuota: '1 GB' }],
    ['more than 100 GB', { ProhibitSendReceiveQuota: '102401 MB' }],
    ['a long attribute', { CustomAttribute3: 'x'.repeat(1025) }],
    ['two primary addresses', { EmailAddresses: ['SMTP:a@contoso.example', 'SMTP:b@contoso.example'] }],
  ])('refuses %s', async (_, values) => {
    const run = await exchangeOf(await tenantFor())
    const refusal = refusalOf(await run('Set-Mailbox', { Identity: 'info', ...values }))
    expect(refusal).toMatchObject({ status: 400, type: 'DataValidationException' })
  })

  it('accepts 50 GB without a licence and 100 GB with one', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const set = async (size: string) => run('Set-Mailbox', { Identity: 'info', ProhibitSendReceiveQuota: size })
    expect((await set('51200 MB')).status).toBe(200)
    expect(refusalOf(await set('51201 MB'))).toEqual({
      status: 400,
      type: 'InvalidOperationException',
      text: expect.stringContaining(
        "ProhibitSendReceiveQuota' exceeds the maximum allowed for user 'info' with license",
      ),
    })
    await ask('POST', `${simulator.url}/control/tenant`, { body: { mailboxesAreLicensed: true } })
    expect((await set('102400 MB')).status).toBe(200)
  })

  it('accepts a capacity only for resources', async () => {
    const run = await exchangeOf(await tenantFor())
    const capacity = (Identity: string) => run('Set-Mailbox', { Identity, ResourceCapacity: 8 })
    expect((await capacity('info')).status).toBe(400)
    expect((await capacity('room-ber-spree')).status).toBe(200)
    expect((await run('Get-Place', { Identity: 'room-ber-spree' })).body.value[0].Capacity).toBe(8)
  })

  it('changes addresses by a hashtable or as a whole; each address is unique in the tenant', async () => {
    const run = await exchangeOf(await tenantFor())
    const set = (EmailAddresses: unknown) => run('Set-Mailbox', { Identity: 'sales', EmailAddresses })
    const table = (add: string[], remove: string[] = []) => ({
      '@odata.type': '#Exchange.GenericHashTable',
      add,
      remove,
    })
    const read = async () => (await run('Get-Mailbox', { Identity: 'sales' })).body.value[0].EmailAddresses
    expect((await set(table(['smtp:ventes@contoso-labs.example'], ['smtp:verkauf@contoso.example']))).status).toBe(200)
    expect(await read()).toEqual(['SMTP:sales@contoso.example', 'smtp:ventes@contoso-labs.example'])
    expect((await set(table(['smtp:ventes@contoso-labs.example']))).status).toBe(200)
    expect(refusalOf(await set(table(['smtp:info@contoso.example']))).type).toBe('ProxyAddressExistsException')
    expect(refusalOf(await set(table(['smtp:a@fabrikam.example']))).type).toBe('NotAcceptedDomainException')
    expect((await set(['SMTP:verkauf@contoso.example', 'smtp:sales@contoso.example'])).status).toBe(200)
    expect(await read()).toEqual(['SMTP:verkauf@contoso.example', 'smtp:sales@contoso.example'])
    expect(refusalOf(await set(table([], ['verkauf@contoso.example']))).type).toBe('DataValidationException')
  })
})

describe('mailboxes and recipients', () => {
  it('are found by every kind of identity', async () => {
    const run = await exchangeOf(await tenantFor())
    const { body } = await run('Get-Mailbox', { Identity: 'sales' })
    const { Guid, ExternalDirectoryObjectId, UserPrincipalName } = body.value[0]
    for (const Identity of [Guid, ExternalDirectoryObjectId, UserPrincipalName, 'Verkauf@contoso.example', 'SALES']) {
      expect(names(await run('Get-Mailbox', { Identity }))).toEqual(['sales'])
      expect(names(await run('Get-Recipient', { Identity }))).toEqual(['sales'])
    }
    const person = await run('Get-Recipient', { Identity: 'kim@contoso.example' })
    expect(person.body.value[0]).toMatchObject({ DisplayName: 'Kim Lee', RecipientTypeDetails: 'UserMailbox' })
    const missing = refusalOf(await run('Get-Mailbox', { Identity: 'nobody' }))
    expect(missing).toMatchObject({ status: 404, type: 'ManagementObjectNotFoundException' })
    expect(missing.text).toMatch(/^The operation couldn't be performed because object 'nobody' couldn't be found on '/)
  })

  it('are listed by type and size', async () => {
    const run = await exchangeOf(await tenantFor())
    expect(names(await run('Get-Mailbox'))).toHaveLength(5)
    const rooms = await run('Get-Mailbox', { RecipientTypeDetails: ['RoomMailbox'], ResultSize: 'Unlimited' })
    expect(names(rooms)).toEqual(['room-zrh-matterhorn', 'room-ber-spree'])
    const first = await run('Get-Mailbox', { ResultSize: 1 })
    expect(first.body.value).toHaveLength(1)
    expect(first.body['@adminapi.warnings']).toHaveLength(1)
  })

  it.each([
    ["EmailAddresses -eq 'smtp:VERKAUF@contoso.example'", ['sales']],
    [
      "EmailAddresses -eq 'sales@contoso.example' -or EmailAddresses -eq 'SMTP:info@contoso.example'",
      ['info', 'sales'],
    ],
    ["EmailAddresses -eq 'smtp:dana@contoso.example'", ['Dana Fox']],
    [
      "RecipientTypeDetails -eq 'RoomMailbox' -and (Alias -eq 'room-ber-spree' -or Alias -eq 'info')",
      ['room-ber-spree'],
    ],
    ["CustomAttribute15 -eq 'it''s -or ours'", ['projector-1']],
    ["Name -eq 'sales' -and HiddenFromAddressListsEnabled -eq $true", []],
  ])('are filtered by %s', async (Filter, expected) => {
    const run = await exchangeOf(await tenantFor())
    await run('Set-Mailbox', { Identity: 'projector-1', CustomAttribute15: "it's -or ours" })
    expect(names(await run('Get-Recipient', { Filter }))).toEqual(expected)
  })

  it.each([
    "Colour -eq 'red'",
    "Name -eq 'it's'",
    'Name -eq sales',
    "Name -like '*s'",
    "(Name -eq 'a'",
    "Name -eq 'a' or",
  ])('are not filtered by %s', async (Filter) => {
    const run = await exchangeOf(await tenantFor())
    expect(refusalOf(await run('Get-Recipient', { Filter }))).toMatchObject({ type: 'ParameterBindingException' })
  })
})
