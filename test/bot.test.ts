import { type Activity, ConversationState, MemoryStorage, TestAdapter } from 'botbuilder'
import { afterEach, describe, expect, it } from 'vitest'
import { Bot } from '../src/bot/bot.ts'
import { activityOf, cardIn, clicking, saying } from './support/bot-activities.ts'
import { withBotWorld } from './support/bot-world.ts'
import { dana, openCommunity, projectSite } from './support/card-world.ts'
import { actionsOf, textOf } from './support/cards.ts'
import { contosoTenant, people } from './support/teams-user.ts'

type Who = keyof typeof people

describe('the bot in a personal chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.directoryAway = false
    expect(world.logged.splice(0)).toEqual([])
  })

  /** The whole bot behind botbuilder's own test adapter; gives all that it sent in this turn. */
  function start(storage = new MemoryStorage()) {
    const bot = new Bot(world.services, new ConversationState(storage))
    const adapter = new TestAdapter((context) => bot.run(context))
    const turn = async (activity: Partial<Activity>): Promise<Partial<Activity>[]> => {
      await adapter.receiveActivity(activity)
      return adapter.activeQueue.splice(0)
    }
    const answer = async (activity: Partial<Activity>): Promise<string> => {
      const [first, ...more] = await turn(activity)
      expect(more).toEqual([])
      return textOf(cardIn(first))
    }
    return { turn, answer, says: (who: Who, text: string) => answer(saying(who, text)) }
  }
  const actor = (who: Who) => world.provisioning.actor({ tenantId: contosoTenant, id: people[who].id })
  async function requested(displayName: string, { who = 'kim' as Who, approval = true } = {}) {
    const body = approval
      ? { templateId: projectSite.id, displayName, metadata: { costCentre: '4711', audience: 'internal' } }
      : { templateId: openCommunity.id, displayName }
    const request = await world.provisioning.submitSite(await actor(who), body)
    return { ...request, reference: `REQ-${request.number}` }
  }

  describe('answers a command', () => {
    it.each(['help', 'hi', 'Hello', 'HEY', '?', 'hi there', '  help  '])('%s: what it can do', async (text) => {
      expect(await start().says('kim', text)).toMatch(/Hello Kim( Lee)?, what do you need\?/)
    })

    it.each(['new', 'New Site', 'NEW', 'new request', 'new   site'])(
      '%s: the templates to choose from',
      async (text) => {
        const shown = await start().says('kim', text)
        expect(shown).toContain('What kind of site?')
        expect(shown).toContain('Project site')
        expect(shown).toContain('Open community')
      },
    )

    it.each([
      ['new community', 'Open community'],
      ['NEW Project', 'Project site'],
      ['new open community', 'Open community'],
    ])('%s: the form of the only template with these words', async (text, template) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('Step 2 of 3')
      expect(shown).toContain(template)
    })

    it('new with words of no template: says so, and leads on', async () => {
      const [reply] = await start().turn(saying('kim', 'new spaceship'))
      expect(textOf(cardIn(reply))).toContain('Nothing to choose from')
      expect(actionsOf(cardIn(reply)).length).toBeGreaterThan(0)
    })

    it('my requests: nothing yet, then one row each', async () => {
      const { says } = start()
      expect(await says('omar', 'my requests')).toContain('You have not asked for anything yet.')
      const { reference } = await requested('Listed', { who: 'omar', approval: false })
      const shown = await says('omar', 'My requests')
      expect(shown).toContain(reference)
      expect(shown).toContain('Listed')
      expect(await says('omar', 'list')).toContain(reference)
    })

    it('status with a reference, in any case; without one the newest open request', async () => {
      const { says } = start()
      const { reference } = await requested('Where is it')
      expect(await says('kim', `status ${reference}`)).toContain('Where is it')
      expect(await says('kim', `Status ${reference.toLowerCase()}`)).toContain('Where is it')
      expect(await says('kim', 'status')).toContain('Where is it')
    })

    it.each(['status REQ-999999', 'cancel REQ-999999'])('%s: there is no such request', async (text) => {
      expect(await start().says('kim', text)).toContain('There is no such request, or you may not see it.')
    })

    it.each(['cancel', 'cancel everything', 'status 12', 'status REQ-', 'status REQ-1 REQ-2'])(
      '%s: asks which request',
      async (text) => {
        expect(await start().says('kim', text)).toContain('I need the number of the request.')
      },
    )

    it('cancel with a reference ends it; a second time says that it has ended', async () => {
      const { says } = start()
      const { reference } = await requested('Not needed after all')
      expect(await says('kim', `cancel ${reference}`)).toContain('Cancelled')
      expect(await says('kim', `cancel ${reference}`)).toContain('Already over')
    })

    it('does not tell a stranger that a request exists', async () => {
      const { says } = start()
      const { reference, requestId } = await requested('Confidential plans', { who: 'dana', approval: false })
      for (const text of [`status ${reference}`, `cancel ${reference}`])
        expect(await says('kim', text)).toContain('There is no such request, or you may not see it.')
      expect((await world.stores.requests.find(requestId))?.status).toBe('queued')
    })

    it('approvals: what waits for me, and status of such a request is its decision card', async () => {
      const { says, turn } = start()
      expect(await says('sam', 'approvals')).toContain('Nothing waits for your decision.')
      const { reference } = await requested('Decide me')
      expect(await says('dana', 'approvals')).toContain(reference)
      const [reply] = await turn(saying('dana', `status ${reference}`))
      expect(actionsOf(cardIn(reply)).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject']))
      expect(await says('kim', `status ${reference}`)).toContain('Waiting for approval')
    })

    it('a card shown by status is kept up to date from then on', async () => {
      const { says } = start()
      const { reference, requestId } = await requested('Kept up to date')
      await says('kim', `status ${reference}`)
      const [card] = await world.stores.sentCards.ofRequest(requestId)
      expect(card).toMatchObject({ key: 'status', state: 'sent', personId: people.kim.id })
    })
  })

  describe('does not understand', () => {
    it.each([
      ['hlep', 'help'],
      ['new sitee', undefined],
      ['statsu REQ-1001', 'status'],
      ['stauts', 'status'],
      ['aprovals', 'approvals'],
      ['my request?', 'my requests'],
      ['my reqests', 'my requests'],
      ['cancle REQ-1001', 'cancel'],
      ['nwe site', 'new site'],
      ['newsite', 'new site'],
      ['halp!!', 'help'],
    ])('%s: asks whether %s was meant', async (text, meant) => {
      const shown = await start().says('kim', text)
      if (meant === undefined) expect(shown).not.toContain('I do not know that command.')
      else expect(shown).toContain(`Did you mean: ${meant}?`)
    })

    it.each([
      '',
      '   ',
      '🙂',
      'x'.repeat(20_000),
      `**bold** [link](https://evil.example) ${'$'}{1+1} <at>x</at>`,
      '__proto__',
      'constructor',
    ])('whatever it is, it is never a dead end (%#)', async (text) => {
      const [reply] = await start().turn(saying('kim', text))
      const card = cardIn(reply)
      expect(textOf(card)).toContain('I do not know that command.')
      expect(textOf(card)).not.toContain('evil')
      expect(actionsOf(card).map(({ title }) => title)).toContain('Help')
    })
  })

  describe('hears the same words however they come', () => {
    it('behind a mention, with markup around', async () => {
      const { answer } = start()
      const texts = ['<at>Quartermaster</at> my requests', '<at id="0">Quarter\nmaster</at>&nbsp;my&nbsp;requests\r\n']
      for (const text of texts) expect(await answer(saying('sam', text))).toContain('My requests')
    })

    it('from a button that types it', async () => {
      const typed = saying('kim', '', { value: { msteams: { type: 'imBack', value: 'new site' } } })
      expect(await start().answer(typed)).toContain('What kind of site?')
    })

    it('as the Action.Submit of a client that knows no Action.Execute: the answer takes the card’s place', async () => {
      const { turn } = start()
      const [shown] = await turn(saying('kim', 'new site'))
      const data = { verb: 'request.choose', templateId: openCommunity.id }
      const submit = activityOf('kim', { type: 'message', value: data, replyToId: shown?.id ?? '' })
      expect(await turn(submit)).toEqual([])
      const [below] = await turn(activityOf('kim', { type: 'message', value: data }))
      expect(textOf(cardIn(below))).toContain('Open community')
    })
  })

  describe('begins by itself', () => {
    it('when it is installed: the same help, once', async () => {
      const { turn } = start()
      const installed = activityOf('dana', { type: 'installationUpdate', action: 'add' })
      const [welcome, ...more] = await turn(installed)
      expect(more).toEqual([])
      expect(textOf(cardIn(welcome))).toMatch(/Hello Dana/)
      expect(await turn(installed)).toEqual([])
      expect(await world.stores.conversations.ofPerson(contosoTenant, dana.id)).toMatchObject({
        conversationId: `personal-${dana.id}`,
        locale: 'en-GB',
        timeZone: 'Europe/Zurich',
      })
    })

    it('and then asks for the cards that this person has missed', async () => {
      const { turn } = start()
      const { requestId } = await requested('Missed', { who: 'kim' })
      world.jobs.splice(0)
      await turn(activityOf('omar', { type: 'installationUpdate', action: 'add' }))
      const [order] = world.jobs.splice(0)
      expect(order).toMatchObject({ name: 'catch-up', payload: { personId: people.omar.id } })
      await world.provisioning.system.catchUp({ tenantId: contosoTenant, id: people.omar.id })
      expect(world.jobs).toContainEqual(
        expect.objectContaining({
          name: 'notify',
          payload: { v: 1, requestId, personId: people.omar.id, card: 'approval:1' },
        }),
      )
    })
  })

  describe('stays silent', () => {
    it.each<[string, Partial<Activity>]>([
      ['when it is taken away', { type: 'installationUpdate', action: 'remove' }],
      ['when a message is edited', { type: 'messageUpdate', text: 'new site', channelData: edited('editMessage') }],
      ['when a message is deleted', { type: 'messageDelete', channelData: edited('softDeleteMessage') }],
      ['when somebody reacts', { type: 'messageReaction', reactionsAdded: [{ type: 'like' }] }],
      ['when somebody joins', { type: 'conversationUpdate', membersAdded: [{ id: '28:bot', name: '' }] }],
      ['while somebody types', { type: 'typing' }],
      ['at what nobody knows', { type: 'somethingNew', text: 'new site' }],
      ['at an invoke that is no click', { type: 'invoke', name: 'composeExtension/query', value: { verb: 'x' } }],
    ])('%s', async (_, change) => {
      const { turn } = start()
      expect(await turn(activityOf('kim', change))).toEqual([])
      world.directoryAway = true
      expect(
        await turn(activityOf('kim', { ...change, from: { id: '29:x', name: 'X', aadObjectId: dana.id } })),
      ).toEqual([])
      expect(world.logged.splice(0).filter((line) => !line.includes('could not be done just now'))).toEqual([])
    })

    it('at a message that it has heard', async () => {
      const { turn } = start()
      const once = saying('kim', 'help')
      expect(await turn(once)).toHaveLength(1)
      expect(await turn(once)).toEqual([])
    })
  })

  describe('in a team or a group', () => {
    it.each([
      ['channel', { conversationType: 'channel', isGroup: true }],
      ['group chat', { conversationType: 'groupChat', isGroup: true }],
      ['meeting without a type', { conversationType: '', isGroup: true }],
    ])('%s: asks to talk alone, runs nothing, remembers no chat', async (_, kind) => {
      const { answer } = start()
      const conversation = { id: '19:group', name: '', tenantId: contosoTenant, ...kind }
      expect(await answer(saying('sam', 'cancel REQ-1001', { conversation }))).toContain('personal chats only')
      const click = clicking('sam', 'request.choose', { templateId: projectSite.id }, { conversation })
      expect(await answer(click)).toContain('personal chats only')
      const known = await world.stores.conversations.ofPerson(contosoTenant, people.sam.id)
      expect(known?.conversationId).not.toBe('19:group')
    })
  })

  describe('knows who is talking', () => {
    it.each([
      ['nobody', undefined],
      ['a name instead of an id', 'dana@contoso.example'],
      ['an id that the directory does not know', '99999999-9999-4999-8999-999999999999'],
    ])('refuses %s in words, on a message and on a click', async (_, aadObjectId) => {
      const { answer } = start()
      const from = { id: '29:x', name: 'Dana Fox', ...(aadObjectId !== undefined && { aadObjectId }) }
      expect(await answer(saying('dana', 'approvals', { from }))).toContain('You may not do this.')
      const click = clicking('dana', 'approval.approve', { requestId: projectSite.id }, { from })
      expect(await answer(click)).toContain('You may not do this.')
    })

    it('refuses somebody of another organisation', async () => {
      const tenantId = '99999999-9999-4999-8999-999999999999'
      const conversation = { id: 'a', name: '', isGroup: false, conversationType: 'personal', tenantId }
      expect(await start().answer(saying('kim', 'help', { conversation }))).toContain('You may not do this.')
    })
  })

  describe('in trouble', () => {
    it('says that the directory does not answer, and goes on when it does', async () => {
      const { says } = start()
      world.directoryAway = true
      expect(await says('kim', 'new site')).toContain('Please try again in a minute.')
      expect(world.logged.splice(0).join()).toContain('could not be done just now')
      world.directoryAway = false
      expect(await says('kim', 'new site')).toContain('What kind of site?')
    })

    it('goes on with a click although another version of the bot has left its own dialog', async () => {
      const storage = new MemoryStorage()
      const key = `msteams/conversations/personal-${people.kim.id}/`
      await storage.write({ [key]: { dialog: { dialogStack: [{ id: 'gone', state: {} }] }, eTag: '*' } })
      const click = clicking('kim', 'request.choose', { templateId: openCommunity.id })
      expect(await start(storage).answer(click)).toContain('Open community')
    })

    it('has done what was clicked although where the dialog stands cannot be saved', async () => {
      const storage = new MemoryStorage()
      storage.write = () => Promise.reject(new Error('no room'))
      const click = clicking('kim', 'request.choose', { templateId: openCommunity.id })
      expect(await start(storage).answer(click)).toContain('Open community')
      expect(world.logged.splice(0).join()).toContain('where a dialog stands was not saved: Error: no room')
    })
  })
})

const edited = (eventType: string) => ({ tenant: { id: contosoTenant }, eventType })
