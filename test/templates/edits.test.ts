import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caller, mailboxView, siteView } from '../support/rest-caller.ts'
import { withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** The template at the submission of the request, and at its decision and creation. */
const before = {
  name: 'Clubs',
  fields: [{ key: 'purpose', type: 'text', label: 'Purpose', required: true, customAttribute: 3 }],
  approval: { stages: [{ approvers: [{ user: people.dana.id }] }] },
}
const after = {
  name: 'Societies',
  fields: [{ key: 'reason', type: 'number', label: 'Number', required: true }],
  approval: { stages: [{ approvers: [{ user: people.omar.id }] }, { approvers: [{ user: people.sam.id }] }] },
  quota: { resources: 1 },
  audience: { people: [people.omar.id] },
  active: false,
}
const submitted = z.object({ requestId: z.uuid() })

describe.each([
  {
    kind: 'teamSite',
    api: 'collab',
    path: '/collab/v1/spo/',
    view: siteView,
    ask: { displayName: 'Chess' },
    naming: [{ alias: { pattern: 'old-{input}' } }, { alias: { pattern: 'new-{input}' }, blockedWords: ['chess'] }],
    limits: { ownersMinimum: 5 },
    address: 'old-chess',
  },
  {
    kind: 'sharedMailbox',
    api: 'mail',
    path: '/mail/v1/mailboxes/',
    view: mailboxView,
    ask: { displayName: 'Chess', name: 'chess', capacity: 2000 },
    naming: [{ name: { pattern: 'old-{input}' } }, { name: { pattern: 'new-{input}' }, blockedWords: ['chess'] }],
    limits: { capacityMaximum: 1 },
    address: 'old-chess@contoso.example',
  },
] as const)('an edit of a template of $kind', ({ kind, api, path, view, ask, naming, limits, address }) => {
  const service = withService()
  const { call } = caller(service)
  const as = (who: keyof typeof people) => ({
    scope: `${service.app.url}/${api}/App.ReadWrite.All`,
    userId: people[who].id,
  })

  it('does not change a waiting request, which keeps its version for approval, names and creation', async () => {
    const id = randomUUID()
    const [first, second] = naming
    const put = (body: object, headers: Record<string, string>) =>
      call('sam', 'PUT', `/templates/v1/${id}`, { body: { kind, ...body }, headers })
    expect((await put({ ...before, naming: first }, { 'if-none-match': '*' })).status).toBe(201)
    const sent = await call(as('kim'), 'POST', path, {
      body: { ...ask, templateId: id, metadata: { purpose: 'Play' } },
    })
    expect(sent.status, sent.text).toBe(202)
    const { requestId } = submitted.parse(sent.body)
    const read = async () => view.parse((await call(as('kim'), 'GET', `/requests/v1/${requestId}`)).body)
    const waiting = await read()
    expect((await put({ ...after, naming: second, limits }, { 'if-match': '"1"' })).status).toBe(200)
    expect(await read()).toEqual(waiting)
    // An approver of the new version only cannot see the request.
    expect((await call('omar', 'POST', `/requests/v1/${requestId}/approve`)).status).toBe(404)
    expect((await call('dana', 'POST', `/requests/v1/${requestId}/approve`)).status).toBe(200)
    const ended = await until(async () => {
      const now = await read()
      if (now.status === 'failed') throw new Error(JSON.stringify(now.problem))
      return now.status === 'succeeded' ? now : undefined
    }, 'the request to be done')
    expect(JSON.stringify(ended.resource)).toContain(address)
    expect([ended.approvals, ended.details.metadata]).toEqual([
      [expect.objectContaining({ approvers: [expect.objectContaining({ id: people.dana.id })] })],
      { purpose: 'Play' },
    ])
    expect(ended.checks.every(({ ok }) => ok)).toBe(true)
    const { rows } = await service.app.database.query<{ template: unknown }>(
      `SELECT body -> 'template' AS template FROM requests WHERE request_id = $1`,
      [requestId],
    )
    expect(rows[0]?.template).toMatchObject({ version: 1, name: 'Clubs', active: true, naming: first })
  })
})
