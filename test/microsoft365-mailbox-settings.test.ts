import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MailboxStepInput } from '../src/core/index.ts'
import { mailboxInput, runMailbox, wholeMailbox } from './support/mailbox-steps.ts'
import { dana, kim } from './support/microsoft365.ts'
import { startTenant, type TestTenant } from './support/simulated-tenant.ts'
import { exchangeOf } from './support/simulator.ts'

let contoso: TestTenant
let run: Awaited<ReturnType<typeof exchangeOf>>
beforeAll(async () => {
  contoso = await startTenant()
  run = await exchangeOf(contoso.simulator)
})
afterAll(() => contoso.close())

const value = async (cmdlet: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>[]> =>
  (await run(cmdlet, parameters)).body.value ?? []
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

describe('access', () => {
  const made = async (change: Parameters<typeof wholeMailbox>[0]) =>
    runMailbox(contoso.tenant, wholeMailbox(change), ['create-mailbox'])
  const grant = (input: MailboxStepInput) => contoso.tenant.mailboxSteps['grant-access'](input)

  test('that somebody has already is not given again', async () => {
    const input = await made({})
    await run('Add-MailboxPermission', {
      Identity: input.address,
      User: dana.id,
      AccessRights: ['FullAccess'],
    })
    await contoso.forgetCalls()
    await grant(input)
    await grant(input)
    const adding = (await contoso.calls()).map(({ operation }) => operation).filter((one) => one.includes('.add-'))
    expect(adding).toEqual(['exchange.add-recipientpermission'])
    const entries = await value('Get-MailboxPermission', { Identity: input.address })
    expect(entries.filter(({ User }) => User === dana.userPrincipalName)).toHaveLength(1)
  })

  test('goes by the id, whatever the person was called when the request was made', async () => {
    const input = await made({
      access: [{ person: { ...dana, userPrincipalName: 'kim@contoso.example' }, level: 'SendAs' }],
    })
    await grant(input)
    const trustees = await value('Get-RecipientPermission', { Identity: input.address })
    expect(trustees.map(({ Trustee }) => Trustee)).toContain(dana.userPrincipalName)
    expect(trustees.map(({ Trustee }) => Trustee)).not.toContain(kim.userPrincipalName)
  })

  test('of somebody who has left the directory stops the request, by name', async () => {
    const person = { ...dana, id: '99999999-aaaa-4aaa-8aaa-000000000001', displayName: 'Somebody Gone' }
    const failure = await failureOf(grant(await made({ access: [{ person, level: 'FullAccess' }] })))
    expect(failure).toMatchObject({ code: 'person-not-found', retryable: false })
    expect(String(failure)).toContain('Somebody Gone')
  })
})

describe('an additional address', () => {
  test('that somebody has by now stops the request, naming it', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput({ aliasAddress: 'info@contoso.example' }), [
      'create-mailbox',
    ])
    const failure = await failureOf(contoso.tenant.mailboxSteps['apply-settings'](input))
    expect(failure).toMatchObject({ code: 'alias-taken', retryable: false })
    expect(String(failure)).toContain('info@contoso.example')
  })
})

describe.each([1, 2, 19, 100, 102_400])('a capacity of %i MB', (capacity) => {
  test('is what the mailbox holds, its warnings in order before it', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput({ details: { capacity } }))
    const [mailbox = {}] = await value('Get-Mailbox', { Identity: input.address })
    const bytes = ['IssueWarningQuota', 'ProhibitSendQuota', 'ProhibitSendReceiveQuota'].map((name) =>
      Number(/\(([\d,]+) bytes/.exec(String(mailbox[name]))?.[1]?.replaceAll(',', '')),
    )
    expect(bytes).toEqual([...bytes].sort((one, other) => one - other))
    expect(bytes[2]).toBe(capacity * 1024 ** 2)
    expect(bytes[0]).toBeGreaterThanOrEqual(1024 ** 2)
  })
})

describe('the ready check', () => {
  test('says what is missing or otherwise, in words, and throws nothing', async () => {
    const input = wholeMailbox({
      kind: 'sharedMailbox',
      aliasAddress: 'ready-alias@contoso.example',
      details: { capacity: 10_240, hideFromGAL: true, country: 'CH' },
      customAttributes: new Map([[2, 'CC-1']]),
    })
    const bare = await runMailbox(contoso.tenant, input, ['create-mailbox'])
    const result = await contoso.tenant.mailboxSteps['ready-check'](bare)
    const ok = (name: string) => ({ name, ok: true, detail: '' })
    const wrong = (name: string, detail: string) => ({ name, ok: false, detail })
    expect(result).toEqual({
      done: true,
      made: {},
      checks: [
        ok('address'),
        ok('mailboxType'),
        wrong('signInBlocked', 'the account can still sign in'),
        wrong('alias', 'ready-alias@contoso.example is missing'),
        wrong('capacity', 'has 50 GB instead of 10 GB'),
        wrong('visibility', 'is shown in the address list'),
        wrong('customAttributes', 'custom attribute 2 is empty instead of "CC-1"'),
        wrong('contact', 'city is empty instead of "Bern", country or region is empty instead of "CH"'),
        wrong('fullAccess', 'Dana Fox is missing'),
        wrong('sendAs', 'Omar Haddad is missing'),
        wrong('automaticReply', 'is off'),
      ],
    })
  })

  test('notices a room that was changed by hand', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox' }))
    await run('Set-Place', { Identity: input.address, Tags: ['Loud'] })
    await run('Set-CalendarProcessing', { Identity: input.address, AutomateProcessing: 'None' })
    await run('Set-MailboxAutoReplyConfiguration', { Identity: input.address, InternalMessage: 'Elsewhere' })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    const wrong = Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)
    expect(wrong.map(({ detail }: { detail: string }) => detail)).toEqual([
      'tags is "Loud" instead of "Quiet"',
      'automate processing is "None" instead of "AutoAccept"',
      'has another text for people in the organisation',
    ])
  })

  test('says of a mailbox that is gone that it is not there', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox())
    await run('Remove-Mailbox', { Identity: input.address, Confirm: false })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    expect(Object(result).checks[0]).toEqual({ name: 'address', ok: false, detail: 'is not there' })
  })
})

test('hostile texts arrive as they were written, in HTML escaped', async () => {
  const hostile = `Li'l "Bobby" \${1+1} <script>alert('x')</script> & $(Get-Mailbox)\nsecond line`
  const details = {
    state: hostile,
    streetAddress: hostile,
    companyName: hostile.slice(0, 64),
    postalCode: "8'001",
    city: hostile,
    phone: "+41 'x'",
    businessPhones: ["'; drop", `\${2}`],
    department: hostile.slice(0, 64),
    notes: hostile,
    officeLocation: hostile,
    audioDeviceName: hostile,
    displayDeviceName: hostile,
    videoDeviceName: hostile,
    tags: ["it's", '<b>', `\${x}`],
    automaticReply: hostile,
  }
  const customAttributes = new Map([[7, hostile]])
  const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox', details, customAttributes }))
  const Identity = input.address
  expect(await value('Get-User', { Identity })).toMatchObject([
    {
      StateOrProvince: hostile,
      StreetAddress: hostile,
      Company: details.companyName,
      City: hostile,
      OtherTelephone: details.businessPhones,
      Notes: hostile,
      Office: hostile,
    },
  ])
  expect(await value('Get-Place', { Identity })).toMatchObject([
    { Street: hostile, State: hostile, AudioDeviceName: hostile, Tags: details.tags },
  ])
  expect(await value('Get-Mailbox', { Identity })).toMatchObject([{ CustomAttribute7: hostile }])
  const html =
    `Li&#39;l &quot;Bobby&quot; \${1+1} &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; ` +
    '&amp; $(Get-Mailbox)<br>second line'
  expect(await value('Get-MailboxAutoReplyConfiguration', { Identity })).toMatchObject([
    { InternalMessage: html, ExternalMessage: html },
  ])
  const check = await contoso.tenant.mailboxSteps['ready-check'](input)
  expect(Object(check).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
})
