import { type Activity, MemoryStorage } from 'botbuilder'
import { afterEach, describe, expect, it } from 'vitest'
import { activityOf, cardIn, clicking, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { dana, openCommunity, projectSite } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('the bot in a personal chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.directoryAway = false
    expect(world.logged.splice(0)).toEqual([])
  })
  const start = (storage?: MemoryStorage) => startBot(world, storage)

  describe('reads a command', () => {
    it('after a mention, with markup', async () => {
      const { answer } = start()
      const texts = ['<at>Quartermaster</at> my requests', '<at id="0">Quarter\nmaster</at>&nbsp;my&nbsp;requests\r\n']
      for (const text of texts) expect(await answer(saying('sam', text))).toContain('My requests')
    })

    it('from a button that types it', async () => {
      const typed = saying('kim', '', { value: { msteams: { type: 'imBack', value: 'new site' } } })
      expect(await start().answer(typed)).toContain('What kind of site?')
    })

    it('from the Action.Submit of a client without Action.Execute, and replaces the clicked card', async () => {
      const { turn } = start()
      const [shown] = await turn(saying('kim', 'new site'))
      const data = { verb: 'request.choose', templateId: openCommunity.id }
      const submit = activityOf('kim', { type: 'message', value: data, replyToId: shown?.id ?? '' })
      expect(await turn(submit)).toEqual([])
      const [below] = await turn(activityOf('kim', { type: 'message', value: data }))
      expect(textOf(cardIn(below))).toContain('Open community')
    })
  })

  describe('acts without a message', () => {
    it('shows the help once when a person installs it', async () => {
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

    it('orders the cards that the person missed before the installation', async () => {
      const { turn } = start()
      const { requestId } = await requested(world, 'Missed', { who: 'kim' })
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
      ['when a person removes it', { type: 'installationUpdate', action: 'remove' }],
      ['when a message is edited', { type: 'messageUpdate', text: 'new site', channelData: edited('editMessage') }],
      ['when a message is deleted', { type: 'messageDelete', channelData: edited('softDeleteMessage') }],
      ['when somebody reacts', { type: 'messageReaction', reactionsAdded: [{ type: 'like' }] }],
      ['when somebody joins', { type: 'conversationUpdate', membersAdded: [{ id: '28:bot', name: '' }] }],
      ['while somebody types', { type: 'typing' }],
      ['at an unknown activity', { type: 'somethingNew', text: 'new site' }],
      ['at an invoke that is no click', { type: 'invoke', name: 'composeExtension/query', value: { verb: 'x' } }],
    ])('%s', async (_, change) => {
      const { turn } = start()
      expect(await turn(activityOf('kim', change))).toEqual([])
      world.directoryAway = true
      expect(
        await turn(activityOf('kim', { ...change, from: { id: '29:x', name: 'X', aadObjectId: dana.id } })),
      ).toEqual([])
      expect(
        world.logged.splice(0).filter((line) => !line.includes('a turn failed: a service is unavailable')),
      ).toEqual([])
    })

    it('at a repeated message', async () => {
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
    ])('%s: requests a personal chat, runs nothing, stores no chat', async (_, kind) => {
      const { answer } = start()
      const conversation = { id: '19:group', name: '', tenantId: contosoTenant, ...kind }
      expect(await answer(saying('sam', 'cancel REQ-1001', { conversation }))).toContain('personal chats only')
      const click = clicking('sam', 'request.choose', { templateId: projectSite.id }, { conversation })
      expect(await answer(click)).toContain('personal chats only')
      const known = await world.stores.conversations.ofPerson(contosoTenant, people.sam.id)
      expect(known?.conversationId).not.toBe('19:group')
    })
  })

  describe('identifies the person', () => {
    it.each([
      ['nobody', undefined],
      ['a name instead of an id', 'dana@contoso.example'],
      ['an id that the directory does not know', '99999999-9999-4999-8999-999999999999'],
    ])('refuses %s with a sentence, after a message and a click', async (_, aadObjectId) => {
      const { answer } = start()
      const from = { id: '29:x', name: 'Dana Fox', ...(aadObjectId !== undefined && { aadObjectId }) }
      expect(await answer(saying('dana', 'approvals', { from }))).toContain('You are not allowed to do this.')
      const click = clicking('dana', 'approval.approve', { requestId: projectSite.id }, { from })
      expect(await answer(click)).toContain('You are not allowed to do this.')
    })

    it('refuses a person of another organisation', async () => {
      const tenantId = '99999999-9999-4999-8999-999999999999'
      const conversation = { id: 'a', name: '', isGroup: false, conversationType: 'personal', tenantId }
      expect(await start().answer(saying('kim', 'help', { conversation }))).toContain('You are not allowed to do this.')
    })
  })

  describe('during failures', () => {
    it('reports that the directory does not answer, and works again when it answers', async () => {
      const { says } = start()
      world.directoryAway = true
      expect(await says('kim', 'new site')).toContain('Please try again in a minute.')
      expect(world.logged.splice(0).join()).toContain('a turn failed: a service is unavailable')
      world.directoryAway = false
      expect(await says('kim', 'new site')).toContain('What kind of site?')
    })

    it('handles a click after another version of the bot has stored its own dialog', async () => {
      const storage = new MemoryStorage()
      const key = `msteams/conversations/personal-${people.kim.id}/`
      await storage.write({ [key]: { dialog: { dialogStack: [{ id: 'gone', state: {} }] }, eTag: '*' } })
      const click = clicking('kim', 'request.choose', { templateId: openCommunity.id })
      expect(await start(storage).answer(click)).toContain('Open community')
    })

    it('completes a click although the cursor of the dialog cannot be saved', async () => {
      const storage = new MemoryStorage()
      storage.write = () => Promise.reject(new Error('no room'))
      const click = clicking('kim', 'request.choose', { templateId: openCommunity.id })
      expect(await start(storage).answer(click)).toContain('Open community')
      expect(world.logged.splice(0).join()).toContain("the dialog's cursor was not saved: Error: no room")
    })
  })
})

const edited = (eventType: string) => ({ tenant: { id: contosoTenant }, eventType })
