import { describe, expect, test } from 'vitest'
import { mailboxInput, ongoing, runMailbox, wholeMailbox } from '../support/mailbox-steps.ts'
import { runSteps, siteInput, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()

describe('the ready check', () => {
  test('describes missing and different values and throws nothing', async () => {
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
    expect(result).toMatchObject({
      done: true,
      made: {},
      checks: [
        ok('address'),
        ok('mailboxType'),
        wrong('signInBlocked', 'the account can still sign in'),
        wrong('alias', 'ready-alias@contoso.example is missing'),
        wrong('capacity', 'it has 50 GB instead of 10 GB'),
        wrong('visibility', 'it is shown in the address list'),
        wrong('customAttributes', 'custom attribute 2 is empty instead of "CC-1"'),
        wrong('contact', 'city is empty instead of "Bern", country or region is empty instead of "CH"'),
        wrong('fullAccess', 'Dana Fox is missing'),
        wrong('sendAs', 'Omar Haddad is missing'),
        wrong('automaticReply', 'it is off'),
      ],
    })
  })

  test('detects manual changes of a room', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox' }))
    await contoso.cmdlet('Set-Place', { Identity: input.address, Tags: ['Loud'] })
    await contoso.cmdlet('Set-CalendarProcessing', { Identity: input.address, AutomateProcessing: 'None' })
    await contoso.cmdlet('Set-MailboxAutoReplyConfiguration', { Identity: input.address, InternalMessage: 'Elsewhere' })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    const wrong = Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)
    expect(wrong.map(({ detail }: { detail: string }) => detail)).toEqual([
      'tags is "Loud" instead of "Quiet"',
      'automate processing is "None" instead of "AutoAccept"',
      'it has another text for people in the organisation',
    ])
  })

  test('marks a different place as not visible yet, because Exchange has accepted its values', async () => {
    await contoso.modes({ placeLagSeconds: 86_400 })
    const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox' }))
    await contoso.cmdlet('Set-CalendarProcessing', { Identity: input.address, AutomateProcessing: 'None' })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    await contoso.modes({ placeLagSeconds: 0 })
    expect(Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)).toMatchObject([
      {
        name: 'place',
        ok: false,
        notVisibleYet: true,
        detail: 'city is empty instead of "Bern", tags is empty instead of "Quiet"',
      },
      { name: 'booking', ok: false, detail: 'automate processing is "None" instead of "AutoAccept"' },
    ])
  })

  test('names the licence when a capacity above 50 GB is missing', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput({ details: { capacity: 61_440 } }), ['create-mailbox'])
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    const detail = 'it has 50 GB instead of 60 GB (50 GB without a licence)'
    expect(Object(result).checks).toContainEqual(expect.objectContaining({ name: 'capacity', ok: false, detail }))
  })

  test('reports a deleted mailbox as missing', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox())
    await contoso.cmdlet('Remove-Mailbox', { Identity: input.address, Confirm: false })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    expect(Object(result).checks[0]).toMatchObject({ name: 'address', ok: false, detail: 'it is not there' })
  })
})

describe('a fault of the ready check', () => {
  const patient = withTenant({}, { settleSeconds: 300 })
  const ago = (seconds: number) => ({ checkedSince: new Date(Date.now() - seconds * 1000).toISOString() })

  test('in a mailbox is checked again for minutes before it counts', async () => {
    const made = await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox'])
    const check = (progress: object) =>
      patient.tenant.mailboxSteps['ready-check']({ ...made, progress: { ...made.progress, ...progress } })
    const first = { done: false, retryAfterSeconds: 5, made: { checkedSince: expect.stringMatching(/Z$/) } }
    expect(await check({})).toEqual(first)
    expect(await check(ago(20))).toEqual({ done: false, retryAfterSeconds: 5 })
    expect(await check(ago(60))).toEqual({ done: false, retryAfterSeconds: 15 })
    const last = await check(ago(301))
    expect(last).toMatchObject({ done: true })
    expect(Object(last).checks).toContainEqual(
      expect.objectContaining({ name: 'fullAccess', ok: false, detail: 'Dana Fox is missing' }),
    )
  })

  test('in the place alone is awaited for two minutes', async () => {
    await patient.modes({ placeLagSeconds: 86_400 })
    const made = await runMailbox(patient.tenant, mailboxInput({ kind: 'roomMailbox', details: { tags: ['Quiet'] } }), [
      'create-mailbox',
      'block-sign-in',
      'apply-place',
      'apply-booking',
    ])
    const check = (progress: object) =>
      patient.tenant.mailboxSteps['ready-check']({ ...made, progress: { ...made.progress, ...progress } })
    expect(await check(ago(115))).toEqual({ done: false, retryAfterSeconds: 15 })
    const { done, checks } = Object(await check(ago(121)))
    await patient.modes({ placeLagSeconds: 0 })
    expect(done).toBe(true)
    expect(checks).toContainEqual(expect.objectContaining({ name: 'place', notVisibleYet: true }))
  })

  test('in a mailbox does not count if it disappears in the meantime', async () => {
    const request = ongoing(patient.tenant, await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox']))
    expect(await request.take('ready-check')).toMatchObject({ done: false })
    await runMailbox(patient.tenant, request.input, patient.tenant.mailboxStepsOf(request.input).slice(1, -1))
    const { done, checks } = Object(await request.take('ready-check'))
    expect([done, checks.every(({ ok }: { ok: boolean }) => ok)]).toEqual([true, true])
  })

  test('in a site is checked again in the same way', async () => {
    const made = await runSteps(patient.tenant, ['create-site', 'wait-for-site'], siteInput())
    const input = { ...made, owners: [{ ...made.requester, id: '11111111-aaaa-4aaa-8aaa-000000000002' }] }
    const check = (progress: object) =>
      patient.tenant.siteSteps['ready-check']({ ...input, progress: { ...made.progress, ...progress } })
    expect(await check({})).toMatchObject({
      done: false,
      retryAfterSeconds: 5,
      made: { checkedSince: expect.any(String) },
    })
    expect(await check(ago(60))).toEqual({ done: false, retryAfterSeconds: 15 })
    expect(await check(ago(301))).toMatchObject({ done: true, checks: [{ ok: true }, { name: 'owners', ok: false }] })
  })

  test('is not checked any more after an abort', async () => {
    const made = await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox'])
    await patient.forgetCalls()
    const broken = { ...made, signal: AbortSignal.abort() }
    await expect(patient.tenant.mailboxSteps['ready-check'](broken)).rejects.toMatchObject({ retryable: true })
    expect(await patient.calls()).toEqual([])
  })
})
