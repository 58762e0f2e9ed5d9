import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caller, siteView } from '../support/rest-caller.ts'
import { labels, templates, withService } from '../support/service.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const site = { displayName: 'Project Borealis', templateId: templates.workingGroup }
const withApproval = {
  displayName: 'Project Corona',
  templateId: templates.projectSite,
  metadata: { costCentre: '4711', audience: 'internal' },
}
const accepted = z.strictObject({
  requestId: z.uuid(),
  tenantId: z.literal(contosoTenant),
  approvalRequired: z.boolean(),
  status: z.string(),
})

describe('a site request by REST', () => {
  const service = withService({ RATE_LIMIT_READS_PER_MINUTE: '0' })
  const { call, problem } = caller(service)
  const ask = async (who: keyof typeof people, body: object) => {
    const answer = await call(who, 'POST', '/collab/v1/spo/?another=true', { body })
    expect(answer.status).toBe(202)
    return accepted.parse(answer.body)
  }
  const read = async (who: keyof typeof people, requestId: string) =>
    siteView.parse((await call(who, 'GET', `/requests/v1/${requestId}`)).body)
  const ends = (requestId: string, status: string) =>
    until(async () => {
      const view = await read('kim', requestId)
      return view.status === status ? view : undefined
    }, `${requestId} to be ${status}`)
  const act = (who: keyof typeof people, requestId: string, verb: string, comment?: string) =>
    call(who, 'POST', `/requests/v1/${requestId}/${verb}`, { body: comment === undefined ? {} : { comment } })
  const refused = async (who: keyof typeof people, requestId: string, verb: string, comment?: string) => {
    const { status, code } = problem(await act(who, requestId, verb, comment))
    return `${status} ${code}`
  }

  it('is accepted at once, with or without the final slash, and can be followed until the site is ready', async () => {
    const answer = await call('kim', 'POST', '/collab/v1/spo', { body: { ...site, owners: [people.dana.id] } })
    expect(answer.status).toBe(202)
    const { requestId, approvalRequired, status } = accepted.parse(answer.body)
    expect([approvalRequired, status]).toEqual([false, 'queued'])
    expect(answer.headers.get('location')).toBe(`/requests/v1/${requestId}`)
    expect(answer.headers.get('retry-after')).toBe('20')
    const view = await ends(requestId, 'succeeded')
    expect(view.resource?.url).toMatch(/\/sites\/wg-project-borealis$/)
    expect(view.details.owners).toEqual([people.kim.id, people.dana.id])
    expect(view.steps.every((step) => step.status === 'done')).toBe(true)
    expect([view.kind, view.tenantId, view.templateId]).toEqual(['teamSite', contosoTenant, templates.workingGroup])
  })

  it('gets the default label of its template', async () => {
    const { requestId } = await ask('kim', withApproval)
    expect((await read('kim', requestId)).details.labelId).toBe(labels.internal)
  })

  it('is returned again only after a change', async () => {
    const { requestId } = await ask('kim', withApproval)
    const first = await call('kim', 'GET', `/requests/v1/${requestId}`)
    const etag = first.headers.get('etag') ?? ''
    const headers = { 'if-none-match': etag }
    const same = await call('kim', 'GET', `/requests/v1/${requestId}/`, { headers })
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag])
    await act('kim', requestId, 'cancel')
    const changed = await call('kim', 'GET', `/requests/v1/${requestId}`, { headers })
    expect([changed.status, siteView.parse(changed.body).status]).toEqual([200, 'cancelled'])
    expect(changed.headers.get('etag')).not.toBe(etag)
  })

  it('is decided by an approver and has a timeline with the actors', async () => {
    const { requestId, approvalRequired, status } = await ask('kim', withApproval)
    expect([approvalRequired, status]).toEqual([true, 'pendingApproval'])
    const approved = await act('dana', requestId, 'approve', 'Go ahead')
    expect(approved.status).toBe(200)
    const [stage] = siteView.parse(approved.body).approvals
    expect(stage?.decisions).toMatchObject([{ by: { id: people.dana.id }, decision: 'approved', comment: 'Go ahead' }])
    await ends(requestId, 'succeeded')
    const lines = z.object({ value: z.array(z.looseObject({ action: z.string(), actor: z.unknown() })) })
    const { value } = lines.parse((await call('omar', 'GET', `/requests/v1/${requestId}/timeline/`)).body)
    expect(value.slice(0, 3)).toMatchObject([
      { action: 'pendingApproval', actor: { id: people.kim.id, displayName: 'Kim Lee' } },
      { action: 'approved', actor: { id: people.dana.id }, comment: 'Go ahead' },
      { action: 'queued', actor: { kind: 'system' } },
    ])
    expect(value.map(({ action }) => action)).toContain('succeeded')
  })

  it('refuses each action without the role for it, with a reason', async () => {
    const { requestId } = await ask('dana', withApproval)
    expect((await read('sam', requestId)).approvals[0]?.approvers.map(({ id }) => id)).toEqual([people.omar.id])
    expect(await refused('dana', requestId, 'approve')).toBe('403 self-approval')
    expect(await refused('dana', requestId, 'reject', 'No.')).toBe('403 self-approval')
    expect(await refused('sam', requestId, 'approve')).toBe('403 not-an-approver')
    expect(await refused('omar', requestId, 'cancel')).toBe('403 forbidden')
    expect(await refused('omar', requestId, 'retry')).toBe('403 forbidden')
    expect(await refused('sam', requestId, 'retry')).toBe('409 illegal-transition')
    for (const verb of ['approve', 'reject', 'cancel']) {
      expect(await refused('kim', requestId, verb, 'Mine?')).toBe('404 not-found')
      expect(await refused('sam', randomUUID(), verb, 'Whose?')).toBe('404 not-found')
    }
    for (const id of [requestId, randomUUID()]) expect(await refused('kim', id, 'retry')).toBe('403 forbidden')
    const silent = problem(await act('omar', requestId, 'reject'))
    expect([silent.status, silent.code, silent.errors?.[0]?.pointer]).toEqual([422, 'comment-required', '#/comment'])
    expect((await read('omar', requestId)).status).toBe('pendingApproval')
    const rejected = siteView.parse((await act('omar', requestId, 'reject', 'Use the other one.')).body)
    expect(rejected.status).toBe('rejected')
    expect(await refused('omar', requestId, 'approve')).toBe('409 already-decided')
    expect(await refused('omar', requestId, 'reject', 'Again.')).toBe('409 already-decided')
    expect(await refused('dana', requestId, 'cancel')).toBe('409 already-ended')
  })

  it('is decided once when several approvers decide at once', async () => {
    const { requestId } = await ask('kim', withApproval)
    const tries = (['dana', 'omar'] as const).flatMap((who) =>
      [1, 2, 3].flatMap(() => [act(who, requestId, 'approve'), act(who, requestId, 'reject', 'No.')]),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)])
    const decisions = (await read('kim', requestId)).approvals[0]?.decisions ?? []
    expect(decisions).toHaveLength(1)
    await ends(requestId, decisions[0]?.decision === 'approved' ? 'succeeded' : 'rejected')
  })

  it('continues after an admin’s retry, and refuses a second cancellation', async () => {
    await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 405 })
    const { requestId } = await ask('kim', { ...site, displayName: 'Project Draco' })
    const failed = await ends(requestId, 'failed')
    expect([failed.problem?.step, failed.resource]).toEqual(['create-site', null])
    expect(await refused('kim', requestId, 'retry')).toBe('403 forbidden')
    expect(siteView.parse((await act('sam', requestId, 'retry', 'The rights are there now')).body).problem).toBeNull()
    expect((await ends(requestId, 'succeeded')).steps[0]?.attempts).toBe(2)
    expect(await refused('kim', requestId, 'cancel')).toBe('409 already-ended')
    const other = await ask('kim', withApproval)
    expect((await act('kim', other.requestId, 'cancel')).status).toBe(200)
    expect(await refused('kim', other.requestId, 'cancel')).toBe('409 already-ended')
  })

  it('cannot be cancelled while the site is being created', async () => {
    await service.fault({ operation: 'graph.groups.upsert', kind: 'status429', retryAfter: 5 })
    const { requestId } = await ask('kim', { ...site, displayName: 'Project Eridanus' })
    await ends(requestId, 'provisioning')
    expect(await refused('kim', requestId, 'cancel')).toBe('409 illegal-transition')
  })

  it('is listed newest first in pages, and for an admin together with all other requests', async () => {
    const page = z.object({ value: z.array(siteView), nextCursor: z.string().optional() })
    const made = []
    for (const name of ['One', 'Two', 'Three'])
      made.push((await ask('omar', { ...withApproval, displayName: name })).requestId)
    const all: string[] = []
    let cursor = ''
    do {
      const query = `?status=pendingApproval&kind=teamSite&limit=2${cursor && `&cursor=${cursor}`}`
      const { value, nextCursor } = page.parse((await call('omar', 'GET', `/requests/v1/${query}`)).body)
      expect(value.length).toBeLessThanOrEqual(2)
      all.push(...value.map(({ requestId }) => requestId))
      cursor = nextCursor ?? ''
    } while (cursor !== '')
    expect(all).toEqual(made.toReversed())
    const everybody = page.parse((await call('sam', 'GET', '/requests/v1/?limit=100')).body).value
    expect(new Set(everybody.map(({ requester }) => requester.id)).size).toBeGreaterThan(1)
    const wrong = problem(await call('omar', 'GET', '/requests/v1/?cursor=bm9wZQ'))
    expect([wrong.status, wrong.errors?.[0]?.pointer]).toEqual([422, '#/cursor'])
  })

  it('creates one site for one Idempotency-Key, also after a restart', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { ...withApproval, displayName: 'Project Fornax' }
    const first = await call('kim', 'POST', '/collab/v1/spo/', { body, headers })
    const again = await call('kim', 'POST', '/collab/v1/spo/', { body, headers })
    await service.restart()
    const later = await call('kim', 'POST', '/collab/v1/spo', { body, headers })
    for (const answer of [again, later]) {
      expect([answer.status, answer.text]).toEqual([202, first.text])
      expect(answer.headers.get('location')).toBe(first.headers.get('location'))
      expect(answer.headers.get('idempotency-replayed')).toBe('true')
    }
    const other = problem(await call('kim', 'POST', '/collab/v1/spo/', { body: { ...body, alias: 'other' }, headers }))
    expect([other.status, other.code]).toEqual([422, 'idempotency-key-reused'])
    const omars = await call('omar', 'POST', '/collab/v1/spo/', { body, headers })
    expect(accepted.parse(omars.body).requestId).not.toBe(accepted.parse(first.body).requestId)
  })
})
