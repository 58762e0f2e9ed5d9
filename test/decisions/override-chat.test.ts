import { afterEach, describe, expect, it } from 'vitest'
import { failedRequest, requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('an override in chat', () => {
  const world = withBotWorld()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const find = (requestId: string) => world.stores.requests.find(requestId)
  const saidBySam = async (requestId: string) =>
    (await world.stores.audit.timeline(requestId)).filter(
      ({ actor }) => 'displayName' in actor && actor.displayName === 'Sam Roy',
    )

  it.each([
    ['approve', 'Approve', 'queued', 'approved'],
    ['reject', 'Reject', 'rejected', 'rejected'],
  ])('admin %s: asks to confirm, with the typed reason, and the click decides', async (verb, title, state, action) => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await requested(world, `To ${verb}`)
    const confirm = await types('sam', `admin ${verb} ${reference} Dana has left us`)
    expect(valuesOf(confirm)).toEqual({ comment: 'Dana has left us' })
    for (const text of ['Requested by Kim Lee', 'Waits for', 'This overrides the approvers'])
      expect(textOf(confirm)).toContain(text)
    expect((await find(requestId))?.status).toBe('pendingApproval')
    expect(textOf(await clicks('sam', confirm, title))).toContain('by Sam Roy as an admin')
    expect((await find(requestId))?.status).toBe(state)
    expect(await saidBySam(requestId)).toMatchObject([
      { action, comment: 'Dana has left us', data: { override: true } },
    ])
    // A second click shows the same decision. The other button comes too late and shows who decided.
    expect(textOf(await clicks('sam', confirm, title))).toContain('by Sam Roy as an admin')
    expect(await saidBySam(requestId)).toHaveLength(1)
    const other = title === 'Approve' ? 'admin.reject' : 'admin.approve'
    expect(textOf(await startBot(world).sends('sam', other, { requestId, comment: 'No.' }))).toContain(
      'Sam Roy decided',
    )
    expect(textOf(await types('sam', `admin ${verb} ${reference}`))).toContain('Sam Roy already decided the request')
  })

  it('needs a reason: the card comes back with the fault', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await requested(world, 'No reason')
    const confirm = await types('sam', `admin approve ${reference}`)
    const back = await clicks('sam', confirm, 'Approve', { comment: '  ' })
    expect(textOf(back)).toContain('Explain why you override the approvers.')
    expect((await find(requestId))?.status).toBe('pendingApproval')
    await clicks('sam', back, 'Approve', { comment: 'It cannot wait.' })
    expect((await find(requestId))?.status).toBe('queued')
  })

  it('is rejected for the admin’s own request, an ended one, and one without approval', async () => {
    const { says, sends } = startBot(world)
    const own = await requested(world, 'Of Sam', { who: 'sam' })
    for (const command of [`admin approve ${own.reference} so`, `admin reject ${own.reference} so`])
      expect(await says('sam', command)).toContain('You requested this. Somebody else must decide.')
    expect(await says('sam', `admin reassign ${own.reference}`)).toContain('Another admin must choose')
    expect(textOf(await sends('sam', 'admin.approve', { requestId: own.requestId, comment: 'So.' }))).toContain(
      'You requested this. Somebody else must decide.',
    )
    const kim = await world.provisioning.actor({ tenantId: contosoTenant, id: people.kim.id })
    const gone = await requested(world, 'Withdrawn')
    await world.provisioning.cancelRequest(kim, { requestId: gone.requestId })
    for (const verb of ['approve', 'reject', 'reassign'])
      expect(await says('sam', `admin ${verb} ${gone.reference}`)).toContain('Kim Lee cancelled the request')
    const { reference } = await failedRequest(world, 'Without approval')
    expect(await says('sam', `admin approve ${reference}`)).toContain('This request needs no approval.')
  })

  it.each(['approve', 'reject', 'reassign'])(
    'admin %s without a number: shows how to type it, and the waiting requests to choose from',
    async (verb) => {
      const { types } = startBot(world)
      const { reference } = await requested(world, `Waits for ${verb}`)
      const own = await requested(world, 'Mine', { who: 'sam' })
      const card = await types('sam', `admin ${verb}`)
      expect(textOf(card)).toContain(`admin ${verb} REQ-1042`)
      expect(JSON.stringify(card)).toContain(`"admin ${verb} ${reference}"`)
      expect(JSON.stringify(card)).not.toContain(own.reference)
      const sam = await world.provisioning.actor({ tenantId: contosoTenant, id: people.sam.id })
      for (const one of [reference, own.reference]) {
        const { requestId } = await world.provisioning.readRequestByReference(sam, { reference: one })
        await world.provisioning.cancelRequest(sam, { requestId, comment: 'The test is over.' })
      }
    },
  )
})

describe('a reassignment by an admin in chat', () => {
  const world = withBotWorld()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const stageOf = async (requestId: string) => (await world.stores.requests.find(requestId))?.approvals[0]

  it('by name: asks which undecided approver to replace, and a second click changes nothing', async () => {
    const { types, clicks, sends } = startBot(world)
    const { requestId, reference } = await requested(world, 'Handed on')
    expect((await stageOf(requestId))?.approvers).toHaveLength(2)
    const form = await types('sam', `admin reassign ${reference} me`)
    expect(textOf(form)).toContain('Another admin may have to decide')
    for (const typed of ['me', 'to me', 'an mich', 'à moi', 'a mí', 'auf Sam Roy'])
      expect(valuesOf(await types('sam', `admin reassign ${reference} ${typed}`)), typed).toMatchObject({
        to: people.sam.id,
      })
    const back = await clicks('sam', form, 'Reassign', { from: '', comment: 'Dana is away.' })
    expect(textOf(back)).toContain('Choose the person to replace.')
    expect(valuesOf(back)).toMatchObject({ to: people.sam.id, comment: 'Dana is away.' })
    for (const _ of ['once', 'twice'])
      expect(textOf(await clicks('sam', back, 'Reassign', { from: people.dana.id }))).toContain('Handed on')
    const stage = await stageOf(requestId)
    expect(stage?.approvers.map(({ id }) => id).toSorted()).toEqual([people.omar.id, people.sam.id].toSorted())
    expect(stage?.reassigned).toMatchObject([
      { from: [{ id: people.dana.id }], by: { id: people.sam.id }, comment: 'Dana is away.' },
    ])
    expect(await startBot(world).says('sam', `admin audit ${reference}`)).toContain(
      'Reassigned by an admin to themselves',
    )
    // Omar is already an approver, Kim is the requester, and the other values name nobody.
    for (const to of [people.omar.id, people.kim.id, '', 'Dana'])
      expect(actionsOf(await sends('sam', 'admin.reassign', { requestId, from: people.omar.id, to }))).toMatchObject([
        { title: 'Reassign' },
        {},
      ])
  })

  it('preselects the approver who has left the organisation, with the reason', async () => {
    const { types } = startBot(world)
    const { requestId, reference } = await requested(world, 'One of two is gone')
    const request = await world.stores.requests.find(requestId)
    if (!request) throw new Error('the request is gone')
    const approvals = request.approvals.map((stage) => ({ ...stage, rule: 'all' as const }))
    await world.stores.requests.update({ ...request, approvals, version: request.version + 1 })
    world.gone.add(people.omar.id)
    const form = await types('sam', `admin reassign ${reference} me`)
    world.gone.clear()
    expect(textOf(form)).toContain('Blocked: Omar Haddad has left the organisation')
    expect(valuesOf(form)).toMatchObject({ from: people.omar.id, to: people.sam.id })
  })

  it('offers several matches, and names an unknown person, the requester or a present approver', async () => {
    const { types } = startBot(world)
    const { reference } = await requested(world, 'To whom')
    world.alike.push({
      id: '11111111-aaaa-4aaa-8aaa-00000000009a',
      displayName: 'Omara Haddad',
      userPrincipalName: 'omara@contoso.example',
    })
    const several = await types('sam', `admin reassign ${reference} omar`)
    expect(textOf(several)).toContain('I found several people for “omar”. Choose one.')
    world.alike.splice(0)
    expect(textOf(await types('sam', `admin reassign ${reference} Nobody Here`))).toContain(
      'I found nobody for “Nobody Here”.',
    )
    expect(textOf(await types('sam', `admin reassign ${reference} kim`))).toContain('Kim Lee requested this')
    expect(textOf(await types('sam', `admin reassign ${reference} omar@contoso.example`))).toContain(
      'Omar Haddad is already an approver.',
    )
    expect(textOf(await types('sam', `admin reassign ${reference} to sam@contoso.example`))).toContain(
      'Another admin may have to decide',
    )
  })
})
