import { describe, expect, it } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator/index.ts'
import { ask, clientOf, exchangeOf, kim, refusalOf, scopes, tenantFor, tokenOf } from '../support/simulator.ts'

const aurora = { Shared: true, Name: 'aurora', Alias: 'aurora', PrimarySmtpAddress: 'aurora@contoso.example' }
const huelya = '11111111-aaaa-4aaa-8aaa-000000000042'
const max = '11111111-aaaa-4aaa-8aaa-000000000045'
const withExchange = (exchange: NonNullable<SimulatorOptions['exchange']>) => tenantFor({ exchange })

describe('a recipient lag', () => {
  it('delays a new mailbox in lists; New-Mailbox knows it at once', async () => {
    const run = await exchangeOf(await withExchange({ recipientLagSeconds: 2 }))
    const made = await run('New-Mailbox', aurora)
    const [{ Guid }] = made.body.value
    const lists = () =>
      Promise.all([
        run('Get-Recipient', { Filter: "Alias -eq 'aurora'" }),
        run('Get-Mailbox', { Filter: "Alias -eq 'aurora'" }),
      ]).then((answers) => answers.map(({ body }) => body.value.length))
    expect(await lists()).toEqual([0, 0])
    expect((await run('Get-Recipient', { Identity: 'aurora' })).status).toBe(404)
    expect((await run('Get-Mailbox', { Identity: Guid })).body.value).toMatchObject([{ Name: 'aurora' }])
    expect(refusalOf(await run('New-Mailbox', aurora)).type).toBe('NameNotAvailableException')
    await expect.poll(lists, { timeout: 60_000 }).toEqual([1, 1])
    expect((await run('Get-Recipient', { Identity: 'aurora' })).status).toBe(200)
  })

  it('does not hide older mailboxes', async () => {
    const run = await exchangeOf(await withExchange({ recipientLagSeconds: 60 }))
    expect((await run('Get-Mailbox')).body.value).toHaveLength(5)
    expect((await run('Get-Recipient', { Filter: "Name -eq 'info'" })).body.value).toHaveLength(1)
  })
})

it('a new mailbox can have its object id as Name', async () => {
  const run = await exchangeOf(await withExchange({ nameIsObjectId: true }))
  const [{ Name, ExternalDirectoryObjectId, Alias }] = (await run('New-Mailbox', aurora)).body.value
  expect([Name, Alias]).toEqual([ExternalDirectoryObjectId, 'aurora'])
  expect(refusalOf(await run('New-Mailbox', aurora)).type).toBe('ProxyAddressExistsException')
})

it.each([
  ['userPrincipalName', 'huelya@contoso.example'],
  ['address', 'huelya.demir@contoso.example'],
  ['objectId', huelya],
] as const)('who has access may be shown by %s', async (trusteesShownAs, shown) => {
  const run = await exchangeOf(await withExchange({ trusteesShownAs }))
  const person = { User: 'Huelya.Demir@contoso.example', AccessRights: ['FullAccess'] }
  expect((await run('Add-MailboxPermission', { Identity: 'info', ...person })).body.value).toMatchObject([
    { User: shown },
  ])
  const trustee = { Trustee: huelya, AccessRights: ['SendAs'], Confirm: false }
  await run('Add-RecipientPermission', { Identity: 'info', ...trustee })
  const read = await run('Get-RecipientPermission', { Identity: 'info', Trustee: 'huelya@contoso.example' })
  expect(read.body.value).toMatchObject([{ Trustee: shown }])
})

describe('a person without a mailbox', () => {
  it('is an account that Graph knows and Exchange does not', async () => {
    const simulator = await tenantFor()
    const run = await exchangeOf(simulator)
    const graph = await clientOf(simulator)
    const filter = `$filter=userPrincipalName eq 'Max.Frei@contoso.example'&$select=id,mail,proxyAddresses`
    const { body } = await graph('GET', `/v1.0/users?${filter}`)
    expect(body.value).toEqual([{ id: max, mail: null, proxyAddresses: [] }])
    expect((await graph('GET', `/v1.0/users/${max}`)).body).not.toHaveProperty('hasMailbox')
    const known = `ExternalDirectoryObjectId -eq '${max}' -or ExternalDirectoryObjectId -eq '${kim}'`
    const recipients = await run('Get-Recipient', { Filter: known })
    expect(recipients.body.value).toMatchObject([{ ExternalDirectoryObjectId: kim }])
    const access = { Identity: 'info', User: max, AccessRights: ['FullAccess'] }
    expect(refusalOf(await run('Add-MailboxPermission', access))).toMatchObject({ status: 404 })
    expect((await run('Get-User', { Identity: max })).body.value).toMatchObject([{ RecipientType: 'User' }])
  })

  it('has a sign-in name that no mailbox can have', async () => {
    const run = await exchangeOf(await tenantFor())
    const taken = { ...aurora, Name: 'max', Alias: 'Max.Frei' }
    expect(refusalOf(await run('New-Mailbox', taken)).type).toBe('WLCDManagedMemberExistsException')
  })
})

it('the account of a removed mailbox is in the list of deleted accounts, by its address', async () => {
  const simulator = await tenantFor()
  const run = await exchangeOf(simulator)
  const graph = await clientOf(simulator)
  const deleted = async () => {
    const filter = "$filter=mail eq 'SALES@contoso.example'"
    return (await graph('GET', `/v1.0/directory/deletedItems/microsoft.graph.user?${filter}`)).body.value
  }
  expect(await deleted()).toEqual([])
  const { ExternalDirectoryObjectId: id } = (await run('Get-Mailbox', { Identity: 'sales' })).body.value[0]
  await run('Remove-Mailbox', { Identity: 'sales', Confirm: false })
  const userPrincipalName = `${id.replaceAll('-', '')}sales@contoso.example`
  expect(await deleted()).toMatchObject([{ id, userPrincipalName, deletedDateTime: expect.any(String) }])
})

describe('a list', () => {
  const inPages = async (size: string) => {
    const simulator = await tenantFor()
    const token = await tokenOf(simulator, undefined, scopes.exchange)
    const body = { CmdletInput: { CmdletName: 'Get-Mailbox', Parameters: {} } }
    const post = (url: string) =>
      ask('POST', url, { token, body, headers: { prefer: `odata.maxpagesize=${size},odata.continue-on-error` } })
    return { post, url: `${simulator.url}/adminapi/beta/${simulator.tenantId}/InvokeCommand` }
  }

  it('has pages of the preferred size, each with the address of the next page', async () => {
    const { post, url } = await inPages('2')
    const sizes: number[] = []
    for (let next: string | undefined = url; next !== undefined; ) {
      const { body }: { body: { value: object[]; '@odata.nextLink'?: string } } = await post(next)
      sizes.push(body.value.length)
      next = body['@odata.nextLink']
    }
    expect(sizes).toEqual([2, 2, 1])
  })

  it('refuses an invalid page size or token', async () => {
    const { post, url } = await inPages('0')
    expect((await post(url)).status).toBe(400)
    const other = await inPages('2')
    expect((await other.post(`${other.url}?$skiptoken=x`)).status).toBe(400)
  })
})

it('an automatic reply is returned as a page with a style and with named entities', async () => {
  const run = await exchangeOf(await tenantFor())
  const reply = { InternalMessage: 'Gr\u00fc\u00dfe &amp; it&#39;s<br>me', ExternalMessage: '' }
  await run('Set-MailboxAutoReplyConfiguration', { Identity: 'info', AutoReplyState: 'Enabled', ...reply })
  const [read] = (await run('Get-MailboxAutoReplyConfiguration', { Identity: 'info' })).body.value
  expect(read.ExternalMessage).toBe('')
  expect(read.InternalMessage).toMatch(/^<html>\r\n<head>[\s\S]*<style [\s\S]*<\/head>\r\n<body>/)
  expect(read.InternalMessage).toContain("<body>\r\nGr&uuml;&#223;e &amp; it's<br>\r\nme\r\n</body>")
})
