import { describe, expect, it } from 'vitest'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

describe('admin simulate', () => {
  const service = withService()
  const shown = async (text: string) => textOf((await service.sam.says(text)).card)

  it('shows a template as a person would see it: access, names, approvals and remaining quota', async () => {
    const body = {
      ...{ kind: 'teamSite', name: 'Simulated club', quota: { openPerPerson: 3 } },
      audience: { people: [people.omar.id] },
      naming: { alias: { pattern: 'club-{input}-{counter:2}' }, displayName: { pattern: 'Club {input}' } },
      approval: {
        stages: [
          { approvers: [{ manager: true }] },
          { approvers: [{ user: people.dana.id }], when: [{ field: 'owners', above: 3 }] },
        ],
      },
    }
    const id = '5eed0000-0000-4000-8000-0000000000a1'
    const put = await service.rest('sam', 'PUT', `/templates/v1/${id}`, body, { 'if-none-match': '*' })
    expect(put.status).toBe(201)
    const asOmar = await shown('admin simulate simulated CLUB as Omar Haddad')
    for (const part of [
      'This person can use the template',
      'Omar Haddad',
      'The audience includes this person.',
      'Club Example',
      'club-example-01',
    ])
      expect(asOmar).toContain(part)
    expect(asOmar).toContain('3 of 3 left')
    expect(asOmar).toMatch(/Dana Fox decides\. ?\(conditional\)/)
    const asKim = await shown('admin simulate simulated club as kim@contoso.example')
    expect(asKim).toContain('This person cannot use the template')
    expect(asKim).toContain('This person is not in the audience')
    const off = await shown(`admin simulate ${id} as ${people.omar.id}`)
    expect(off).toContain('This person can use the template')
  })

  it.each([
    'admin simulate News site as Kim Lee',
    'admin simulate News site als Kim Lee',
    'admin simulate news site en tant que kim lee',
    'admin simulate News site comme Kim Lee',
    'admin simular News site como Kim Lee',
  ])('shows the template as that person after “%s”', async (text) => {
    const simulation = await shown(text)
    for (const part of ['News site', 'Kim Lee', 'This person can use the template']) expect(simulation).toContain(part)
  })

  it('names the groups that give access, and the fields that may be changed', async () => {
    const desk = await shown('admin simulate Service desk as Kim Lee')
    expect(desk).toContain('This person is in a group of the audience: ')
    expect(desk).not.toContain('22222222-bbbb')
    expect(desk).toContain('10,000 MB (can be changed)')
    expect(desk).toContain('Switzerland (fixed)')
  })

  it('asks which template or person is meant, and shows how to type the command', async () => {
    expect(await shown('admin simulate')).toContain('Which template and which person?')
    expect(await shown('admin simulate site as Kim Lee')).toContain('Which template?')
    expect(await shown('admin simulate xyzzy as Kim Lee')).toContain('Template not found')
    expect(await shown('admin simulate News site as Nobody Atall')).toContain('Person not found')
  })

  it('simulates the admin without a named person, and is for admins only', async () => {
    expect(await shown('admin simulate News site')).toContain('Sam Roy')
    const refused = textOf((await service.kim.says(`admin simulate ${templates.newsSite} as Sam Roy`)).card)
    expect(refused).toContain('Only admins of this service can use this')
  })
})
