import { describe, expect, it } from 'vitest'
import {
  propertiesOf,
  starterKinds,
  starterOf,
  starters,
  templateFromStarter,
  templateWithin,
} from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { draftOf } from '../support/card-requests.ts'
import { starterTexts } from '../support/card-starters.ts'
import { nodesOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'

const id = '0b6a4c1e-8d2f-4e3a-9c5b-7f1e2d3c4b5a'
const person = '11111111-aaaa-4aaa-8aaa-00000000000a'
const group = '22222222-bbbb-4bbb-8bbb-00000000000b'
const parse = (document: unknown) => templateWithin([]).parse(document)

describe('the starters', () => {
  it('have one entry for each kind of resource', () => {
    expect(starters.map(({ kind, creates }) => [kind, creates])).toEqual([
      ['teamSite', 'teamSite'],
      ['communicationSite', 'communicationSite'],
      ['sharedMailbox', 'sharedMailbox'],
      ['room', 'roomMailbox'],
      ['equipment', 'equipmentMailbox'],
    ])
    expect(starters.map(({ kind }) => kind)).toEqual([...starterKinds])
  })

  it.each(starterKinds)('%s: gives a valid template with approval by the requester’s manager', (kind) => {
    const document = parse(templateFromStarter({ kind, id, ...starterTexts(kind) }))
    expect(document).toMatchObject({ id, version: 1, active: true, audience: null, webhook: null })
    expect(document.approval?.stages).toMatchObject([{ approvers: [{ manager: true }], rule: 'any' }])
    expect(document.name).toBe(starterTexts(kind).displayName)
    expect(JSON.stringify(document)).not.toMatch(/contoso|\d{8}-[a-z]{4}-/i)
  })

  it.each(starterKinds)('%s: shows only a few fields, all of its kind', (kind) => {
    const { creates, shownFields } = starterOf(kind)
    expect(propertiesOf(creates)).toEqual(expect.arrayContaining([...shownFields]))
    const document = parse(templateFromStarter({ kind, id, ...starterTexts(kind) }))
    const form = cards.form(requestForm({ template: document, draft: draftOf({ templateId: id }) }))
    const inputs = [...nodesOf(form)].filter(({ type }) => String(type).startsWith('Input.'))
    const ids = inputs.map((input) => input['id'])
    expect(ids).toEqual(expect.arrayContaining(['displayName', ...shownFields]))
    expect(ids.length).toBeLessThanOrEqual(12)
  })

  it('apply the choices of an admin', () => {
    const mailbox = parse(
      templateFromStarter({
        ...{ kind: 'sharedMailbox', id, displayName: 'Project mailbox', description: 'For projects', prefix: 'prj-' },
        ...{ approvers: [{ user: person }, { group }], capacityMaximum: 10_240, default: false },
      }),
    )
    expect(mailbox).toMatchObject({
      name: 'Project mailbox',
      description: 'For projects',
      default: false,
      naming: { prefix: 'prj-', alias: { pattern: 'prj-{input}' } },
      limits: { capacityMaximum: 10_240 },
      approval: { stages: [{ approvers: [{ user: person }, { group }] }] },
    })
    const site = parse(
      templateFromStarter({ kind: 'teamSite', id, ...starterTexts('teamSite'), approvers: [], ownersMinimum: 2 }),
    )
    expect(site).toMatchObject({ approval: null, limits: { ownersMinimum: 2, externalOwners: false } })
  })

  it('keep an invalid choice, so that the check of templates reports its field', () => {
    const wrong = templateFromStarter({ kind: 'room', id, displayName: ' ', description: '', prefix: 'Room ' })
    const paths = templateWithin([])
      .safeParse(wrong)
      .error?.issues.map(({ path }) => path.join('/'))
    expect(paths).toEqual(['name', 'naming/prefix'])
  })
})
