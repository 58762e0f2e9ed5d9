import { afterEach, describe, expect, test } from 'vitest'
import { mailboxReadyView } from '../../src/cards/provisioning/index.ts'
import { renderRequestStatus } from '../../src/cards/requests/request-card.ts'
import { requestView, viewOf } from '../../src/core/index.ts'
import { viewerOf } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, asMailbox, kim, omar, withCore } from '../support/core.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const asKim = actorOf(kim)
const asAdmin = actorOf(omar, true)
const { signal } = new AbortController()

describe('a mailbox request', () => {
  const core = withCore()
  const contoso = withTenant()
  afterEach(async () => {
    await contoso.healthy()
    await contoso.modes({ placeLagSeconds: 0, newPlaceSeconds: 0, mailboxesAreLicensed: false })
  })

  let count = 0
  const provisioning = () => core.with({ tenant: contoso.tenant, directory: contoso.directory })
  const submit = async (kind: 'sharedMailbox' | 'roomMailbox', more: object = {}) => {
    count += 1
    const { id: templateId } = await core.template({ kind, name: `${kind} ${count}` })
    const body = { name: `box-${count}`, displayName: `Box ${count}`, templateId, ...more }
    return (await provisioning().submitMailbox(asKim, { body })).requestId
  }
  const read = async (requestId: string) => asMailbox(await provisioning().readRequest(asKim, { requestId }))
  /** Runs the job once, as the queue does. Returns the error that causes a retry. */
  const attempt = (requestId: string, lastAttempt = false): Promise<unknown> =>
    provisioning()
      .system.provision(requestId, { lastAttempt, signal })
      .then(
        () => undefined,
        (error: unknown) => error,
      )
  const announced = async (requestId: string) => {
    await provisioning().system.pollDirectory(requestId, 0)
    return read(requestId)
  }
  /** Returns the texts that the requester and an admin read on the card of the request. */
  const cards = async (requestId: string) => {
    const request = await read(requestId)
    return {
      requester: textOf(renderRequestStatus(request, viewerOf(kim))),
      admin: textOf(renderRequestStatus(request, viewerOf(omar, { isAdmin: true }))),
    }
  }
  const retry = (requestId: string) => provisioning().retryRequest(asAdmin, { requestId, comment: '' })
  const room = { metadata: { seats: 12 }, city: 'Bern', roomMailboxMetadata: { hasWhiteboard: true } }

  describe('whose cmdlet runs on another server', () => {
    const proxied = { operation: 'exchange.set-calendarprocessing', kind: 'wrapped' }

    test('is retried when the error has no inner exception, and completes', async () => {
      await contoso.fault(proxied)
      const requestId = await submit('roomMailbox')
      expect(await attempt(requestId)).toMatchObject({ code: 'CmdletProxyException', retryable: true })
      const during = await read(requestId)
      expect(during.status).toBe('provisioning')
      expect(during.steps.find(({ name }) => name === 'apply-booking')?.problem?.detail).toBe(
        'Exchange Online answered 400 (CmdletProxyException) while setting how bookings are answered. ' +
          "The mailbox's own server did not complete the command. New mailboxes cause this, so a later retry usually succeeds.",
      )
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).status).toBe('succeeded')
    })

    test('is retried when the inner exception is unknown, and its name is in the message', async () => {
      await contoso.fault({
        ...proxied,
        inner: 'Microsoft.Exchange.Data.Directory.ADServerSettingsChangedException',
      })
      const requestId = await submit('roomMailbox')
      const failure = await attempt(requestId)
      expect(failure).toMatchObject({ code: 'CmdletProxyException', retryable: true })
      expect(String(failure)).toContain('(CmdletProxyException: ADServerSettingsChangedException)')
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).status).toBe('succeeded')
    })

    test('waits when the inner exception is "not found", without an attempt', async () => {
      await contoso.fault({ ...proxied, inner: 'ManagementObjectNotFoundException' })
      const requestId = await submit('roomMailbox')
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).status).toBe('provisioning')
      expect(await attempt(requestId)).toBeUndefined()
      const { status, steps } = await read(requestId)
      expect([status, steps.find(({ name }) => name === 'apply-booking')?.attempts]).toEqual(['succeeded', 1])
    })

    test('is refused as taken when the inner exception says so', async () => {
      await contoso.fault({
        operation: 'exchange.set-mailbox',
        kind: 'wrapped',
        inner: 'ProxyAddressExistsException',
        skip: 1,
      })
      const requestId = await submit('sharedMailbox', { alias: 'wrapped-alias' })
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).problem).toMatchObject({ code: 'alias-taken' })
    })

    test('fails at once when the inner exception is a wrong value', async () => {
      await contoso.fault({ ...proxied, inner: 'DataValidationException' })
      const requestId = await submit('roomMailbox')
      expect(await attempt(requestId)).toBeUndefined()
      expect(await read(requestId)).toMatchObject({
        status: 'failed',
        problem: {
          code: 'DataValidationException',
          detail: 'Exchange Online answered 400 (DataValidationException) while setting how bookings are answered.',
        },
      })
    })

    test('adopts the mailbox that the other server created despite its error', async () => {
      await contoso.fault({ operation: 'exchange.new-mailbox', kind: 'wrapped', ran: true })
      const requestId = await submit('sharedMailbox')
      expect(await attempt(requestId)).toMatchObject({ retryable: true })
      expect(await attempt(requestId)).toBeUndefined()
      const { status, address } = await read(requestId)
      expect(status).toBe('succeeded')
      const { body } = await contoso.cmdlet('Get-Mailbox', { Filter: `EmailAddresses -eq 'smtp:${address}'` })
      expect(body.value).toMatchObject([{ CustomAttribute15: requestId }])
      const made = (await contoso.calls()).filter(({ operation }) => operation === 'exchange.new-mailbox')
      expect(made.filter(({ body: sent }) => JSON.stringify(sent).includes(`${address}"`))).toHaveLength(1)
    })

    test('fails after the last attempt with a reason, and completes when an admin retries it', async () => {
      await contoso.fault({ ...proxied, count: undefined })
      const requestId = await submit('roomMailbox')
      await attempt(requestId, true)
      const { requester, admin } = await cards(requestId)
      expect(requester).toContain('Microsoft 365 did not answer')
      expect(admin).toContain('New mailboxes cause this, so a later retry usually succeeds.')
      await contoso.healthy()
      await retry(requestId)
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).status).toBe('succeeded')
    })
  })

  test('that Exchange refuses with one NUL byte names the missing role, and completes after the grant', async () => {
    await contoso.fault({ operation: 'exchange.set-user', kind: 'forbiddenNul', count: undefined })
    const requestId = await submit('sharedMailbox', { city: 'Bern' })
    expect(await attempt(requestId)).toBeUndefined()
    const { status, problem } = await read(requestId)
    expect([status, problem?.code]).toEqual(['failed', 'exchange-role-missing'])
    const { requester, admin } = await cards(requestId)
    expect(requester).toContain('Quartermaster lacks a permission.')
    for (const part of ['Exchange Online', "writing the mailbox's contact details", 'Exchange Administrator'])
      expect(admin).toContain(part)
    await contoso.healthy()
    await retry(requestId)
    await attempt(requestId)
    expect((await read(requestId)).status).toBe('succeeded')
  })

  describe('for a room whose place lags', () => {
    test('succeeds, and its cards warn about the values that are not visible yet', async () => {
      await contoso.modes({ placeLagSeconds: 86_400 })
      const requestId = await submit('roomMailbox', room)
      expect(await attempt(requestId)).toBeUndefined()
      const request = await announced(requestId)
      expect(request.status).toBe('succeeded')
      const detail = 'tags is empty instead of "Whiteboard", city is empty instead of "Bern"'
      expect(request.checks.filter(({ ok }) => !ok)).toMatchObject([
        { name: 'place', ok: false, notVisibleYet: true, detail: expect.any(String) },
      ])
      expect(requestView.parse(viewOf(request)).checks).toEqual(request.checks.map(({ reason: _, ...shown }) => shown))
      const warning =
        'Exchange has saved these room details: address, seats, and features. Exchange may need up to 24 hours to show them.'
      expect(mailboxReadyView(request, viewerOf(kim)).checks[0]).toMatchObject({ text: warning, look: { mark: '!' } })
      const { requester, admin } = await cards(requestId)
      for (const card of [requester, admin]) expect(card).toContain(`Some details are not visible yet.`)
      expect(requester).toContain(warning)
      expect(requester).not.toContain('instead of')
      for (const part of detail.split(', ')) expect(admin).toContain(part)
      // All values were written: the room shows them once Exchange has caught up.
      await contoso.modes({ placeLagSeconds: 0 })
      const { body } = await contoso.cmdlet('Get-Place', { Identity: request.address })
      expect(body.value).toMatchObject([{ City: 'Bern', Capacity: 12, Tags: ['Whiteboard'] }])
    })

    test('fails when Exchange refuses the place, which is not a lag', async () => {
      await contoso.modes({ placeLagSeconds: 86_400 })
      await contoso.fault({ operation: 'exchange.set-place', kind: 'failBeforeCommit', status: 400 })
      const requestId = await submit('roomMailbox', room)
      expect(await attempt(requestId)).toBeUndefined()
      expect(await read(requestId)).toMatchObject({ status: 'failed', problem: { step: 'apply-place' } })
    })

    test('fails for other values that differ, and a retry does not set the place again', async () => {
      await contoso.modes({ placeLagSeconds: 86_400 })
      const requestId = await submit('roomMailbox', room)
      const { tenant, directory } = contoso
      const skipped = async () => ({ done: true, made: {} }) as const
      const forgetful = { ...tenant, mailboxSteps: { ...tenant.mailboxSteps, 'apply-contact': skipped } }
      await core.with({ tenant: forgetful, directory }).system.provision(requestId, { lastAttempt: false, signal })
      expect(await read(requestId)).toMatchObject({
        status: 'failed',
        problem: {
          code: 'ready-check',
          detail: 'The resource was created, but differs from the request: contact (city is empty instead of "Bern").',
        },
      })
      await contoso.forgetCalls()
      await retry(requestId)
      expect(await attempt(requestId)).toBeUndefined()
      expect((await read(requestId)).status).toBe('succeeded')
      const written = (await contoso.calls()).map(({ operation }) => operation)
      expect(written).toContain('exchange.set-user')
      expect(written).not.toContain('exchange.set-place')
    })

    test('does not mistake another place for its own when Get-Place returns all places', async () => {
      const twin = await submit('roomMailbox', room)
      await attempt(twin)
      await contoso.modes({ newPlaceSeconds: 3600 })
      const requestId = await submit('roomMailbox', room)
      expect(await attempt(requestId)).toBeUndefined()
      const { status, checks } = await announced(requestId)
      expect(status).toBe('succeeded')
      const detail = 'Exchange does not list it as a place yet'
      expect(checks).toContainEqual(expect.objectContaining({ name: 'place', ok: false, notVisibleYet: true, detail }))
      expect((await cards(requestId)).admin).toContain(detail)
    })
  })

  test('for more than 50 GB reports that a licence is needed, and completes with the licence', async () => {
    const requestId = await submit('sharedMailbox', { capacity: 102_400 })
    expect(await attempt(requestId)).toBeUndefined()
    const { status, problem, address } = await read(requestId)
    expect([status, problem?.code, problem?.detail]).toEqual([
      'failed',
      'capacity-needs-licence',
      `Exchange Online does not allow 100 GB for ${address}. More than 50 GB needs a licence on the mailbox. ` +
        'Assign an Exchange Online Plan 2 licence to it and retry. Or request at most 51200 MB.',
    ])
    expect((await cards(requestId)).requester).toContain('More than 50 GB (51,200 MB) needs a licence on the mailbox')
    await contoso.modes({ mailboxesAreLicensed: true })
    await retry(requestId)
    await attempt(requestId)
    expect((await read(requestId)).status).toBe('succeeded')
  })
})
