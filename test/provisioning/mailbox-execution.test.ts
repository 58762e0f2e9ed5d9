import { describe, expect, it } from 'vitest'
import {
  type Check,
  type CheckName,
  checkNames,
  checkSteps,
  type MailboxProgress,
  type MailboxStep,
  type MailboxStepInput,
  mailboxSteps,
  type StepResult,
  type Tenant,
  TenantError,
} from '../../src/core/index.ts'
import { actorOf, asMailbox, dana, kim, omar, priya, tenantWith, withCore } from '../support/core.ts'

const asKim = actorOf(kim)
const admin = actorOf(priya, true)
const { signal } = new AbortController()
const done = async () => ({ done: true, made: {} }) as const
type Steps = Partial<Tenant['mailboxSteps']>

describe('a mailbox', () => {
  const core = withCore()
  let count = 0
  const asked = async (more: object = {}) => {
    const { id: templateId } = await core.template({
      kind: 'sharedMailbox',
      fields: [{ key: 'customer', type: 'text', label: 'Customer', customAttribute: 7 }],
    })
    count += 1
    const body = { name: `box-${count}`, displayName: `Box ${count}`, templateId, ...more }
    return asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  }
  /** A tenant that notes what it is asked, and does as told where that is given. */
  const noting = (steps: Steps = {}) => {
    const calls: { step: MailboxStep; input: MailboxStepInput }[] = []
    const { mailboxSteps: usual } = tenantWith()
    const noted = mailboxSteps.map((step) => [
      step,
      (input: MailboxStepInput): Promise<StepResult<MailboxProgress>> => {
        calls.push({ step, input })
        return (steps[step] ?? usual[step])(input)
      },
    ])
    return { calls, tenant: tenantWith({}, Object.fromEntries(noted)), steps: () => calls.map(({ step }) => step) }
  }
  const run = (tenant: Tenant, requestId: string, { lastAttempt = false, now = new Date() } = {}) =>
    core.with({ tenant, clock: { now: () => now } }).system.provision(requestId, { lastAttempt, signal })
  const stored = async (requestId: string) => asMailbox(await core.provisioning.readRequest(asKim, { requestId }))
  const tellsOf = async (requestId: string) =>
    (await core.orders(requestId)).filter(({ name }) => name.startsWith('notify')).map(({ name }) => name)

  it('is made step by step in order, each with what the request says and what earlier steps made', async () => {
    const permissions = { [dana.id]: 'FullAccess', [omar.id]: 'SendAs', [kim.id]: 'None' }
    const metadata = { customer: 'Alpine Tours', free: 'kept' }
    const { requestId, details, address, aliasAddress } = await asked({ permissions, metadata, alias: 'desk' })
    const mailbox = { mailboxId: 'guid', userId: 'user', userPrincipalName: 'box@contoso.example' }
    const { calls, tenant, steps } = noting({ 'create-mailbox': async () => ({ done: true, made: mailbox }) })
    const now = new Date('2026-11-20T10:00:00.000Z')
    await run(tenant, requestId, { now })
    expect(steps()).toEqual(mailboxSteps)
    const { signal: _, ...first } = calls[0]?.input ?? { signal }
    expect(first).toEqual({
      ...{ requestId, kind: 'sharedMailbox', address, aliasAddress, details, startedAt: now, progress: {} },
      access: [
        { person: dana, level: 'FullAccess' },
        { person: omar, level: 'SendAs' },
      ],
      customAttributes: new Map([[7, 'Alpine Tours']]),
    })
    expect(calls[1]?.input.progress).toEqual(mailbox)
    const made = await stored(requestId)
    expect([made.status, made.resource]).toEqual(['succeeded', { address, mailboxId: 'guid' }])
    expect(made.steps.every(({ status, attempts }) => status === 'done' && attempts === 1)).toBe(true)
    expect(await tellsOf(requestId)).toEqual([])
  })

  it('that a step waits for is put off, and goes on where it was', async () => {
    const { requestId } = await asked()
    let ready = false
    const { tenant, steps } = noting({
      'apply-settings': async () => (ready ? { done: true, made: {} } : { done: false, retryAfterSeconds: 5 }),
    })
    const now = new Date()
    await run(tenant, requestId, { now })
    expect((await stored(requestId)).status).toBe('provisioning')
    const later = (await core.orders(requestId)).filter(({ name }) => name === 'provision').at(-1)
    expect(later?.startAfter).toEqual(new Date(now.getTime() + 5000))
    ready = true
    await run(tenant, requestId)
    expect(steps().filter((step) => step === 'create-mailbox')).toHaveLength(1)
    expect(steps().filter((step) => step === 'apply-settings')).toHaveLength(2)
    expect((await stored(requestId)).status).toBe('succeeded')
  })

  it('keeps what a step that waits has found out, and at once goes on with what it only wanted kept', async () => {
    const { requestId } = await asked()
    const createSince = '2026-11-20T10:00:00.000Z'
    const heldSince = '2026-11-20T10:00:03.000Z'
    let isThere = false
    const { calls, tenant } = noting({
      'create-mailbox': async ({ progress }) => {
        if (!progress.createSince) return { done: false, retryAfterSeconds: 0, made: { createSince } }
        if (!isThere) return { done: false, retryAfterSeconds: 5, made: { heldSince } }
        return { done: true, made: { mailboxId: 'guid', heldSince: undefined } }
      },
    })
    await run(tenant, requestId)
    expect(calls.map(({ input }) => input.progress)).toEqual([{}, { createSince }])
    expect((await stored(requestId)).progress).toEqual({ createSince, heldSince })
    const put = (await core.orders(requestId)).filter(({ name }) => name === 'provision')
    expect(put).toHaveLength(2)
    isThere = true
    await run(tenant, requestId)
    const made = await stored(requestId)
    expect([made.status, made.progress]).toEqual(['succeeded', { createSince, mailboxId: 'guid' }])
    expect(made.steps[0]).toMatchObject({ status: 'done', attempts: 1 })
  })

  it('that is tried again after a failure keeps what was made, and waits anew for whatever it waited for', async () => {
    const { requestId } = await asked()
    const kept = { mailboxId: 'guid', createSince: '2026-11-20T10:00:00.000Z' }
    const waited = { checkedSince: '2026-11-20T10:01:00.000Z', heldSince: '2026-11-20T10:02:00.000Z', triedAgain: true }
    const { calls, tenant } = noting({ 'create-mailbox': async () => ({ done: true, made: { ...kept, ...waited } }) })
    const refuse = async () => Promise.reject(new TenantError('x', 'No.', { retryable: false }))
    await run({ ...tenant, mailboxSteps: { ...tenant.mailboxSteps, 'ready-check': refuse } }, requestId)
    expect((await stored(requestId)).progress).toEqual({ ...kept, ...waited })
    await core.provisioning.retryRequest(admin, { requestId })
    await run(tenant, requestId)
    expect(calls.at(-1)).toMatchObject({ step: 'ready-check' })
    expect(calls.at(-1)?.input.progress).toEqual(kept)
  })

  it('that a ready check finds right keeps what was found', async () => {
    const { requestId } = await asked()
    const checks: Check[] = [{ name: 'address', ok: true, detail: '' }]
    await run(noting({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
    expect(await stored(requestId)).toMatchObject({ status: 'succeeded', checks, problem: null })
  })

  it('that a ready check finds wrong has failed there, with the mailbox kept, and people are told', async () => {
    const { requestId } = await asked()
    const checks: Check[] = [
      { name: 'address', ok: true, detail: '' },
      { name: 'fullAccess', ok: false, detail: 'Dana Fox is missing' },
      { name: 'visibility', ok: false, detail: '' },
    ]
    await run(noting({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
    const failed = await stored(requestId)
    expect(failed).toMatchObject({
      ...{ status: 'failed', checks, progress: { mailboxId: 'mailbox' }, resource: null },
      problem: { code: 'ready-check', step: 'ready-check' },
    })
    expect(failed.problem?.detail).toMatch(/fullAccess \(Dana Fox is missing\); visibility/)
    expect(failed.steps.map(({ status }) => status)).toEqual([...Array.from({ length: 8 }, () => 'done'), 'failed'])
    expect(await tellsOf(requestId)).toEqual(['notify', 'notify-admins'])

    const retried = asMailbox(await core.provisioning.retryRequest(admin, { requestId }))
    expect([retried.checks, retried.problem, retried.startedAt]).toEqual([[], null, failed.startedAt])
    const { tenant, steps } = noting()
    await run(tenant, requestId)
    expect(steps()).toEqual(['apply-settings', 'grant-access', 'ready-check'])
    expect((await stored(requestId)).status).toBe('succeeded')
  })

  it.each(checkNames.filter((name) => mailboxSteps.some((step) => step === checkSteps[name])))(
    'whose check %s failed is mended by its step alone',
    async (name: CheckName) => {
      const { requestId } = await asked()
      const checks: Check[] = [{ name, ok: false, detail: '' }]
      await run(noting({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
      await core.provisioning.retryRequest(admin, { requestId })
      const { tenant, steps } = noting()
      await run(tenant, requestId)
      expect(steps()).toEqual([checkSteps[name], 'ready-check'])
    },
  )

  it('whose name turns out to be somebody else’s fails with one that is free', async () => {
    const { requestId, address } = await asked()
    const [name = ''] = address.split('@')
    core.world.taken.add(address)
    const taken = new TenantError('name-taken', `${address} belongs to somebody else.`, { retryable: false })
    await run(noting({ 'create-mailbox': () => Promise.reject(taken) }).tenant, requestId)
    const { status, problem } = await stored(requestId)
    expect([status, problem?.code, problem?.step, problem?.suggestion]).toEqual([
      ...['failed', 'name-taken', 'create-mailbox', `${name}-2`],
    ])
    expect(problem?.detail).toBe(`${address} belongs to somebody else. ${name}-2 is free.`)
    const again = await core.provisioning.draftFromRequest(asKim, { requestId })
    expect(again.step === 'details' && again.draft.values['name']).toBe(`${name}-2`)
  })

  it('whose name is taken while nobody can be asked for another fails without a suggestion', async () => {
    const { requestId } = await asked()
    const taken = new TenantError('name-taken', 'It belongs to somebody else.', { retryable: false })
    const refuse = async () => {
      core.world.up = false
      throw taken
    }
    await run(noting({ 'create-mailbox': refuse }).tenant, requestId)
    core.world.up = true
    const { problem } = await stored(requestId)
    expect(problem).toEqual({ code: 'name-taken', detail: 'It belongs to somebody else.', step: 'create-mailbox' })
  })

  it('keeps the moment at which work first began over failures and retries, so that it knows its own', async () => {
    const { requestId } = await asked()
    const began = new Date('2026-11-20T10:00:00.000Z')
    const away = new TenantError('unavailable', 'Exchange is away.', { retryable: true })
    const { calls, tenant } = noting({ 'create-mailbox': () => Promise.reject(away) })
    await expect(run(tenant, requestId, { now: began })).rejects.toThrow('Exchange is away.')
    await run(tenant, requestId, { lastAttempt: true, now: new Date('2026-11-20T10:05:00.000Z') })
    expect((await stored(requestId)).status).toBe('failed')
    await core.provisioning.retryRequest(admin, { requestId })
    const after = noting()
    await run(after.tenant, requestId)
    const seen = [...calls, ...after.calls].map(({ input }) => input.startedAt)
    expect(new Set(seen.map((at) => at.toISOString()))).toEqual(new Set([began.toISOString()]))
  })

  it('takes only the steps that its kind and wishes need', async () => {
    const some: readonly MailboxStep[] = ['create-mailbox', 'ready-check']
    const { id: templateId } = await core.template({ kind: 'roomMailbox' })
    const tenant: Tenant = { ...core.ports.tenant, mailboxStepsOf: () => [...some] }
    const body = { name: `few-${count}`, displayName: 'Few', templateId }
    const { requestId, steps } = await core.with({ tenant }).submitMailbox(asKim, { body })
    expect(steps.map(({ name }) => name)).toEqual(some)
    const noted = noting()
    await run(noted.tenant, requestId)
    expect(noted.steps()).toEqual(some)
  })

  it('that was made without telling its id is no success', async () => {
    const { requestId } = await asked()
    await run(
      noting({ 'create-mailbox': done, 'block-sign-in': done, 'apply-settings': done, ...nothingMade }).tenant,
      requestId,
      {
        lastAttempt: true,
      },
    )
    expect(await stored(requestId)).toMatchObject({ status: 'failed', problem: { code: 'unexpected' } })
  })
})

const nothingMade: Steps = Object.fromEntries(mailboxSteps.map((step) => [step, done]))
