import { afterEach, describe, expect, it } from 'vitest'
import { cardIn, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('what is typed to the bot', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.directoryAway = false
    expect(world.logged.splice(0)).toEqual([])
  })
  const start = () => startBot(world)

  describe('answers a command', () => {
    it.each(['help', 'hi', 'Hello', 'HEY', '?', 'hi there', '  help  '])('%s: what it can do', async (text) => {
      expect(await start().says('kim', text)).toMatch(/Hello Kim( Lee)?, what do you need\?/)
    })

    it.each(['New Site', 'new   site', 'Site'])('%s: the templates to choose from', async (text) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('What kind of site?')
      expect(shown).toContain('Project site')
      expect(shown).toContain('Open community')
    })

    it.each([
      ['new community', 'Open community'],
      ['NEW Project', 'Project site'],
      ['new open community', 'Open community'],
    ])('%s: the form of the only template with these words', async (text, template) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('Step 2 of 3')
      expect(shown).toContain(template)
    })

    it('new with words of no template: says so, and shows all there are', async () => {
      const [reply] = await start().turn(saying('kim', 'new spaceship'))
      expect(textOf(cardIn(reply))).toContain('What do you need?')
      expect(textOf(cardIn(reply))).toContain('No template is called “spaceship”. These there are:')
      expect(actionsOf(cardIn(reply)).length).toBeGreaterThan(1)
    })

    it.each([
      ['new room', 'Meeting room'],
      ['ROOM', 'Meeting room'],
      ['new meeting  room', 'Meeting room'],
      ['room mailbox', 'Meeting room'],
      ['new equipment', 'Equipment'],
      ['Equipment mailbox', 'Equipment'],
      ['new shared mailbox customer', 'Customer mailbox'],
      ['new customer', 'Customer mailbox'],
    ])('%s: the form at once, since there is one such template', async (text, template) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('Step 2 of 3')
      expect(shown).toContain(template)
    })

    it.each([
      ['new site', ['Project site', 'Open community'], ['Meeting room', 'Equipment', 'Shared mailbox']],
      ['new shared mailbox', ['Shared mailbox', 'Customer mailbox'], ['Meeting room', 'Equipment', 'Project site']],
      ['mailbox', ['Shared mailbox', 'Customer mailbox', 'Meeting room', 'Equipment'], ['Project site']],
      ['new mailbox', ['Shared mailbox', 'Customer mailbox', 'Meeting room', 'Equipment'], ['Project site']],
      ['NEW', ['Shared mailbox', 'Meeting room', 'Equipment', 'Project site', 'Open community'], []],
      ['new request', ['Shared mailbox', 'Meeting room', 'Equipment', 'Project site', 'Open community'], []],
    ])('%s: only templates of its kinds to choose from', async (text, offered, others) => {
      const titles = actionsOf(await start().types('kim', text)).map(({ title }) => title)
      expect(titles).toEqual(expect.arrayContaining(offered.map((name) => `Choose ${name}`)))
      for (const name of others) expect(titles).not.toContain(`Choose ${name}`)
    })

    it('help and new offer what this person may use, and no kind that has no template for them', async () => {
      const { types, says } = start()
      const offered = async () => actionsOf(await types('kim', 'help')).map(({ data }) => JSON.stringify(data))
      const equipment = (await world.stores.templates.list(contosoTenant)).find(({ kind }) => kind.startsWith('equip'))
      if (!equipment) throw new Error('there is no template for equipment')
      expect(await offered()).toContainEqual(expect.stringContaining('new equipment'))
      const { version } = equipment
      const onlyDana = { ...equipment, version: version + 1, audience: { people: [people.dana.id], groups: [] } }
      await world.stores.templates.put(contosoTenant, onlyDana, version)
      expect(await offered()).not.toContainEqual(expect.stringContaining('new equipment'))
      expect(await offered()).toContainEqual(expect.stringContaining('new room'))
      expect(await says('kim', 'new equipment')).toContain('Nothing to choose from')
      expect(await says('dana', 'new equipment')).toContain('Step 2 of 3')
      await world.stores.templates.put(contosoTenant, { ...equipment, version: version + 2 }, version + 1)
    })

    it('my requests: nothing yet, then one row each', async () => {
      const { says } = start()
      expect(await says('omar', 'my requests')).toContain('You have not asked for anything yet.')
      const { reference } = await requested(world, 'Listed', { who: 'omar', approval: false })
      const shown = await says('omar', 'My requests')
      expect(shown).toContain(reference)
      expect(shown).toContain('Listed')
      expect(await says('omar', 'list')).toContain(reference)
    })

    it('status with a reference, in any case; without one the newest open request', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'Where is it')
      expect(await says('kim', `status ${reference}`)).toContain('Where is it')
      expect(await says('kim', `Status ${reference.toLowerCase()}`)).toContain('Where is it')
      expect(await says('kim', 'status')).toContain('Where is it')
    })

    it.each(['status REQ-999999', 'cancel REQ-999999'])('%s: there is no such request', async (text) => {
      expect(await start().says('kim', text)).toContain('There is no such request, or you may not see it.')
    })

    it.each(['cancel', 'cancel everything', 'status REQ-', 'status REQ-1 REQ-2'])(
      '%s: asks which request',
      async (text) => {
        expect(await start().says('kim', text)).toContain('I need the number of the request.')
      },
    )

    it.each([
      ['status', (number: string) => `status ${number}`],
      ['status', (number: string) => `req-${number}`],
    ])('%s takes the number as people type it', async (_, typed) => {
      const { reference } = await requested(world, `By number ${typed('x')}`, { who: 'kim', approval: true })
      expect(await start().says('kim', typed(reference.slice('REQ-'.length)))).toContain(reference)
    })

    it('cancel with a reference ends it; a second time says that it has ended', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'Not needed after all')
      expect(await says('kim', `cancel ${reference}`)).toContain('Cancelled')
      expect(await says('kim', `cancel ${reference}`)).toContain('Already over')
    })

    it('does not tell a stranger that a request exists', async () => {
      const { says } = start()
      const { reference, requestId } = await requested(world, 'Confidential plans', { who: 'dana', approval: false })
      for (const text of [`status ${reference}`, `cancel ${reference}`])
        expect(await says('kim', text)).toContain('There is no such request, or you may not see it.')
      expect((await world.stores.requests.find(requestId))?.status).toBe('queued')
    })

    it('approvals: what waits for me, and status of such a request is its decision card', async () => {
      const { says, turn } = start()
      expect(await says('sam', 'approvals')).toContain('Nothing waits for your decision.')
      const { reference } = await requested(world, 'Decide me')
      expect(await says('dana', 'approvals')).toContain(reference)
      const [reply] = await turn(saying('dana', `status ${reference}`))
      expect(actionsOf(cardIn(reply)).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject']))
      expect(await says('kim', `status ${reference}`)).toContain('Waiting for approval')
    })

    it('a card shown by status is kept up to date from then on', async () => {
      const { says } = start()
      const { reference, requestId } = await requested(world, 'Kept up to date')
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
      ['new', undefined],
      ['rooom', 'new room'],
      ['equipmnt', 'new equipment'],
      ['shared malbox', 'new shared mailbox'],
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
})
