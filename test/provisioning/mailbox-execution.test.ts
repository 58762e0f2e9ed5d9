import { describe, expect, it } from 'vitest'
import {
  asWritten,
  because,
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
  const submitted = async (more: object = {}) => {
    const { id: templateId } = await core.template({
      kind: 'sharedMailbox',
      fields: [{ key: 'customer', type: 'text', label: 'Customer', customAttribute: 7 }],
    })
    count += 1
    const body = { name: `box-${count}`, displayName: `Box ${count}`, templateId, ...more }
    return asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  }
  /** Returns a tenant that records its calls and runs the given steps instead of its own. */
  const recording = (steps: Steps = {}) => {
    const calls: { step: MailboxStep; input: MailboxStepInput }[] = []
    const { mailboxSteps: usual } = tenantWith()
    const recorded = mailboxSteps.map((step) => [
      step,
      (input: MailboxStepInput): Promise<StepResult<MailboxProgress>> => {
        calls.push({ step, input })
        return (steps[step] ?? usual[step])(input)
      },
    ])
    return { calls, tenant: tenantWith({}, Object.fromEntries(recorded)), steps: () => calls.map(({ step }) => step) }
  }
  const run = (tenant: Tenant, requestId: string, { lastAttempt = false, now = new Date() } = {}) =>
    core.with({ tenant, clock: { now: () => now } }).system.provision(requestId, { lastAttempt, signal })
  const stored = async (requestId: string) => asMailbox(await core.provisioning.readRequest(asKim, { requestId }))
  const notificationsOf = async (requestId: string) =>
    (await core.orders(requestId)).filter(({ name }) => name.startsWith('notify')).map(({ name }) => name)

  it('is created step by step, each with the request and the results of earlier steps', async () => {
    const permissions = { [dana.id]: 'FullAccess', [omar.id]: 'SendAs', [kim.id]: 'None' }
    const metadata = { customer: 'Alpine Tours', free: 'kept' }
    const { requestId, details, address, aliasAddress } = await submitted({ permissions, metadata, alias: 'desk' })
    const mailbox = { mailboxId: 'guid', userId: 'user', userPrincipalName: 'box@contoso.example' }
    const { calls, tenant, steps } = recording({ 'create-mailbox': async () => ({ done: true, made: mailbox }) })
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
    const request = await stored(requestId)
    expect([request.status, request.resource]).toEqual(['succeeded', { address, mailboxId: 'guid' }])
    expect(request.steps.every(({ status, attempts }) => status === 'done' && attempts === 1)).toBe(true)
    expect(await notificationsOf(requestId)).toEqual([])
  })

  it('defers its job at a waiting step and continues there', async () => {
    const { requestId } = await submitted()
    let ready = false
    const { tenant, steps } = recording({
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

  it('stores the results of a waiting step, and continues at once after a wait of 0 seconds', async () => {
    const { requestId } = await submitted()
    const createSince = '2026-11-20T10:00:00.000Z'
    const heldSince = '2026-11-20T10:00:03.000Z'
    let isThere = false
    const { calls, tenant } = recording({
      'create-mailbox': async ({ progress }) => {
        if (!progress.createSince) return { done: false, retryAfterSeconds: 0, made: { createSince } }
        if (!isThere) return { done: false, retryAfterSeconds: 5, made: { heldSince } }
        return { done: true, made: { mailboxId: 'guid', heldSince: undefined } }
      },
    })
    await run(tenant, requestId)
    expect(calls.map(({ input }) => input.progress)).toEqual([{}, { createSince }])
    expect((await stored(requestId)).progress).toEqual({ createSince, heldSince })
    const orders = (await core.orders(requestId)).filter(({ name }) => name === 'provision')
    expect(orders).toHaveLength(2)
    isThere = true
    await run(tenant, requestId)
    const request = await stored(requestId)
    expect([request.status, request.progress]).toEqual(['succeeded', { createSince, mailboxId: 'guid' }])
    expect(request.steps[0]).toMatchObject({ status: 'done', attempts: 1 })
  })

  it('keeps its results after a retry, but starts its waits again', async () => {
    const { requestId } = await submitted()
    const kept = { mailboxId: 'guid', createSince: '2026-11-20T10:00:00.000Z' }
    const waited = { checkedSince: '2026-11-20T10:01:00.000Z', heldSince: '2026-11-20T10:02:00.000Z', triedAgain: true }
    const { calls, tenant } = recording({
      'create-mailbox': async () => ({ done: true, made: { ...kept, ...waited } }),
    })
    const refuse = async () => Promise.reject(new TenantError('x', asWritten('No.'), { retryable: false }))
    await run({ ...tenant, mailboxSteps: { ...tenant.mailboxSteps, 'ready-check': refuse } }, requestId)
    expect((await stored(requestId)).progress).toEqual({ ...kept, ...waited })
    await core.provisioning.retryRequest(admin, { requestId })
    await run(tenant, requestId)
    expect(calls.at(-1)).toMatchObject({ step: 'ready-check' })
    expect(calls.at(-1)?.input.progress).toEqual(kept)
  })

  it('stores the results of a successful ready check', async () => {
    const { requestId } = await submitted()
    const checks: Check[] = [{ name: 'address', ok: true, detail: '' }]
    await run(recording({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
    expect(await stored(requestId)).toMatchObject({ status: 'succeeded', checks, problem: null })
  })

  it('fails at a ready check with faults, stays in the tenant, and people are notified', async () => {
    const { requestId } = await submitted()
    const missing = because('peopleMissing', { count: 1, people: { all: ['Dana Fox'] } })
    const checks: Check[] = [
      { name: 'address', ok: true, detail: '' },
      { name: 'fullAccess', ok: false, detail: 'Dana Fox is missing', reason: missing },
      { name: 'visibility', ok: false, detail: '' },
    ]
    await run(recording({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
    const failed = await stored(requestId)
    expect(failed).toMatchObject({
      ...{ status: 'failed', checks, progress: { mailboxId: 'mailbox' }, resource: null },
      problem: { code: 'ready-check', step: 'ready-check' },
    })
    expect(failed.problem?.detail).toMatch(/fullAccess \(Dana Fox is missing\); visibility/)
    expect(failed.steps.map(({ status }) => status)).toEqual([...Array.from({ length: 8 }, () => 'done'), 'failed'])
    expect(await notificationsOf(requestId)).toEqual(['notify', 'notify-admins'])

    const retried = asMailbox(await core.provisioning.retryRequest(admin, { requestId }))
    expect([retried.checks, retried.problem, retried.startedAt]).toEqual([[], null, failed.startedAt])
    const { tenant, steps } = recording()
    await run(tenant, requestId)
    expect(steps()).toEqual(['apply-settings', 'grant-access', 'ready-check'])
    expect((await stored(requestId)).status).toBe('succeeded')
  })

  it.each(checkNames.filter((name) => mailboxSteps.some((step) => step === checkSteps[name])))(
    'repeats only one step after the check %s failed',
    async (name: CheckName) => {
      const { requestId } = await submitted()
      const checks: Check[] = [{ name, ok: false, detail: '' }]
      await run(recording({ 'ready-check': async () => ({ done: true, made: {}, checks }) }).tenant, requestId)
      await core.provisioning.retryRequest(admin, { requestId })
      const { tenant, steps } = recording()
      await run(tenant, requestId)
      expect(steps()).toEqual([checkSteps[name], 'ready-check'])
    },
  )

  it('fails with a free name if its name belongs to another mailbox', async () => {
    const { requestId, address } = await submitted()
    const [name = ''] = address.split('@')
    core.world.taken.add(address)
    const taken = new TenantError('name-taken', asWritten(`${address} belongs to somebody else.`), { retryable: false })
    await run(recording({ 'create-mailbox': () => Promise.reject(taken) }).tenant, requestId)
    const { status, problem } = await stored(requestId)
    expect([status, problem?.code, problem?.step, problem?.suggestion]).toEqual([
      ...['failed', 'name-taken', 'create-mailbox', `${name}-2`],
    ])
    expect(problem?.detail).toBe(`${address} belongs to somebody else. ${name}-2 is free.`)
    const again = await core.provisioning.draftFromRequest(asKim, { requestId })
    expect(again.step === 'details' && again.draft.values['name']).toBe(`${name}-2`)
  })

  it('fails without a suggestion if its name is taken while the tenant does not answer', async () => {
    const { requestId } = await submitted()
    const taken = new TenantError('name-taken', asWritten('It belongs to somebody else.'), { retryable: false })
    const refuse = async () => {
      core.world.up = false
      throw taken
    }
    await run(recording({ 'create-mailbox': refuse }).tenant, requestId)
    core.world.up = true
    const { problem } = await stored(requestId)
    expect(problem).toMatchObject({
      code: 'name-taken',
      detail: 'It belongs to somebody else.',
      step: 'create-mailbox',
    })
    expect(problem).not.toHaveProperty('suggestion')
  })

  it('keeps its first start time after failures and retries, to recognise its own mailbox', async () => {
    const { requestId } = await submitted()
    const began = new Date('2026-11-20T10:00:00.000Z')
    const away = new TenantError('unavailable', asWritten('Exchange is away.'), { retryable: true })
    const { calls, tenant } = recording({ 'create-mailbox': () => Promise.reject(away) })
    await expect(run(tenant, requestId, { now: began })).rejects.toThrow('Exchange is away.')
    await run(tenant, requestId, { lastAttempt: true, now: new Date('2026-11-20T10:05:00.000Z') })
    expect((await stored(requestId)).status).toBe('failed')
    await core.provisioning.retryRequest(admin, { requestId })
    const after = recording()
    await run(after.tenant, requestId)
    const startTimes = [...calls, ...after.calls].map(({ input }) => input.startedAt)
    expect(new Set(startTimes.map((at) => at.toISOString()))).toEqual(new Set([began.toISOString()]))
  })

  it('has only the steps for its kind and details', async () => {
    const some: readonly MailboxStep[] = ['create-mailbox', 'ready-check']
    const { id: templateId } = await core.template({ kind: 'roomMailbox' })
    const tenant: Tenant = { ...core.ports.tenant, mailboxStepsOf: () => [...some] }
    const body = { name: `few-${count}`, displayName: 'Few', templateId }
    const { requestId, steps } = await core.with({ tenant }).submitMailbox(asKim, { body })
    expect(steps.map(({ name }) => name)).toEqual(some)
    const recorded = recording()
    await run(recorded.tenant, requestId)
    expect(recorded.steps()).toEqual(some)
  })

  it('fails if its creation returned no id', async () => {
    const { requestId } = await submitted()
    await run(
      recording({ 'create-mailbox': done, 'block-sign-in': done, 'apply-settings': done, ...noResults }).tenant,
      requestId,
      {
        lastAttempt: true,
      },
    )
    expect(await stored(requestId)).toMatchObject({ status: 'failed', problem: { code: 'unexpected' } })
  })
})

const noResults: Steps = Object.fromEntries(mailboxSteps.map((step) => [step, done]))
