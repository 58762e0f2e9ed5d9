import { afterEach, describe, expect, test } from 'vitest'
import { type MailboxStepInput, mailboxKinds } from '../../src/core/index.ts'
import { mailboxInput, ongoing, persist, runMailbox, runMailboxStep, wholeMailbox } from '../support/mailbox-steps.ts'
import { kim } from '../support/microsoft365.ts'
import { startTenant, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()
afterEach(() => contoso.healthy())

const mailboxesNamed = (input: MailboxStepInput) =>
  contoso.found('Get-Mailbox', { Filter: `DisplayName -eq '${input.details.displayName.replaceAll("'", "''")}'` })
const create = (input: MailboxStepInput) => ongoing(contoso.tenant, input).take('create-mailbox')
const idsOf = ({ progress: { createSince: _, ...ids } }: MailboxStepInput) => ids
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
  test('are the necessary ones, in order', () => {
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

  test.each(mailboxKinds)('create one %s when each runs twice, with and without the stored progress', async (kind) => {
    let input = wholeMailbox({ kind })
    await contoso.forgetCalls()
    for (const step of contoso.tenant.mailboxStepsOf(input)) {
      const first = await runMailboxStep(contoso.tenant, step, input)
      expect(idsOf(await runMailboxStep(contoso.tenant, step, input))).toEqual(idsOf(first))
      expect(await runMailboxStep(contoso.tenant, step, first)).toEqual(first)
      input = first
    }
    expect(await mailboxesNamed(input)).toHaveLength(1)
    const calls = (await contoso.calls()).map(({ operation }) => operation)
    for (const operation of ['new-mailbox', 'add-mailboxpermission', 'add-recipientpermission'])
      expect(calls.filter((one) => one === `exchange.${operation}`)).toHaveLength(1)
  })

  test.each(mailboxKinds.flatMap((kind) => [[kind, 'resetAfterCommit'] as const, [kind, 'failBeforeCommit'] as const]))(
    'create one complete %s although every write fails twice with %s',
    async (kind, fault) => {
      for (const operation of writes) await contoso.fault({ operation, kind: fault, count: 2 })
      const input = await persist(contoso.tenant, wholeMailbox({ kind }))
      const [mailbox, ...more] = await mailboxesNamed(input)
      expect(more).toEqual([])
      expect(mailbox).toMatchObject({ CustomAttribute15: input.requestId, Guid: input.progress.mailboxId })
      await contoso.healthy()
      const result = await contoso.tenant.mailboxSteps['ready-check'](input)
      expect(result).toMatchObject({ done: true })
      expect(Object(result).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    },
  )

  test('wait for a mailbox that is not visible yet, and do not fail', async () => {
    const slow = await startTenant({ exchangeSettleSeconds: 1.5 })
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

  test('wait as long as a throttling Exchange requires', async () => {
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'status429', retryAfter: 23 })
    await expect(create(mailboxInput())).rejects.toMatchObject({ retryable: true, retryAfterSeconds: 23 })
  })
})
