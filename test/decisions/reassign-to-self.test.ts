import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasReassigned, overridesOwn, ownReassigned } from '../../src/core/decisions/own-reassignment.ts'
import { type ApprovalStage, needsSecondAdmin, type Person, viewOf } from '../../src/core/index.ts'
import { stageOf } from '../support/card-requests.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, stranger, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

type Step = NonNullable<ApprovalStage['reassigned']>[number]
const at = '2026-11-20T10:00:00.000Z'

describe('a part that an admin has reassigned to themselves', () => {
  const all = [kim, dana, omar, priya, stranger]
  const somebody = fc.constantFrom(...all)
  /** A stage after some reassignments of its only part, each by the approver or an admin, to a person who is not an approver. */
  const stages = fc
    .record({
      first: fc.constantFrom(dana, omar),
      steps: fc.array(fc.record({ to: somebody, by: somebody, isOwn: fc.boolean() }), { maxLength: 6 }),
      standIns: fc.array(fc.record({ person: somebody, insteadOf: somebody }), { maxLength: 3 }),
    })
    .map(({ first, steps, standIns }) => {
      let holder: Person = first
      const reassigned: Step[] = []
      for (const { to, by, isOwn } of steps) {
        if (to.id === holder.id) continue
        reassigned.push({ from: [holder], to, by: isOwn ? holder : by, at })
        holder = to
      }
      const standing = standIns.map(({ person, insteadOf }) => {
        const since = { since: at, why: 'delegated', as: 'delegate' } as const
        return { person, insteadOf: [insteadOf.id], ...since }
      })
      return { first, reassigned, stage: stageOf(1, [holder], { reassigned, standIns: standing }), holder }
    })

  /** The same rule in the other direction: the last person who reassigned another person's part. */
  const moverOf = (reassigned: readonly Step[]): string | undefined => {
    let mover: string | undefined
    for (const { from, by } of reassigned) if (!from.some(({ id }) => id === by.id)) mover = by.id
    return mover
  }

  it('is a part that they can decide and reassigned last, not one that a second admin reassigned later', () => {
    fc.assert(
      fc.property(stages, somebody, ({ stage, reassigned, holder }, { id }) => {
        const speaks =
          holder.id === id ||
          stage.standIns?.some(({ person, insteadOf }) => person.id === id && insteadOf[0] === holder.id)
        const expected = speaks && moverOf(reassigned) === id ? [holder.id] : []
        expect(ownReassigned(stage, id, at).map((one) => one.id)).toEqual(expected)
      }),
    )
  })

  it('does not exist for people who reassigned only their own part; overrides and decisions agree on it', () => {
    fc.assert(
      fc.property(stages, somebody, ({ stage, reassigned }, { id }) => {
        const moved = reassigned.some(({ by, from }) => by.id === id && from[0]?.id !== id)
        expect(hasReassigned([stage], id)).toBe(moved)
        const isOwn = ownReassigned(stage, id, at).length > 0
        if (!moved) expect([isOwn, overridesOwn([stage], id, at)]).toEqual([false, false])
        if (isOwn) expect(overridesOwn([stage], id, at)).toBe(true)
        if (reassigned.some(({ by, to, from }) => by.id === id && to.id === id && from[0]?.id !== id))
          expect(overridesOwn([stage], id, at)).toBe(true)
      }),
    )
  })

  it('needs a second admin on cards only if there was one at the reassignment', () => {
    fc.assert(
      fc.property(stages, somebody, fc.boolean(), ({ stage }, { id }, isFound) => {
        const marked = (stage.reassigned ?? []).map((one) =>
          isFound ? { ...one, needsSecondAdmin: true as const } : one,
        )
        const known = { ...stage, reassigned: marked }
        expect(needsSecondAdmin(known, id, at)).toBe(isFound && ownReassigned(stage, id, at).length > 0)
      }),
    )
  })
})

describe('an admin who has reassigned a decision to themselves', () => {
  const core = withCore()
  const admins = (...of: Person[]) => core.with({}, { admins: of.map(({ id }) => id) })
  const pendingRequest = async (policy: object = { approvers: [{ user: dana.id }] }, who = kim) => {
    const { id: templateId } = await core.template({ approval: { stages: [policy] } })
    const body = { displayName: `Site ${randomUUID()}`, templateId }
    return (await core.provisioning.submitSite(actorOf(who), { body })).requestId
  }
  const admin = actorOf(priya, true)
  const takes = (requestId: string, to: Person = priya, who = admin, system = admins(priya, stranger)) =>
    system.reassign(who, { requestId, to: to.id })
  const because = { decision: 'approved', comment: 'It is urgent.' } as const
  const ways = {
    approve: (system: typeof core.provisioning, id: string) => system.approve(admin, { requestId: id }),
    reject: (system: typeof core.provisioning, id: string) => system.reject(admin, { requestId: id, comment: 'No.' }),
    override: (system: typeof core.provisioning, id: string) => system.override(admin, { requestId: id, ...because }),
    'override to reject': (system: typeof core.provisioning, id: string) =>
      system.override(admin, { requestId: id, ...because, decision: 'rejected' }),
  }

  it.each(Object.entries(ways))('cannot decide alone while there is another admin: %s', async (tried, decide) => {
    const requestId = await pendingRequest()
    await takes(requestId)
    const before = await core.ports.requests.find(requestId)
    const error = await refusal(() => decide(admins(priya, stranger), requestId))
    expect([error.code, sentenceOf(error)]).toEqual([
      'second-admin-needed',
      'You reassigned this to yourself, or to somebody who delegates to you. Another admin must decide: Sasha Moreau.',
    ])
    expect(await core.ports.requests.find(requestId)).toEqual(before)
    const entry = (await core.ports.audit.timeline(requestId)).find(({ action }) => action === 'refused')
    expect(entry).toMatchObject({ actor: priya, data: { tried: tried.split(' ')[0], code: 'second-admin-needed' } })
    const other = await admins(priya, stranger).override(actorOf(stranger, true), { requestId, ...because })
    expect(other.status).toBe('queued')
    expect((await core.provisioning.readAudit(admin, { requestId })).findings).toEqual([])
  })

  it.each(Object.entries(ways))('decides as the only admin, and the decision is marked: %s', async (_, decide) => {
    const requestId = await pendingRequest()
    await takes(requestId, priya, admin, admins(priya))
    const request = await decide(admins(priya), requestId)
    expect(request.status).not.toBe('pendingApproval')
    expect(viewOf(request).approvals[0]?.decisions).toMatchObject([{ by: priya, ownReassignment: true }])
    const entry = (await core.ports.audit.timeline(requestId)).find(({ action }) =>
      /^(approved|rejected)$/.test(action),
    )
    expect(entry?.data).toMatchObject({ ownReassignment: true })
  })

  it('decides if a setting allows it, and the decision is marked', async () => {
    const requestId = await pendingRequest()
    const system = core.with({}, { admins: [priya.id, stranger.id], adminDecidesOwnReassignment: true })
    await takes(requestId, priya, admin, system)
    const { approvals } = await system.approve(admin, { requestId })
    expect(approvals[0]?.decisions[0]?.ownReassignment).toBe(true)
    expect(approvals[0]?.reassigned?.[0]?.needsSecondAdmin).toBeUndefined()
  })

  it.each([
    ['a blocked account', { ...stranger, isBlocked: true as const }],
    ['a guest', { ...stranger, isGuest: true as const }],
  ])('does not need %s or the requester as a second admin', async (_, account) => {
    core.world.people.set(stranger.id, account)
    const requestId = await pendingRequest()
    const system = admins(priya, stranger, kim)
    await takes(requestId, priya, admin, system)
    const { status } = await system.approve(admin, { requestId })
    core.world.people.set(stranger.id, stranger)
    expect(status).toBe('queued')
  })

  it('needs a member of the admin group as a second admin, and the answer names two of them', async () => {
    const requestId = await pendingRequest()
    const system = core.with({}, { admins: [priya.id, approversGroup, stranger.id] })
    await takes(requestId, priya, admin, system)
    const error = await refusal(() => system.approve(admin, { requestId }))
    expect(sentenceOf(error)).toContain('Another admin must decide: Dana Fox or Omar Haddad.')
  })

  it('cannot decide through a person they decide for, or through a chain of reassignments', async () => {
    const system = admins(priya, stranger)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const byDelegation = await pendingRequest()
    await system.beginDelegation(actorOf(omar), { to: priya.id, until })
    await takes(byDelegation, omar)
    expect((await system.readRequest(admin, { requestId: byDelegation })).approvals[0]?.standIns).toMatchObject([
      { person: priya },
    ])
    for (const decide of [ways.approve, ways.override])
      expect((await refusal(() => decide(system, byDelegation))).code).toBe('second-admin-needed')
    expect((await system.approve(actorOf(omar), { requestId: byDelegation })).status, 'the new approver decides').toBe(
      'queued',
    )
    await system.endDelegation(actorOf(omar))
    const byChain = await pendingRequest()
    await takes(byChain, omar)
    await system.reassign(actorOf(omar), { requestId: byChain, to: priya.id })
    expect((await refusal(() => system.approve(admin, { requestId: byChain }))).code).toBe('second-admin-needed')
    const passedOn = await pendingRequest()
    await takes(passedOn)
    await system.reassign(admin, { requestId: passedOn, to: omar.id })
    expect((await refusal(() => ways.override(system, passedOn))).code).toBe('second-admin-needed')
    expect((await system.approve(actorOf(omar), { requestId: passedOn })).status).toBe('queued')
  })

  it('decides a part from a second admin or the approver, and overrides a part that they reassigned to another person', async () => {
    const system = admins(priya, stranger)
    const bySecond = await pendingRequest()
    await takes(bySecond, omar)
    await system.reassign(actorOf(stranger, true), { requestId: bySecond, to: priya.id })
    const decided = await system.approve(admin, { requestId: bySecond })
    expect([decided.status, decided.approvals[0]?.decisions[0]?.ownReassignment]).toEqual(['queued', undefined])
    const byApprover = await pendingRequest()
    await system.reassign(actorOf(dana), { requestId: byApprover, to: priya.id })
    expect((await system.approve(admin, { requestId: byApprover })).status).toBe('queued')
    const toAnother = await pendingRequest()
    await takes(toAnother, omar)
    expect((await ways.override(system, toAnother)).status).toBe('queued')
    expect((await ways.override(system, await pendingRequest())).status).toBe('queued')
  })

  it('keeps their own vote, and only the reassigned one does not count', async () => {
    const requestId = await pendingRequest({ approvers: [{ user: priya.id }, { user: dana.id }], rule: 'all' })
    const system = admins(priya, stranger)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await system.beginDelegation(actorOf(omar), { to: priya.id, until })
    await system.reassign(admin, { requestId, from: dana.id, to: omar.id })
    const { status, approvals } = await system.approve(admin, { requestId })
    await system.endDelegation(actorOf(omar))
    expect([status, approvals[0]?.decisions]).toEqual([
      'pendingApproval',
      [expect.not.objectContaining({ insteadOf: expect.anything() })],
    ])
    expect((await system.approve(actorOf(omar), { requestId })).status).toBe('queued')
  })

  it('cannot decide while the directory does not answer', async () => {
    const requestId = await pendingRequest()
    await takes(requestId)
    core.world.up = false
    expect((await refusal(() => ways.override(admins(priya, stranger), requestId))).code).toBe('unavailable')
    core.world.up = true
  })
})

describe('an admin’s decision on a part reassigned to themselves', () => {
  const service = withService({ ADMINS: `${people.sam.id},${people.omar.id}` })
  const waits = async (displayName: string) => {
    const metadata = { costCentre: '4711', audience: 'internal' }
    const body = { templateId: templates.projectSite, displayName, metadata }
    const { body: accepted } = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    const requestId = String(accepted['requestId'])
    const { body: request } = await service.rest('kim', 'GET', `/requests/v1/${requestId}`)
    return { requestId, reference: String(request['reference']) }
  }
  const decides = (who: 'sam' | 'omar', requestId: string) =>
    service.rest(who, 'POST', `/requests/v1/${requestId}/approve`, { comment: 'Fine.' })

  it('is rejected by REST with the error code and the name of another admin', async () => {
    const { requestId } = await waits('By REST')
    const path = `/requests/v1/${requestId}`
    const taken = await service.rest('sam', 'POST', `${path}/reassign`, { from: people.dana.id, to: people.sam.id })
    expect(taken.status).toBe(200)
    const refused = await decides('sam', requestId)
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'second-admin-needed',
        detail: expect.stringContaining('Another admin must decide: Omar Haddad.'),
      },
    })
    expect((await decides('omar', requestId)).status).toBe(200)
  })

  it('is rejected in chat with a sentence and a card without Approve, and the second admin can decide', async () => {
    const { requestId, reference } = await waits('In chat')
    await service.sam.installs()
    const form = await service.sam.says(`admin reassign ${reference} me`)
    expect(textOf(form.card)).toContain('Another admin may have to decide.')
    await service.sam.clicks(form, 'Reassign', { from: people.dana.id })
    const pendingRequest = await service.sam.sees(/Another admin must decide/)
    expect(textOf(pendingRequest.card)).toContain('Another admin must decide.')
    const status = await service.sam.says(`status ${reference}`)
    for (const { card } of [pendingRequest, status])
      expect(actionsOf(card).map(({ title }) => title)).not.toEqual(expect.arrayContaining(['Approve']))
    const forged = await service.sam.invokes(pendingRequest.id, 'approval.approve', { requestId, comment: '' })
    expect(textOf(forged.card ?? {})).toContain('Another admin must decide: Omar Haddad.')
    const confirm = await service.sam.says(`admin approve ${reference} it is urgent`)
    const over = await service.sam.clicks(confirm, 'Approve')
    expect(textOf(over.card ?? {})).toContain('Another admin must decide: Omar Haddad.')
    const { body } = await service.rest('sam', 'GET', `/audit/v1/requests/${requestId}`)
    const entries = z.array(z.object({ action: z.string(), data: z.looseObject({}).optional() })).parse(body['entries'])
    const tried = entries.filter(({ action }) => action === 'refused')
    expect(tried.map(({ data }) => [data?.['tried'], data?.['code']])).toEqual([
      ['approve', 'second-admin-needed'],
      ['override', 'second-admin-needed'],
    ])
    expect((await decides('omar', requestId)).status).toBe(200)
  })

  it('counts if a setting allows it, and the timeline shows this', async () => {
    await service.restart({ ADMIN_DECIDES_OWN_REASSIGNMENT: 'on' })
    const { requestId, reference } = await waits('By a setting')
    const body = { from: people.dana.id, to: people.sam.id }
    await service.rest('sam', 'POST', `/requests/v1/${requestId}/reassign`, body)
    expect((await decides('sam', requestId)).status).toBe(200)
    const { card } = await service.kim.says(`status ${reference}`)
    expect(textOf(card)).toContain('without a second admin')
  })
})
