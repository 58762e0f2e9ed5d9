import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inLocale, isForMailbox, type Request, template } from '../../src/core/index.ts'
import { customAttributesOf } from '../../src/core/requests/mailbox-plan.ts'
import { cardIn, clicking, saying } from '../support/bot-activities.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { boardRoom } from '../support/card-samples-forms.ts'
import { dana, kim, projectSite } from '../support/card-world.ts'
import { action, actionsOf, nodesOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant } from '../support/teams-user.ts'

const withAttribute = template.parse({
  ...boardRoom,
  fields: boardRoom.fields.map((field, index) => ({ ...field, customAttribute: index + 1 })),
})
const counted = template.parse({
  id: 'b1b2c3d4-2d3c-4e5f-9a8b-7c6d5e4f3a88',
  version: 1,
  kind: 'teamSite',
  name: 'Numbered project',
  naming: { alias: { pattern: 'prj-{counter:4}' }, displayName: { pattern: 'PRJ {input}' } },
  fields: [{ key: 'keeper', type: 'person', label: 'Who keeps it' }],
})
const answers = {
  displayName: 'Aurora',
  name: 'aurora',
  city: 'Zürich',
  'metadata.costCentre': '4711',
  'metadata.building': 'south',
  'metadata.screens': '2',
  'metadata.opens': '2027-03-31',
  'metadata.contact': dana.id,
}

describe('the form of a template', () => {
  const world = withBotWorld()
  beforeAll(async () => {
    await world.stores.templates.put(contosoTenant, { ...withAttribute, version: 1 }, 0)
    await world.stores.templates.put(contosoTenant, counted, 0)
  })
  afterEach(() => {
    world.takenAddresses.clear()
    world.mailDomainsAway = false
    expect(world.logged.splice(0)).toEqual([])
  })
  const opens = () => startBot(world).sends('kim', 'request.choose', { templateId: boardRoom.id })
  const clicks = (card: Card, title: string, inputs: Record<string, string> = {}) =>
    startBot(world).clicks('kim', card, title, inputs)
  const inputOf = (card: Card, id: string) => [...nodesOf(card)].find((node) => node['id'] === id)
  const requestOn = async (card: Card): Promise<Request> => {
    const reference = /REQ-\d+/.exec(textOf(card))?.[0] ?? ''
    const asKim = await world.provisioning.actor({ tenantId: contosoTenant, id: kim.id })
    return world.provisioning.readRequestByReference(asKim, { reference })
  }

  it('stores answers of all six types in the request and the custom attributes', async () => {
    const form = await opens()
    const review = await clicks(form, 'Review', answers)
    for (const shown of ['room-zur-aurora@contoso.example', 'South', '31 March 2027', 'Yes', dana.displayName])
      expect(textOf(review)).toContain(shown)
    const request = await requestOn(await clicks(review, 'Create'))
    expect(request.details).toMatchObject({
      displayName: 'ZÜR Aurora (Board)',
      metadata: {
        costCentre: '4711',
        building: 'south',
        screens: 2,
        opens: '2027-03-31',
        catering: true,
        contact: dana.id,
      },
      // The template sets these values. The form shows them as text or not at all, without an input.
      country: 'Switzerland',
      companyName: 'Contoso AG',
      roomMailboxMetadata: { hasWhiteboard: true },
      officeLocation: 'Zürich HQ, floor 3',
    })
    if (!isForMailbox(request)) throw new Error(`${request.kind} is no mailbox`)
    expect(Object.fromEntries(customAttributesOf(request.template, request.details))).toEqual({
      ...{ 1: '4711', 2: 'south', 3: '2', 4: '2027-03-31', 5: 'true', 6: dana.id },
    })
    for (const id of ['country', 'companyName', 'roomMailboxMetadata.hasWhiteboard', 'permissions.SendAs'])
      expect(inputOf(form, id), id).toBeUndefined()
    expect(textOf(form)).toContain('Set by the template: Country: Switzerland')
    expect(textOf(form)).not.toContain('Contoso AG')
  })

  it('keeps a cleared default empty and a toggle off', async () => {
    const form = await opens()
    expect(valuesOf(form)).toMatchObject({ officeLocation: 'Zürich HQ, floor 3', 'metadata.catering': 'true' })
    const cleared = {
      ...answers,
      name: 'borealis',
      officeLocation: '',
      'metadata.screens': '',
      'metadata.catering': 'false',
    }
    const request = await requestOn(await clicks(await clicks(form, 'Review', cleared), 'Create'))
    expect(request.details.metadata).toMatchObject({ catering: false })
    expect(request.details.metadata).not.toHaveProperty('screens')
    expect(request.details).not.toHaveProperty('officeLocation')
  })

  it('uses the defaults of fields that it got while it was open, unless the person clears them', async () => {
    const before = template.parse({
      id: 'b1b2c3d4-2d3c-4e5f-9a8b-7c6d5e4f3a99',
      version: 1,
      kind: 'sharedMailbox',
      name: 'Mailbox with news',
      properties: { hideFromGAL: { shown: false } },
    })
    await world.stores.templates.put(contosoTenant, before, 0)
    const forms = []
    for (const name of ['lyra', 'mensa'])
      forms.push([name, await startBot(world).sends('kim', 'request.choose', { templateId: before.id })] as const)
    const properties = { hideFromGAL: { default: true }, companyName: { default: 'Contoso AG' } }
    const fields = [{ key: 'team', type: 'text', label: 'Team', default: 'North' }]
    await world.stores.templates.put(contosoTenant, template.parse({ ...before, version: 2, properties, fields }), 1)
    const typed = (card: Card, name: string) => {
      // A client leaves out empty inputs.
      const inputs = Object.entries({ ...valuesOf(card), displayName: name, name }).filter(([, value]) => value !== '')
      return { ...action(card, 'Review').data, ...Object.fromEntries(inputs) }
    }
    const sends = (verb: string, data: object) => startBot(world).sends('kim', verb, data)
    for (const [name, form] of forms) {
      const isCleared = name === 'mensa'
      const kept = await sends('request.keep', typed(form, name))
      const again = await clicks(kept, 'Continue')
      expect(valuesOf(again)).toMatchObject({
        hideFromGAL: 'true',
        companyName: 'Contoso AG',
        'metadata.team': 'North',
      })
      const { companyName: _, hideFromGAL, ...others } = typed(again, name)
      const review = await sends('request.review', isCleared ? { ...others, hideFromGAL: 'false' } : typed(again, name))
      const { details } = await requestOn(await clicks(review, 'Create'))
      expect(details).toMatchObject({ metadata: { team: 'North' } })
      expect(Object.hasOwn(details, 'companyName') && Object.hasOwn(details, 'hideFromGAL')).toBe(!isCleared)
    }
  })

  it('marks required inputs with an asterisk, and the server checks all answers', async () => {
    const form = await opens()
    const error = 'A cost centre has four digits, such as 4711.'
    expect(inputOf(form, 'metadata.costCentre')).toMatchObject({ label: 'Cost centre *' })
    expect(inputOf(form, 'city')).toMatchObject({ label: 'City *' })
    for (const typed of ['4711', ' 4711 ', '471', '47111', '4711x', 'x4711', '']) {
      const back = await clicks(await opens(), 'Review', { ...answers, name: 'cassini', 'metadata.costCentre': typed })
      expect(typed.trim() === '4711', typed).toBe(!textOf(back).includes(error))
    }
    const wrong = { ...answers, name: 'corvus', capacity: '50001', 'metadata.opens': '2028-01-01' }
    const back = await clicks(form, 'Review', wrong)
    expect(textOf(back)).toContain('2 things to fix')
    expect(textOf(back)).toContain('Enter at most 50,000.')
    expect(textOf(back)).toContain('or an earlier day.')
    expect(valuesOf(back)).toMatchObject({ capacity: '50001', 'metadata.opens': '2028-01-01' })
  })

  it('shows the mistakes of all inputs at once, next to each input', async () => {
    const form = await startBot(world).sends('kim', 'request.choose', { templateId: projectSite.id })
    world.takenAddresses.add('aurora')
    const nobody = '11111111-aaaa-4aaa-8aaa-00000000dead'
    const wrong = { 'metadata.costCentre': '47', alias: 'aurora', owners: nobody }
    const back = await clicks(form, 'Review', wrong)
    for (const line of [
      'Enter a site name.',
      'This address is taken. Try aurora-2.',
      'A chosen person has left the organisation.',
      'four digits',
      'Explain why you need it.',
    ])
      expect(textOf(back)).toContain(line)
    expect(valuesOf(back)).toMatchObject(wrong)
  })

  it('previews the names on Check name, without other faults', async () => {
    const form = await opens()
    expect(textOf(form)).toContain('Address: room-‹city›-…@contoso.example')
    expect(textOf(form)).toContain('People see: ‹city› … (Board)')
    const checked = await clicks(form, 'Check name', { displayName: 'Aurora', name: 'deneb', city: 'Zürich' })
    expect(textOf(checked)).toContain('Address: room-zur-deneb@contoso.example. It is free.')
    expect(textOf(checked)).toContain('People see: ZÜR Aurora (Board)')
    expect(textOf(checked)).not.toContain('to fix')
    expect(valuesOf(checked)).toMatchObject({ displayName: 'Aurora', name: 'deneb', city: 'Zürich' })
    world.takenAddresses.add('room-zur-deneb@contoso.example')
    const taken = await clicks(checked, 'Check name')
    expect(textOf(taken)).toContain('This address is taken. Try room-zur-deneb-2.')
    expect(textOf(taken)).toContain('One thing to fix')
    const blocked = await clicks(taken, 'Check name', { displayName: 'Payroll', name: 'electra' })
    expect(textOf(blocked)).toContain('Names must not contain these words: payroll.')
    expect(valuesOf(blocked)).toMatchObject({ displayName: 'Payroll', name: 'electra' })
  })

  it('names the empty input on Check name', async () => {
    const bot = startBot(world)
    const filled: Record<string, string>[] = [{}, { displayName: 'Aurora' }]
    for (const inputs of filled) {
      const room = await opens()
      const checked = await clicks(room, 'Check name', inputs)
      expect(textOf(checked)).toContain('Enter the part of the address before the @.')
      expect(textOf(checked)).toContain('One thing to fix')
      await clicks(checked, 'Discard')
    }
    const site = await bot.sends('kim', 'request.choose', { templateId: projectSite.id })
    expect(textOf(await clicks(site, 'Check name'))).toContain('Enter a site name.')
  })

  it('keeps its values and says so while a name cannot be checked', async () => {
    const form = await opens()
    world.mailDomainsAway = true
    const checked = await clicks(form, 'Check name', { displayName: 'Aurora', name: 'fornax', city: 'Zürich' })
    expect(textOf(checked)).toContain('I cannot check now whether it is free.')
    expect(textOf(checked)).not.toContain('to fix')
    expect(valuesOf(checked)).toMatchObject({ name: 'fornax' })
  })

  it('answers a second click with the latest version', async () => {
    const form = await opens()
    await clicks(form, 'Check name', { displayName: 'Aurora', name: 'gemini' })
    const again = await clicks(form, 'Check name', { displayName: 'Aurora', name: 'hydra' })
    expect(textOf(again)).toContain('This is the latest version')
    expect(valuesOf(again)).toMatchObject({ name: 'gemini' })
  })

  it('has no address input if the address has no typed part, and shows the likely number', async () => {
    const form = await startBot(world).sends('kim', 'request.choose', { templateId: counted.id })
    expect(inputOf(form, 'alias')).toBeUndefined()
    expect(textOf(form)).toContain('/sites/prj-0001 (the number is set when you send the request).')
    const checked = await clicks(form, 'Check name', { displayName: 'Aurora' })
    expect(textOf(checked)).toContain('/sites/prj-0001 (the number is set when you send the request).')
    expect(textOf(checked)).toContain('People see: PRJ Aurora')
    const review = await clicks(checked, 'Review', { 'metadata.keeper': dana.id })
    expect(textOf(review)).toContain('prj-0001')
    expect(textOf(review)).toContain(dana.displayName)
  })

  it('has its name in the person’s language, and opens by any of its names', async () => {
    const { turn } = startBot(world)
    const german = { locale: 'de-CH' }
    const types = async (text: string) => cardIn((await turn(saying('kim', text, german)))[0])
    const offer = await types('new ratss')
    const newButton = actionsOf(offer).find(({ title }) => title === 'Neu')
    const form = newButton
      ? cardIn((await turn(clicking('kim', String(newButton.verb), newButton.data, german)))[0])
      : offer
    expect(textOf(form)).toContain('Ratssaal')
    expect(textOf(form)).toContain('🏛️ ')
    expect(inLocale(boardRoom, 'de').name).toBe('Ratssaal')
    expect(textOf(await startBot(world).opens('kim', 'new ratss'))).toContain('Board room')
    expect(action(form, 'Namen prüfen').verb).toBe('request.check')
  })
})
