import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailboxInput, ongoing, runMailbox, wholeMailbox } from '../support/mailbox-steps.ts'
import { runSteps, siteInput, startTenant, type TestTenant } from '../support/simulated-tenant.ts'
import { exchangeOf } from '../support/simulator.ts'

let contoso: TestTenant
let run: Awaited<ReturnType<typeof exchangeOf>>
beforeAll(async () => {
  contoso = await startTenant()
  run = await exchangeOf(contoso.simulator)
})
afterAll(() => contoso.close())

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
      'it has another text for people in the organisation',
    ])
  })

  test('marks a place that differs as not visible yet: Exchange has accepted its values', async () => {
    await contoso.modes({ placeLagSeconds: 86_400 })
    const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox' }))
    await run('Set-CalendarProcessing', { Identity: input.address, AutomateProcessing: 'None' })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    await contoso.modes({ placeLagSeconds: 0 })
    expect(Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
      {
        name: 'place',
        ok: false,
        notVisibleYet: true,
        detail: 'city is empty instead of "Bern", tags is empty instead of "Quiet"',
      },
      { name: 'booking', ok: false, detail: 'automate processing is "None" instead of "AutoAccept"' },
    ])
  })

  test('names the licence where a capacity above 50 GB is not there', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput({ details: { capacity: 61_440 } }), ['create-mailbox'])
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    const detail = 'it has 50 GB instead of 60 GB (more than 50 GB needs a licence)'
    expect(Object(result).checks).toContainEqual({ name: 'capacity', ok: false, detail })
  })

  test('says of a mailbox that is gone that it is not there', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox())
    await run('Remove-Mailbox', { Identity: input.address, Confirm: false })
    const result = await contoso.tenant.mailboxSteps['ready-check'](input)
    expect(Object(result).checks[0]).toEqual({ name: 'address', ok: false, detail: 'it is not there' })
  })
})

describe('what is wrong', () => {
  let patient: TestTenant
  beforeAll(async () => {
    patient = await startTenant({}, { settleSeconds: 300 })
  })
  afterAll(() => patient.close())
  const ago = (seconds: number) => ({ checkedSince: new Date(Date.now() - seconds * 1000).toISOString() })

  test('with a mailbox is looked at again for minutes, and only then believed', async () => {
    const made = await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox'])
    const check = (progress: object) =>
      patient.tenant.mailboxSteps['ready-check']({ ...made, progress: { ...made.progress, ...progress } })
    const first = { done: false, retryAfterSeconds: 5, made: { checkedSince: expect.stringMatching(/Z$/) } }
    expect(await check({})).toEqual(first)
    expect(await check(ago(20))).toEqual({ done: false, retryAfterSeconds: 5 })
    expect(await check(ago(60))).toEqual({ done: false, retryAfterSeconds: 15 })
    const last = await check(ago(301))
    expect(last).toMatchObject({ done: true })
    expect(Object(last).checks).toContainEqual({ name: 'fullAccess', ok: false, detail: 'Dana Fox is missing' })
  })

  test('with a place alone is waited for two minutes', async () => {
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

  test('with a mailbox and comes right meanwhile is no fault', async () => {
    const request = ongoing(patient.tenant, await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox']))
    expect(await request.take('ready-check')).toMatchObject({ done: false })
    await runMailbox(patient.tenant, request.input, patient.tenant.mailboxStepsOf(request.input).slice(1, -1))
    const { done, checks } = Object(await request.take('ready-check'))
    expect([done, checks.every(({ ok }: { ok: boolean }) => ok)]).toEqual([true, true])
  })

  test('with a site is looked at again in the same way', async () => {
    const made = await runSteps(patient.tenant, ['create-site', 'wait-for-site'], siteInput())
    const asked = { ...made, owners: [{ ...made.requester, id: '11111111-aaaa-4aaa-8aaa-000000000002' }] }
    const check = (progress: object) =>
      patient.tenant.siteSteps['ready-check']({ ...asked, progress: { ...made.progress, ...progress } })
    expect(await check({})).toMatchObject({
      done: false,
      retryAfterSeconds: 5,
      made: { checkedSince: expect.any(String) },
    })
    expect(await check(ago(60))).toEqual({ done: false, retryAfterSeconds: 15 })
    expect(await check(ago(301))).toMatchObject({ done: true, checks: [{ ok: true }, { name: 'owners', ok: false }] })
  })

  test('is not asked for any more once the work is broken off', async () => {
    const made = await runMailbox(patient.tenant, wholeMailbox(), ['create-mailbox'])
    await patient.forgetCalls()
    const broken = { ...made, signal: AbortSignal.abort() }
    await expect(patient.tenant.mailboxSteps['ready-check'](broken)).rejects.toMatchObject({ retryable: true })
    expect(await patient.calls()).toEqual([])
  })
})
