import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { simulatedPreview } from '../../src/core/index.ts'
import { type Caller, caller } from '../support/rest-caller.ts'
import { rowCounts } from '../support/rows.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const answer = simulatedPreview.partial({ simulated: true })
const clientId = 'a0000000-0000-4000-8000-000000000001'
const nobody = '11111111-aaaa-4aaa-8aaa-000000000099'

describe('a preview by REST', () => {
  const service = withService({ MAIL_APP_CLIENTS: clientId, OPEN_REQUESTS_PER_PERSON: '12' })
  const { call, problem } = caller(service)
  afterEach(() => service.heal())
  const mail = (): Caller => ({ scope: `${service.app.url}/mail/App.ReadWrite.All`, userId: people.kim.id })
  const post = (who: Caller, body: unknown, as = '') => call(who, 'POST', `/requests/v1/preview${as}`, { body })
  const preview = async (who: Caller, body: unknown, as?: string) => {
    const { status, text, body: preview } = await post(who, body, as)
    expect(status, text).toBe(200)
    return answer.parse(preview)
  }
  /** Creates a request from a body. `end` cancels it. */
  async function create(body: object) {
    const isMailbox = 'name' in body
    const path = isMailbox ? '/mail/v1/mailboxes' : '/collab/v1/spo'
    const { status, body: created } = await call(isMailbox ? mail() : 'kim', 'POST', path, { body })
    if (status !== 202) return { status, details: undefined }
    const { requestId } = z.object({ requestId: z.uuid() }).parse(created)
    const read = await call('kim', 'GET', `/requests/v1/${requestId}`)
    const { details, approvals } = z
      .looseObject({ details: z.looseObject({}), approvals: z.array(z.looseObject({})) })
      .parse(read.body)
    const end = async () => void (await call('kim', 'POST', `/requests/v1/${requestId}/cancel`, { body: {} }))
    return { status, details, approvals, end }
  }
  async function template(more: object, id = randomUUID()): Promise<string> {
    const approval = { stages: [{ approvers: [{ user: people.dana.id }, { user: people.omar.id }], rule: 'all' }] }
    const body = { kind: 'teamSite', name: 'Club', approval, ...more }
    const { status, text } = await call('sam', 'PUT', `/templates/v1/${id}`, {
      body,
      headers: { 'if-none-match': '*' },
    })
    expect([status, text]).toEqual([201, expect.any(String)])
    return id
  }
  const counted = {
    alias: { pattern: 'club-{department:lower}-{counter:3}' },
    displayName: { pattern: 'Club {input} {counter}' },
  }

  it('predicts the result of the create call for valid and invalid bodies', async () => {
    const club = await template({ naming: counted })
    const held = await template({
      naming: { prefix: 'prj-', suffix: '', displayName: { pattern: '{input} ({year})' }, blockedWords: ['secret'] },
      properties: { description: { default: 'A place to work' } },
      limits: { ownersMinimum: 2 },
    })
    const desk = await template({
      kind: 'sharedMailbox',
      naming: { prefix: 'team-', suffix: '', alias: { pattern: 'help-{input}' } },
      properties: { city: { fixed: 'Zürich' } },
    })
    const to = { displayName: 'Aurora', owners: [people.dana.id] }
    const bodies: object[] = [
      { ...to, templateId: club },
      { ...to, templateId: held },
      { ...to, templateId: held, alias: 'aurora' },
      { ...to, templateId: held, alias: 'prj-taken', displayName: 'Projekt Zürich' },
      { ...to, templateId: held, description: '' },
      { ...to, templateId: held, displayName: 'A secret plan' },
      { ...to, templateId: held, owners: [] },
      { ...to, templateId: held, owners: [nobody] },
      { ...to, templateId: held, owners: 'Dana' },
      { ...to, templateId: held, alias: 'a b' },
      { ...to, templateId: held, extra: 1 },
      { templateId: held },
      {
        templateId: templates.projectSite,
        displayName: 'Aurora',
        metadata: { costCentre: '4711', audience: 'internal' },
      },
      { templateId: templates.projectSite, displayName: 'Aurora' },
      { displayName: 'Desk', name: 'desk', templateId: desk },
      { displayName: 'Desk', name: 'desk', templateId: desk, permissions: { [people.dana.id]: 'FullAccess' } },
      { displayName: 'Desk', name: 'desk', templateId: desk, city: 'Bern' },
      { displayName: 'Desk', name: 'desk', templateId: desk, domain: 'elsewhere.example' },
      { displayName: 'Desk', name: 'not a name', templateId: desk },
      { displayName: 'Matterhorn', name: 'room-zrh-matterhorn', templateId: templates.meetingRoom },
    ]
    for (const body of bodies) {
      const found = await preview('name' in body ? mail() : 'kim', body)
      const made = await create(body)
      const about = JSON.stringify([body, found.errors])
      expect(found.valid, about).toBe(made.status === 202)
      expect(found.errors.length > 0, about).toBe(made.status !== 202)
      if (!made.details) continue
      const { displayName, alias, name, domain } = made.details
      expect(found.names?.displayName).toBe(displayName)
      if ('name' in body) expect(found.names?.address).toBe(`${String(name)}@${String(domain)}`)
      expect(found.names?.alias).toEqual(alias)
      const stages = made.approvals.map(({ stage, rule, approvers }) => ({ stage, rule, approvers }))
      expect(found.approvals.map(({ stage, rule, approvers }) => ({ stage, rule, approvers }))).toEqual(stages)
      await made.end()
    }
  })

  it('takes no number and writes nothing, also when repeated', async () => {
    const templateId = await template({ naming: counted })
    await preview('kim', { displayName: 'First', templateId })
    const before = await rowCounts(service.app.database)
    for (let count = 0; count < 20; count += 1) {
      const { names, warnings } = await preview('kim', { displayName: 'Chess', templateId })
      expect(names).toMatchObject({
        displayName: 'Club Chess 1',
        alias: 'club-digital-workplace-001',
        free: true,
        final: false,
      })
      expect(warnings.map(({ code }) => code)).toContain('number-later')
    }
    expect(await rowCounts(service.app.database)).toEqual(before)
    const made = await create({ displayName: 'Chess', templateId })
    expect(made.details).toMatchObject({ displayName: 'Club Chess 1', alias: 'club-digital-workplace-001' })
    await made.end?.()
  })

  it('returns all readable results of an invalid body', async () => {
    const body = { displayName: 'Aurora', templateId: templates.partnerSite, owners: [nobody], alias: 7 }
    const found = await preview('kim', { ...body, alias: '' })
    expect(found.valid).toBe(false)
    expect(found.errors.map(({ pointer, code }) => `${pointer} ${code}`)).toContain('#/owners/0 unknown-person')
    expect(found.names).toMatchObject({ displayName: 'Aurora', free: true })
    expect(found.approvals.length).toBeGreaterThan(0)
    const unreadable = await preview('kim', body)
    expect([unreadable.names, unreadable.errors.map(({ pointer }) => pointer)]).toEqual([
      null,
      expect.arrayContaining(['#/alias', '#/owners/0']),
    ])
  })

  it('suggests a free name for a taken one', async () => {
    const made = await create({ displayName: 'Polaris', templateId: templates.openCommunity, alias: 'polaris' })
    const found = await preview('kim', {
      displayName: 'Polaris',
      templateId: templates.openCommunity,
      alias: 'polaris',
    })
    expect(found.names).toMatchObject({ alias: 'club-polaris', free: false, suggestion: 'club-polaris-2' })
    expect(found.errors).toEqual([
      expect.objectContaining({ pointer: '#/alias', code: 'name-taken', suggestion: 'club-polaris-2' }),
    ])
    const derived = await preview('kim', { displayName: 'Polaris', templateId: templates.openCommunity })
    expect(derived.names).toMatchObject({ alias: 'club-polaris-2', free: true })
    expect(derived.warnings).toContainEqual(expect.objectContaining({ code: 'next-address', field: 'alias' }))
    await made.end?.()
  })

  it('shows delegates of absent approvers, and admins for a stage without other approvers', async () => {
    const templateId = await template({
      approval: { stages: [{ approvers: [{ user: people.kim.id }] }, { approvers: [{ user: people.dana.id }] }] },
    })
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const dana = await service.app.core.actor({
      tenantId: service.app.core.settings.tenantId,
      id: people.dana.id,
    })
    await service.app.core.beginDelegation(dana, { to: people.omar.id, until })
    const { approvals, warnings } = await preview('kim', { displayName: 'Aurora', templateId })
    expect(approvals[0]).toMatchObject({ resolvedTo: 'admins', resolvedFor: 'onlyRequester' })
    expect(approvals[1]?.standIns).toEqual([expect.objectContaining({ until, why: 'delegated' })])
    expect(warnings.map(({ code, detail }) => [code, detail])).toEqual([
      ['admins-instead', 'Admins give approval 1 because the only approver is the requester.'],
      ['delegated', `Dana Fox is away until ${until}. Omar Haddad can also give approval 2.`],
    ])
    await service.app.core.endDelegation(dana)
  })

  it('warns about an empty answer in a name', async () => {
    const fields = [{ key: 'area', type: 'text', label: 'Area' }]
    const templateId = await template({
      fields,
      naming: { prefix: '', suffix: '', alias: { pattern: '{metadata.area}-{company}-{input}' } },
    })
    const found = await preview('kim', { displayName: 'Aurora', templateId })
    expect(found.warnings).toContainEqual({
      code: 'empty-answer',
      field: 'metadata.area',
      detail: 'Area has no answer, so the name does not contain it.',
    })
  })

  it('refuses an invalid body, and a template of other people like an unknown one', async () => {
    const hidden = await template({ audience: { people: [people.dana.id] } })
    const refusals = []
    for (const body of [
      [],
      {},
      { templateId: 7 },
      { templateId: randomUUID() },
      { templateId: hidden, displayName: 'Mine' },
    ]) {
      const { status, code, errors } = problem(await post('kim', body))
      expect([status, code]).toEqual([422, 'validation-failed'])
      refusals.push(errors?.map(({ pointer, code, detail }) => ({ pointer, code, detail })))
    }
    expect(refusals[4]).toEqual(refusals[3])
    expect(refusals.slice(1).flatMap((errors) => errors?.map(({ pointer }) => pointer))).toEqual(
      Array(4).fill('#/templateId'),
    )
  })

  it('is available to applications for mailboxes only', async () => {
    const application: Caller = { scope: `${service.app.url}/mail/App.ReadWrite.All`, appOnly: true, clientId }
    const found = await preview(application, { displayName: 'Desk', name: 'desk', templateId: templates.sharedMailbox })
    expect(found.names?.address).toBe('shared-desk@contoso.example')
    const refused = problem(await post(application, { displayName: 'Aurora', templateId: templates.openCommunity }))
    expect([refused.status, refused.code]).toEqual([403, 'forbidden'])
  })

  it('returns 503 with Retry-After when the directory does not answer', async () => {
    await service.fault({ operation: 'graph.*', kind: 'failBeforeCommit', status: 503, count: 1000 })
    const away = await post('kim', {
      displayName: 'Nowhere to be seen',
      templateId: templates.partnerSite,
      owners: [people.sam.id],
    })
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  })

  it('reports the limit of open requests like the create call', async () => {
    // A request of an earlier test needs no approval and is open until its site is created.
    await until(async () => {
      const { body } = await call('kim', 'GET', '/requests/v1/?limit=100')
      const { value } = z.object({ value: z.array(z.looseObject({ status: z.string() })) }).parse(body)
      return value.every(({ status }) => status === 'cancelled' || status === 'succeeded') || undefined
    }, 'earlier requests to end')
    const made = []
    for (let count = 0; count < 12; count += 1)
      made.push(
        await create({
          displayName: `Limit ${count}`,
          templateId: templates.projectSite,
          metadata: { costCentre: '4711', audience: 'internal' },
        }),
      )
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 202))
    const body = {
      displayName: 'One more',
      templateId: templates.projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    }
    const found = await preview('kim', body)
    expect([found.valid, found.errors.map(({ pointer, code }) => [pointer, code])]).toEqual([
      false,
      [['#', 'too-many-open-requests']],
    ])
    expect((await create(body)).status).toBe(429)
    for (const { end } of made) await end?.()
  })

  describe('as another person', () => {
    it('is available to admins, and shows that person’s manager and access', async () => {
      const approval = { stages: [{ approvers: [{ manager: true }] }] }
      const templateId = await template({
        approval,
        audience: { people: [people.omar.id] },
        quota: { openPerPerson: 2 },
      })
      const body = { displayName: 'Aurora', templateId }
      const forbidden = problem(await post('kim', body, `?as=${people.omar.id}`))
      expect([forbidden.status, forbidden.code]).toEqual([403, 'forbidden'])
      const asOmar = await preview('sam', body, `?as=${people.omar.id}`)
      expect(asOmar.simulated).toMatchObject({
        person: { id: people.omar.id },
        access: { mayUse: true, because: 'named' },
        quota: { openOfTemplate: { most: 2, left: 2 }, openRequests: { most: 12, left: 12 } },
      })
      const asKim = await preview('sam', body, `?as=${people.kim.id.toUpperCase()}`)
      expect(asKim.simulated?.access).toEqual({ mayUse: false, because: 'outside', groups: [] })
      expect([asKim.valid, asKim.errors.map(({ pointer, code }) => [pointer, code])]).toEqual([
        false,
        [['#/templateId', 'unknown-template']],
      ])
      expect(asKim.names?.alias).toBe('aurora')
      for (const one of [asOmar, asKim])
        expect(one.approvals[0]?.approvers.map(({ id }) => id)).not.toContain(one.simulated?.person.id)
      const unknown = problem(await post('sam', body, `?as=${nobody}`))
      expect([unknown.status, unknown.errors?.map(({ pointer }) => pointer)]).toEqual([422, ['#/as']])
    })
  })
})
