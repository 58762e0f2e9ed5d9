import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { commands } from '../../src/bot/index.ts'
import { hasAdminLine } from '../../src/cards/index.ts'
import { referenceOf } from '../../src/core/index.ts'
import { cardIn, saying } from '../support/bot-activities.ts'
import { failedRequest, requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

const politeNo = "This is for the service's admins"

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

  it('reads that nothing is stuck while nothing is', async () => {
    const shown = await startBot(world).says('sam', 'admin stuck')
    expect(shown).not.toContain('REQ-')
    expect(shown).not.toContain('I do not know that command.')
  })

  it.each(['admin queue', 'ADMIN  Queue', 'admin queue please'])(
    '%s: what is open in the organisation, and what needs somebody',
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

  it.each(['admin', 'admin help', 'Admin ?'])('%s: every command of admins, with its line', async (text) => {
    const card = await startBot(world).types('sam', text)
    const ofAdmins = commands.filter(({ forAdmins }) => forAdmins).map(({ words }) => words)
    expect(ofAdmins.filter((words) => !hasAdminLine(words))).toEqual([])
    for (const words of ofAdmins) expect(JSON.stringify(card)).toContain(`"value":"${words}"`)
    expect(await startBot(world).says('kim', text)).toContain(politeNo)
  })

  it('admin stuck: only what somebody should look at', async () => {
    const { reference } = await failedRequest(world, 'Look at me')
    const fine = await requested(world, 'All is well')
    const shown = await startBot(world).says('sam', 'admin stuck')
    expect(shown).toContain(reference)
    expect(shown).not.toContain(fine.reference)
  })

  it('admin health: what answers, how fast, and why something does not', async () => {
    const shown = await startBot(world).says('sam', 'admin health')
    for (const part of ['41', '67', 'Exchange Online did not answer within 5 seconds.', '0.1.0'])
      expect(shown).toContain(part)
  })

  describe('tries again', () => {
    it('by a click on the card that the command brings: it says why it stopped, and does nothing by itself', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await failedRequest(world, 'Once more, please')
      const confirm = await types('sam', `admin retry ${reference}`)
      expect(textOf(confirm)).toContain('The quota of sites is used up.')
      expect(await stateOf(requestId)).toBe('failed')
      const before = jobsOf(requestId).length
      const after = await clicks('sam', confirm, 'Try again')
      expect(textOf(after)).toContain(reference)
      expect(await stateOf(requestId)).toBe('queued')
      expect((await timelineOf(requestId)).at(-1)).toEqual({ by: 'Sam Roy', action: 'queued', comment: undefined })
      expect(
        jobsOf(requestId)
          .slice(before)
          .map(({ name }) => name),
      ).toContain('provision')
    })

    it('once, however often it is clicked: a later click shows where the request stands', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await failedRequest(world, 'Impatient')
      const confirm = await types('sam', `admin retry ${reference}`)
      const answers = await Promise.all([1, 2, 3].map(() => startBot(world).clicks('sam', confirm, 'Try again')))
      for (const answer of answers) expect(textOf(answer)).toContain(reference)
      const retried = (await timelineOf(requestId)).filter(({ by }) => by === 'Sam Roy')
      expect(retried).toHaveLength(1)
      await world.provisioning.cancelRequest(await sam(), { requestId, comment: 'No more.' })
      expect(textOf(await clicks('sam', confirm, 'Try again'))).not.toContain('Too late to cancel')
      expect(await stateOf(requestId)).toBe('cancelled')
    })

    it('at once where something is made and was not told of: it is looked for, and nothing has to be confirmed', async () => {
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

    it('takes the number as people type it, and starts one that stands still anew', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, number } = await requested(world, 'Nobody begins', { approval: false })
      const request = await world.stores.requests.find(requestId)
      if (!request) throw new Error('the request is gone')
      const long = { ...request, version: request.version + 1, queuedAt: '2026-11-20T08:00:00.000Z' }
      await world.stores.requests.update(long)
      const confirm = await types('sam', `admin retry ${number}`)
      const before = jobsOf(requestId).length
      await clicks('sam', confirm, 'Try again')
      expect(
        jobsOf(requestId)
          .slice(before)
          .map(({ name }) => name),
      ).toContain('provision')
      expect((await timelineOf(requestId)).at(-1)).toMatchObject({ by: 'Sam Roy', action: 'restarted' })
    })

    it('nothing that goes on by itself or has ended: told where it stands', async () => {
      const { types } = startBot(world)
      const { requestId, reference } = await requested(world, 'Goes its way')
      const shown = await types('sam', `admin retry ${reference}`)
      expect(textOf(shown)).toContain(reference)
      expect(actionsOf(shown).map(({ title }) => title)).toContain('Show status')
      expect(actionsOf(shown).map(({ title }) => title)).not.toContain('Try again')
      expect(await stateOf(requestId)).toBe('pendingApproval')
    })
  })

  describe('ends a request', () => {
    it('with a comment, which its timeline keeps; without one the card comes back and asks for it', async () => {
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
      const told = jobsOf(requestId).filter(({ name }) => name === 'notify')
      expect(told.at(-1)?.payload).toMatchObject({ personId: people.kim.id, card: 'outcome:cancelled' })
    })

    it('once: a second click shows that it is cancelled', async () => {
      const { types, clicks } = startBot(world)
      const { requestId, reference } = await requested(world, 'Cancelled once')
      const confirm = await types('sam', `admin cancel ${reference}`)
      for (const comment of ['It is not needed.', 'Again.'])
        expect(textOf(await clicks('sam', confirm, 'Cancel request', { comment }))).toContain('Cancelled')
      expect((await timelineOf(requestId)).filter(({ action }) => action === 'cancelled')).toHaveLength(1)
      expect(await startBot(world).says('sam', `admin cancel ${reference}`)).toContain('Already over')
    })

    it('of somebody else by cancel alone: asked why, too; the own one ends at once', async () => {
      const { types, says } = startBot(world)
      const { requestId, reference } = await requested(world, 'Of Kim')
      expect(valuesOf(await types('sam', `cancel ${reference}`))).toHaveProperty('comment')
      expect(await stateOf(requestId)).toBe('pendingApproval')
      const own = await requested(world, 'Of Sam', { who: 'sam' })
      expect(await says('sam', `cancel ${own.reference}`)).toContain('Cancelled')
    })
  })

  it.each(['admin retry REQ-999999', 'admin cancel REQ-999999', 'admin status REQ-999999'])(
    '%s: there is no such request, and the queue shows what there is',
    async (text) => {
      const { types } = startBot(world)
      const card = await types('sam', text)
      expect(textOf(card)).toContain('There is no request of this number.')
      expect(actionsOf(card)).toMatchObject([{ data: { msteams: { value: 'admin queue' } } }])
    },
  )

  it.each(['admin cancel', 'admin cancel everything'])('%s: shows how admins type it', async (text) => {
    expect(await startBot(world).says('sam', text)).toContain(
      'Type its number and a reason: admin cancel REQ-1042 Asked for twice.',
    )
  })

  it('may say why with the command: the words stand as the comment when it is asked to confirm', async () => {
    const { types } = startBot(world)
    const { requestId, reference } = await failedRequest(world, 'Asked for twice')
    const confirm = await types('sam', `admin cancel ${reference} the same as REQ-1001`)
    expect(valuesOf(confirm)).toEqual({ comment: 'the same as REQ-1001' })
    expect(actionsOf(await types('sam', `admin retry ${reference} there is room now`))).toMatchObject([
      { title: 'Try again', verb: 'admin.retry', data: { requestId } },
      {},
    ])
    expect(await stateOf(requestId)).toBe('failed')
  })

  it('admin status REQ-1042: where any request stands, and who asked for it', async () => {
    const { reference } = await failedRequest(world, 'How is it')
    const shown = await startBot(world).says('sam', `admin status ${reference}`)
    for (const text of [reference, 'How is it', 'Kim Lee asks']) expect(shown).toContain(text)
  })

  it.each(['admin retry', 'admin cancel', 'admin retry everything', 'admin cancel REQ-1 REQ-2'])(
    '%s: asks which request, and offers those that it can be about',
    async (text) => {
      await failedRequest(world, 'To be chosen')
      const shown = await startBot(world).says('sam', text)
      for (const words of ['Which request?', 'Type its number', 'Or choose one.']) expect(shown).toContain(words)
      expect(shown).toMatch(/REQ-10\d\d\b(?! )/)
    },
  )

  it.each([
    ['amdin stuck', 'admin stuck'],
    ['admin qeue', 'admin queue'],
    ['admin helth', 'admin health'],
    ['admin rety REQ-1001', 'admin retry'],
  ])('%s: asked whether %s was meant', async (text, meant) => {
    expect(await startBot(world).says('sam', text)).toContain(`Did you mean: ${meant}?`)
  })

  it('is shown the commands for admins in help, and nobody else is', async () => {
    const { says } = startBot(world)
    expect(await says('sam', 'help')).toMatch(/admin queue|admin stuck|admin health|Queue/)
    for (const who of ['kim', 'dana'] as const) expect(await says(who, 'help')).not.toMatch(/admin|queue|stuck|health/i)
  })

  it('who talks in a group is asked to talk alone, and nothing is shown', async () => {
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

  describe('is nobody else', () => {
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
    ])('%s: a polite no', async (text) => {
      for (const who of ['kim', 'dana'] as const) {
        const card = await startBot(world).types(who, text)
        expect(textOf(card)).toContain(politeNo)
        expect(textOf(card)).not.toContain('REQ-')
      }
    })

    it.each(['amdin queue', 'adnim stuck', 'amin health', 'adm retry REQ-1'])(
      '%s: no command for admins is suggested',
      async (text) => {
        expect(await startBot(world).says('kim', text)).not.toMatch(/admin /)
      },
    )

    it.each(['admin.retry', 'admin.cancel'])('%s with data of an admin’s card is refused', async (verb) => {
      const { requestId, reference } = await failedRequest(world, `Stolen ${verb}`)
      const before = await world.stores.requests.find(requestId)
      const { types, sends } = startBot(world)
      await types('sam', `${verb.replace('.', ' ')} ${reference}`)
      for (const who of ['kim', 'dana', 'omar'] as const)
        for (const data of [{ requestId, comment: 'Mine now' }, { requestId: randomUUID(), comment: 'x' }, {}]) {
          const shown = textOf(await sends(who, verb, data))
          expect(shown).toContain('You may not do this.')
          expect(shown).not.toContain(referenceOf({ number: before?.number ?? 0 }))
        }
      expect(await world.stores.requests.find(requestId)).toEqual(before)
    })
  })

  it.each(['admin.retry', 'admin.cancel'])('clicks %s with data that does not fit: nothing happens', async (verb) => {
    const { sends } = startBot(world)
    for (const data of [{}, { requestId: 'REQ-1001' }, { requestId: [randomUUID()] }])
      expect(textOf(await sends('sam', verb, data))).toContain('This card is outdated')
    const unknown = await sends('sam', verb, { requestId: randomUUID(), comment: 'because' })
    expect(textOf(unknown)).toContain('There is no such request, or you may not see it.')
  })

  const sam = () => world.provisioning.actor({ tenantId: contosoTenant, id: people.sam.id })
  const find = async (reference: string) => world.provisioning.readRequestByReference(await sam(), { reference })
})
