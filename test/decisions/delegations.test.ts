import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Delegation, Person } from '../../src/core/index.ts'
import { createDelegationStore } from '../../src/store/approvals/index.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { type EngineName, withDatabase } from '../support/database.ts'
import { named, refusal } from '../support/refusal.ts'

const at = (day: number): string => new Date(Date.UTC(2026, 10, day)).toISOString()

describe.each<EngineName>(['embedded', 'server'])('the delegation store, %s', (engine) => {
  const store = withDatabase(engine)
  const delegationOf = (person: Person, delegate: Person, from: number, until: number, more = {}): Delegation => ({
    ...{ delegationId: randomUUID(), tenantId, person, delegate, from: at(from), until: at(until), endedAt: null },
    ...more,
  })
  const put = (one: Delegation) => store.database.transaction(() => createDelegationStore(store.database).put(one))
  const delegations = () => createDelegationStore(store.database)
  const clear = () => store.database.query('DELETE FROM delegations')

  it('returns a person’s delegation until its end', async () => {
    const one = delegationOf(dana, omar, 1, 5)
    await put(one)
    expect(await delegations().ofPerson(tenantId, dana.id, at(4))).toEqual(one)
    expect(await delegations().ofPerson(tenantId, dana.id, at(5)), 'over').toBeUndefined()
    expect(await delegations().ofPerson(randomUUID(), dana.id, at(4)), 'another tenant').toBeUndefined()
    expect(await delegations().toPerson(tenantId, omar.id, at(4))).toEqual([one])
    expect(await delegations().toPerson(tenantId, dana.id, at(4))).toEqual([])
    expect(await delegations().end(tenantId, dana.id, at(3))).toEqual({ ...one, endedAt: at(3) })
    expect(await delegations().end(tenantId, dana.id, at(3)), 'twice').toBeUndefined()
    expect(await delegations().ofPerson(tenantId, dana.id, at(3))).toBeUndefined()
    await clear()
  })

  it('keeps one delegation for each person: another replaces it', async () => {
    await put(delegationOf(dana, omar, 1, 5))
    const second = delegationOf(dana, priya, 2, 9)
    await put(second)
    expect(await delegations().ofPerson(tenantId, dana.id, at(3))).toEqual(second)
    expect(await delegations().toPerson(tenantId, omar.id, at(3))).toEqual([])
    expect(await delegations().end(tenantId, dana.id, at(10))).toBeUndefined()
    const { rows } = await store.database.query<{ ended: number }>(
      'SELECT count(*)::int AS ended FROM delegations WHERE ended_at IS NOT NULL',
    )
    expect(rows).toEqual([{ ended: 2 }])
    await clear()
  })

  it('deletes a delegation three months after its last day, not earlier', async () => {
    for (const person of [dana, kim]) await put(delegationOf(person, omar, 1, 5))
    await delegations().end(tenantId, kim.id, at(2))
    await put(delegationOf(priya, omar, 1, 60))
    const kept = async (day: number) => {
      await delegations().takeEnded(tenantId, at(day), 100)
      await delegations().forgetOld(new Date(at(day)))
      const { rows } = await store.database.query<{ id: string }>('SELECT person_id AS id FROM delegations')
      return rows.length
    }
    expect([await kept(95), await kept(96), await kept(149), await kept(151)]).toEqual([3, 1, 1, 0])
  })

  it('keeps one delegation after many parallel calls', async () => {
    const many = Array.from({ length: 8 }, (_, index) => delegationOf(dana, index % 2 === 0 ? omar : priya, 1, 5))
    await Promise.all(many.map(put))
    const { rows } = await store.database.query('SELECT 1 FROM delegations WHERE ended_at IS NULL')
    expect(rows).toHaveLength(1)
    await clear()
  })

  it('returns delegates of delegates, and stops at a circle', async () => {
    for (const [person, delegate] of [
      [dana, omar],
      [omar, priya],
      [priya, dana],
      [kim, stranger],
    ] as const)
      await put(delegationOf(person, delegate, 1, 5))
    const reached = (await delegations().reaching(tenantId, [dana.id], at(2))).map(({ person }) => person.id)
    expect(reached.sort()).toEqual([dana.id, omar.id, priya.id].sort())
    expect(await delegations().reaching(tenantId, [], at(2))).toEqual([])
    expect(await delegations().reaching(tenantId, [dana.id], at(6))).toEqual([])
    await clear()
  })
})

describe('an absent approver', () => {
  const core = withCore()
  let now = Date.now()
  const hours = (count: number) => new Date(now + count * 3_600_000).toISOString()
  const at = (settings = {}) => core.with({ clock: { now: () => new Date(now) } }, settings)
  const pendingRequest = async (policy: object = { approvers: [{ user: dana.id }] }, who = kim) => {
    const { id: templateId } = await core.template({ approval: { stages: [policy] } })
    return at().submitSite(actorOf(who), { body: { displayName: `Site ${randomUUID()}`, templateId } })
  }
  const realigned = (person: Person) => at().system.realignApprovals({ tenantId, personId: person.id })
  const actions = async (requestId: string) =>
    (await at().readTimeline(actorOf(kim), { requestId })).map(({ action }) => action)
  const stageOf = async (requestId: string) =>
    (await at().readRequest(actorOf(priya, true), { requestId })).approvals[0]

  it('delegates present and future requests until they are back', async () => {
    const before = await pendingRequest()
    await at().beginDelegation(actorOf(dana), { to: omar.id, until: hours(48) })
    await realigned(dana)
    await realigned(dana)
    expect(await actions(before.requestId)).toEqual(['pendingApproval', 'delegated'])
    expect((await stageOf(before.requestId))?.standIns).toMatchObject([
      { person: omar, insteadOf: [dana.id], why: 'delegated', as: 'delegate', by: dana, until: hours(48) },
    ])
    const during = await pendingRequest()
    expect(await actions(during.requestId)).toEqual(['pendingApproval', 'delegated'])
    expect((await at().pageOfApprovals(actorOf(omar), { limit: 50 })).requests).toHaveLength(2)
    const done = await at().approve(actorOf(omar), { requestId: before.requestId, comment: 'For Dana.' })
    expect([done.status, done.approvals[0]?.decisions[0]?.insteadOf]).toEqual(['queued', [dana]])
    expect(await at().endDelegation(actorOf(dana))).toMatchObject({ delegate: omar })
    expect(
      (await refusal(() => at().approve(actorOf(omar), { requestId: during.requestId }))).code,
      'before any job',
    ).toBe('not-found')
    expect(await actions(during.requestId)).toEqual(['pendingApproval', 'delegated', 'delegated'])
    expect((await at().approve(actorOf(dana), { requestId: during.requestId })).status).toBe('queued')
  })

  it('is represented by the present delegate at each click, even before the job has run', async () => {
    const { requestId } = await pendingRequest()
    await at().beginDelegation(actorOf(dana), { to: omar.id, until: hours(1) })
    expect((await at().approve(actorOf(omar), { requestId })).status).toBe('queued')
    const second = await pendingRequest()
    now += 3_600_000
    expect(
      (await refusal(() => at().approve(actorOf(omar), { requestId: second.requestId }))).code,
      'the delegation is over',
    ).toBe('not-found')
    await at().beginDelegation(actorOf(dana), { to: omar.id, until: hours(1) })
    const third = await pendingRequest()
    await at().beginDelegation(actorOf(dana), { to: priya.id, until: hours(1) })
    expect((await refusal(() => at().approve(actorOf(omar), { requestId: third.requestId }))).code, 'replaced').toBe(
      'not-found',
    )
    expect((await at().approve(actorOf(priya), { requestId: third.requestId })).status).toBe('queued')
    await at().endDelegation(actorOf(dana))
  })

  it('cannot delegate a request to its requester', async () => {
    await at().beginDelegation(actorOf(dana), { to: kim.id, until: hours(1) })
    for (const more of [{}, { selfApproval: true }]) {
      const { requestId, approvals } = await pendingRequest({ approvers: [{ user: dana.id }], ...more })
      expect(approvals[0]?.standIns).toBeUndefined()
      await realigned(dana)
      const { code } = await refusal(() => at().approve(actorOf(kim), { requestId }))
      expect(['self-approval', 'not-an-approver']).toContain(code)
      expect((await stageOf(requestId))?.decisions).toEqual([])
    }
    await at().endDelegation(actorOf(dana))
  })

  it('cannot delegate a right that they lost as a former admin', async () => {
    const admins = randomUUID()
    core.world.groups.set(admins, [omar])
    const own = at({ admins: [admins] })
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: kim.id }] }] } })
    const ask = () => own.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId } })
    const [held, gone] = [await ask(), await ask()]
    await own.beginDelegation(actorOf(omar), { to: stranger.id, until: hours(1) })
    expect((await own.approve(actorOf(stranger), { requestId: held.requestId })).status).toBe('queued')
    core.world.groups.set(admins, [])
    expect((await refusal(() => own.approve(actorOf(stranger), { requestId: gone.requestId }))).code).toBe(
      'not-an-approver',
    )
    await own.endDelegation(actorOf(omar))
    core.world.groups.delete(admins)
    expect(core.world.groups.get(approversGroup)).toBeDefined()
  })

  it('gets a fault for each invalid field', async () => {
    const guest = { ...stranger, id: randomUUID(), displayName: 'Gus Guest' }
    core.world.people.set(guest.id, guest)
    core.world.guests.add(guest.id)
    const faults = async (to: string, until: string) =>
      named((await refusal(() => at().beginDelegation(actorOf(dana), { to, until }))).faults)
    expect(await faults(dana.id, hours(1))).toEqual(['/to same-person'])
    expect(await faults(randomUUID(), hours(1))).toEqual(['/to unknown-person'])
    expect(await faults(guest.id, hours(1))).toEqual(['/to cannot-decide'])
    core.world.people.set(guest.id, { ...guest, isBlocked: true })
    core.world.guests.delete(guest.id)
    expect(await faults(guest.id, hours(1))).toEqual(['/to cannot-decide'])
    for (const until of [hours(0), hours(-1), 'Friday', ''])
      expect(await faults(omar.id, until)).toEqual(['/until past'])
    expect(await faults(omar.id, hours(367 * 24))).toEqual(['/until too-late'])
    expect(await at().readDelegations(actorOf(dana))).toEqual({ own: undefined, toMe: [] })
    expect(await at().endDelegation(actorOf(dana))).toBeUndefined()
  })
})
