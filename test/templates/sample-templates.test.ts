import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isMailboxKind, type ResourceKind, template, templateWithin } from '../../src/core/index.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { requestForm } from '../support/card-forms.ts'
import { draftOf } from '../support/card-requests.ts'
import { cards } from '../support/english-cards.ts'
import { caller } from '../support/rest-caller.ts'
import { schemaPaths, usedPaths } from '../support/schema-paths.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

const all = z.array(templateWithin([])).parse(samples)

describe('the sample templates', () => {
  it('are ten, with the ids that the tests use', () => {
    expect(all.map(({ id }) => id).toSorted()).toEqual(Object.values(templates).toSorted())
    expect(all).toHaveLength(10)
  })

  it('together use all settings of a template', () => {
    const used = new Set(all.flatMap((_, index) => usedPaths(samples[index], template)))
    const unused = schemaPaths(template)
      .map(({ path }) => path)
      .filter((path) => !used.has(path))
    // A webhook needs a receiver and a secret, which no file should contain; the docs have an example. One way to name
    // an
    // approver or to write a condition represents the others.
    const ways = /^approval\.stages\[\]\.(backup|when)\[\]\./
    // No sample switches off the protection of addresses. Contoso has too few approvers to require different ones.
    const exceptions = ['naming.allowReservedNames', 'naming.allowFormerAddresses', 'approval.differentPeople']
    const unexpected = unused.filter((path) => !path.startsWith('webhook') && !ways.test(path))
    expect(unexpected).toEqual(exceptions)
    expect(new Set(all.flatMap(({ fields }) => fields.map(({ type }) => type))).size).toBe(6)
    expect(new Set(all.map(({ kind }) => kind)).size).toBe(5)
    const rules = new Set(all.flatMap(({ approval }) => approval?.stages.map(({ rule }) => rule) ?? []))
    expect([...rules].toSorted()).toEqual(['all', 'any', 'quorum'])
  })

  it('have an address prefix if they need no approval', () => {
    const open = all.filter(({ approval }) => approval === null)
    expect(open.map(({ name, naming }) => [name, naming.prefix])).toEqual([
      ['Working group', 'wg-'],
      ['Open community', 'club-'],
      ['Shared mailbox', 'shared-'],
      ['Meeting room', 'room-'],
      ['Equipment', 'eq-'],
    ])
  })

  it.each(all)('$name: has a form within Teams’ message size, with at most six actions', (one) => {
    const card = cards.form(requestForm({ template: one, draft: draftOf({}) }))
    expect(JSON.stringify(card).length * 2).toBeLessThan(25_000)
    expect((card['actions'] as unknown[]).length).toBeLessThanOrEqual(6)
  })
})

describe('Kim', () => {
  const service = withService()
  const { call } = caller(service)
  const post = (kind: ResourceKind, body: object) => {
    const [path, api] = isMailboxKind(kind) ? ['/mail/v1/mailboxes/', 'mail'] : ['/collab/v1/spo/', 'collab']
    const kim = { scope: `${service.app.url}/${api}/App.ReadWrite.All`, userId: people.kim.id }
    return call(kim, 'POST', path, { body })
  }
  const answers = {
    costCentre: '4711',
    audience: 'internal',
    partner: 'Fabrikam',
    contractEnds: '2029-12-31',
    responsible: people.dana.id,
    agreement: true,
    customer: 'Fabrikam',
    equipmentType: 'Projector',
    service: 'HR-01',
    reviewOn: '2029-12-31',
    lead: people.dana.id,
  }
  const nameOf = (name: string) => `${name} of Kim`
  /** Returns a completed form of a template, as an employee would send it. */
  const bodyOf = ({ id, kind, name, fields }: (typeof all)[number]) => ({
    templateId: id,
    displayName: nameOf(name),
    metadata: Object.fromEntries(Object.entries(answers).filter(([key]) => fields.some((field) => field.key === key))),
    ...(isMailboxKind(kind)
      ? {
          name: name.toLowerCase().replaceAll(' ', '-'),
          permissions: { [people.kim.id]: 'FullAccess' },
          department: 'Digital Workplace',
        }
      : { description: 'What it is for', owners: [people.dana.id] }),
  })

  it.each(all)('can request from $name', async (one) => {
    const { status, text } = await post(one.kind, bodyOf(one))
    expect(status, text).toBe(202)
  })

  it('sees the request as the policies of the largest template changed it', async () => {
    const rich = all.find(({ id }) => id === templates.serviceDesk)
    if (!rich) throw new Error('the sample is gone')
    const body = { ...bodyOf(rich), displayName: 'Payroll & Time' }
    const answer = await post(rich.kind, body)
    const { requestId } = z.object({ requestId: z.uuid() }).parse(answer.body)
    const { body: shown } = await call('kim', 'GET', `/requests/v1/${requestId}`)
    expect(shown).toMatchObject({
      details: {
        displayName: 'ZÜR Payroll & Time',
        name: expect.stringMatching(/^desk-zur-service-desk-\d\d$/),
        alias: expect.stringMatching(/^hr-01-\d\d@contoso\.example$/),
        city: 'Zürich',
        country: 'Switzerland',
        companyName: 'Contoso',
        metadata: { hours: 'office', messages: 20, customers: false },
      },
      approvals: [{ approvers: [{ displayName: 'Dana Fox' }] }],
    })
    // The quota is two open requests; the test above submitted one.
    const third = await post(rich.kind, { ...body, displayName: 'Another desk' })
    expect([third.status, JSON.stringify(third.body)]).toEqual([422, expect.stringContaining('quota-reached')])
  })
})
