import { describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import {
  ask,
  clientOf,
  exchangeOf,
  refusalOf,
  scopes,
  temporaryFolder,
  tenantFor,
  tokenOf,
} from '../support/simulator.ts'

const aurora = { Shared: true, Name: 'aurora', Alias: 'aurora', PrimarySmtpAddress: 'aurora@contoso.example' }
const path = ({ tenantId }: Simulator) => `/adminapi/beta/${tenantId}/InvokeCommand`
const input = (CmdletName: string, Parameters: Record<string, unknown> = {}) => ({
  CmdletInput: { CmdletName, Parameters },
})

describe('the endpoint of Exchange', () => {
  it('answers in the shape of InvokeCommand', async () => {
    const run = await exchangeOf(await tenantFor())
    const { status, body, headers } = await run('Get-Mailbox', { Identity: 'sales@contoso.example' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      '@odata.context': expect.stringContaining('/adminapi/beta/'),
      'adminapi.warnings@odata.type': '#Collection(String)',
      '@adminapi.warnings': [],
      value: [{ Name: 'sales', EmailAddresses: ['SMTP:sales@contoso.example', 'smtp:verkauf@contoso.example'] }],
    })
    expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('rate-limit-limit')).toBe('30000')
  })

  it('accepts an app for each of Exchange’s audiences, and refuses all other callers', async () => {
    const simulator = await tenantFor()
    const url = simulator.url + path(simulator)
    const call = (token?: string, to = url) =>
      ask('POST', to, { body: input('Get-Mailbox'), ...(token === undefined ? {} : { token }) })
    for (const scope of ['https://outlook.office365.com', '00000002-0000-0ff1-ce00-000000000000']) {
      expect((await call(await tokenOf(simulator, undefined, `${scope}/.default`))).status).toBe(200)
    }
    const token = await tokenOf(simulator, undefined, scopes.exchange)
    const refused = [
      await call(),
      await call('nonsense'),
      await call(await tokenOf(simulator, undefined, scopes.graph)),
      await call(await tokenOf(simulator, undefined, scopes.sharePoint)),
      await call(await tokenOf(simulator, undefined, `${simulator.url}/.default`)),
      await call(token, url.replace(simulator.tenantId, '00000000-0000-4000-8000-000000000000')),
      await call(await tokenOf(simulator, 'kim@contoso.example', scopes.exchange)),
    ]
    for (const { status, body } of refused) {
      expect({ status, body }).toMatchObject({ status: 401, body: { error: { code: 'Unauthorized' } } })
      expect(body.error.innererror.type).toBe('Microsoft.Exchange.Admin.OData.Core.ODataServiceException')
    }
    expect(refused.at(-1)?.body.error.message).toBe('User is not allowed to call Get-Mailbox')
  })

  it('knows only its own cmdlets, in any letter case', async () => {
    const run = await exchangeOf(await tenantFor())
    expect((await run('get-MAILBOX', { identity: 'info' })).body.value[0].Name).toBe('info')
    const unknown = refusalOf(await run('Make-Mailbox'))
    expect(unknown).toMatchObject({ status: 400, type: 'CommandNotFoundException' })
    expect(unknown.text).toContain("The term 'Make-Mailbox' is not recognized")
    expect((await run('')).body.error.code).toBe('BadRequest')
  })
})

describe('a parameter', () => {
  it.each([
    [
      'that is published for Exchange Server only',
      'New-Mailbox',
      { ...aurora, UserPrincipalName: 'a@contoso.example' },
    ],
    ['that no cmdlet has', 'New-Mailbox', { ...aurora, Colour: 'red' }],
    ['of another cmdlet', 'Set-Mailbox', { Identity: 'info', Notes: 'x' }],
  ])('%s is refused, and the error names the parameter', async (_, cmdlet, parameters) => {
    const answer = await (await exchangeOf(await tenantFor()))(cmdlet, parameters)
    const name = Object.keys(parameters).at(-1)
    expect(refusalOf(answer)).toEqual({
      status: 400,
      type: 'AmbiguousParameterSetException',
      text: expect.stringMatching(new RegExp(`^Parameter set cannot be resolved .* ${name}$`)),
    })
    expect(answer.body.error).toMatchObject({ code: 'BadRequest', message: 'Invalid Operation' })
  })

  it.each([
    ['Set-Mailbox', { HiddenFromAddressListsEnabled: true }, 'Identity'],
    ['Set-Place', { Identity: '', Capacity: 4 }, 'Identity'],
    ['Add-MailboxPermission', { Identity: 'info', AccessRights: ['FullAccess'] }, 'User'],
    ['New-Mailbox', { Shared: true }, 'Name'],
  ])('that %s requires is reported when it is missing', async (cmdlet, parameters, missing) => {
    const refusal = refusalOf(await (await exchangeOf(await tenantFor()))(cmdlet, parameters))
    expect(refusal).toMatchObject({ status: 400, type: 'ParameterBindingException' })
    expect(refusal.text).toContain(`mandatory parameters: ${missing}`)
  })

  it.each([
    ['Set-Mailbox', { Identity: 'info', HiddenFromAddressListsEnabled: 'yes' }, 'HiddenFromAddressListsEnabled'],
    ['Set-Mailbox', { Identity: 'info', MailTip: 7 }, 'MailTip'],
    ['Set-Mailbox', { Identity: 'info', ProhibitSendQuota: 'much' }, 'ProhibitSendQuota'],
    ['Set-Mailbox', { Identity: 'info', EmailAddresses: { add: ['smtp:a@contoso.example'] } }, 'EmailAddresses'],
    ['Set-Place', { Identity: 'room-ber-spree', Capacity: '12' }, 'Capacity'],
    ['Set-User', { Identity: 'info', CountryOrRegion: 'Atlantis' }, 'CountryOrRegion'],
    ['Set-CalendarProcessing', { Identity: 'projector-1', AutomateProcessing: 'Always' }, 'AutomateProcessing'],
    ['Add-MailboxPermission', { Identity: 'info', User: 'kim', AccessRights: ['Everything'] }, 'AccessRights'],
  ])('of %s refuses a value of another type', async (cmdlet, parameters, name) => {
    const refusal = refusalOf(await (await exchangeOf(await tenantFor()))(cmdlet, parameters))
    expect(refusal).toMatchObject({ status: 400, type: 'ParameterTransformationException' })
    expect(refusal.text).toContain(`Cannot process argument transformation on parameter '${name}'.`)
  })

  it('that is published but not simulated causes an error; Confirm is accepted', async () => {
    const run = await exchangeOf(await tenantFor())
    const limit = refusalOf(await run('Set-Mailbox', { Identity: 'info', LitigationHoldEnabled: true }))
    expect(limit.text).toBe('The simulator does not serve the parameter LitigationHoldEnabled of Set-Mailbox.')
    expect((await run('Set-Mailbox', { Identity: 'info', Confirm: false })).status).toBe(200)
    const unasked = refusalOf(await run('Remove-Mailbox', { Identity: 'info' }))
    expect(unasked.text).toContain('A command that prompts the user failed')
  })
})

describe('faults and the log identify cmdlets by name', () => {
  const calls = async ({ url }: Simulator, operation: string) =>
    (await ask('GET', `${url}/control/calls?operation=${operation}`)).body.value
  const fault = ({ url }: Simulator, body: Record<string, unknown>) => ask('POST', `${url}/control/faults`, { body })

  it('a reset after New-Mailbox leaves one mailbox', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    await fault(simulator, { operation: 'exchange.new-mailbox', kind: 'resetAfterCommit', count: 1 })
    await expect(run('New-Mailbox', aurora)).rejects.toThrow('fetch failed')
    expect(refusalOf(await run('New-Mailbox', aurora)).type).toBe('NameNotAvailableException')
    const found = await run('Get-Recipient', { Filter: "EmailAddresses -eq 'smtp:aurora@contoso.example'" })
    expect(found.body.value).toHaveLength(1)
    expect(await calls(simulator, 'exchange.new-mailbox')).toMatchObject([
      { status: 200, fault: 'resetAfterCommit' },
      { status: 400 },
    ])
    expect(await calls(simulator, 'exchange.get-recipient')).toHaveLength(1)
  })

  it('exchange.* affects all cmdlets, with Exchange’s error', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    await fault(simulator, { operation: 'exchange.*', kind: 'status429', retryAfter: 7 })
    const answer = await run('Get-Place', { Identity: 'room-ber-spree' })
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'TooManyRequests' } } })
    expect(answer.headers.get('retry-after')).toBe('7')
    const { value } = (await ask('GET', `${simulator.url}/control/operations`)).body
    const names = value.filter((name: string) => name.startsWith('exchange.'))
    expect(names).toHaveLength(20)
    expect(names).toEqual(expect.arrayContaining(['exchange.set-mailboxautoreplyconfiguration']))
  })

  it('an unreadable call is logged too', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    expect((await call('POST', path(simulator), new URLSearchParams({ a: 'b' }))).status).toBe(400)
    expect((await call('GET', path(simulator))).headers.get('allow')).toBe('POST')
    expect(await calls(simulator, 'exchange.unknown-cmdlet')).toMatchObject([{ status: 400 }])
  })
})

it('the directory finds a new mailbox at once, other cmdlets find it after a delay', async () => {
  const run = await exchangeOf(await tenantFor({ exchangeSettleSeconds: 1.5 }))
  const { body } = await run('New-Mailbox', aurora)
  const found = await run('Get-Recipient', { Filter: "Alias -eq 'aurora'" })
  expect(found.body.value[0].ExternalDirectoryObjectId).toBe(body.value[0].ExternalDirectoryObjectId)
  const set = () => run('Set-Mailbox', { Identity: body.value[0].Guid, CustomAttribute15: 'r-1' })
  const early = await set()
  expect(refusalOf(early)).toMatchObject({ status: 404, type: 'ManagementObjectNotFoundException' })
  expect(early.body.error).toMatchObject({ code: 'NotFound', message: 'Error executing cmdlet' })
  await expect.poll(async () => (await set()).status, { timeout: 60_000 }).toBe(200)
})

it('mailboxes, their settings and removals survive a restart', async () => {
  const dataDir = await temporaryFolder()
  const first = await tenantFor({ dataDir })
  const before = await exchangeOf(first)
  await before('New-Mailbox', aurora)
  await before('Set-Mailbox', { Identity: 'aurora', MailTip: 'Hello' })
  expect((await before('Remove-Mailbox', { Identity: 'info', Confirm: false })).status).toBe(200)
  await first.close()
  const after = await exchangeOf(await tenantFor({ dataDir }))
  expect((await after('Get-Mailbox', { Identity: 'aurora' })).body.value[0].MailTip).toBe('Hello')
  expect((await after('Get-Mailbox', { Identity: 'info' })).status).toBe(404)
  expect((await after('Get-Mailbox', { SoftDeletedMailbox: true })).body.value).toEqual([])
})
