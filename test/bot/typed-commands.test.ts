import { afterEach, describe, expect, it } from 'vitest'
import { cardIn, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('a text that a person types', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.directoryAway = false
    expect(world.logged.splice(0)).toEqual([])
  })
  const start = () => startBot(world)

  describe('is a command', () => {
    it.each(['help', 'hi', 'Hello', 'HEY', '?', 'hi there', '  help  '])('%s: shows the help', async (text) => {
      expect(await start().says('kim', text)).toMatch(/Hello Kim( Lee)?, what do you need\?/)
    })

    it.each(['New Site', 'new   site', 'Site'])('%s: shows the templates', async (text) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('What kind of site?')
      expect(shown).toContain('Project site')
      expect(shown).toContain('Open community')
    })

    it.each([
      ['new community', 'Open community'],
      ['NEW Project', 'Project site'],
      ['new open community', 'Open community'],
    ])('%s: opens the form of the only template with this name', async (text, template) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('Step 2 of 3')
      expect(shown).toContain(template)
    })

    it('new with a kind and a name: shows the templates of this kind, and keeps the name', async () => {
      const shown = await start().says('kim', 'new site Board matters')
      expect(shown).toContain('I fill in the name “Board matters”.')
      expect(shown).toContain('Project site')
    })

    it.each([
      ['new site IT', ['Project site', 'Open community'], 'IT'],
      // “ai” is a French verb: “j'ai besoin d'un site”.
      ['new site AI', ['Project site', 'Open community'], 'AI'],
      // The template “Customer mailbox” has the Spanish name “Buzón de clientes”.
      ['new shared mailbox ENT', ['Shared mailbox', 'Customer mailbox'], 'ENT'],
    ])('%s: offers all templates of this kind with the name', async (text, offered, name) => {
      const choice = await start().types('kim', text)
      const titles = actionsOf(choice).map(({ title }) => title)
      expect(titles).toEqual(expect.arrayContaining(offered.map((template) => `Choose ${template}`)))
      expect(textOf(choice)).toContain(`I fill in the name “${name}”.`)
    })

    it.each([
      ['new site Pro', 'Project site', 'Pro'],
      ['new site open comm', 'Open community', 'open comm'],
      ['new site Open community', 'Open community', ''],
      ['new comm', 'Open community', ''],
    ])('%s: opens the template, and keeps an incomplete name', async (text, template, name) => {
      const form = await start().types('kim', text)
      expect(textOf(form)).toContain('Step 2 of 3')
      expect(textOf(form)).toContain(template)
      expect(valuesOf(form)['displayName']).toBe(name)
    })

    it.each([
      ['new room Zürich', 'Zürich'],
      ['meeting room Zürich Köln Äpfel', 'Zürich Köln Äpfel'],
      ['new room Matterhorn please', 'Matterhorn'],
    ])('%s: opens the only form of this kind with the name', async (text, name) => {
      const form = await start().types('kim', text)
      expect(textOf(form)).toContain('Step 2 of 3')
      expect(valuesOf(form)['displayName']).toBe(name)
    })

    it('new with a misspelt kind: suggests the command', async () => {
      const card = await start().types('kim', 'new siet')
      expect(textOf(card)).toContain('Did you mean “new site”?')
      expect(actionsOf(card).map(({ title }) => title)).toEqual(['new site', 'Help'])
    })

    it('new with an unknown name: says so and shows all templates', async () => {
      const [reply] = await start().turn(saying('kim', 'new spaceship'))
      expect(textOf(cardIn(reply))).toContain('What do you need?')
      expect(textOf(cardIn(reply))).toContain('I do not offer “spaceship”. Choose one of these:')
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
    ])('%s: opens the form, because there is one such template', async (text, template) => {
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
    ])('%s: shows only templates of its kinds', async (text, offered, others) => {
      const titles = actionsOf(await start().types('kim', text)).map(({ title }) => title)
      expect(titles).toEqual(expect.arrayContaining(offered.map((name) => `Choose ${name}`)))
      for (const name of others) expect(titles).not.toContain(`Choose ${name}`)
    })

    it('help and new: offer only kinds with a template that this person may use', async () => {
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
      expect(await says('kim', 'new equipment')).toContain('No template')
      expect(await says('dana', 'new equipment')).toContain('Step 2 of 3')
      await world.stores.templates.put(contosoTenant, { ...equipment, version: version + 2 }, version + 1)
    })

    it('my requests: says that the list is empty, then shows one row each', async () => {
      const { says } = start()
      expect(await says('omar', 'my requests')).toContain('You have not requested anything yet.')
      const { reference } = await requested(world, 'Listed', { who: 'omar', approval: false })
      const shown = await says('omar', 'My requests')
      expect(shown).toContain(reference)
      expect(shown).toContain('Listed')
      expect(await says('omar', 'list')).toContain(reference)
    })

    it('status: shows the request with a reference in any case, or the newest open request', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'Where is it')
      expect(await says('kim', `status ${reference}`)).toContain('Where is it')
      expect(await says('kim', `Status ${reference.toLowerCase()}`)).toContain('Where is it')
      expect(await says('kim', 'status')).toContain('Where is it')
    })

    it.each(['status REQ-999999', 'cancel REQ-999999'])('%s: reports that there is no such request', async (text) => {
      expect(await start().says('kim', text)).toContain('This request does not exist, or you may not see it.')
    })

    it.each(['status REQ-', 'status REQ-1 REQ-2'])('%s: asks which request', async (text) => {
      expect(await start().says('kim', text)).toContain('I need the request number.')
    })

    it('cancel: takes the only open request, or offers the open ones', async () => {
      const { says, types } = start()
      expect(await says('sam', 'cancel')).toContain('You have no open request that can be cancelled.')
      const one = await requested(world, 'Human Resources', { who: 'sam' })
      expect(await says('sam', 'cancel')).toMatch(new RegExp(`Cancel this request\\?[^]*${one.reference}`))
      const other = await requested(world, 'Harbour tour', { who: 'sam' })
      for (const text of ['cancel', 'cancel everything', 'I want to cancel my site']) {
        const rows = actionsOf(await types('sam', text)).map(({ title }) => title)
        expect(rows).toEqual([`Open ${other.reference}`, `Open ${one.reference}`, 'My requests'])
      }
      const named = await says('sam', 'cancel the Harbour request')
      expect(named).toMatch(new RegExp(`Cancel this request\\?[^]*${other.reference}`))
      for (const { requestId } of [one, other])
        expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
    })

    it.each([
      ['status', (number: string) => `status ${number}`],
      ['status', (number: string) => `req-${number}`],
    ])('%s: accepts the number in several forms', async (_, typed) => {
      const { reference } = await requested(world, `By number ${typed('x')}`, { who: 'kim', approval: true })
      expect(await start().says('kim', typed(reference.slice('REQ-'.length)))).toContain(reference)
    })

    it('cancel: ends the request after one confirmation, and the second time says that it has ended', async () => {
      const { says, types, clicks } = start()
      const { reference, requestId } = await requested(world, 'Not needed after all')
      const status = await types('kim', `status ${reference}`)
      for (const confirmation of [
        await types('kim', `cancel ${reference}`),
        await types('kim', `please cancel ${reference}`),
        await clicks('kim', status, 'Cancel request'),
      ]) {
        expect(textOf(confirmation)).toContain('Cancel this request?')
        expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
        expect(textOf(await clicks('kim', confirmation, 'Go back'))).toContain('Waiting for approval')
      }
      const confirmation = await clicks('kim', status, 'Cancel request')
      expect(textOf(await clicks('kim', confirmation, 'Cancel request'))).toContain('Cancelled')
      expect(textOf(await clicks('kim', confirmation, 'Cancel request'))).toContain('Already ended')
      expect(await says('kim', `cancel ${reference}`)).toContain('Already ended')
    })

    it('status and cancel: do not reveal another person’s request', async () => {
      const { says } = start()
      const { reference, requestId } = await requested(world, 'Confidential plans', { who: 'dana', approval: false })
      for (const text of [`status ${reference}`, `cancel ${reference}`])
        expect(await says('kim', text)).toContain('This request does not exist, or you may not see it.')
      expect((await world.stores.requests.find(requestId))?.status).toBe('queued')
    })

    it('approvals: lists the requests to decide, and status shows their decision cards', async () => {
      const { says, turn } = start()
      expect(await says('sam', 'approvals')).toContain('No request waits for your decision.')
      const { reference } = await requested(world, 'Decide me')
      expect(await says('dana', 'approvals')).toContain(reference)
      const [reply] = await turn(saying('dana', `status ${reference}`))
      expect(actionsOf(cardIn(reply)).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject']))
      expect(await says('kim', `status ${reference}`)).toContain('Waiting for approval')
    })

    it('approve: decides like the button, with and without a comment', async () => {
      const { says } = start()
      const [one, two] = [await requested(world, 'Fine'), await requested(world, 'Very fine')]
      expect(await says('dana', `approve ${one.reference} please`)).toContain('Approved by you')
      expect((await world.stores.requests.find(one.requestId))?.status).toBe('queued')
      expect(await says('dana', `Approve ${two.reference}, a good idea`)).toContain('Approved by you')
      const decided = await world.stores.requests.find(two.requestId)
      expect(decided?.approvals[0]?.decisions[0]).toMatchObject({ decision: 'approved', comment: 'a good idea' })
      expect(await says('dana', `approve ${two.reference}`)).toContain('Approved by you')
      expect(await says('dana', `reject ${two.reference} no`)).toContain(
        'You had already approved it. Nothing changed.',
      )
      expect(await says('omar', `reject ${two.reference} no`)).toContain(
        'It was already approved by Dana Fox. Nothing changed.',
      )
    })

    it.each(['approve REQ not yet', 'approve REQ?', 'can you approve REQ', 'aprove REQ', 'do not approve REQ'])(
      '%s: shows the card and decides nothing',
      async (text) => {
        const { reference, requestId } = await requested(world, 'Undecided')
        const card = await start().types('dana', text.replace('REQ', reference))
        expect(actionsOf(card).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject']))
        expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
      },
    )

    it.each([
      ['approve REQ only if Omar agrees', 'only if Omar agrees'],
      ['genehmige REQ später', 'später'],
      ['approuver REQ non', 'non'],
      ['aprobar REQ cuando Omar lo confirme', 'cuando Omar lo confirme'],
    ])('%s: decides nothing, and shows the card with the comment', async (text, comment) => {
      const { reference, requestId } = await requested(world, 'Undecided')
      const card = await start().types('dana', text.replace('REQ', reference))
      expect(actionsOf(card).map(({ title }) => title)).toEqual(expect.arrayContaining(['Approve', 'Reject']))
      expect(valuesOf(card)).toMatchObject({ comment })
      expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
    })

    it.each(['looks good, thanks', 's’il vous plaît, c’est parfait'])(
      'approve REQ %s: decides at once, with the comment',
      async (comment) => {
        const { reference, requestId } = await requested(world, 'Fine')
        expect(await start().says('dana', `approve ${reference} ${comment}`)).toContain('Approved by you')
        const decided = await world.stores.requests.find(requestId)
        expect(decided?.approvals[0]?.decisions[0]).toMatchObject({ decision: 'approved', comment })
      },
    )

    it('reject: requires a comment, and decides with it', async () => {
      const { types, says, clicks } = start()
      const { reference, requestId } = await requested(world, 'Not this one')
      const card = await types('dana', `reject ${reference} please`)
      expect(textOf(card)).toContain('Explain in a comment why you reject the request.')
      expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
      expect(textOf(await clicks('dana', card, 'Reject', { comment: 'Too late.' }))).toContain('Rejected by you')
      const other = await requested(world, 'Nor this one')
      expect(await says('dana', `reject ${other.reference} we do not need it`)).toContain('Rejected by you')
      const rejected = await world.stores.requests.find(other.requestId)
      expect(rejected).toMatchObject({ status: 'rejected' })
      expect(rejected?.approvals[0]?.decisions[0]).toMatchObject({ comment: 'we do not need it' })
    })

    it('approve and reject: refuse people who are no approvers, and list the approvals without one number', async () => {
      const { says, types } = start()
      const { reference, requestId } = await requested(world, 'For Dana only')
      const other = await requested(world, 'For Dana too')
      for (const text of ['approve', 'reject']) {
        expect(await says('kim', `${text} ${reference} so`)).toContain('You requested this. Somebody else must decide.')
        expect(await says('sam', `${text} ${reference} so`)).toContain('You cannot decide this')
        expect(await says('dana', text)).toMatch(/Approvals\n1–6 of/)
        for (const [first, second] of [
          [reference, other.reference],
          [reference, `and ${other.reference}`],
          [`${reference},`, `#${other.reference.slice(4)}`],
          [reference.slice(4), `and ${other.reference.slice(4)}`],
          [reference.slice(4), `, ${other.reference.slice(4)} and ${reference.slice(4)}`],
        ])
          expect(await says('dana', `${text} ${first} ${second}`)).toContain(
            'I decide one request at a time here.\nType “approvals” to decide several.',
          )
        const named = await types('dana', `${text} ${reference} it repeats ${other.reference}`)
        expect(textOf(named)).toContain('I decide one request at a time here.')
        expect(valuesOf(named)).toMatchObject({ comment: `it repeats ${other.reference}` })
        expect(await says('dana', `${text} REQ-99999`)).toContain('Type “approvals” to see what waits for you.')
        const typo = `${text.slice(0, -2)}${text.slice(-1)} ${reference.slice(4)}`
        expect(actionsOf(await types('dana', typo)).map(({ title }) => title)).toContain('Approve')
      }
      expect((await world.stores.requests.find(other.requestId))?.status).toBe('pendingApproval')
      expect((await world.stores.requests.find(requestId))?.status).toBe('pendingApproval')
    })

    it('status: keeps the shown card up to date', async () => {
      const { says } = start()
      const { reference, requestId } = await requested(world, 'Kept up to date')
      await says('kim', `status ${reference}`)
      const [card] = await world.stores.sentCards.ofRequest(requestId)
      expect(card).toMatchObject({ key: 'status', state: 'sent', personId: people.kim.id })
    })
  })

  describe('is a sentence', () => {
    it.each([
      ['I need a project site for project Aurora please', 'Project site', 'Project Aurora'],
      ['new project site called Aurora', 'Project site', 'Aurora'],
      ['can you make me a meeting room named Matterhorn', 'Meeting room', 'Matterhorn'],
      ['Ich brauche einen Besprechungsraum namens Säntis', 'Meeting room', 'Säntis'],
      ['Je voudrais une salle de réunion appelée Léman', 'Meeting room', 'Léman'],
      ['Necesito una sala de reuniones llamada Teide', 'Meeting room', 'Teide'],
      ['I want an open community "Runners"', 'Open community', 'Runners'],
      ['room for project Aurora', 'Meeting room', 'Project Aurora'],
      ['Hello, I need a room for the board', 'Meeting room', 'Board'],
    ])('%s: opens the form with the name', async (text, template, name) => {
      const card = await start().types('kim', text)
      expect(textOf(card)).toContain('Step 2 of 3')
      expect(textOf(card)).toContain(template)
      expect(valuesOf(card)['displayName']).toBe(name)
    })

    it('offers the templates that fit, and keeps the name for the form', async () => {
      const { types, clicks } = start()
      const choice = await types('kim', 'I need a site for project Aurora please')
      expect(actionsOf(choice).map(({ title }) => title)).toEqual(['Choose Open community', 'Choose Project site'])
      expect(textOf(choice)).toContain('I fill in the name “Project Aurora”.')
      const form = await clicks('kim', choice, 'Choose Project site')
      expect(valuesOf(form)['displayName']).toBe('Project Aurora')
    })

    it('offers a draft with the same name instead of a second form', async () => {
      const { types, clicks } = start()
      const named = await types('omar', 'I need a meeting room called Eiger')
      await clicks('omar', named, 'Later')
      const offer = await types('omar', 'I need a meeting room called Eiger')
      expect(textOf(offer)).toContain('Continue your draft?')
      const other = await types('omar', 'I need a meeting room called Jungfrau')
      expect(valuesOf(other)['displayName']).toBe('Jungfrau')
      const again = await clicks('omar', offer, 'New')
      expect(valuesOf(again)['displayName']).toBe('Eiger')
    })

    it('opens no form of a template that the person may not use', async () => {
      const room = (await world.stores.templates.list(contosoTenant)).find(({ kind }) => kind === 'roomMailbox')
      if (!room) throw new Error('there is no template for rooms')
      const { version } = room
      const onlyDana = { ...room, version: version + 1, audience: { people: [people.dana.id], groups: [] } }
      await world.stores.templates.put(contosoTenant, onlyDana, version)
      expect(await start().says('kim', 'I need a meeting room called Secret')).not.toContain('Step 2 of 3')
      await world.stores.templates.put(contosoTenant, { ...room, version: version + 2 }, version + 1)
    })

    it.each(['Hi!', 'Guten Tag', 'Bonjour', 'Hola', 'Hello there'])('%s: greets the person', async (text) => {
      expect(await start().says('kim', text)).toContain('Hello Kim Lee, what do you need?')
    })

    it.each(['thank you', 'Vielen Dank!', 'Merci beaucoup', 'gracias'])('%s: answers the thanks', async (text) => {
      const card = await start().types('kim', text)
      expect(textOf(card)).toContain('You are welcome')
      expect(actionsOf(card).map(({ title }) => title)).toEqual(['New request'])
    })

    it.each(['nugde', 'please tell me about', 'aprove', 'wo ist', 'REQ'])(
      '%s and a number: shows the request',
      async (text) => {
        const { reference, requestId } = await requested(world, `About ${text}`)
        const card = await start().types('kim', `${text} ${reference}`)
        expect(textOf(card)).toContain(`About ${text}`)
        expect(textOf(card)).toContain('Waiting for approval')
        expect((await world.stores.requests.find(requestId))?.version).toBe(1)
      },
    )

    it('reads the letters O and l as digits, and repeats a number that it does not find', async () => {
      const { says } = start()
      const { reference, requestId } = await requested(world, 'Letters')
      const misread = reference.replaceAll('0', 'O').replaceAll('1', 'l')
      expect(await says('kim', `nudge ${misread}`)).toContain('Letters')
      expect(await says('kim', `cancle ${reference}`)).toContain('Cancel this request?')
      expect((await world.stores.requests.find(requestId))?.version).toBe(1)
      expect(await says('kim', 'nudge REQ-999O99')).toContain('REQ-999099')
    })

    it('shows the request that a sentence names, or the list', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'Project Zebra')
      expect(await says('kim', 'what’s going on with zebra')).toContain('Waiting for approval')
      expect(await says('kim', 'is Zebra approved already?')).toContain(reference)
      for (const text of ['is it approved already?', 'what sites do I have'])
        expect(await says('kim', text)).toMatch(/My requests\n/)
    })

    it('my requests: mentions drafts', async () => {
      const { says, types, clicks } = start()
      await clicks('sam', await types('sam', 'new room Zebra room'), 'Later')
      const list = await types('sam', 'my requests')
      expect(textOf(list)).toContain('You also have a draft that you have not sent.')
      expect(actionsOf(list).map(({ title }) => title)).toContain('My drafts')
      expect(await says('sam', 'my drafts')).toContain('Zebra room')
    })

    it('opens the template that a sentence names, although “working” alone means another task', async () => {
      const site = (await world.stores.templates.list(contosoTenant)).find(({ name }) => name === 'Project site')
      if (!site) throw new Error('there is no template for projects')
      const { version } = site
      await world.stores.templates.put(contosoTenant, { ...site, version: version + 1, name: 'Working group' }, version)
      const { types } = start()
      for (const text of [
        'I need a working group',
        'Working group please',
        'I need a working group site called Lights',
      ]) {
        const form = await types('kim', text)
        expect(textOf(form)).toContain('Working group')
        expect(textOf(form)).toContain('Step 2 of 3')
        expect(valuesOf(form)['displayName']).toBe(text.endsWith('Lights') ? 'Lights' : '')
      }
      expect(textOf(await types('kim', 'I need access to the working group'))).toContain('I cannot do this')
      await world.stores.templates.put(contosoTenant, { ...site, version: version + 2 }, version + 1)
    })

    it('offers all kinds of shared mailboxes, as the command does', async () => {
      const choice = await start().types('kim', 'make a shared mailbox called Zebra post')
      expect(textOf(choice)).toContain('I fill in the name “Zebra post”.')
      const titles = actionsOf(choice).map(({ title }) => title)
      expect(titles).toEqual(expect.arrayContaining(['Choose Shared mailbox', 'Choose Customer mailbox']))
    })

    it.each([
      ['how long does it take', 'Creation usually takes about a minute.'],
      ['who approves HR', 'its review names the approvers'],
      ['delete my site wg-tokyo', 'I cannot change or delete them'],
      ['add Omar to my site Project Aurora', 'Ask their owners, or Sam Roy'],
      ['I need access to the Aurora site', 'Ask their owners, or Sam Roy'],
    ])('%s: gets one answer', async (text, answer) => {
      expect(await start().says('kim', text)).toContain(answer)
    })

    it('keeps the number of a command with polite words', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'Please do it')
      expect(await says('kim', `status ${reference} please`)).toContain('Please do it')
      expect(await says('kim', `status of ${reference}?`)).toContain('Please do it')
      expect(await says('kim', `nudge ${reference} please`)).toContain('Please do it')
      expect(await says('kim', `nudge ${reference} please`)).toContain('Already reminded')
    })

    it('shows lists, and requires a missing number', async () => {
      const { says } = start()
      const { reference } = await requested(world, 'In the list')
      expect(await says('kim', 'show me my requests')).toContain(reference)
      expect(await says('dana', 'what do I have to approve?')).toMatch(/Approvals\n1–6 of/)
      expect(await says('kim', 'please remind them')).toContain('I need the request number.')
    })
  })

  describe('is no command', () => {
    it.each([
      ['hlep', 'help'],
      ['stauts', 'status'],
      ['aprovals', 'approvals'],
      ['my reqests', 'my requests'],
      ['nwe site', 'new site'],
      ['newsite', 'new site'],
      ['rooom', 'new room'],
      ['equipmnt', 'new equipment'],
      ['shared malbox', 'new shared mailbox'],
      ['halp!!', 'help'],
    ])('%s: suggests %s', async (text, suggestion) => {
      const card = await start().types('kim', text)
      expect(textOf(card)).toContain(`Did you mean “${suggestion}”?`)
      expect(actionsOf(card).map(({ title }) => title)).toEqual(suggestion === 'help' ? ['help'] : [suggestion, 'Help'])
    })

    it.each([
      ['cancle', 'cancel'],
      ['nugde', 'nudge'],
      ['delgate Omar until friday', 'delegate'],
    ])('%s: shows how to type %s, without a button that runs it', async (text, suggestion) => {
      const card = await start().types('kim', text)
      expect(textOf(card)).toContain(`Did you mean “${suggestion}”? Type the whole command.`)
      expect(actionsOf(card).map(({ title }) => title)).toEqual(['Help'])
    })

    it.each([
      '',
      '   ',
      '🙂',
      'x'.repeat(20_000),
      'no such thing '.repeat(18_000),
      '<at '.repeat(65_000),
      `**bold** [link](https://evil.example) ${'$'}{1+1} <at>x</at>`,
      '__proto__',
      'constructor',
      'yes',
      'what is the weather',
      'I do not need a site',
    ])('gets the help card (%#)', async (text) => {
      const shown = await start().says('kim', text)
      expect(shown).toContain('I did not understand this')
      expect(shown).not.toContain('evil')
      expect(shown).toContain('New room')
    })
  })
})

describe('a name with a number', () => {
  const world = withBotWorld()
  const start = () => startBot(world)

  it('cancel: does not take the number for another person’s request', async () => {
    const { types } = start()
    const { reference } = await requested(world, 'Other thing', { who: 'kim' })
    const card = await types('sam', `please cancel the Budget ${reference.slice('REQ-'.length)} site`)
    expect(textOf(card)).not.toContain(reference)
    expect(textOf(card)).not.toContain('Cancel this request?')
  })

  it.each(['Summer party 2026', 'Team 12', 'Room 7'])('cancel and status: find “%s”', async (name) => {
    const { says } = start()
    const { reference } = await requested(world, name, { who: 'kim' })
    await requested(world, name.replace(/\d+$/, '99'), { who: 'kim' })
    expect(await says('kim', `cancel the ${name} site`)).toMatch(new RegExp(`Cancel this request\\?[^]*${reference}`))
    expect(await says('kim', `status of ${name}`)).toContain(`${reference}\n`)
  })

  it('cancel and status: find a request by its number in a long sentence, if no name has it', async () => {
    const { says } = start()
    const { reference } = await requested(world, 'Harbour', { who: 'omar' })
    await requested(world, 'Lighthouse', { who: 'omar' })
    const number = reference.slice('REQ-'.length)
    for (const text of [`can you tell me the status of ${number}`, `pouvez-vous me dire le statut de ${number}`])
      for (const who of ['omar', 'dana'] as const) expect(await says(who, text)).toContain(`${reference}\n`)
    expect(await says('dana', `remind Omar about ${number}`)).toContain(`${reference}\n`)
    expect(await says('omar', `sorry, cancel ${number}`)).toMatch(new RegExp(`Cancel this request\\?[^]*${reference}`))
    expect(await says('sam', `sorry, cancel ${number}`)).not.toContain('Cancel this request?')
  })

  it('cancel and status: do not take the only open request for one with another number', async () => {
    const { says } = start()
    const { reference } = await requested(world, 'Room 13', { who: 'omar' })
    expect(await says('omar', 'cancel Room 12')).not.toContain('Cancel this request?')
    expect(await says('omar', 'status of Room 12')).toMatch(/My requests\n/)
    expect(await says('omar', 'cancel Room 13')).toMatch(new RegExp(`Cancel this request\\?[^]*${reference}`))
  })
})
