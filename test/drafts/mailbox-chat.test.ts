import { afterEach, describe, expect, it } from 'vitest'
import { asWritten, isForMailbox, type RequestForMailbox, TenantError } from '../../src/core/index.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { dana, kim, omar } from '../support/card-world.ts'
import { actionsOf, nodesOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant } from '../support/teams-user.ts'

const room = {
  displayName: 'Aurora (Zürich, floor 3)',
  name: 'aurora',
  officeLocation: 'Zürich 3.14',
  'metadata.seats': '12',
  isWheelChairAccessible: 'true',
  'roomMailboxMetadata.hasWhiteboard': 'true',
  'roomMailboxMetadata.hasVideoConferencing': 'false',
  'permissions.FullAccess': dana.id,
  'permissions.SendAs': omar.id,
}

describe('a mailbox requested in chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.takenAddresses.clear()
    world.stepRefusal = undefined
    expect(world.logged.splice(0)).toEqual([])
  })

  const start = () => startBot(world)
  const asKim = () => world.provisioning.actor({ tenantId: contosoTenant, id: kim.id })
  /** Reads the request of a status card. */
  async function requestOn(card: Card): Promise<RequestForMailbox> {
    const request = await world.provisioning.readRequestByReference(await asKim(), { reference: referenceOn(card) })
    if (!isForMailbox(request)) throw new Error(`${request.kind} is no mailbox`)
    return request
  }
  const referenceOn = (card: Card): string => /REQ-\d+/.exec(textOf(card))?.[0] ?? `no reference on ${textOf(card)}`
  /** Opens the form of the only template of a command, completes it and clicks Review. */
  async function reviews(command: string, inputs: Record<string, string>) {
    const bot = start()
    const form = await bot.opens('kim', command)
    return { bot, form, review: await bot.clicks('kim', form, 'Review', inputs) }
  }

  it('is a room, whose request contains all values of the form', async () => {
    const { bot, form, review } = await reviews('new room', room)
    expect(textOf(form)).toContain('Meeting room')
    for (const shown of ['Is this right?', 'room-aurora@contoso.example', 'Dana Fox', 'Omar Haddad', 'Zürich 3.14'])
      expect(textOf(review)).toContain(shown)
    const sent = await bot.clicks('kim', review, 'Create')
    expect(await requestOn(sent)).toMatchObject({
      kind: 'roomMailbox',
      status: 'queued',
      channel: 'chat',
      address: 'room-aurora@contoso.example',
      details: {
        displayName: room.displayName,
        officeLocation: 'Zürich 3.14',
        isWheelChairAccessible: true,
        roomMailboxMetadata: { hasWhiteboard: true },
        metadata: { seats: '12' },
        permissions: { [dana.id]: 'FullAccess', [omar.id]: 'SendAs' },
      },
    })
    expect(await bot.says('kim', 'my requests')).toContain(room.displayName)
  })

  it('is a shared mailbox, chosen from several templates and approved by another person', async () => {
    const bot = start()
    const choose = await bot.opens('kim', 'new shared mailbox')
    const form = await bot.clicks('kim', choose, 'Choose Customer mailbox')
    const review = await bot.clicks('kim', form, 'Review', {
      displayName: 'Northwind orders',
      name: 'northwind',
      alias: 'orders',
      'permissions.FullAccess': `${kim.id},${dana.id}`,
      'metadata.customer': 'Northwind Traders',
      reason: 'Their orders go to three of us.',
    })
    expect(textOf(review)).toContain('cust-northwind@contoso.example')
    expect(textOf(review)).toContain('Dana Fox or Omar Haddad')
    const sent = await bot.clicks('kim', review, 'Send')
    expect(textOf(sent)).toContain('Waiting for approval')
    const request = await requestOn(sent)
    expect(request).toMatchObject({
      kind: 'sharedMailbox',
      status: 'pendingApproval',
      aliasAddress: 'orders@contoso.example',
      reason: 'Their orders go to three of us.',
      details: { permissions: { [kim.id]: 'FullAccess', [dana.id]: 'FullAccess' } },
    })
    const decision = await bot.types('dana', `status ${referenceOn(sent)}`)
    expect(textOf(decision)).toContain('Their orders go to three of us.')
    expect(textOf(await bot.clicks('dana', decision, 'Approve'))).toContain('Approved by you')
    expect((await requestOn(sent)).status).toBe('queued')
  })

  it('is equipment, with the answer to the template’s question', async () => {
    const { bot, review } = await reviews('new equipment', {
      displayName: 'Projector 7',
      name: 'projector-7',
      'metadata.equipmentType': 'Projector',
    })
    const sent = await bot.clicks('kim', review, 'Create')
    expect(await requestOn(sent)).toMatchObject({
      kind: 'equipmentMailbox',
      address: 'eq-projector-7@contoso.example',
      details: { metadata: { equipmentType: 'Projector' }, permissions: {} },
    })
  })

  it('returns to its form if a person has two kinds of access: the fault is under the picker, and both values stay', async () => {
    const both = { ...room, name: 'twice', 'permissions.SendAs': `${omar.id},${dana.id}` }
    const { bot, review: back } = await reviews('new room', both)
    expect(textOf(back)).toContain('One thing to fix')
    expect(valuesOf(back)).toMatchObject(both)
    expect(lineUnder(back, 'permissions.SendAs')).toMatch(/^! /)
    expect(lineUnder(back, 'permissions.FullAccess')).not.toMatch(/^! /)
    for (const picker of ['permissions.FullAccess', 'permissions.SendAs'])
      expect(choicesOf(back, picker)).toContain('Dana Fox')
    const again = await bot.clicks('kim', back, 'Review', { 'permissions.SendAs': omar.id })
    expect(textOf(again)).toContain('Is this right?')
  })

  it('returns to its form with a free address if its address is taken at the review', async () => {
    world.takenAddresses.add('room-borealis@contoso.example')
    const { bot, review: back } = await reviews('new room', { ...room, name: 'borealis' })
    expect(textOf(back)).toContain('One thing to fix')
    expect(lineUnder(back, 'name')).toContain('room-borealis-2')
    const review = await bot.clicks('kim', back, 'Review', { name: 'room-borealis-2' })
    expect(textOf(review)).toContain('room-borealis-2@contoso.example')
  })

  it('returns to its form with all values if its address was taken after the review', async () => {
    const { bot, review } = await reviews('new room', { ...room, name: 'cassini' })
    world.takenAddresses.add('room-cassini@contoso.example')
    const back = await bot.clicks('kim', review, 'Create')
    expect(lineUnder(back, 'name')).toContain('room-cassini-2')
    expect(valuesOf(back)).toMatchObject({ ...room, name: 'cassini' })
    const again = await bot.clicks('kim', back, 'Review', { name: 'room-cassini-2' })
    const sent = await bot.clicks('kim', again, 'Create')
    expect(await requestOn(sent)).toMatchObject({ status: 'queued', address: 'room-cassini-2@contoso.example' })
  })

  it('goes to the first of two people with the same name, and the other gets a free name', async () => {
    const first = await reviews('new room', { ...room, name: 'deneb' })
    const second = await reviews('new room', { ...room, name: 'deneb' })
    await first.bot.clicks('kim', first.review, 'Create')
    expect(lineUnder(await second.bot.clicks('kim', second.review, 'Create'), 'name')).toContain('room-deneb-2')
  })

  it('offers a form with a free name after it failed because of a taken name', async () => {
    const { bot, review } = await reviews('new room', { ...room, name: 'electra' })
    const sent = await bot.clicks('kim', review, 'Create')
    const { requestId } = await requestOn(sent)
    world.takenAddresses.add('room-electra@contoso.example')
    world.stepRefusal = new TenantError('name-taken', asWritten('room-electra@contoso.example is taken.'), {
      retryable: false,
    })
    await world.provisioning.system.provision(requestId, { lastAttempt: true, signal: AbortSignal.timeout(10_000) })
    const failed = await bot.types('kim', `status ${referenceOn(sent)}`)
    expect(textOf(failed)).toContain('room-electra-2')
    const form = await bot.clicks('kim', failed, 'Change address')
    expect(valuesOf(form)).toMatchObject({ ...room, name: 'room-electra-2' })
    expect(textOf(await bot.clicks('kim', form, 'Review'))).toContain('room-electra-2@contoso.example')
  })

  it.each([
    ['metadata.seats', 'a dozen'],
    ['name', 'not a name!'],
    ['displayName', ' '],
    ['permissions.FullAccess', '11111111-aaaa-4aaa-8aaa-000000009999'],
  ])('shows a fault of %s under its input, and keeps the value', async (input, wrong) => {
    const { review: back } = await reviews('new room', { ...room, name: 'faulty', [input]: wrong })
    expect(textOf(back)).toContain('One thing to fix')
    expect(lineUnder(back, input)).toMatch(/^! /)
    expect(valuesOf(back)).toMatchObject({ ...room, name: 'faulty', [input]: wrong })
  })

  it('opens More fields if one of them has a fault', async () => {
    const { bot, review: back } = await reviews('new room', { ...room, name: 'more', country: 'Atlantis' })
    expect(lineUnder(back, 'country')).toMatch(/^! /)
    expect(isHidden(back, 'country')).toBe(false)
    const review = await bot.clicks('kim', back, 'Review', { country: 'Switzerland' })
    expect(textOf(review)).toContain('Is this right?')
  })

  it('shows the domain of its address on the form, and no domain while the directory does not answer', async () => {
    expect(textOf(await start().opens('kim', 'new equipment'))).toContain('contoso.example')
    world.mailDomainsAway = true
    const form = await start().opens('kim', 'new equipment')
    world.mailDomainsAway = false
    expect(textOf(form)).toContain('Step 2 of 3')
    expect(textOf(form)).not.toContain('contoso.example')
  })

  it('looks up at most as many people as a form allows, whatever a client sends', async () => {
    const { opens, sends } = start()
    const form = await opens('kim', 'new room')
    const id = (number: number) => `11111111-bbbb-4bbb-8bbb-${String(number).padStart(12, '0')}`
    const many = Array.from({ length: 3000 }, (_, index) => id(index)).join(',')
    const { data } = actionsOf(form).find(({ title }) => title === 'Review') ?? {}
    world.keyRequests.length = 0
    const back = await sends('kim', 'request.review', { ...data, ...room, 'permissions.FullAccess': many })
    expect(textOf(back)).toMatch(/thing(s)? to fix/)
    expect(world.keyRequests.length).toBeLessThan(500)
  })

  it('keeps a text that is too long for its input, unless the person changes it', async () => {
    const bot = start()
    const { id: templateId } = (await world.provisioning.listUsableTemplates(await asKim())).find(
      ({ kind, approval }) => kind === 'sharedMailbox' && approval === null,
    ) ?? { id: '' }
    const automaticReply = 'We answer in two days.\n'.repeat(220).trim()
    const body = { templateId, displayName: 'Help desk', name: 'long-text', automaticReply }
    const { requestId } = await world.provisioning.submitMailbox(await asKim(), { body })
    await world.provisioning.cancelRequest(await asKim(), { requestId })
    const form = await bot.sends('kim', 'request.edit', { requestId })
    const shown = valuesOf(form)['automaticReply'] ?? ''
    expect(shown.length).toBeLessThanOrEqual(2000)
    expect(textOf(form)).toContain('This is only the start. If you change nothing, the whole text stays.')
    const review = await bot.clicks('kim', form, 'Review')
    const back = await bot.clicks('kim', review, 'Edit')
    const again = await bot.clicks('kim', await bot.clicks('kim', back, 'Later'), 'Continue')
    const sent = await bot.clicks('kim', await bot.clicks('kim', again, 'Review'), 'Create')
    const request = await requestOn(sent)
    expect(request.details.automaticReply).toBe(automaticReply)
    await world.provisioning.cancelRequest(await asKim(), { requestId: request.requestId })
    const other = await bot.sends('kim', 'request.edit', { requestId: request.requestId })
    const shorter = { automaticReply: `Dear customer. ${shown}` }
    const changed = await bot.clicks('kim', await bot.clicks('kim', other, 'Review', shorter), 'Create')
    expect((await requestOn(changed)).details.automaticReply).toBe(shorter.automaticReply)
  })
})

/** Returns the line directly under an input; `''` without a line. */
function lineUnder(card: Card, input: string): string {
  const all = [...nodesOf(card['body'])]
  const at = all.findIndex((node) => node['id'] === input)
  if (at < 0) throw new Error(`no input ${input} on this card`)
  const next = all.slice(at + 1).find(({ type }) => String(type).startsWith('Input.') || isLine(type))
  return next && isLine(next['type']) ? textOf({ body: [next] }) : ''
}
const isLine = (type: unknown): boolean => type === 'TextBlock' || type === 'RichTextBlock'

/** Returns the names of the chosen people in a picker. */
const choicesOf = (card: Card, input: string): string => {
  const picker = [...nodesOf(card)].find((node) => node['id'] === input)
  return JSON.stringify(picker?.['choices'])
}

/** Whether an input is in a folded container. */
const isHidden = (card: Card, input: string): boolean =>
  [...nodesOf(card)].some(
    (node) => node['isVisible'] === false && [...nodesOf(node['items'])].some((inner) => inner['id'] === input),
  )
