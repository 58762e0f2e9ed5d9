import { afterEach, describe, expect, it } from 'vitest'
import type { Outbox } from '../../src/core/index.ts'
import { cardIn, clicking } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { people } from '../support/teams-user.ts'

describe('a nudge in chat', () => {
  const world = withBotWorld()
  const start = () => startBot(world)
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  /** The people with an ordered reminder. */
  const reminded = (requestId: string) =>
    world.jobs.flatMap((job) =>
      job.name === 'notify' && job.payload.requestId === requestId && job.payload.card.startsWith('reminder:')
        ? [job.payload.personId]
        : [],
    )

  it('by the button reminds all undecided approvers and shows this on the card', async () => {
    const { types, clicks } = start()
    const { requestId, reference } = await requested(world, 'Nudged by a button')
    const card = await types('kim', `status ${reference}`)
    expect(actionsOf(card).map(({ title }) => title)).toEqual([
      'Nudge',
      'Timeline ▾',
      'Timeline ▴',
      'Refresh',
      'Cancel request',
    ])
    const after = await clicks('kim', card, 'Nudge')
    expect(textOf(after)).toContain('Your last reminder:')
    expect(actionsOf(after).map(({ title }) => title)).not.toContain('Nudge')
    expect(reminded(requestId).toSorted()).toEqual([people.dana.id, people.omar.id].toSorted())
    const approver = textOf(await types('dana', `status ${reference}`))
    expect(approver).toContain('Still waiting for you')
    expect(approver).toContain('Kim Lee reminds you: this request has waited since')
  })

  it('on the same day again reminds nobody, shows the next possible time, and leads back to the request', async () => {
    const { says, types, clicks } = start()
    const { requestId, reference } = await requested(world, 'Nudged twice')
    await says('kim', `nudge ${reference}`)
    const before = reminded(requestId)
    const again = await types('kim', `remind ${reference.slice(4)}`)
    expect(textOf(again)).toContain('Already reminded')
    expect(textOf(again)).toContain(reference)
    expect(textOf(again)).toMatch(/You can remind them again from .*\d\d:\d\d\./)
    expect(reminded(requestId)).toEqual(before)
    const status = await clicks('kim', again, 'Show status')
    expect(textOf(status)).toContain('Waiting for approval')
    expect(actionsOf(status).map(({ title }) => title)).not.toContain('Nudge')
  })

  it('without a number is for the newest own waiting request, if there is one', async () => {
    const { says } = start()
    const older = await requested(world, 'The older one')
    const newest = await requested(world, 'The newest one')
    await requested(world, 'Needs no approval', { approval: false })
    expect(await says('kim', 'nudge')).toContain('The newest one')
    expect(reminded(newest.requestId)).not.toEqual([])
    expect(reminded(older.requestId)).toEqual([])
    expect(await says('sam', 'nudge')).toContain('None of your requests waits for a decision.')
    expect(await says('kim', 'nudge them, please')).toContain('Type it like this: “nudge REQ-1042”.')
  })

  it('for an ended request shows its end', async () => {
    const { says, types, clicks } = start()
    const { requestId, reference } = await requested(world, 'Already ended')
    const card = await types('kim', `status ${reference}`)
    await clicks('kim', await types('kim', `cancel ${reference}`), 'Cancel request')
    expect(textOf(await clicks('kim', card, 'Nudge'))).toContain('Nothing was created.')
    expect(await says('kim', `nudge ${reference}`)).toContain('Cancelled')
    expect(reminded(requestId)).toEqual([])
  })

  it('is for the requester and admins: an approver is rejected, and others do not learn of the request', async () => {
    const { says } = start()
    const { requestId, reference } = await requested(world, 'Somebody else’s')
    expect(await says('dana', `nudge ${reference}`)).toContain('You are not allowed to do this.')
    expect(reminded(requestId)).toEqual([])
    expect(await says('sam', `nudge ${reference}`)).toContain('Last reminder by Sam Roy:')
    expect(reminded(requestId)).toHaveLength(2)
  })

  it('is in the help', async () => {
    const { says } = start()
    expect(await says('kim', 'help')).toContain('nudge REQ-1042')
  })
})

describe('the approval card', () => {
  const world = withBotWorld()
  const start = () => startBot(world)

  it('keeps the typed comment after Refresh', async () => {
    const { types, clicks } = start()
    const { requestId, reference } = await requested(world, 'Read once more')
    const card = await types('dana', `status ${reference}`)
    const again = await clicks('dana', card, 'Refresh', { comment: 'Not sure yet' })
    expect(JSON.stringify(again)).toContain('Not sure yet')
    expect(actionsOf(again).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject', 'Refresh']))
    expect((await world.stores.requests.find(requestId))?.version).toBe(1)
  })
})

describe('an approval card that arrived just before the service stopped', () => {
  const world = withBotWorld()

  it('is kept up to date from its first click on', async () => {
    const { turn } = startBot(world)
    const { requestId } = await requested(world, 'Never heard of')
    const { id: personId } = people.dana
    const record = { requestId, personId, key: 'approval:1', conversationId: `personal-${personId}` } as const
    await world.stores.sentCards.claim({ ...record, activityId: null, state: 'sending' })
    const data = { requestId, stage: 1, comment: '' }
    await turn(clicking('dana', 'approval.approve', data, { replyToId: 'the card' }))
    expect(await world.stores.sentCards.ofRequest(requestId)).toMatchObject([
      { personId, key: 'approval:1', activityId: 'the card', state: 'sent' },
    ])
  })
})

describe('a rejected request', () => {
  const world = withBotWorld()
  const start = () => startBot(world)

  it('can be edited and sent again from its card with all its values', async () => {
    const { types, clicks } = start()
    const { reference } = await requested(world, 'Rejected once')
    const statusCard = await types('dana', `status ${reference}`)
    await clicks('dana', statusCard, 'Reject', { comment: 'The name is too long.' })
    const card = await types('kim', `status ${reference}`)
    expect(textOf(card)).toContain('The name is too long.')
    const form = await clicks('kim', card, 'Edit and send again')
    expect(JSON.stringify(form)).toContain('Rejected once')
    expect(JSON.stringify(form)).toContain('4711')
    const review = await clicks('kim', form, 'Review', { displayName: 'Short', reason: 'So.' })
    expect(textOf(await clicks('kim', review, 'Send'))).toContain('Waiting for')
  })

  it('keeps the form or the resubmission that replaced its card when a late update of this card comes', async () => {
    const { turn, types, clicks } = start()
    const { requestId, reference } = await requested(world, 'Rejected twice')
    await clicks('dana', await types('dana', `status ${reference}`), 'Reject', { comment: 'The name is too long.' })
    const { id: personId } = people.kim
    const [activityId, conversationId] = ['the card', `personal-${personId}`]
    const record = { requestId, personId, key: 'outcome:rejected', conversationId, activityId, state: 'sent' } as const
    const updated: string[] = []
    const outbox: Outbox = {
      send: () => Promise.reject(new Error('nobody expected a card')),
      async update(_, id) {
        updated.push(id)
        return 'updated'
      },
    }
    const updates = async () => {
      await world.provisioning.system.refreshCards(outbox, { requestId, version: 2, cards: 'all', personId })
      return updated.splice(0)
    }
    const opensForm = async () =>
      cardIn((await turn(clicking('kim', 'request.edit', { requestId }, { replyToId: activityId }))).at(-1))

    await world.stores.sentCards.put(record)
    expect(await updates(), 'while the activity shows the card').toEqual([activityId])
    await world.stores.sentCards.put(record)
    const form = await opensForm()
    expect(await updates(), 'while it shows the form').toEqual([])
    const review = await clicks('kim', form, 'Review', { displayName: 'Twice', reason: 'So.' })
    await clicks('kim', review, 'Send')
    await world.stores.sentCards.put(record)
    expect(textOf(await opensForm())).toContain('Twice')
    expect(await updates(), 'while it shows the resubmission').toEqual([])
  })
})
