import { describe, expect, it } from 'vitest'
import { type Core, isForMailbox } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

const hour = 3_600_000

describe('a request whose address is taken during the wait', () => {
  const core = withCore()
  let now = Date.now()
  const provisioning = (): Core => core.with({ clock: { now: () => new Date(now) } })
  const read = (requestId: string) => provisioning().readRequest(actorOf(kim), { requestId })
  const actions = async (requestId: string) =>
    (await provisioning().readTimeline(actorOf(kim), { requestId })).map(({ action }) => action)
  const cards = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, payload }) =>
      name === 'notify' ? [`${String(payload['card']).split(':')[0]} ${names[String(payload['personId'])]}`] : [],
    )
  const names: Record<string, string> = { [kim.id]: 'Kim', [dana.id]: 'Dana', [omar.id]: 'Omar', [priya.id]: 'Priya' }

  async function submit(alias: string, stages: object[] = [{ approvers: [{ user: dana.id }] }]): Promise<string> {
    const { id: templateId } = await core.template({ approval: { stages } })
    const body = { displayName: alias, alias, templateId }
    return (await provisioning().submitSite(actorOf(kim), { body })).requestId
  }
  /** Lets an approver open their card after somebody else has taken the address. */
  async function taken(alias: string): Promise<string> {
    const requestId = await submit(alias)
    core.world.taken.add(alias)
    const { facts } = await provisioning().readForApproval(actorOf(dana), { requestId })
    expect(facts.address).toBe('taken')
    return requestId
  }

  it('keeps waiting, asks its requester once, and reminds nobody', async () => {
    const requestId = await taken('sirius')
    await provisioning().readForApproval(actorOf(dana), { requestId })
    expect(await read(requestId)).toMatchObject({
      status: 'pendingApproval',
      addressConflict: { taken: 'sirius', suggestion: 'sirius-2' },
    })
    expect(await cards(requestId)).toEqual(['approval Dana', 'address Kim'])
    now += 80 * hour
    await provisioning().system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    const { approvals } = await read(requestId)
    expect([approvals[0]?.reminders, approvals[0]?.escalatedAt]).toEqual([undefined, undefined])
    const nudged = refusal(() => provisioning().nudge(actorOf(kim), { requestId }))
    expect((await nudged).code).toBe('already-ended')
  })

  it('is not approved by anybody, not even by an admin, and can be rejected', async () => {
    const requestId = await taken('vega')
    const { code } = await refusal(() => provisioning().approve(actorOf(dana), { requestId }))
    expect([code, (await read(requestId)).addressConflict?.suggestion]).toEqual(['name-taken', 'vega-2'])
    const order = { requestId, decision: 'approved', comment: 'Now.' } as const
    expect((await refusal(() => provisioning().override(actorOf(priya, true), order))).code).toBe('name-taken')
    expect((await provisioning().reject(actorOf(dana), { requestId, comment: 'No.' })).status).toBe('rejected')
    expect((await read(requestId)).addressConflict).toBeUndefined()
  })

  it('continues with another address: the approver gets a new card, and the timers move by the wait', async () => {
    const requestId = await taken('rigel')
    const before = (await read(requestId)).approvals[0]?.times
    now += 30 * hour
    const other = await submit('rigel-2')
    const lost = await refusal(() => provisioning().changeAddress(actorOf(kim), { requestId, address: 'rigel-2' }))
    expect([lost.code, lost.faults[0]?.suggestion]).toEqual(['validation-failed', 'rigel-2-2'])
    for (const address of ['Betelgeuse', 'Betelgeuse'])
      await provisioning().changeAddress(actorOf(kim), { requestId, address })
    const after = await read(requestId)
    expect(after).toMatchObject({ alias: 'betelgeuse', addressChanges: [{ from: 'rigel', to: 'betelgeuse' }] })
    const moved = (moment?: string) => Date.parse(moment ?? '') - 30 * hour
    expect(moved(after.approvals[0]?.times?.remindAt)).toBe(Date.parse(before?.remindAt ?? ''))
    expect(moved(after.approvals[0]?.times?.expiresAt)).toBe(Date.parse(before?.expiresAt ?? ''))
    expect(await cards(requestId)).toEqual(['approval Dana', 'address Kim', 'reminder Dana'])
    expect(await core.ports.reservations.holder(after.tenantId, 'rigel')).toBeUndefined()
    expect(await core.ports.reservations.holder(after.tenantId, 'betelgeuse')).toBe(requestId)
    expect((await provisioning().approve(actorOf(dana), { requestId })).status).toBe('queued')
    expect((await read(other)).status).toBe('pendingApproval')
  })

  it('continues when the address is free again', async () => {
    const requestId = await taken('altair')
    core.world.taken.delete('altair')
    expect((await provisioning().approve(actorOf(dana), { requestId })).status).toBe('queued')
    expect(await actions(requestId)).toEqual(['pendingApproval', 'address-taken', 'address-free', 'approved', 'queued'])
  })

  /** Submits a mailbox with an additional address, and lets an approver open their card after its address was taken. */
  async function takenMailbox(name: string): Promise<{ requestId: string; address: string; aliasAddress: string }> {
    const stages = [{ approvers: [{ user: dana.id }] }]
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', approval: { stages } })
    const body = { displayName: name, name, alias: `${name}-also`, templateId }
    const mailbox = await provisioning().submitMailbox(actorOf(kim), { body })
    if (!isForMailbox(mailbox)) throw new Error('the request is not for a mailbox')
    const { requestId, address, aliasAddress } = mailbox
    core.world.taken.add(address)
    await provisioning().readForApproval(actorOf(dana), { requestId })
    expect(await read(requestId)).toMatchObject({ addressConflict: { taken: address } })
    return { requestId, address, aliasAddress }
  }
  /** Replaces the conflict of a request by one about the additional address. */
  async function replaced({ requestId, address, aliasAddress }: Awaited<ReturnType<typeof takenMailbox>>) {
    core.world.taken.delete(address)
    core.world.taken.add(aliasAddress)
    const { code } = await refusal(() => provisioning().approve(actorOf(dana), { requestId }))
    expect([code, (await read(requestId)).addressConflict?.taken]).toEqual(['name-taken', aliasAddress])
  }

  it('does not apply an answer to a conflict that began during the answer', async () => {
    const mailbox = await takenMailbox('mira')
    const { directory } = core.ports
    let version: number | undefined
    const slow = core.with({
      directory: {
        ...directory,
        async isMailboxNameFree(address) {
          const isFree = await directory.isMailboxNameFree(address)
          if (version === undefined) {
            version = 0
            await replaced(mailbox)
            version = (await read(mailbox.requestId)).version
          }
          return isFree
        },
      },
    })
    const answer = { requestId: mailbox.requestId, address: 'mira-2@contoso.example' }
    await slow.changeAddress(actorOf(kim), answer)
    expect(version).toBeGreaterThan(0)
    expect(await read(mailbox.requestId)).toMatchObject({
      ...{ address: mailbox.address, aliasAddress: mailbox.aliasAddress, version },
      addressConflict: { taken: mailbox.aliasAddress },
    })
    expect((await core.ports.audit.prove(mailbox.requestId))?.findings).toEqual([])
  })

  it('moves the timers by the whole wait, also if another address is taken meanwhile', async () => {
    const mailbox = await takenMailbox('capella')
    const { requestId } = mailbox
    const before = (await read(requestId)).approvals[0]?.times
    now += 20 * hour
    await replaced(mailbox)
    now += 10 * hour
    await provisioning().changeAddress(actorOf(kim), { requestId, address: '' })
    const after = await read(requestId)
    expect([after.addressConflict, after]).toMatchObject([undefined, { aliasAddress: '' }])
    const moved = Date.parse(after.approvals[0]?.times?.expiresAt ?? '') - Date.parse(before?.expiresAt ?? '')
    expect(moved).toBe(30 * hour)
    expect(await cards(requestId)).toEqual(['approval Dana', 'address Kim', 'address Kim', 'reminder Dana'])
  })

  describe('that is the additional address of a mailbox', () => {
    const approval = { stages: [{ approvers: [{ user: dana.id }] }] }
    async function takenAlias(name: string, naming: object = {}): Promise<string> {
      const { id: templateId } = await core.template({ kind: 'sharedMailbox', approval, naming })
      const body = { displayName: name, name, alias: `${name}-also`, templateId }
      const mailbox = await provisioning().submitMailbox(actorOf(kim), { body })
      if (!isForMailbox(mailbox)) throw new Error('the request is not for a mailbox')
      core.world.taken.add(mailbox.aliasAddress)
      await provisioning().readForApproval(actorOf(dana), { requestId: mailbox.requestId })
      return mailbox.requestId
    }
    const change = (requestId: string, address: string) =>
      provisioning().changeAddress(actorOf(kim), { requestId, address })
    const faults = async (requestId: string, address: string) =>
      (await refusal(() => change(requestId, address))).faults.map(({ code, suggestion }) => [code, suggestion])

    it('gets another domain of the organisation', async () => {
      const requestId = await takenAlias('procyon')
      const changed = await change(requestId, 'Info@contoso-labs.example')
      expect(changed).toMatchObject({ aliasAddress: 'info@contoso-labs.example' })
      expect(changed.addressConflict).toBeUndefined()
    })

    it('does not get a domain of another organisation', async () => {
      const requestId = await takenAlias('pollux')
      expect(await faults(requestId, 'info@fabrikam.example')).toEqual([['domain-not-accepted', 'contoso.example']])
      expect((await read(requestId)).addressConflict).toBeDefined()
    })

    it('is not replaced by the address that the mailbox has anyway', async () => {
      const requestId = await takenAlias('bellatrix')
      expect(await faults(requestId, 'bellatrix')).toEqual([['name-taken', 'bellatrix-also-2@contoso.example']])
      expect((await read(requestId)).addressConflict).toBeDefined()
      expect(await change(requestId, '')).toMatchObject({ aliasAddress: '' })
    })

    it('follows the pattern and the blocked words of its template', async () => {
      const naming = { alias: { pattern: 'team-{input}' }, blockedWords: ['payroll'] }
      const requestId = await takenAlias('castor', naming)
      expect(await faults(requestId, 'payroll')).toEqual([['blocked-word', 'payroll']])
      expect(await faults(requestId, 'a'.repeat(60))).toEqual([['too-long', '59']])
      core.world.taken.add('team-plain@contoso.example')
      expect(await faults(requestId, 'plain')).toEqual([['name-taken', 'team-plain-2@contoso.example']])
      expect(await change(requestId, 'simple')).toMatchObject({ aliasAddress: 'team-simple@contoso.example' })
    })

    it('gets a suggestion by the pattern of its template', async () => {
      const requestId = await takenAlias('regulus', { alias: { pattern: '{input}-shared' } })
      expect((await read(requestId)).addressConflict).toMatchObject({
        taken: 'regulus-also-shared@contoso.example',
        suggestion: 'regulus-also-2-shared@contoso.example',
      })
    })

    it('keeps the number of its request', async () => {
      const numbered = { pattern: '{input}-{counter:3}' }
      const requestId = await takenAlias('m31', { name: numbered, alias: numbered })
      expect((await read(requestId)).addressConflict).toMatchObject({
        taken: 'm31-also-001@contoso.example',
        suggestion: 'm31-also-2-001@contoso.example',
      })
      expect(await change(requestId, 'galaxy')).toMatchObject({ aliasAddress: 'galaxy-001@contoso.example' })
    })

    it('follows a pattern that leaves no room for typed text', async () => {
      const requestId = await takenAlias('aldebaran', { alias: { pattern: 'shared-{kind}' } })
      expect((await read(requestId)).addressConflict?.suggestion).toBe('shared-shared-2@contoso.example')
      expect(await change(requestId, 'any')).toMatchObject({ aliasAddress: 'shared-shared-2@contoso.example' })
    })
  })

  it('is warned again before its new end, with new cards, if the warning came during the wait', async () => {
    const start = now
    const requestId = await taken('spica')
    const card = { requestId, personId: dana.id, key: 'approval:1', conversationId: 'chat' } as const
    await core.ports.sentCards.put({ ...card, activityId: 'first', state: 'sent' })
    const keys = async () =>
      (await core.orders(requestId)).flatMap(({ payload }) =>
        /^(reminder|warning)/.test(String(payload['card']))
          ? [`${payload['card']} ${names[String(payload['personId'])]}`]
          : [],
      )
    const run = async (days: number) => {
      now = start + days * 24 * hour
      await provisioning().system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    }
    await run(12)
    expect(await keys()).toEqual(['warning:1 Kim'])
    await provisioning().reassign(actorOf(dana), { requestId, to: omar.id })
    await provisioning().reassign(actorOf(omar), { requestId, to: dana.id })
    now = start + 13 * 24 * hour
    await provisioning().changeAddress(actorOf(kim), { requestId, address: 'spica-2' })
    expect((await read(requestId)).approvals[0]?.warnedAt).toBeUndefined()
    await run(25)
    expect(await keys()).toEqual([
      'warning:1 Kim',
      ...['reminder:1:3 Dana', 'reminder:1:4 Dana', 'reminder:1:5 Dana'],
      'warning:1:1 Kim',
    ])
    await run(27)
    expect((await read(requestId)).status).toBe('expired')
  })

  it('can be changed only by its requester', async () => {
    const requestId = await taken('deneb')
    for (const other of [actorOf(dana), actorOf(priya, true)])
      expect((await refusal(() => provisioning().changeAddress(other, { requestId, address: 'deneb-2' }))).code).toBe(
        'forbidden',
      )
    const stranger = refusal(() => provisioning().changeAddress(actorOf(omar), { requestId, address: 'deneb-2' }))
    expect((await stranger).code).toBe('not-found')
  })
})
