import { afterEach, describe, expect, test } from 'vitest'
import type { MailboxStepInput } from '../../src/core/index.ts'
import { mailboxInput, ongoing, persist, wholeMailbox } from '../support/mailbox-steps.ts'
import { kim } from '../support/microsoft365.ts'
import { startTenant, type TestTenant, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()
afterEach(() => contoso.healthy())

const mailboxesNamed = (input: MailboxStepInput) =>
  contoso.found('Get-Mailbox', { Filter: `DisplayName -eq '${input.details.displayName.replaceAll("'", "''")}'` })
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)
const create = (input: MailboxStepInput) => ongoing(contoso.tenant, input).take('create-mailbox')
/** Creates a mailbox manually, without our stamp. */
const createManually = async ({ address, details }: MailboxStepInput, change: Record<string, unknown> = {}) => {
  const name = address.split('@')[0]
  const body = { Name: name, Alias: name, PrimarySmtpAddress: address, DisplayName: details.displayName, ...change }
  const made = await contoso.cmdlet('New-Mailbox', { ...('Room' in body ? {} : { Shared: true }), ...body })
  expect(made.status).toBe(200)
  return made.body.value[0]
}

describe('the step that creates a mailbox', () => {
  test('finds and stamps the mailbox in the next run when its answer was lost', async () => {
    const request = ongoing(contoso.tenant, mailboxInput())
    const { input } = request
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    await expect(request.take('create-mailbox')).rejects.toMatchObject({ retryable: true, code: 'unreachable' })
    const [orphan] = await mailboxesNamed(input)
    expect(orphan).toMatchObject({ CustomAttribute15: '' })
    const found = await request.take('create-mailbox')
    expect(found).toMatchObject({ done: true, made: { mailboxId: orphan?.['Guid'] } })
    expect(await mailboxesNamed(input)).toMatchObject([{ CustomAttribute15: input.requestId }])
  })

  test('stores the time of its first attempt before it creates anything', async () => {
    const input = mailboxInput({ startedAt: new Date(Date.now() - 86_400_000) })
    const result = await contoso.tenant.mailboxSteps['create-mailbox'](input)
    expect(result).toEqual({ done: false, retryAfterSeconds: 0, made: { createSince: expect.any(String) } })
    expect(Math.abs(Date.parse(String(Object(result).made.createSince)) - Date.now())).toBeLessThan(60_000)
    expect(await mailboxesNamed(input)).toEqual([])
  })

  test('fails while the additional address is taken, before it creates anything', async () => {
    const input = mailboxInput({ aliasAddress: 'info@contoso.example' })
    const failure = await failureOf(create(input))
    expect(failure).toMatchObject({ code: 'alias-taken', retryable: false })
    expect(String(failure)).toContain('info@contoso.example')
    expect(await mailboxesNamed(input)).toEqual([])
  })

  test.each<[string, (input: MailboxStepInput) => Promise<unknown>]>([
    ['existed before our work', async (input) => createManually(input)],
    ['has another display name', async (input) => createManually(input, { DisplayName: 'Something else' })],
    ['is of another type', async (input) => createManually(input, { Room: true })],
    [
      'has the name only',
      async (input) =>
        createManually(input, { PrimarySmtpAddress: `x-${input.address}`, Alias: `x-${input.details.name}` }),
    ],
    [
      'has the address as additional address',
      async (input) => {
        const { Guid } = await createManually(mailboxInput())
        const add = [`smtp:${input.address}`]
        await contoso.cmdlet('Set-Mailbox', {
          Identity: Guid,
          EmailAddresses: { '@odata.type': '#Exchange.GenericHashTable', add },
        })
      },
    ],
    [
      "carries another request's stamp",
      async (input) => {
        const { Guid } = await createManually(input)
        await contoso.cmdlet('Set-Mailbox', { Identity: Guid, CustomAttribute15: kim.id })
      },
    ],
  ])('fails with "taken" if a mailbox %s', async (what, make) => {
    const isOlder = what === 'existed before our work'
    const createSince = new Date(Date.now() + (isOlder ? 60_000 : 0)).toISOString()
    const input = mailboxInput({ progress: { createSince } })
    await make(input)
    const before = await contoso.found('Get-Mailbox', {})
    const failure = await failureOf(create(input))
    expect(failure).toMatchObject({ code: 'name-taken', retryable: false })
    expect(String(failure)).toContain(input.address)
    expect(await contoso.found('Get-Mailbox', {})).toEqual(before)
  })

  test('never adopts a mailbox that existed at its first check, though another run may be creating it', async () => {
    const input = mailboxInput()
    const { Guid, WhenCreatedUTC } = await createManually(input)
    const first = await contoso.tenant.mailboxSteps['create-mailbox'](input)
    expect(first).toEqual({ done: false, retryAfterSeconds: 2 })
    // If another run is creating the mailbox, it has stored its start by now, so the mailbox counts as ours. Otherwise
    // the mailbox is soon too old.
    const progress = { createSince: new Date(Date.parse(WhenCreatedUTC)).toISOString() }
    expect(await create({ ...input, progress })).toMatchObject({ done: true, made: { mailboxId: Guid } })
  })

  test('never adopts an identical mailbox that is older than all of our runs', async () => {
    const input = mailboxInput({ address: 'info@contoso.example', details: { displayName: 'Info' } })
    await expect(create(input)).rejects.toMatchObject({ code: 'name-taken', retryable: false })
  })

  test.each(['kim@contoso.example', 'info@contoso-labs.example', 'verkauf@contoso.example'])(
    'is refused as taken at %s',
    async (address) => {
      await expect(create(mailboxInput({ address }))).rejects.toMatchObject({ code: 'name-taken', retryable: false })
      expect(await contoso.directory.isMailboxNameFree(address)).toBe(false)
    },
  )

  test("keeps the mailbox's name when its display name and other texts contain quotes and code", async () => {
    const hostile = `O'Hara "x" \${process.exit()} <b>&amp;</b> $(Remove-Mailbox) \`n`
    const input = mailboxInput({ details: { displayName: hostile } })
    await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    await persist(contoso.tenant, input)
    expect(await mailboxesNamed(input)).toMatchObject([{ DisplayName: hostile, CustomAttribute15: input.requestId }])
  })
})

describe('a mailbox that appears late in lists', () => {
  const slow = withTenant({ exchangeSettleSeconds: 0.1, exchange: { recipientLagSeconds: 2 } })
  afterEach(() => slow.healthy())
  const made = async () => {
    const all = (await slow.cmdlet('Get-Mailbox', { ResultSize: 'Unlimited' })).body.value
    return (input: MailboxStepInput): { CustomAttribute15: string }[] =>
      all.filter(({ PrimarySmtpAddress }: { PrimarySmtpAddress: string }) => PrimarySmtpAddress === input.address)
  }
  const creations = async () =>
    (await slow.calls()).filter(({ operation }) => operation === 'exchange.new-mailbox').map(({ status }) => status)

  test('is stamped by its id while no list shows it', async () => {
    await slow.forgetCalls()
    const { input } = await untilDone(slow, mailboxInput())
    expect(await creations()).toEqual([200])
    await expect.poll(async () => (await made())(input), { timeout: 60_000 }).toHaveLength(1)
    expect((await made())(input)[0]?.CustomAttribute15).toBe(input.requestId)
  })

  test.each(['a moment', 'a day'])('is awaited after a lost answer when work began %s ago', async (when) => {
    await slow.forgetCalls()
    const startedAt = new Date(Date.now() - (when === 'a day' ? 86_400_000 : 0))
    await slow.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    const { input, waits } = await untilDone(slow, mailboxInput({ startedAt }))
    // Exchange is called once more. After "already exists" the step waits and does not call again and again.
    expect(await creations()).toEqual([200, 400])
    expect(waits).toBeGreaterThan(2)
    expect((await made())(input)).toMatchObject([{ CustomAttribute15: input.requestId }])
  })

  test('is the same mailbox for two runs that create it at the same time', async () => {
    const input = mailboxInput()
    const runs = await Promise.all([untilDone(slow, input), untilDone(slow, input)])
    expect(runs[0]?.input.progress.mailboxId).toBe(runs[1]?.input.progress.mailboxId)
    await expect.poll(async () => (await made())(input), { timeout: 60_000 }).toHaveLength(1)
  })

  /** Repeats the step until it is done, as the queue does. */
  async function untilDone(tenant: TestTenant, input: MailboxStepInput) {
    const request = ongoing(tenant.tenant, input)
    const waiting = () => ({ done: false })
    let waits = 0
    while (!(await request.take('create-mailbox').catch(waiting)).done) {
      waits += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
      input.signal.throwIfAborted()
    }
    return { input: request.input, waits }
  }
})

test('a mailbox whose Name is its object id is still recognised as ours', async () => {
  const renaming = await startTenant({ exchange: { nameIsObjectId: true } })
  try {
    await renaming.fault({ operation: 'exchange.new-mailbox', kind: 'resetAfterCommit' })
    const { progress, address } = await persist(renaming.tenant, wholeMailbox())
    const read = await renaming.cmdlet('Get-Mailbox', { Identity: address })
    expect(read.body.value).toMatchObject([{ Name: progress.userId, Guid: progress.mailboxId }])
  } finally {
    await renaming.close()
  }
})
