import { afterEach, describe, expect, it } from 'vitest'
import { failedRequest, requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('an admin decides over the heads of the approvers, in chat', () => {
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
  ])(
    'admin %s: asks first, with the words that followed as the reason; the click decides',
    async (verb, title, state, action) => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await requested(world, `To ${verb}`)
      const confirm = await types('sam', `admin ${verb} ${reference} Dana has left us`)
      expect(valuesOf(confirm)).toEqual({ comment: 'Dana has left us' })
      for (const words of ['Kim Lee asks', 'Waits for', 'over the heads of the approvers'])
        expect(textOf(confirm)).toContain(words)
      expect((await find(requestId))?.status).toBe('pendingApproval')
      expect(textOf(await clicks('sam', confirm, title))).toContain('by Sam Roy as an admin')
      expect((await find(requestId))?.status).toBe(state)
      expect(await saidBySam(requestId)).toMatchObject([
        { action, comment: 'Dana has left us', data: { override: true } },
      ])
      // A second click finds what it wanted; the other one comes too late, and hears who was faster.
      expect(textOf(await clicks('sam', confirm, title))).toContain('by Sam Roy as an admin')
      expect(await saidBySam(requestId)).toHaveLength(1)
      const other = title === 'Approve' ? 'admin.reject' : 'admin.approve'
      expect(textOf(await startBot(world).sends('sam', other, { requestId, comment: 'No.' }))).toContain(
        'Sam Roy decided',
      )
      expect(textOf(await types('sam', `admin ${verb} ${reference}`))).toContain('Sam Roy decided it')
    },
  )

  it('not without a reason: the card comes back and asks for it, and keeps what was typed', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await requested(world, 'No reason')
    const confirm = await types('sam', `admin approve ${reference}`)
    const back = await clicks('sam', confirm, 'Approve', { comment: '  ' })
    expect(textOf(back)).toContain('Please say why you decide it over the heads of the approvers.')
    expect((await find(requestId))?.status).toBe('pendingApproval')
    await clicks('sam', back, 'Approve', { comment: 'It cannot wait.' })
    expect((await find(requestId))?.status).toBe('queued')
  })

  it('not of their own, not what is over, and not what nobody is asked about', async () => {
    const { says, sends } = startBot(world)
    const own = await requested(world, 'Of Sam', { who: 'sam' })
    for (const words of [`admin approve ${own.reference} so`, `admin reject ${own.reference} so`])
      expect(await says('sam', words)).toContain('You asked for this yourself, so somebody else has to decide.')
    expect(await says('sam', `admin reassign ${own.reference}`)).toContain('another admin has to choose')
    expect(textOf(await sends('sam', 'admin.approve', { requestId: own.requestId, comment: 'So.' }))).toContain(
      'You asked for this yourself',
    )
    const kim = await world.provisioning.actor({ tenantId: contosoTenant, id: people.kim.id })
    const gone = await requested(world, 'Withdrawn')
    await world.provisioning.cancelRequest(kim, { requestId: gone.requestId })
    for (const words of ['approve', 'reject', 'reassign'])
      expect(await says('sam', `admin ${words} ${gone.reference}`)).toContain('Kim Lee cancelled it')
    const { reference } = await failedRequest(world, 'Without approval')
    expect(await says('sam', `admin approve ${reference}`)).toContain('No approval is asked for')
  })

  it.each(['approve', 'reject', 'reassign'])(
    'admin %s alone: how to type it, and what waits, to choose from',
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

describe('an admin asks somebody else, in chat', () => {
  const world = withBotWorld()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const stageOf = async (requestId: string) => (await world.stores.requests.find(requestId))?.approvals[0]

  it('by name: in whose place is asked where several have not decided, and a second click finds what it wanted', async () => {
    const { types, clicks, sends } = startBot(world)
    const { requestId, reference } = await requested(world, 'Handed on')
    expect((await stageOf(requestId))?.approvers).toHaveLength(2)
    const form = await types('sam', `admin reassign ${reference} me`)
    expect(textOf(form)).toContain('Another admin may have to decide it')
    expect(valuesOf(form)).toMatchObject({ to: people.sam.id })
    const back = await clicks('sam', form, 'Ask them', { from: '', comment: 'Dana is away.' })
    expect(textOf(back)).toContain('Choose in whose place.')
    expect(valuesOf(back)).toMatchObject({ to: people.sam.id, comment: 'Dana is away.' })
    for (const _ of ['once', 'twice'])
      expect(textOf(await clicks('sam', back, 'Ask them', { from: people.dana.id }))).toContain('Handed on')
    const stage = await stageOf(requestId)
    expect(stage?.approvers.map(({ id }) => id).toSorted()).toEqual([people.omar.id, people.sam.id].toSorted())
    expect(stage?.reassigned).toMatchObject([
      { from: [{ id: people.dana.id }], by: { id: people.sam.id }, comment: 'Dana is away.' },
    ])
    expect(await startBot(world).says('sam', `admin audit ${reference}`)).toContain('Taken over by an admin')
    // Omar is asked already, and nobody at all is no answer.
    for (const to of [people.omar.id, people.kim.id, '', 'Dana'])
      expect(actionsOf(await sends('sam', 'admin.reassign', { requestId, from: people.omar.id, to }))).toMatchObject([
        { title: 'Ask them' },
        {},
      ])
  })

  it('in the place of who is gone, with the reason, where several have to decide', async () => {
    const { types } = startBot(world)
    const { requestId, reference } = await requested(world, 'One of two is gone')
    const request = await world.stores.requests.find(requestId)
    if (!request) throw new Error('the request is gone')
    const approvals = request.approvals.map((stage) => ({ ...stage, rule: 'all' as const }))
    await world.stores.requests.update({ ...request, approvals, version: request.version + 1 })
    world.gone.add(people.omar.id)
    const form = await types('sam', `admin reassign ${reference} me`)
    world.gone.clear()
    expect(textOf(form)).toContain('It waits in vain: Omar Haddad is no longer in the directory')
    expect(valuesOf(form)).toMatchObject({ from: people.omar.id, to: people.sam.id })
  })

  it('who is not clear is chosen; who asked for it, or is not found, is said', async () => {
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
    expect(textOf(await types('sam', `admin reassign ${reference} kim`))).toContain('Kim Lee asked for it')
    expect(textOf(await types('sam', `admin reassign ${reference} omar@contoso.example`))).toContain(
      'Omar Haddad is asked already.',
    )
    expect(textOf(await types('sam', `admin reassign ${reference} to sam@contoso.example`))).toContain(
      'Another admin may have to decide it',
    )
  })
})
