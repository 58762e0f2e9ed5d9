import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { commands } from '../../src/bot/index.ts'
import { hasAdminLine } from '../../src/cards/index.ts'
import { referenceOf } from '../../src/core/index.ts'
import { cardIn, saying } from '../support/bot-activities.ts'
import { failedRequest, requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

const refusalText = 'Only admins of this service can use this'

describe('an admin', () => {
  const world = withBotWorld()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const stateOf = async (requestId: string) => (await world.stores.requests.find(requestId))?.status
  const timelineOf = async (requestId: string) =>
    (await world.stores.audit.timeline(requestId)).map(({ actor, action, comment }) => ({
      by: 'displayName' in actor ? actor.displayName : 'system',
      action,
      comment,
    }))
  const jobsOf = (requestId: string) =>
    world.jobs.filter(({ payload }) => 'requestId' in payload && payload.requestId === requestId)

  it('sees no requests in an empty list of stuck requests', async () => {
    const shown = await startBot(world).says('sam', 'admin stuck')
    expect(shown).not.toContain('REQ-')
    expect(shown).not.toContain('I do not know this command.')
  })

  it.each(['admin queue', 'ADMIN  Queue', 'admin queue please'])(
    '%s: sees the open requests of the organisation, and those that need an admin',
    async (text) => {
      const { reference } = await failedRequest(world, 'Half made')
      const waiting = await requested(world, 'Still waiting', { who: 'dana' })
      const shown = await startBot(world).says('sam', text)
      expect(shown).toContain(reference)
      expect(shown).toContain('Half made')
      expect(shown).toMatch(/waiting/i)
      for (const { requestId } of [waiting, { requestId: (await find(reference)).requestId }])
        await world.provisioning.cancelRequest(await sam(), { requestId, comment: 'The test is over.' })
    },
  )

  it.each(['admin', 'admin help', 'Admin ?'])('%s: sees every command of admins with its description', async (text) => {
    const card = await startBot(world).types('sam', text)
    const ofAdmins = commands.filter(({ forAdmins }) => forAdmins).map(({ name }) => name)
    expect(ofAdmins.filter((words) => !hasAdminLine(words))).toEqual([])
    for (const words of ofAdmins) expect(JSON.stringify(card)).toContain(`"value":"${words}"`)
    expect(await startBot(world).says('kim', text)).toContain(refusalText)
  })

  it('admin stuck: sees only requests that need an admin', async () => {
    const { reference } = await failedRequest(world, 'Look at me')
    const fine = await requested(world, 'All is well')
    const shown = await startBot(world).says('sam', 'admin stuck')
    expect(shown).toContain(reference)
    expect(shown).not.toContain(fine.reference)
  })

  it('admin health: sees the response times, and the reason of a missing answer', async () => {
    const shown = await startBot(world).says('sam', 'admin health')
    for (const part of ['41', '67', 'Exchange Online did not answer within 5 seconds.', '0.1.0'])
      expect(shown).toContain(part)
  })

  describe('retries', () => {
    it('by a click on the card of the command, which shows the reason of the failure and changes nothing itself', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await failedRequest(world, 'Once more, please')
      const confirm = await types('sam', `admin retry ${reference}`)
      expect(textOf(confirm)).toContain('The quota of sites is used up.')
      expect(await stateOf(requestId)).toBe('failed')
      const before = jobsOf(requestId).length
      const after = await clicks('sam', confirm, 'Retry')
      expect(textOf(after)).toContain(reference)
      expect(await stateOf(requestId)).toBe('queued')
      expect((await timelineOf(requestId)).at(-1)).toEqual({ by: 'Sam Roy', action: 'queued', comment: undefined })
      expect(
        jobsOf(requestId)
          .slice(before)
          .map(({ name }) => name),
      ).toContain('provision')
    })

    it('once for several clicks: a later click shows the status of the request', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await failedRequest(world, 'Impatient')
      const confirm = await types('sam', `admin retry ${reference}`)
      const answers = await Promise.all([1, 2, 3].map(() => startBot(world).clicks('sam', confirm, 'Retry')))
      for (const answer of answers) expect(textOf(answer)).toContain(reference)
      const retried = (await timelineOf(requestId)).filter(({ by }) => by === 'Sam Roy')
      expect(retried).toHaveLength(1)
      await world.provisioning.cancelRequest(await sam(), { requestId, comment: 'No more.' })
      expect(textOf(await clicks('sam', confirm, 'Retry'))).not.toContain('Too late to cancel')
      expect(await stateOf(requestId)).toBe('cancelled')
    })

    it('a created but unannounced resource at once, with a directory poll and without a confirmation', async () => {
      const { types } = startBot(world)
      const { requestId, reference } = await requested(world, 'Not told of', { approval: false })
      const request = await world.stores.requests.find(requestId)
      if (!request) throw new Error('the request is gone')
      const made = { ...request, status: 'succeeded' as const, finishedAt: '2026-11-20T08:00:00.000Z' }
      await world.stores.requests.update({ ...made, version: request.version + 1 })
      expect(textOf(await types('sam', 'admin stuck'))).toContain('Not told of')
      const before = jobsOf(requestId).length
      expect(textOf(await types('sam', `admin retry ${reference}`))).toContain(reference)
      const ordered = jobsOf(requestId).slice(before)
      expect(ordered.map(({ name }) => name)).toContain('follow-up')
      expect((await timelineOf(requestId)).at(-1)).toMatchObject({ by: 'Sam Roy', action: 'restarted' })
      const announced = { state: 'announced' as const, by: 'poll' as const }
      const now = await world.stores.requests.find(requestId)
      if (now) await world.stores.requests.update({ ...now, version: now.version + 1, followUp: announced })
    })

    it('a stuck request by its number alone', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, number } = await requested(world, 'Nobody begins', { approval: false })
      const request = await world.stores.requests.find(requestId)
      if (!request) throw new Error('the request is gone')
      const long = { ...request, version: request.version + 1, queuedAt: '2026-11-20T08:00:00.000Z' }
      await world.stores.requests.update(long)
      const confirm = await types('sam', `admin retry ${number}`)
      const before = jobsOf(requestId).length
      await clicks('sam', confirm, 'Retry')
      expect(
        jobsOf(requestId)
          .slice(before)
          .map(({ name }) => name),
      ).toContain('provision')
      expect((await timelineOf(requestId)).at(-1)).toMatchObject({ by: 'Sam Roy', action: 'restarted' })
    })

    it('no request that is in progress or has ended, and shows its status', async () => {
      const { types } = startBot(world)
      const { requestId, reference } = await requested(world, 'Goes its way')
      const shown = await types('sam', `admin retry ${reference}`)
      expect(textOf(shown)).toContain(reference)
      expect(actionsOf(shown).map(({ title }) => title)).toContain('Show status')
      expect(actionsOf(shown).map(({ title }) => title)).not.toContain('Retry')
      expect(await stateOf(requestId)).toBe('pendingApproval')
    })
  })

  describe('cancels a request', () => {
    it('with a comment for its timeline; without a comment the card asks again', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await failedRequest(world, 'Not any more')
      const confirm = await types('sam', `admin cancel ${reference}`)
      expect(textOf(confirm)).toContain('Kim Lee')
      let card = confirm
      for (const comment of ['', '   ', '\n\t']) {
        card = await clicks('sam', card, 'Cancel request', { comment })
        expect(Object.keys(valuesOf(card))).toContain('comment')
        expect(textOf(card)).toContain('Kim Lee')
      }
      expect(textOf(card)).not.toBe(textOf(confirm))
      expect(await stateOf(requestId)).toBe('failed')
      const after = await clicks('sam', card, 'Cancel request', { comment: ` We have ${'x'.repeat(2000)}` })
      expect(textOf(after)).toContain('Cancelled')
      const [end] = (await timelineOf(requestId)).slice(-1)
      expect(end).toMatchObject({ by: 'Sam Roy', action: 'cancelled' })
      expect(end?.comment).toHaveLength(500)
      const notifications = jobsOf(requestId).filter(({ name }) => name === 'notify')
      expect(notifications.at(-1)?.payload).toMatchObject({ personId: people.kim.id, card: 'outcome:cancelled' })
    })

    it('once: a second click shows the cancelled request', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await requested(world, 'Cancelled once')
      const confirm = await types('sam', `admin cancel ${reference}`)
      for (const comment of ['It is not needed.', 'Again.'])
        expect(textOf(await clicks('sam', confirm, 'Cancel request', { comment }))).toContain('Cancelled')
      expect((await timelineOf(requestId)).filter(({ action }) => action === 'cancelled')).toHaveLength(1)
      expect(await startBot(world).says('sam', `admin cancel ${reference}`)).toContain('Already ended')
    })

    it('of somebody else by `cancel` only with a reason, and an own request without one', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await requested(world, 'Of Kim')
      expect(valuesOf(await types('sam', `cancel ${reference}`))).toHaveProperty('comment')
      expect(await stateOf(requestId)).toBe('pendingApproval')
      const own = await requested(world, 'Of Sam', { who: 'sam' })
      const confirmation = await types('sam', `cancel ${own.reference}`)
      expect(valuesOf(confirmation)).toEqual({})
      expect(textOf(await clicks('sam', confirmation, 'Cancel request'))).toContain('Cancelled')
    })
  })

  it.each(['admin retry REQ-999999', 'admin cancel REQ-999999', 'admin status REQ-999999'])(
    '%s: reads that the request does not exist, with a button to the queue',
    async (text) => {
      const { types } = startBot(world)
      const card = await types('sam', text)
      expect(textOf(card)).toContain('No request has this number.')
      expect(actionsOf(card)).toMatchObject([{ data: { msteams: { value: 'admin queue' } } }])
    },
  )

  it.each(['admin cancel', 'admin cancel everything'])('%s: sees how to type the command', async (text) => {
    expect(await startBot(world).says('sam', text)).toContain(
      'Type the number and a reason. Example: “admin cancel REQ-1042 Requested twice”.',
    )
  })

  it('may type the reason with the command, which the card shows as the comment', async () => {
    const { types } = startBot(world)
    const { requestId, reference } = await failedRequest(world, 'Asked for twice')
    const confirm = await types('sam', `admin cancel ${reference} the same as REQ-1001`)
    expect(valuesOf(confirm)).toEqual({ comment: 'the same as REQ-1001' })
    expect(actionsOf(await types('sam', `admin retry ${reference} there is room now`))).toMatchObject([
      { title: 'Retry', verb: 'admin.retry', data: { requestId } },
      {},
    ])
    expect(await stateOf(requestId)).toBe('failed')
  })

  it('admin status REQ-1042: sees the status and the requester of any request', async () => {
    const { reference } = await failedRequest(world, 'How is it')
    const shown = await startBot(world).says('sam', `admin status ${reference}`)
    for (const text of [reference, 'How is it', 'Requested by Kim Lee']) expect(shown).toContain(text)
  })

  it.each(['admin retry', 'admin cancel', 'admin retry everything', 'admin cancel REQ-1 REQ-2'])(
    '%s: must choose from the possible requests',
    async (text) => {
      await failedRequest(world, 'To be chosen')
      const shown = await startBot(world).says('sam', text)
      for (const label of ['Which request?', 'Type the number', 'Or choose a request.']) expect(shown).toContain(label)
      expect(shown).toMatch(/REQ-10\d\d\b(?! )/)
    },
  )

  it.each([
    ['amdin stuck', 'admin stuck'],
    ['admin qeue', 'admin queue'],
    ['admin helth', 'admin health'],
    ['admin rety REQ-1001', 'admin retry'],
  ])('%s: is offered %s', async (text, meant) => {
    expect(await startBot(world).says('sam', text)).toContain(`Did you mean “${meant}”?`)
  })

  it('sees the commands for admins in help, which nobody else sees', async () => {
    const { says } = startBot(world)
    expect(await says('sam', 'help')).toMatch(/admin queue|admin stuck|admin health|Queue/)
    for (const who of ['kim', 'dana'] as const) expect(await says(who, 'help')).not.toMatch(/admin|queue|stuck|health/i)
  })

  it('sees nothing in a group chat, except a hint to the personal chat', async () => {
    const conversation = {
      id: 'group',
      conversationType: 'groupChat',
      isGroup: true,
      tenantId: contosoTenant,
      name: '',
    }
    const [reply] = await startBot(world).turn(saying('sam', 'admin queue', { conversation }))
    expect(textOf(cardIn(reply))).toContain('I answer in personal chats only')
  })

  describe('is different from other people', () => {
    it.each([
      'admin',
      'admin queue',
      'ADMIN STUCK',
      'admin health',
      'admin retry REQ-1001',
      'admin cancel REQ-1001',
      'admin make me one',
      'administrator',
      'Admins',
    ])('%s: is politely refused for them', async (text) => {
      for (const who of ['kim', 'dana'] as const) {
        const card = await startBot(world).types(who, text)
        expect(textOf(card)).toContain(refusalText)
        expect(textOf(card)).not.toContain('REQ-')
      }
    })

    it.each(['amdin queue', 'adnim stuck', 'amin health', 'adm retry REQ-1'])(
      '%s: suggests no command for admins to them',
      async (text) => {
        expect(await startBot(world).says('kim', text)).not.toMatch(/admin /)
      },
    )

    it.each(['admin.retry', 'admin.cancel'])('%s with data of an admin’s card is refused for them', async (verb) => {
      const { requestId, reference } = await failedRequest(world, `Stolen ${verb}`)
      const before = await world.stores.requests.find(requestId)
      const { types, sends } = startBot(world)
      await types('sam', `${verb.replace('.', ' ')} ${reference}`)
      for (const who of ['kim', 'dana', 'omar'] as const)
        for (const data of [{ requestId, comment: 'Mine now' }, { requestId: randomUUID(), comment: 'x' }, {}]) {
          const shown = textOf(await sends(who, verb, data))
          expect(shown).toContain('You are not allowed to do this.')
          expect(shown).not.toContain(referenceOf({ number: before?.number ?? 0 }))
        }
      expect(await world.stores.requests.find(requestId)).toEqual(before)
    })
  })

  it.each(['admin.retry', 'admin.cancel'])('changes nothing by a click on %s with invalid data', async (verb) => {
    const { sends } = startBot(world)
    for (const data of [{}, { requestId: 'REQ-1001' }, { requestId: [randomUUID()] }])
      expect(textOf(await sends('sam', verb, data))).toContain('This card is outdated')
    const unknown = await sends('sam', verb, { requestId: randomUUID(), comment: 'because' })
    expect(textOf(unknown)).toContain('This request does not exist, or you may not see it.')
  })

  const sam = () => world.provisioning.actor({ tenantId: contosoTenant, id: people.sam.id })
  const find = async (reference: string) => world.provisioning.readRequestByReference(await sam(), { reference })
})
