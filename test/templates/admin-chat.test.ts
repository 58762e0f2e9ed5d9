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
  async function made(more: object = {}): Promise<Template> {
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

  it('lists all there are, also those that are switched off, six on a page', async () => {
    const { types, clicks } = startBot(world)
    const off = await made({ name: 'Zither club', active: false, order: 1000 })
    const all = await world.stores.templates.list(contosoTenant)
    let page = await types('sam', 'admin templates')
    const read: string[] = []
    for (;;) {
      read.push(textOf(page))
      expect(actionsOf(page).filter(({ verb }) => verb === 'admin.template').length).toBeLessThanOrEqual(6)
      if (!titlesOf(page).includes('Next')) break
      page = await clicks('sam', page, 'Next')
    }
    expect(read).toHaveLength(Math.ceil(all.length / 6))
    for (const { name } of all) expect(read.join('\n')).toContain(name)
    expect(read.at(-1)).toContain(off.name)
    expect(read.at(-1)).toContain('Switched off')
    expect(textOf(await clicks('sam', page, 'Previous'))).toContain(`of ${all.length}`)
  })

  it('shows all that one decides in words, an example of its names, and never the secret of its webhook', async () => {
    const one = await made({ name: 'Front desk' })
    const shown = textOf(await startBot(world).types('sam', 'admin templates show front desk'))
    for (const part of [
      ...['group Site approvers', 'Kim Lee', '2 open for each person', 'text, required', 'custom attribute 1'],
      ...['default Zürich', 'always no', '‹city:3›-‹input›-‹counter:3›', 'Apollo (Zürich)', 'zur-apollo-001@'],
      ...['50,000 MB at most', '2 of Dana Fox, Kim Lee', 'hooks.contoso.example', 'mailbox.provisioned'],
    ])
      expect(shown).toContain(part)
    const secret = one.webhook?.secret ?? ''
    expect(shown).not.toContain(secret.slice(6, 20))
    expect(shown).not.toContain('/desks')
  })

  it.each([
    ['a part of its name', 'ont offi'],
    ['its name in any case', 'FRONT OFFICE'],
    ['its name with a slip', 'Frnt office'],
  ])('finds one by %s', async (_, typed) => {
    const { provisioning } = world
    const known = (await provisioning.listTemplates(await sam())).some(({ name }) => name === 'Front office')
    if (!known) await made({ name: 'Front office' })
    expect(await startBot(world).says('sam', `admin templates show ${typed}`)).toContain('Front office')
  })

  it('finds one by its id, offers a choice between several, and says so where there is none like it', async () => {
    const { types, clicks, says } = startBot(world)
    const [one] = [await made({ name: 'Twin A' }), await made({ name: 'Twin B' })]
    expect(await says('sam', `admin templates show ${one.id}`)).toContain('Twin A')
    const choice = await types('sam', 'admin templates disable twin')
    expect(textOf(choice)).toContain('Which one do you mean?')
    expect(titlesOf(choice)).toEqual(['Switch 🎧 Twin A off', 'Switch 🎧 Twin B off', 'Templates'])
    expect(textOf(await clicks('sam', choice, 'Switch 🎧 Twin A off'))).toContain('Switch it off?')
    expect((await stored(one)).active).toBe(true)
    expect(await says('sam', 'admin templates show qqqqqqqqqqqqqqqqqqqqqqqq')).toContain('No such template')
    expect(await says('sam', 'admin templates enable')).toContain('Which template?')
  })

  it('switches one off and on again, each time after asking; who did it stands on its card', async () => {
    const { types, clicks } = startBot(world)
    const one = await made({ name: 'Lost property' })
    const asked = await types('sam', 'admin templates disable lost property')
    expect((await stored(one)).version).toBe(1)
    const off = await clicks('sam', asked, 'Switch off')
    expect(textOf(off)).toContain('Switched off')
    expect(textOf(off)).toMatch(/Version 2: Sam Roy, \d\d:\d\d/)
    expect(textOf(off)).toContain('Changed: on or off')
    expect(await stored(one)).toEqual({ ...one, active: false, version: 2 })
    // What has come about already asks nothing, and a second click changes nothing.
    expect(textOf(await types('sam', 'admin templates disable lost property'))).not.toContain('Switch it off?')
    expect(textOf(await clicks('sam', asked, 'Switch off'))).toContain('Switched off')
    expect((await stored(one)).version).toBe(2)
    const on = await clicks('sam', await clicks('sam', off, 'Switch on'), 'Switch on')
    expect(textOf(on)).toContain('Version 3: Sam Roy')
    expect(await stored(one)).toEqual({ ...one, version: 3 })
  })

  it('does not switch what somebody has changed since it was looked at: it asks once more', async () => {
    const { types, clicks } = startBot(world)
    const one = await made({ name: 'Post room' })
    const asked = await types('sam', 'admin templates disable post room')
    await world.stores.templates.put(contosoTenant, { ...one, version: 2, description: 'Another' }, 1)
    const again = await clicks('sam', asked, 'Switch off')
    expect(textOf(again)).toContain('Somebody has changed this template since. Nothing was switched.')
    expect((await stored(one)).active).toBe(true)
    await clicks('sam', again, 'Switch off')
    expect((await stored(one)).active).toBe(false)
  })

  it('keeps every version without secrets, with who wrote it and when', async () => {
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

  it('politely refuses everybody else', async () => {
    const one = await made({ name: 'Nobody’s business' })
    const { says, sends } = startBot(world)
    for (const words of ['admin templates', 'admin templates show Nobody', 'admin templates disable Nobody'])
      expect(await says('kim', words)).toContain('This is for the service')
    for (const verb of ['admin.templates', 'admin.template', 'admin.enable', 'admin.disable']) {
      const answer = textOf(await sends('kim', verb, { templateId: one.id, version: 1 }))
      expect(answer).not.toContain(one.name)
    }
    expect(await stored(one)).toEqual(one)
  })
})
