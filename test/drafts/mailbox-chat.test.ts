import { afterEach, describe, expect, it } from 'vitest'
import { isForMailbox, type RequestForMailbox, TenantError } from '../../src/core/index.ts'
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

describe('a mailbox that is asked for in chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.takenAddresses.clear()
    world.stepRefusal = undefined
    expect(world.logged.splice(0)).toEqual([])
  })

  const start = () => startBot(world)
  const asKim = () => world.provisioning.actor({ tenantId: contosoTenant, id: kim.id })
  /** The request that a status card is about. */
  async function requestOn(card: Card): Promise<RequestForMailbox> {
    const request = await world.provisioning.readRequestByReference(await asKim(), { reference: referenceOn(card) })
    if (!isForMailbox(request)) throw new Error(`${request.kind} is no mailbox`)
    return request
  }
  const referenceOn = (card: Card): string => /REQ-\d+/.exec(textOf(card))?.[0] ?? `no reference on ${textOf(card)}`
  /** The form of the only template of a command, filled and sent off for review. */
  async function reviews(words: string, inputs: Record<string, string>) {
    const bot = start()
    const form = await bot.opens('kim', words)
    return { bot, form, review: await bot.clicks('kim', form, 'Review', inputs) }
  }

  it('is a room, from the command over form and review to a request with all that was asked for', async () => {
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

  it('is a shared mailbox: chosen among several, with approval, and its requester decides nothing', async () => {
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
    const asked = await requestOn(sent)
    expect(asked).toMatchObject({
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

  it('is equipment, with the question that its template asks', async () => {
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

  it('comes back when one person is chosen for two kinds of access: said beside the picker, both kept and named', async () => {
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

  it('comes back when its address is taken, at the review: with a free one, which is then accepted', async () => {
    world.takenAddresses.add('room-borealis@contoso.example')
    const { bot, review: back } = await reviews('new room', { ...room, name: 'borealis' })
    expect(textOf(back)).toContain('One thing to fix')
    expect(lineUnder(back, 'name')).toContain('room-borealis-2')
    const review = await bot.clicks('kim', back, 'Review', { name: 'room-borealis-2' })
    expect(textOf(review)).toContain('room-borealis-2@contoso.example')
  })

  it('comes back when its address was taken between review and send, with all that was typed', async () => {
    const { bot, review } = await reviews('new room', { ...room, name: 'cassini' })
    world.takenAddresses.add('room-cassini@contoso.example')
    const back = await bot.clicks('kim', review, 'Create')
    expect(lineUnder(back, 'name')).toContain('room-cassini-2')
    expect(valuesOf(back)).toMatchObject({ ...room, name: 'cassini' })
    const again = await bot.clicks('kim', back, 'Review', { name: 'room-cassini-2' })
    const sent = await bot.clicks('kim', again, 'Create')
    expect(await requestOn(sent)).toMatchObject({ status: 'queued', address: 'room-cassini-2@contoso.example' })
  })

  it('goes to the first of two who want the same name; the other is told with a free one', async () => {
    const first = await reviews('new room', { ...room, name: 'deneb' })
    const second = await reviews('new room', { ...room, name: 'deneb' })
    await first.bot.clicks('kim', first.review, 'Create')
    expect(lineUnder(await second.bot.clicks('kim', second.review, 'Create'), 'name')).toContain('room-deneb-2')
  })

  it('failed since its name was taken in the end: another name is one click away, the free one filled in', async () => {
    const { bot, review } = await reviews('new room', { ...room, name: 'electra' })
    const sent = await bot.clicks('kim', review, 'Create')
    const { requestId } = await requestOn(sent)
    world.takenAddresses.add('room-electra@contoso.example')
    world.stepRefusal = new TenantError('name-taken', 'room-electra@contoso.example is taken.', { retryable: false })
    await world.provisioning.system.provision(requestId, { lastAttempt: true, signal: AbortSignal.timeout(10_000) })
    const failed = await bot.types('kim', `status ${referenceOn(sent)}`)
    expect(textOf(failed)).toContain('room-electra-2')
    const form = await bot.clicks('kim', failed, 'Choose another name')
    expect(valuesOf(form)).toMatchObject({ ...room, name: 'room-electra-2' })
    expect(textOf(await bot.clicks('kim', form, 'Review'))).toContain('room-electra-2@contoso.example')
  })

  it.each([
    ['metadata.seats', 'a dozen'],
    ['name', 'not a name!'],
    ['displayName', ' '],
    ['permissions.FullAccess', '11111111-aaaa-4aaa-8aaa-000000009999'],
  ])('names what is wrong with %s beside it, and keeps it', async (input, wrong) => {
    const { review: back } = await reviews('new room', { ...room, name: 'faulty', [input]: wrong })
    expect(textOf(back)).toContain('One thing to fix')
    expect(lineUnder(back, input)).toMatch(/^! /)
    expect(valuesOf(back)).toMatchObject({ ...room, name: 'faulty', [input]: wrong })
  })

  it('opens what stands behind More where something there is wrong', async () => {
    const { bot, review: back } = await reviews('new room', { ...room, name: 'more', country: 'Atlantis' })
    expect(lineUnder(back, 'country')).toMatch(/^! /)
    expect(isHidden(back, 'country')).toBe(false)
    const review = await bot.clicks('kim', back, 'Review', { country: 'Switzerland' })
    expect(textOf(review)).toContain('Is this right?')
  })

  it('shows every form with the domain that its address gets, and without it while nobody knows', async () => {
    expect(textOf(await start().opens('kim', 'new equipment'))).toContain('contoso.example')
    world.mailDomainsAway = true
    const form = await start().opens('kim', 'new equipment')
    world.mailDomainsAway = false
    expect(textOf(form)).toContain('Step 2 of 3')
    expect(textOf(form)).not.toContain('contoso.example')
  })

  it('looks up no more people than a form can ask for, whatever a client sends', async () => {
    const { opens, sends } = start()
    const form = await opens('kim', 'new room')
    const id = (number: number) => `11111111-bbbb-4bbb-8bbb-${String(number).padStart(12, '0')}`
    const many = Array.from({ length: 3000 }, (_, index) => id(index)).join(',')
    const { data } = actionsOf(form).find(({ title }) => title === 'Review') ?? {}
    world.asked.length = 0
    const back = await sends('kim', 'request.review', { ...data, ...room, 'permissions.FullAccess': many })
    expect(textOf(back)).toMatch(/thing(s)? to fix/)
    expect(world.asked.length).toBeLessThan(500)
  })
})

/** The line of small or bold words right under an input; `''` when there is none. */
function lineUnder(card: Card, input: string): string {
  const all = [...nodesOf(card['body'])]
  const at = all.findIndex((node) => node['id'] === input)
  if (at < 0) throw new Error(`no input ${input} on this card`)
  const next = all.slice(at + 1).find(({ type }) => String(type).startsWith('Input.') || isLine(type))
  return next && isLine(next['type']) ? textOf({ body: [next] }) : ''
}
const isLine = (type: unknown): boolean => type === 'TextBlock' || type === 'RichTextBlock'

/** The names that a picker shows for those chosen in it. */
const choicesOf = (card: Card, input: string): string => {
  const picker = [...nodesOf(card)].find((node) => node['id'] === input)
  return JSON.stringify(picker?.['choices'])
}

/** Whether an input stands in a container that is folded away. */
const isHidden = (card: Card, input: string): boolean =>
  [...nodesOf(card)].some(
    (node) => node['isVisible'] === false && [...nodesOf(node['items'])].some((inner) => inner['id'] === input),
  )
