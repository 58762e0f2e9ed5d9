import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type MailboxStepInput, mailboxKinds, TenantError } from '../src/core/index.ts'
import { mailboxInput, runMailbox, runMailboxStep, wholeMailbox } from './support/mailbox-steps.ts'
import { kim } from './support/microsoft365.ts'
import { startTenant, type TestTenant } from './support/simulated-tenant.ts'
import { exchangeOf } from './support/simulator.ts'

let contoso: TestTenant
let run: Awaited<ReturnType<typeof exchangeOf>>
beforeAll(async () => {
  contoso = await startTenant()
  run = await exchangeOf(contoso.simulator)
})
afterEach(() => contoso.healthy())
afterAll(() => contoso.close())

const value = async (cmdlet: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>[]> =>
  (await run(cmdlet, parameters)).body.value ?? []
const mailboxesNamed = (input: MailboxStepInput) =>
  value('Get-Mailbox', { Filter: `DisplayName -eq '${input.details.displayName.replaceAll("'", "''")}'` })
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)
const create = (input: MailboxStepInput) => contoso.tenant.mailboxSteps['create-mailbox'](input)
/** A mailbox that somebody made by hand, unstamped. */
const byHand = async ({ address, details }: MailboxStepInput, change: Record<string, unknown> = {}) => {
  const name = address.split('@')[0]
  const body = { Name: name, Alias: name, PrimarySmtpAddress: address, DisplayName: details.displayName, ...change }
  const made = await run('New-Mailbox', { ...('Room' in body ? {} : { Shared: true }), ...body })
  expect(made.status).toBe(200)
  return made.body.value[0]
}
/** Runs all steps as the provisioning job does: a retryable error is tried again with what is stored. */
async function persist(input: MailboxStepInput): Promise<MailboxStepInput> {
  let known = input
  for (const step of contoso.tenant.mailboxStepsOf(input)) {
    const attempt = async (triesLeft: number): Promise<MailboxStepInput> => {
      try {
        return await runMailboxStep(contoso.tenant, step, known)
      } catch (error) {
        if (error instanceof TenantError && error.retryable && triesLeft > 0) return attempt(triesLeft - 1)
        throw error
      }
    }
    known = await attempt(8)
  }
  return known
}
const writes = [
  'exchange.new-mailbox',
  'exchange.set-mailbox',
  'exchange.set-user',
  'exchange.set-place',
  'exchange.set-calendarprocessing',
  'exchange.add-mailboxpermission',
  'exchange.add-recipientpermission',
  'exchange.set-mailboxautoreplyconfiguration',
]

describe('the steps of a mailbox', () => {
  test('are those that have something to do, in order', () => {
    const stepsOf = (input: MailboxStepInput) => contoso.tenant.mailboxStepsOf(input)
    const always = ['create-mailbox', 'block-sign-in', 'ready-check']
    expect(stepsOf(mailboxInput())).toEqual(always)
    expect(stepsOf(mailboxInput({ details: { permissions: { [kim.id]: 'None' } } }))).toEqual(always)
    expect(stepsOf(mailboxInput({ kind: 'equipmentMailbox' }))).toContain('apply-booking')
    expect(stepsOf(mailboxInput({ aliasAddress: 'more@contoso.example' }))).toContain('apply-settings')
    expect(stepsOf(mailboxInput({ kind: 'equipmentMailbox', details: { tags: ['a'] } }))).not.toContain('apply-place')
    expect(stepsOf(wholeMailbox({ kind: 'roomMailbox' }))).toEqual([
      'create-mailbox',
      'block-sign-in',
      'apply-settings',
      'apply-contact',
      'apply-place',
      'apply-booking',
      'apply-automatic-reply',
      'grant-access',
      'ready-check',
    ])
  })

  test.each(mailboxKinds)('make one %s when each runs twice, with and without what it made', async (kind) => {
    let input = wholeMailbox({ kind })
    await contoso.forgetCalls()
    for (const step of contoso.tenant.mailboxStepsOf(input)) {
      const first = await runMailboxStep(contoso.tenant, step, input)
      expect(await runMailboxStep(contoso.tenant, step, input)).toEqual(first)
      expect(await runMailboxStep(contoso.tenant, step, first)).toEqual(first)
      input = first
    }
    expect(await mailboxesNamed(input)).toHaveLength(1)
    const calls = (await contoso.calls()).map(({ operation }) => operation)
    for (const operation of ['new-mailbox', 'add-mailboxpermission', 'add-recipientpermission'])
      expect(calls.filter((one) => one === `exchange.${operation}`)).toHaveLength(1)
  })

  test.each(mailboxKinds.flatMap((kind) => [[kind, 'resetAfterCommit'] as const, [kind, 'failBeforeCommit'] as const]))(
    'make one whole %s though every write meets %s',
    async (kind, fault) => {
      for (const operation of writes) await contoso.fault({ operation, kind: fault, count: 2 })
      const input = await persist(wholeMailbox({ kind }))
      const [mailbox, ...more] = await mailboxesNamed(input)
      expect(more).toEqual([])
      expect(mailbox).toMatchObject({ CustomAttribute15: input.requestId, Guid: input.progress.mailboxId })
      await contoso.healthy()
      const result = await contoso.tenant.mailboxSteps['ready-check'](input)
      expect(result).toMatchObject({ done: true })
      expect(Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    },
  )

  test('wait for a mailbox that does not show yet, and fail for nothing', async () => {
    const slow = await startTenant({ exchangeSettleSeconds: 0.4 })
    try {
      const input = wholeMailbox({ kind: 'roomMailbox' })
      expect(await slow.tenant.mailboxSteps['create-mailbox'](input)).toMatchObject({ done: false })
      const made = await runMailbox(slow.tenant, input)
      const check = await slow.tenant.mailboxSteps['ready-check'](made)
      expect(Object(check).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    } finally {
      await slow.close()
    }
  })

  test.each([
    'apply-settings',
    'apply-contact',
    'apply-place',
    'apply-booking',
    'grant-access',
    'apply-automatic-reply',
    'block-sign-in',
  ] as const)('%s waits when the mailbox is not found', async (step) => {
    const nowhere = '99999999-dddd-4ddd-8ddd-000000000001'
    const progress = { mailboxId: nowhere, userId: nowhere, userPrincipalName: 'nobody@contoso.example' }
    const input = wholeMailbox({ kind: 'roomMailbox', aliasAddress: 'nowhere@contoso.example', progress })
    expect(await contoso.tenant.mailboxSteps[step](input)).toEqual({ done: false, retryAfterSeconds: 2 })
  })

  test('wait as long as a throttling Exchange wishes', async () => {
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'status429', retryAfter: 23 })
    await expect(create(mailboxInput())).rejects.toMatchObject({ retryable: true, retryAfterSeconds: 23 })
  })
})

describe('making a mailbox', () => {
  test('whose answer is lost leaves one, which the next run finds and stamps', async () => {
    const input = mailboxInput()
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    await expect(create(input)).rejects.toMatchObject({ retryable: true, code: 'unreachable' })
    const [orphan] = await mailboxesNamed(input)
    expect(orphan).toMatchObject({ CustomAttribute15: '' })
    expect(await create(input)).toMatchObject({ done: true, made: { mailboxId: orphan?.['Guid'] } })
    expect(await mailboxesNamed(input)).toMatchObject([{ CustomAttribute15: input.requestId }])
  })

  test.each<[string, (input: MailboxStepInput) => Promise<unknown>]>([
    ['was there before our work', async (input) => byHand(input)],
    ['has another display name', async (input) => byHand(input, { DisplayName: 'Something else' })],
    ['is of another type', async (input) => byHand(input, { Room: true })],
    [
      'has the name only',
      async (input) => byHand(input, { PrimarySmtpAddress: `x-${input.address}`, Alias: `x-${input.details.name}` }),
    ],
    [
      'has the address as an additional one',
      async (input) => {
        const { Guid } = await byHand(mailboxInput())
        const add = [`smtp:${input.address}`]
        await run('Set-Mailbox', {
          Identity: Guid,
          EmailAddresses: { '@odata.type': '#Exchange.GenericHashTable', add },
        })
      },
    ],
    [
      "carries another request's stamp",
      async (input) => {
        const { Guid } = await byHand(input)
        await run('Set-Mailbox', { Identity: Guid, CustomAttribute15: kim.id })
      },
    ],
  ])('is refused as taken when one %s', async (what, make) => {
    const isOlder = what === 'was there before our work'
    const input = mailboxInput({ startedAt: new Date(Date.now() + (isOlder ? 60_000 : 0)) })
    await make(input)
    const before = await value('Get-Mailbox', {})
    const failure = await failureOf(create(input))
    expect(failure).toMatchObject({ code: 'name-taken', retryable: false })
    expect(String(failure)).toContain(input.address)
    expect(await value('Get-Mailbox', {})).toEqual(before)
  })

  test.each(['kim@contoso.example', 'info@contoso-labs.example', 'verkauf@contoso.example'])(
    'is refused as taken at %s',
    async (address) => {
      await expect(create(mailboxInput({ address }))).rejects.toMatchObject({ code: 'name-taken', retryable: false })
      expect(await contoso.directory.isMailboxNameFree(address)).toBe(false)
    },
  )

  test('keeps its name when a displayed name and other texts hold quotes and code', async () => {
    const hostile = `O'Hara "x" \${process.exit()} <b>&amp;</b> $(Remove-Mailbox) \`n`
    const input = mailboxInput({ details: { displayName: hostile } })
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    await persist(input)
    expect(await mailboxesNamed(input)).toMatchObject([{ DisplayName: hostile, CustomAttribute15: input.requestId }])
  })
})
