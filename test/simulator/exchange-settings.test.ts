import { describe, expect, it } from 'vitest'
import { ask, clientOf, dana, exchangeOf, kim, refusalOf, tenantFor } from '../support/simulator.ts'

const fullAccess = (User: string, more: Record<string, unknown> = {}) => ({
  Identity: 'info@contoso.example',
  User,
  AccessRights: ['FullAccess'],
  ...more,
})
const sendAs = (Trustee: string) => ({ Identity: 'info', Trustee, AccessRights: ['SendAs'], Confirm: false })

describe('access to a mailbox', () => {
  it('is granted to people and groups once, and removed', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const graph = await clientOf(simulator)
    const body = { displayName: 'Team', groupTypes: ['Unified'], mailEnabled: true, securityEnabled: false }
    await graph('POST', '/v1.0/groups', { ...body, mailNickname: 'team' })
    const users = async () =>
      (await run('Get-MailboxPermission', { Identity: 'info' })).body.value.map((each: { User: string }) => each.User)
    expect(await users()).toEqual(['NT AUTHORITY\\SELF'])
    for (const user of [kim, 'dana@contoso.example', 'team@contoso.example']) {
      const added = await run('Add-MailboxPermission', fullAccess(user, { AutoMapping: false, InheritanceType: 'All' }))
      expect(added.body.value).toMatchObject([{ AccessRights: ['FullAccess'], IsInherited: false, Deny: false }])
    }
    const again = await run('Add-MailboxPermission', fullAccess(kim))
    expect(again).toMatchObject({ status: 200, body: { value: [] } })
    expect(again.body['@adminapi.warnings'][0]).toContain('already present')
    expect(await users()).toEqual(['NT AUTHORITY\\SELF', 'kim@contoso.example', 'dana@contoso.example', 'team'])
    expect((await run('Remove-MailboxPermission', fullAccess(kim, { Confirm: false }))).status).toBe(200)
    expect(await users()).not.toContain('kim@contoso.example')
    const gone = await run('Remove-MailboxPermission', fullAccess(kim, { Confirm: false }))
    expect(gone.body['@adminapi.warnings']).toHaveLength(1)
  })

  it('to send as the mailbox is a separate permission and requires a confirmation', async () => {
    const run = await exchangeOf(await tenantFor())
    const { Confirm: _, ...unconfirmed } = sendAs(dana)
    expect(refusalOf(await run('Add-RecipientPermission', unconfirmed)).text).toContain('prompts the user')
    expect((await run('Add-RecipientPermission', sendAs(dana))).status).toBe(200)
    expect((await run('Add-RecipientPermission', sendAs(dana))).body['@adminapi.warnings']).toHaveLength(1)
    const read = await run('Get-RecipientPermission', { Identity: 'info', Trustee: 'dana@contoso.example' })
    expect(read.body.value).toEqual([
      {
        Identity: 'info',
        Trustee: 'dana@contoso.example',
        AccessControlType: 'Allow',
        AccessRights: ['SendAs'],
        IsInherited: false,
        InheritanceType: 'None',
      },
    ])
    const opened = await run('Get-MailboxPermission', { Identity: 'info', User: dana })
    expect(opened.body.value).toEqual([])
    await run('Remove-RecipientPermission', sendAs(dana))
    const left = await run('Get-RecipientPermission', { Identity: 'info', Trustee: dana })
    expect(left.body.value).toEqual([])
    const wrong = refusalOf(await run('Add-RecipientPermission', { ...sendAs(kim), AccessRights: ['FullAccess'] }))
    expect(wrong.text).toContain('SendAs')
  })

  it.each([
    ['an unknown person', 'nobody@contoso.example'],
    ['a security group without mail', '22222222-bbbb-4bbb-8bbb-000000000001'],
  ])('is not granted to %s', async (_, user) => {
    const run = await exchangeOf(await tenantFor())
    for (const [cmdlet, parameters] of [
      ['Add-MailboxPermission', fullAccess(user)],
      ['Add-RecipientPermission', sendAs(user)],
    ] as const) {
      const refusal = refusalOf(await run(cmdlet, parameters))
      expect(refusal).toMatchObject({ status: 404, type: 'ManagementObjectNotFoundException' })
      expect(refusal.text).toContain(`'${user}'`)
    }
  })
})

describe('a setting is read back', () => {
  it.each([
    [
      'User',
      'info',
      {
        StreetAddress: 'Bahnhofstrasse 1',
        Office: 'ZRH 2.14',
        Company: 'Contoso',
        PostalCode: '8001',
        City: 'Zürich',
        StateOrProvince: 'ZH',
        Phone: '+41 44 123',
        OtherTelephone: ['+41 44 124', '+41 44 125'],
        MobilePhone: '+41 79 1',
        Department: 'Sales',
        Notes: 'Ask Kim',
        Title: 'Desk',
      },
    ],
    [
      'Place',
      'room-zrh-matterhorn',
      {
        AudioDeviceName: 'Speaker',
        DisplayDeviceName: 'Screen',
        VideoDeviceName: 'Camera',
        IsWheelChairAccessible: true,
        Tags: ['whiteboard', 'view'],
        Capacity: 12,
        City: 'Zürich',
        PostalCode: '8001',
        State: 'ZH',
        Street: 'Bahnhofstrasse 1',
        Phone: '+41 44 123',
        Building: 'A',
        Floor: 2,
        FloorLabel: '2nd',
        Label: 'Quiet',
      },
    ],
    [
      'CalendarProcessing',
      'projector-1',
      { AutomateProcessing: 'AutoUpdate', BookingWindowInDays: 90, AllBookInPolicy: false, ResourceDelegates: [kim] },
    ],
    [
      'MailboxAutoReplyConfiguration',
      'sales',
      {
        AutoReplyState: 'Enabled',
        ExternalAudience: 'Known',
      },
    ],
  ])('by Get-%s', async (noun, Identity, values) => {
    const run = await exchangeOf(await tenantFor())
    expect((await run(`Set-${noun}`, { Identity, ...values })).status).toBe(200)
    expect((await run(`Get-${noun}`, { Identity })).body.value[0]).toMatchObject(values)
  })

  it.each([
    ['CH', 'Switzerland'],
    ['germany', 'Germany'],
    ['gb', 'United Kingdom'],
  ])('shows a country given as %s by its English name', async (CountryOrRegion, shown) => {
    const run = await exchangeOf(await tenantFor())
    await run('Set-User', { Identity: 'info', CountryOrRegion })
    await run('Set-Place', { Identity: 'room-ber-spree', CountryOrRegion })
    expect((await run('Get-User', { Identity: 'info' })).body.value[0].CountryOrRegion).toBe(shown)
    expect((await run('Get-Place', { Identity: 'room-ber-spree' })).body.value[0].CountryOrRegion).toBe(shown)
  })

  it('regions that are not countries and former countries are refused', async () => {
    const run = await exchangeOf(await tenantFor())
    for (const CountryOrRegion of ['EU', 'UK', 'DD', 'ZZ']) {
      expect((await run('Set-User', { Identity: 'info', CountryOrRegion })).status).toBe(400)
    }
  })

  it('only rooms are places, and only resources process a calendar', async () => {
    const run = await exchangeOf(await tenantFor())
    for (const Identity of ['projector-1', 'info']) {
      const refusal = refusalOf(await run('Set-Place', { Identity, Capacity: 3 }))
      expect(refusal).toMatchObject({ status: 404, type: 'ManagementObjectNotFoundException' })
    }
    const calendar = { Identity: 'info', AutomateProcessing: 'AutoAccept' }
    expect((await run('Set-CalendarProcessing', calendar)).status).toBe(400)
    const room = await run('Get-CalendarProcessing', { Identity: 'room-ber-spree' })
    expect(room.body.value[0]).toMatchObject({ AutomateProcessing: 'AutoAccept', BookingWindowInDays: 180 })
    expect((await run('Get-Place')).body.value).toHaveLength(2)
    const reply = { Identity: 'info', AutoReplyState: 'Scheduled' }
    expect((await run('Set-MailboxAutoReplyConfiguration', reply)).status).toBe(400)
  })

  it('an unknown identity returns all places', async () => {
    const run = await exchangeOf(await tenantFor())
    for (const Identity of ['nowhere', 'info'])
      expect((await run('Get-Place', { Identity })).body.value).toHaveLength(2)
  })

  it('a place shows its former values while it lags, and a new room is unknown for a while', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const modes = (body: object) => ask('POST', `${simulator.url}/control/tenant`, { body })
    const Identity = 'room-ber-spree'
    const place = async () => (await run('Get-Place', { Identity })).body.value[0]
    await run('Set-Place', { Identity, City: 'Berlin' })
    expect(await place()).toMatchObject({ City: 'Berlin', Phone: '' })
    await modes({ placeLagSeconds: 86_400 })
    await run('Set-Place', { Identity, City: 'Potsdam' })
    await run('Set-Place', { Identity, Phone: '+49 30 1' })
    expect(await place()).not.toMatchObject({ City: 'Potsdam' })
    await modes({ placeLagSeconds: 0 })
    expect(await place()).toMatchObject({ City: 'Potsdam', Phone: '+49 30 1' })
    const Name = 'room-new'
    await modes({ newPlaceSeconds: 3600 })
    const address = { PrimarySmtpAddress: 'room-new@contoso.example' }
    await run('New-Mailbox', { Name, Alias: Name, DisplayName: 'New', Room: true, ...address })
    const identities = async () =>
      (await run('Get-Place', { Identity: Name })).body.value.map((each: { Identity: string }) => each.Identity)
    expect(await identities()).not.toContain('room-new@contoso.example')
    await modes({ newPlaceSeconds: 0 })
    expect(await identities()).toEqual(['room-new@contoso.example'])
  })

  it('a person can be read but not changed', async () => {
    const run = await exchangeOf(await tenantFor())
    const read = await run('Get-User', { Identity: 'kim@contoso.example' })
    expect(read.body.value[0]).toMatchObject({ DisplayName: 'Kim Lee', Manager: 'Dana Fox' })
    const refusal = refusalOf(await run('Set-User', { Identity: kim, City: 'Bern' }))
    expect(refusal.text).toBe('The simulator does not serve changes to people by Set-User.')
  })
})

describe('Graph', () => {
  it('knows a mailbox’s account, and blocks its sign-in', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const graph = await clientOf(simulator)
    await run('Set-User', { Identity: 'info', City: 'Bern', Phone: '+41 31 1' })
    const { ExternalDirectoryObjectId: id } = (await run('Get-Mailbox', { Identity: 'info' })).body.value[0]
    const path = `/v1.0/users/${id}`
    const read = await graph('GET', `${path}?$select=displayName,userPrincipalName,accountEnabled,city,businessPhones`)
    expect(read.body).toMatchObject({
      displayName: 'Info',
      userPrincipalName: 'info@contoso.example',
      accountEnabled: true,
      city: 'Bern',
      businessPhones: ['+41 31 1'],
    })
    expect((await graph('PATCH', path, { accountEnabled: false })).status).toBe(204)
    expect((await graph('GET', `${path}?$select=accountEnabled`)).body.accountEnabled).toBe(false)
    expect((await run('Get-Mailbox', { Identity: 'info' })).body.value[0].AccountDisabled).toBe(true)
    expect((await graph('PATCH', path, { city: 'Basel' })).body.error.message).toContain("'city'")
    expect((await graph('PATCH', path, { accountEnabled: 'no' })).status).toBe(400)
    expect((await graph('PATCH', `/v1.0/users/${kim}`, { accountEnabled: false })).status).toBe(204)
    expect((await graph('GET', `/v1.0/users/${kim}?$select=accountEnabled`)).body.accountEnabled).toBe(false)
    const nobody = '11111111-0000-4000-8000-000000000000'
    expect((await graph('PATCH', `/v1.0/users/${nobody}`, { accountEnabled: false })).status).toBe(404)
  })

  it('finds the account of a mailbox by search, as Graph does', async () => {
    const graph = await clientOf(await tenantFor())
    const headers = { ConsistencyLevel: 'eventual' }
    const found = await graph(
      'GET',
      '/v1.0/users?$search="displayName:matterhorn"&$select=mail,accountEnabled',
      undefined,
      headers,
    )
    expect(found.body.value).toEqual([{ mail: 'room-zrh-matterhorn@contoso.example', accountEnabled: true }])
    const all = (await graph('GET', '/v1.0/users?$top=999')).body.value
    expect(all).toHaveLength(52)
    expect(all).toContainEqual(expect.objectContaining({ mail: 'room-zrh-matterhorn@contoso.example' }))
  })

  it('lists the accepted domains, the default one first', async () => {
    const graph = await clientOf(await tenantFor())
    const { body } = await graph('GET', '/v1.0/organization?$select=verifiedDomains')
    const domain = { type: 'Managed', capabilities: 'Email, OfficeCommunicationsOnline' }
    expect(body.value).toEqual([
      {
        verifiedDomains: [
          { ...domain, name: 'contoso.example', isDefault: true, isInitial: true },
          { ...domain, name: 'contoso-labs.example', isDefault: false, isInitial: false },
        ],
      },
    ])
  })
})

it('a mailbox has a web page for people', async () => {
  const simulator = await tenantFor()
  const run = await exchangeOf(simulator)
  await run('Add-MailboxPermission', fullAccess(kim, { AutoMapping: false }))
  await run('Add-RecipientPermission', sendAs(dana))
  await run('Set-Mailbox', { Identity: 'info', DisplayName: '<b>Info</b>', CustomAttribute1: 'cost centre 7' })
  const page = await fetch(`${simulator.url}/mailboxes/info@contoso.example`)
  expect(page.headers.get('content-type')).toContain('text/html')
  const html = await page.text()
  expect(html).toContain('&lt;b&gt;Info&lt;/b&gt;')
  expect(html).toContain('<dt>Full access</dt><dd>Kim Lee (does not open automatically)</dd>')
  expect(html).toContain('<dt>May send as</dt><dd>Dana Fox</dd>')
  expect(html).toContain('cost centre 7')
  const list = await (await fetch(`${simulator.url}/mailboxes`)).text()
  expect(list).toContain('href="/mailboxes/room-zrh-matterhorn%40contoso.example"')
  expect((await fetch(`${simulator.url}/mailboxes/nobody@contoso.example`)).status).toBe(404)
})
