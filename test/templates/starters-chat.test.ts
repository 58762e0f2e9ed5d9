import { describe, expect, it } from 'vitest'
import { starterKinds } from '../../src/core/index.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { starterTexts } from '../support/card-starters.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

const siteApprovers = '22222222-bbbb-4bbb-8bbb-000000000001'

describe('a template from a starter, in chat', () => {
  const world = withBotWorld()
  const templates = () => world.stores.templates.list(contosoTenant)
  const named = async (name: string) => (await templates()).filter((one) => one.name === name)
  const buttons = (card: Card) => actionsOf(card).map(({ title }) => title)
  /** Opens the form of a starter as an admin. */
  async function opened(starter: string) {
    const { types, clicks, says } = startBot(world)
    const form = await clicks('sam', await types('sam', 'admin templates add'), `Add ${starter}`)
    return { clicks, says, form }
  }

  it('starts from the list of templates or with a command', async () => {
    const { types, clicks } = startBot(world)
    const starters = await clicks('sam', await types('sam', 'admin templates'), 'Add template')
    expect(textOf(starters)).toContain('What do you want people to request?')
    for (const kind of starterKinds) expect(textOf(starters)).toContain(starterTexts(kind).displayName)
    expect(await types('sam', 'admin templates add')).toEqual(starters)
  })

  it('opens a form with values', async () => {
    const { form } = await opened('Meeting room')
    expect(valuesOf(form)).toEqual({
      ...{ name: 'Meeting room', description: starterTexts('room').description, prefix: 'room-' },
      ...{ approvedBy: 'manager', people: '', group: '' },
    })
    expect(buttons(form)).toEqual(['Preview', 'Back'])
  })

  it('previews the template with an example of its names, and adds nothing', async () => {
    const { clicks, form } = await opened('Meeting room')
    const before = await templates()
    const preview = await clicks('sam', form, 'Preview', { name: 'Quiet room', prefix: 'Quiet-' })
    for (const part of [
      'Template preview',
      'quiet-apollo@contoso.example',
      'Approval 1: the requester’s manager',
      'Seats',
    ])
      expect(textOf(preview)).toContain(part)
    expect(valuesOf(preview)).toMatchObject({ name: 'Quiet room', prefix: 'Quiet-' })
    expect(buttons(preview)).toEqual(['Create', 'Preview', 'Back'])
    expect(await templates()).toEqual(before)
  })

  it('is added by the admin, with a version, an audit entry and a Simulate button', async () => {
    const { clicks, form, says } = await opened('Team site')
    const answers = { name: 'Club site', prefix: 'club-', approvedBy: 'nobody', owners: '2' }
    const added = await clicks('sam', await clicks('sam', form, 'Preview', answers), 'Create')
    expect(textOf(added)).toContain('Template added. People can use it now.')
    expect(textOf(added)).toContain('Version 1: Sam Roy')
    expect(actionsOf(added).find(({ title }) => title === 'Simulate')?.data).toMatchObject({
      msteams: { value: 'new site' },
    })
    const [site] = await named('Club site')
    expect(site).toMatchObject({
      ...{ kind: 'teamSite', version: 1, active: true, default: false, approval: null },
      ...{ naming: { prefix: 'club-' }, limits: { ownersMinimum: 2, externalOwners: false } },
    })
    const [version] = await world.stores.templates.versions(contosoTenant, site?.id ?? '', 1)
    expect([version?.version, version?.by?.displayName]).toEqual([1, 'Sam Roy'])
    expect(await says('sam', 'admin audit')).toMatch(/Club site/)
    expect(await says('kim', 'new site')).toContain('Club site')
  })

  it('is added once after several clicks on any of its cards', async () => {
    const { clicks, form } = await opened('Equipment')
    const preview = await clicks('sam', form, 'Preview', { name: 'Ladder' })
    await clicks('sam', preview, 'Create')
    const again = await clicks('sam', preview, 'Create', { name: 'Ladder', prefix: 'other-' })
    expect(textOf(again)).toContain('This template already exists. Nothing was changed.')
    const found = await named('Ladder')
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ version: 1, naming: { prefix: 'equipment-' } })
  })

  it('is added once when clicks race', async () => {
    const { clicks, form } = await opened('Equipment')
    const preview = await clicks('sam', form, 'Preview', { name: 'Crane' })
    const bots = [startBot(world), startBot(world), startBot(world)]
    const texts = await Promise.all(bots.map(async (one) => textOf(await one.clicks('sam', preview, 'Create'))))
    expect(texts.filter((text) => text.includes('Template added. People can use it now.'))).toHaveLength(1)
    expect(await named('Crane')).toHaveLength(1)
  })

  it('becomes the default only if it is the first of its kind', async () => {
    const { clicks, form } = await opened('Shared mailbox')
    await clicks('sam', await clicks('sam', form, 'Preview', { name: 'Second mailbox' }), 'Create')
    // A default template for shared mailboxes exists.
    expect((await templates()).filter((one) => one.kind === 'sharedMailbox' && one.default)).toHaveLength(1)
    expect(await named('Second mailbox')).toMatchObject([{ default: false, limits: { capacityMaximum: 51_200 } }])
  })

  it('has the chosen people and a group, found by its name, as approvers', async () => {
    const { clicks, form } = await opened('Shared mailbox')
    const answers = { name: 'Team mailbox', approvedBy: 'chosen', people: people.dana.id, group: 'SITE approvers' }
    const preview = await clicks('sam', form, 'Preview', { ...answers, capacity: '10240' })
    expect(textOf(preview)).toContain('Dana Fox or group Site approvers')
    await clicks('sam', preview, 'Create')
    expect(await named('Team mailbox')).toMatchObject([
      {
        limits: { capacityMaximum: 10_240 },
        approval: { stages: [{ rule: 'any', approvers: [{ user: people.dana.id }, { group: siteApprovers }] }] },
      },
    ])
  })

  it.each([
    ['the object id of a group', siteApprovers, siteApprovers],
    ['the beginning of one name', 'site approvers n', '22222222-bbbb-4bbb-8bbb-000000000004'],
  ])('accepts %s', async (what, group, id) => {
    const { clicks, form } = await opened('Team site')
    const name = `Site by ${what}`
    await clicks('sam', await clicks('sam', form, 'Preview', { name, approvedBy: 'chosen', group }), 'Create')
    expect(await named(name)).toMatchObject([{ approval: { stages: [{ approvers: [{ group: id }] }] } }])
  })

  it('shows a warning without approval and without a prefix', async () => {
    const { clicks, form } = await opened('Team site')
    const open = { name: 'Open site', approvedBy: 'nobody' }
    const warning = 'People can take any free address.'
    expect(textOf(await clicks('sam', form, 'Preview', open))).toContain(warning)
    expect(textOf(await clicks('sam', form, 'Preview', { ...open, prefix: 'open-' }))).not.toContain(warning)
    expect(textOf(await clicks('sam', form, 'Preview', { name: 'Open site' }))).not.toContain(warning)
  })

  it.each<[string, Record<string, string>, string]>([
    ['no name', { name: '  ' }, 'Enter a name for the template.'],
    ['a name that is too long', { name: 'x'.repeat(65) }, 'Enter at most 64 characters.'],
    ['the name of another template', { name: 'equipment' }, 'Another template has this name. Try equipment 2.'],
    ['a prefix with a space', { prefix: 'my room' }, 'Use a to z, 0 to 9 and hyphens.'],
    ['a prefix that begins with a hyphen', { prefix: '-room' }, 'Use a to z, 0 to 9 and hyphens.'],
    ['nobody chosen', { approvedBy: 'chosen' }, 'Choose people or name a group.'],
    [
      'people who would not be approvers',
      { people: people.dana.id },
      'This choice ignores people and groups. Choose “People or a group”, or leave both fields empty.',
    ],
    ['an unknown group', { approvedBy: 'chosen', group: 'Nobody' }, 'No group begins with “Nobody”.'],
    [
      'the beginning of several groups',
      { approvedBy: 'chosen', group: 'mail' },
      'Several groups begin with “mail”: Mail approvers, Mail operators.',
    ],
    [
      'a person who is not in the directory',
      { approvedBy: 'chosen', people: '99999999-aaaa-4aaa-8aaa-000000000009' },
      'A chosen person has left the organisation.',
    ],
  ])('returns the form with its values after %s', async (_, wrong, sentence) => {
    const { clicks, form } = await opened('Meeting room')
    const before = await templates()
    const answers: Record<string, string> = { name: 'Wrong room', description: 'Kept', ...wrong }
    for (const verb of ['admin.starter-preview', 'admin.starter-create']) {
      const { data } = actionsOf(form).find(({ title }) => title === 'Preview') ?? {}
      const returned = await startBot(world).sends('sam', verb, { ...data, ...valuesOf(form), ...answers })
      expect(textOf(returned)).toContain('One thing to fix')
      expect(textOf(returned)).toContain(sentence)
      expect(valuesOf(returned)).toMatchObject({ description: 'Kept', approvedBy: answers['approvedBy'] ?? 'manager' })
      expect(buttons(returned)).toEqual(['Preview', 'Back'])
    }
    expect(await templates()).toEqual(before)
    expect(textOf(await clicks('sam', form, 'Preview', { name: 'Right room' }))).toContain('Template preview')
  })

  it('shows all faults at once', async () => {
    const { clicks, form } = await opened('Team site')
    const many = Array.from({ length: 21 }, (_, index) => `99999999-aaaa-4aaa-8aaa-0000000000${10 + index}`)
    const answers = { name: ' ', prefix: '!', approvedBy: 'chosen', people: many.join(','), group: 'Nobody' }
    expect(textOf(await clicks('sam', form, 'Preview', answers))).toContain('4 things to fix')
  })

  it('is refused to everybody except admins, and adds nothing', async () => {
    const { sends, says } = startBot(world)
    const before = await templates()
    expect(await says('kim', 'admin templates add')).toContain('Only admins of this service')
    const data = { starter: 'room', templateId: siteApprovers, name: 'Mine', approvedBy: 'nobody' }
    for (const verb of ['admin.starters', 'admin.starter', 'admin.starter-preview', 'admin.starter-create'])
      expect(textOf(await sends('kim', verb, data))).toContain('You are not allowed to do this')
    expect(await templates()).toEqual(before)
  })
})
