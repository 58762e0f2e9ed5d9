import { ConversationState, MemoryStorage } from 'botbuilder'
import { DialogTestClient } from 'botbuilder-testing'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RequestDialog } from '../../src/bot/channel/bot.ts'
import { Listener } from '../../src/bot/channel/listener.ts'
import type { ResourceKind } from '../../src/core/index.ts'
import { cardIn, clicking, saying } from '../support/bot-activities.ts'
import { withBotWorld } from '../support/bot-world.ts'
import { dana, kim, openCommunity, projectSite } from '../support/card-world.ts'
import { action, actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'
import { contosoTenant } from '../support/teams-user.ts'

const filled = {
  displayName: 'Project Aurora',
  'metadata.costCentre': '4711',
  'metadata.audience': 'internal',
  reason: 'Four companies need one place for drawings.',
}

/** One request of each kind: the command, the choice if there are several templates, and the answers. */
const walks: readonly {
  readonly kind: ResourceKind
  readonly command: string
  readonly choose?: string
  readonly answers: Record<string, string>
  readonly send: string
  readonly expected: object
}[] = [
  {
    kind: 'teamSite',
    command: 'new site',
    choose: 'Choose Project site',
    answers: { ...filled, displayName: 'Team site by dialog' },
    send: 'Send',
    expected: { status: 'pendingApproval', details: { displayName: 'Team site by dialog' } },
  },
  {
    kind: 'communicationSite',
    command: 'new site',
    choose: 'Choose Open community',
    answers: { displayName: 'Communication site by dialog' },
    send: 'Create',
    expected: { status: 'queued', details: { displayName: 'Communication site by dialog' } },
  },
  {
    kind: 'sharedMailbox',
    command: 'new shared mailbox',
    choose: 'Choose Customer mailbox',
    answers: {
      displayName: 'Northwind orders',
      name: 'northwind',
      'permissions.FullAccess': dana.id,
      'metadata.customer': 'Northwind Traders',
      reason: 'Three people process their orders.',
    },
    send: 'Send',
    expected: { status: 'pendingApproval', details: { permissions: { [dana.id]: 'FullAccess' } } },
  },
  {
    kind: 'roomMailbox',
    command: 'new room',
    answers: { displayName: 'Aurora', name: 'aurora', officeLocation: 'Zürich, floor 3', 'metadata.seats': '12' },
    send: 'Create',
    expected: { status: 'queued', details: { officeLocation: 'Zürich, floor 3', metadata: { seats: '12' } } },
  },
  {
    kind: 'equipmentMailbox',
    command: 'new equipment',
    answers: { displayName: 'Projector 7', name: 'projector-7', 'metadata.equipmentType': 'Projector' },
    send: 'Create',
    expected: { status: 'queued', details: { metadata: { equipmentType: 'Projector' } } },
  },
]

/** The key under which botbuilder stores the state of Kim's chat. */
const stateKey = `msteams/conversations/personal-${kim.id}/`

describe('the request dialog', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.directoryAway = false
    expect(world.logged.splice(0)).toEqual([])
  })

  /** A chat of Kim with only the dialog. Each call is a turn. */
  function chat(state = new ConversationState(new MemoryStorage())) {
    const client = new DialogTestClient(
      'msteams',
      new RequestDialog(),
      undefined,
      [new Listener(world.services)],
      state,
    )
    const click = async (card: Card, title: string, inputs: Record<string, string> = {}): Promise<Card> => {
      const { verb, data } = action(card, title)
      return cardIn(await client.sendActivity(clicking('kim', String(verb), { ...data, ...valuesOf(card), ...inputs })))
    }
    /** Returns the templates of a command, or the form of its only template, without Kim's drafts. */
    const begin = async (command = 'new'): Promise<Card> => {
      const card = cardIn(await client.sendActivity(saying('kim', command)))
      return actionsOf(card).some(({ title }) => title === 'New') ? click(card, 'New') : card
    }
    return {
      client,
      click,
      send: async (verb: string, data: object) => cardIn(await client.sendActivity(clicking('kim', verb, data))),
      begin,
      form: async () => click(await begin(), 'Choose Project site'),
      status: () => client.dialogTurnResult.status,
      /** The dialog's state in botbuilder. */
      cursor: (): unknown => client.dialogContext.activeDialog?.state,
    }
  }
  const drafted = (card: Card) => z.object({ requestId: z.uuid(), version: z.int() }).parse(action(card, 'Review').data)
  const asKim = () => world.provisioning.actor({ tenantId: contosoTenant, id: kim.id })

  it('leads from the choice through the form and the review to a request, and ends with its id', async () => {
    const { begin, click, client, status, cursor } = chat()
    const choose = await begin()
    expect(textOf(choose)).toContain('What do you need?')
    expect(cursor()).toEqual({ v: 1, step: 'choose' })

    const form = await click(choose, 'Choose Project site')
    const { requestId } = drafted(form)
    expect(cursor()).toEqual({ v: 1, step: 'details', requestId })

    const review = await click(form, 'Review', filled)
    expect(textOf(review)).toContain('Is this right?')
    expect(cursor()).toEqual({ v: 1, step: 'review', requestId })

    const sent = await click(review, 'Send')
    expect(textOf(sent)).toContain('Waiting for approval')
    expect(status()).toBe('complete')
    expect(client.dialogTurnResult.result).toBe(requestId)
    expect(client.dialogContext.stack).toEqual([])
    const request = await world.provisioning.readRequest(await asKim(), { requestId })
    expect(request).toMatchObject({ status: 'pendingApproval', reason: filled.reason, channel: 'chat' })
    expect(request.details).toMatchObject({ displayName: 'Project Aurora', metadata: { costCentre: '4711' } })
  })

  it.each(walks)(
    'leads from `$command` to a request of the kind $kind',
    async ({ kind, command, choose, answers, send, expected }) => {
      const { begin, click, client, status, cursor } = chat()
      const first = await begin(command)
      if (choose) expect(cursor()).toEqual({ v: 1, step: 'choose' })
      const form = choose ? await click(first, choose) : first
      const { requestId } = drafted(form)
      expect(cursor()).toEqual({ v: 1, step: 'details', requestId })
      const review = await click(form, 'Review', answers)
      expect(textOf(review)).toContain('Is this right?')
      expect(cursor()).toEqual({ v: 1, step: 'review', requestId })
      await click(review, send)
      expect({ status: status(), result: client.dialogTurnResult.result }).toEqual({
        status: 'complete',
        result: requestId,
      })
      expect(await world.provisioning.readRequest(await asKim(), { requestId })).toMatchObject({
        kind,
        channel: 'chat',
        ...expected,
      })
    },
  )

  it('returns the form with its values and faults until it is valid', async () => {
    const { form, click, cursor } = chat()
    const card = await form()
    const once = await click(card, 'Review', { ...filled, displayName: ' ', 'metadata.costCentre': 'four' })
    expect(textOf(once)).toContain('2 things to fix')
    expect(textOf(once)).toContain('Enter a site name.')
    expect(valuesOf(once)).toMatchObject({ 'metadata.costCentre': 'four', reason: filled.reason })
    expect(cursor()).toMatchObject({ step: 'details' })
    const twice = await click(once, 'Review', { displayName: 'Second try' })
    expect(textOf(twice)).toContain('One thing to fix')
    expect(valuesOf(twice)).toMatchObject({ displayName: 'Second try', 'metadata.costCentre': 'four' })
    const review = await click(twice, 'Review', { 'metadata.costCentre': '4712' })
    expect(textOf(review)).toContain('Second try')
  })

  it('returns from the review to the form with all values', async () => {
    const { form, click, cursor } = chat()
    const review = await click(await form(), 'Review', { ...filled, displayName: 'Before the edit' })
    const again = await click(review, 'Edit')
    expect(valuesOf(again)).toMatchObject({ ...filled, displayName: 'Before the edit' })
    expect(cursor()).toMatchObject({ step: 'details' })
    const changed = await click(again, 'Review', { displayName: 'After the edit' })
    expect(textOf(changed)).toContain('After the edit')
  })

  it('ends without a request when it is discarded, and clicks on the old card change nothing', async () => {
    const { form, click, client, status } = chat()
    const card = await form()
    expect(textOf(await click(card, 'Discard'))).toContain('Nothing was sent')
    expect(status()).toBe('complete')
    expect(client.dialogTurnResult.result).toBeUndefined()
    expect(textOf(await click(card, 'Review', filled))).toContain('Discarded')
    const actor = await asKim()
    const unsent = await refusal(() => world.provisioning.readRequest(actor, { requestId: drafted(card).requestId }))
    expect(sentenceOf(unsent)).toContain('This request does not exist')
  })

  it('stores only a versioned cursor: no typed value, no card', async () => {
    const storage = new MemoryStorage()
    const { form, click } = chat(new ConversationState(storage))
    await click(await form(), 'Review', { ...filled, displayName: 'Not in the state' })
    const stored = JSON.stringify(await storage.read([stateKey]))
    expect(stored).toContain('"v":1')
    expect(stored).not.toContain('Not in the state')
    expect(stored.length).toBeLessThan(500)
  })

  it('continues from any card, whatever its last state was', async () => {
    const first = chat()
    const card = await first.form()
    const elsewhere = chat()
    const review = await elsewhere.click(card, 'Review', { ...filled, displayName: 'From an older card' })
    expect(textOf(review)).toContain('Is this right?')
    expect(textOf(await first.click(review, 'Send'))).toContain('Waiting for approval')
  })

  it('ignores a state of another version and continues', async () => {
    const storage = new MemoryStorage()
    const { form, click, cursor } = chat(new ConversationState(storage))
    const card = await form()
    const other = { v: 99, step: 'somewhere', left: 'over' }
    await storage.write({ [stateKey]: { DialogState: { dialogStack: [{ id: 'request', state: other }] }, eTag: '*' } })
    expect(textOf(await click(card, 'Review', { ...filled, displayName: 'After an update' }))).toContain(
      'After an update',
    )
    expect(cursor()).toMatchObject({ v: 1, step: 'review' })
  })

  it('answers a click on an outdated form or review with the latest card', async () => {
    const { form, click } = chat()
    const card = await form()
    const fixed = await click(card, 'Review', { ...filled, displayName: '' })
    const stale = await click(card, 'Review', { ...filled, displayName: 'Typed into the old card' })
    expect(textOf(stale)).toContain('That card was outdated')
    expect(drafted(stale).version).toBe(drafted(fixed).version)
    const review = await click(fixed, 'Review', { displayName: 'The right one' })
    const back = await click(review, 'Edit')
    expect(textOf(await click(review, 'Send'))).toContain('That card was outdated')
    expect(valuesOf(back)).toMatchObject({ displayName: 'The right one' })
  })

  it('accepts Edit only on the latest review, and only once', async () => {
    const { form, click, send } = chat()
    const first = await click(await form(), 'Review', { ...filled, displayName: 'First review' })
    const back = await click(first, 'Edit')
    expect(textOf(await click(first, 'Edit'))).not.toContain('That card was outdated')
    const second = await click(back, 'Review', { displayName: 'Second review' })
    const { requestId, version } = z
      .object({ requestId: z.uuid(), version: z.int() })
      .parse(action(second, 'Send').data)
    const before = await world.stores.drafts.find(requestId)
    for (const outdated of [version - 2, version + 1])
      expect(textOf(await send('request.edit', { requestId, version: outdated }))).toContain('Second review')
    expect(await world.stores.drafts.find(requestId)).toEqual(before)
    expect(textOf(await click(second, 'Send'))).toContain('Waiting for approval')
    expect(textOf(await click(second, 'Edit'))).toContain('Waiting for approval')
  })

  it('starts again from a request without a resource, and shows the status of any other', async () => {
    const { form, click, send } = chat()
    const review = await click(await form(), 'Review', { ...filled, displayName: 'Once more' })
    const { requestId } = z.object({ requestId: z.uuid() }).parse(action(review, 'Send').data)
    await click(review, 'Send')
    expect(textOf(await send('request.edit', { requestId }))).toContain('Waiting for approval')
    await world.provisioning.cancelRequest(await asKim(), { requestId })
    const again = await send('request.edit', { requestId })
    expect(valuesOf(again)).toMatchObject({ ...filled, displayName: 'Once more' })
    expect(drafted(again).requestId).not.toBe(requestId)
  })

  it('returns the form with its values if the name was taken after the review', async () => {
    const { form, click, cursor, status } = chat()
    const review = await click(await form(), 'Review', { ...filled, displayName: 'Wanted by two', alias: 'wanted' })
    world.takenAddresses.add('wanted')
    const back = await click(review, 'Send')
    expect(textOf(back)).toContain('This address is taken. Try wanted-2.')
    expect(valuesOf(back)).toMatchObject({ ...filled, displayName: 'Wanted by two', alias: 'wanted' })
    expect(cursor()).toMatchObject({ step: 'details' })
    expect(status()).toBe('waiting')
  })

  it('saves the typed values while the directory does not answer, and reports it', async () => {
    const { form, click } = chat()
    const card = await form()
    const actor = await asKim()
    world.directoryAway = true
    const { requestId, version } = drafted(card)
    const view = await world.provisioning.reviewDraft(actor, {
      requestId,
      version,
      values: { ...filled, displayName: 'Kept' },
    })
    expect(view).toMatchObject({
      step: 'details',
      draft: { version: version + 1, values: { displayName: 'Kept' } },
      faults: [{ pointer: '', code: 'unavailable' }],
    })
    world.directoryAway = false
    const latest = await click(card, 'Review')
    expect(valuesOf(latest)).toMatchObject({ ...filled, displayName: 'Kept' })
    expect(textOf(await click(latest, 'Review'))).toContain('Is this right?')
  })

  it('either submits or discards after both clicks at the same time', async () => {
    const { form, click } = chat()
    const review = await click(await form(), 'Review', { ...filled, displayName: 'Discarded or sent' })
    const { requestId } = z.object({ requestId: z.uuid() }).parse(action(review, 'Send').data)
    const outcomes = await Promise.all([
      chat().click(review, 'Send').then(textOf),
      chat().send('request.cancel', { requestId }).then(textOf),
    ])
    const request = await world.stores.requests.find(requestId)
    const draft = await world.stores.drafts.find(requestId)
    if (request === undefined) expect([draft?.step, ...outcomes]).toContain('discarded')
    else expect(draft?.step).toBe('submitted')
  })

  it('refuses invalid clicks with a notice, at its start and later', async () => {
    const { send, form } = chat()
    for (const data of [{}, { templateId: 'x' }, { templateId: ['x'] }])
      expect(textOf(await send('request.choose', data))).toContain('This card is outdated')
    const { requestId } = drafted(await form())
    expect(textOf(await send('request.review', { requestId, version: 0 }))).toContain('This card is outdated')
    expect(textOf(await send('request.choose', { templateId: requestId }))).toContain('Template not available')
    expect(textOf(await send('request.submit', { requestId: openCommunity.id, version: 1 }))).toContain('Not found')
  })

  it('starts with the form if a click names a template', async () => {
    const { send, cursor } = chat()
    const form = await send('request.choose', { templateId: openCommunity.id })
    expect(textOf(form)).toContain('Open community')
    expect(cursor()).toEqual({ v: 1, step: 'details', requestId: drafted(form).requestId })
    expect(textOf(await send('request.choose', { templateId: projectSite.id }))).toContain('Project site')
  })
})
