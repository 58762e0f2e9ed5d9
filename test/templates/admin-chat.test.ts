import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Template, template } from '../../src/core/index.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { rich } from '../support/card-template.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('admin templates', () => {
  const world = withBotWorld()
  const sam = () => world.provisioning.actor({ tenantId: contosoTenant, id: people.sam.id })
  async function created(more: object = {}): Promise<Template> {
    const one = template.parse({ ...rich, id: randomUUID(), version: 1, default: false, ...more })
    await world.stores.templates.put(contosoTenant, one, 0)
    return one
  }
  const stored = async ({ id }: Template) => {
    const found = await world.stores.templates.find(contosoTenant, id)
    if (!found) throw new Error(`the template ${id} is gone`)
    return found
  }
  const titlesOf = (card: Parameters<typeof textOf>[0]) => actionsOf(card).map(({ title }) => title)

  it('lists all templates, also disabled ones, six on a page', async () => {
    const { types, clicks } = startBot(world)
    const off = await created({ name: 'Zither club', active: false, order: 1000 })
    const all = await world.stores.templates.list(contosoTenant)
    let page = await types('sam', 'admin templates')
    const texts: string[] = []
    for (;;) {
      texts.push(textOf(page))
      expect(actionsOf(page).filter(({ verb }) => verb === 'admin.template').length).toBeLessThanOrEqual(6)
      if (!titlesOf(page).includes('Next')) break
      page = await clicks('sam', page, 'Next')
    }
    expect(texts).toHaveLength(Math.ceil(all.length / 6))
    for (const { name } of all) expect(texts.join('\n')).toContain(name)
    expect(texts.at(-1)).toContain(off.name)
    expect(texts.at(-1)).toContain('Disabled')
    expect(textOf(await clicks('sam', page, 'Previous'))).toContain(`of ${all.length}`)
  })

  it('shows all settings of a template and an example of its names, but never the secret of its webhook', async () => {
    const one = await created({ name: 'Front desk' })
    const shown = textOf(await startBot(world).types('sam', 'admin templates show front desk'))
    for (const part of [
      ...['group Site approvers', 'Kim Lee', 'at most 2 open per person', 'text · required', 'custom attribute 1'],
      ...['default Zürich', 'always no', '‹city:3›-‹name›-‹counter:3›', 'Apollo (Zürich)', 'zur-apollo-001@'],
      ...['at most 50,000 MB', '2 of Dana Fox, Kim Lee', 'hooks.contoso.example', 'mailbox.provisioned'],
    ])
      expect(shown).toContain(part)
    const secret = one.webhook?.secret ?? ''
    expect(shown).not.toContain(secret.slice(6, 20))
    expect(shown).not.toContain('/desks')
  })

  it.each([
    ['a part of its name', 'ont offi'],
    ['its name in any case', 'FRONT OFFICE'],
    ['its misspelt name', 'Frnt office'],
  ])('finds a template by %s', async (_, typed) => {
    const { provisioning } = world
    const isCreated = (await provisioning.listTemplates(await sam())).some(({ name }) => name === 'Front office')
    if (!isCreated) await created({ name: 'Front office' })
    expect(await startBot(world).says('sam', `admin templates show ${typed}`)).toContain('Front office')
  })

  it('finds a template by its id, offers a choice of several, and says if there is no similar one', async () => {
    const { types, clicks, says } = startBot(world)
    const [one] = [await created({ name: 'Twin A' }), await created({ name: 'Twin B' })]
    expect(await says('sam', `admin templates show ${one.id}`)).toContain('Twin A')
    const choice = await types('sam', 'admin templates disable twin')
    expect(textOf(choice)).toContain('Which template do you mean?')
    expect(titlesOf(choice)).toEqual(['Disable 🎧 Twin A', 'Disable 🎧 Twin B', 'Templates'])
    expect(textOf(await clicks('sam', choice, 'Disable 🎧 Twin A'))).toContain('Disable this template?')
    expect((await stored(one)).active).toBe(true)
    expect(await says('sam', 'admin templates show qqqqqqqqqqqqqqqqqqqqqqqq')).toContain('No such template')
    expect(await says('sam', 'admin templates enable')).toContain('Which template?')
  })

  it('disables and enables a template after a confirmation, and shows the admin on its card', async () => {
    const { types, clicks } = startBot(world)
    const one = await created({ name: 'Lost property' })
    const confirmation = await types('sam', 'admin templates disable lost property')
    expect((await stored(one)).version).toBe(1)
    const off = await clicks('sam', confirmation, 'Disable')
    expect(textOf(off)).toContain('Disabled')
    expect(textOf(off)).toMatch(/Version 2: Sam Roy, \d\d:\d\d/)
    expect(textOf(off)).toContain('Changed: enabled or disabled')
    expect(await stored(one)).toEqual({ ...one, active: false, version: 2 })
    // A disabled template needs no confirmation, and a second click changes nothing.
    expect(textOf(await types('sam', 'admin templates disable lost property'))).not.toContain('Disable this template?')
    expect(textOf(await clicks('sam', confirmation, 'Disable'))).toContain('Disabled')
    expect((await stored(one)).version).toBe(2)
    const on = await clicks('sam', await clicks('sam', off, 'Enable'), 'Enable')
    expect(textOf(on)).toContain('Version 3: Sam Roy')
    expect(await stored(one)).toEqual({ ...one, version: 3 })
  })

  it('asks again before it disables a template that changed after the confirmation was shown', async () => {
    const { types, clicks } = startBot(world)
    const one = await created({ name: 'Post room' })
    const confirmation = await types('sam', 'admin templates disable post room')
    await world.stores.templates.put(contosoTenant, { ...one, version: 2, description: 'Another' }, 1)
    const again = await clicks('sam', confirmation, 'Disable')
    expect(textOf(again)).toContain(
      'Somebody changed this template after you opened this card. Your click changed nothing.',
    )
    expect((await stored(one)).active).toBe(true)
    await clicks('sam', again, 'Disable')
    expect((await stored(one)).active).toBe(false)
  })

  it('keeps every version without secrets, with its author and time', async () => {
    const id = randomUUID()
    const { webhook: _, ...body } = { ...rich, name: 'Archive', default: false, id }
    const before = new Date(Date.now() - 1000).toISOString()
    await world.stores.templates.put(contosoTenant, template.parse({ ...rich, ...body, version: 1 }), 0)
    await world.provisioning.putTemplate(await sam(), {
      id,
      body: { ...body, name: 'Archives', webhook: null },
      expected: 1,
    })
    await world.provisioning.switchTemplate(await sam(), { id, expected: 2, active: false })
    const versions = await world.stores.templates.versions(contosoTenant, id, 10)
    expect(versions.map(({ version, by, body }) => [version, by?.displayName, body['name'], body['active']])).toEqual([
      [3, 'Sam Roy', 'Archives', false],
      [2, 'Sam Roy', 'Archives', true],
      [1, undefined, 'Archive', true],
    ])
    for (const { at } of versions) expect(at ?? '').toSatisfy((one: string) => one > before)
    expect(JSON.stringify(versions)).not.toContain(rich.webhook?.secret.slice(6, 20))
    expect(versions[2]?.body['webhook']).toEqual({ url: rich.webhook?.url, events: rich.webhook?.events })
    const { edits } = await world.provisioning.reportOnTemplate(await sam(), { id })
    expect(edits.map(({ changed }) => changed)).toEqual([['active'], ['name', 'webhook'], []])
  })

  it('refuses everybody else with a friendly notice', async () => {
    const one = await created({ name: 'Nobody’s business' })
    const { says, sends } = startBot(world)
    for (const command of ['admin templates', 'admin templates show Nobody', 'admin templates disable Nobody'])
      expect(await says('kim', command)).toContain('Only admins of this service')
    for (const verb of ['admin.templates', 'admin.template', 'admin.enable', 'admin.disable']) {
      const answer = textOf(await sends('kim', verb, { templateId: one.id, version: 1 }))
      expect(answer).not.toContain(one.name)
    }
    expect(await stored(one)).toEqual(one)
  })
})
