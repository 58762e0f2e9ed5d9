import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { auditReport } from '../../src/core/index.ts'
import { caller } from '../support/rest-caller.ts'
import { rowsOf } from '../support/rows.ts'
import { withService } from '../support/service.ts'
import { asksFor, readsAfter } from '../support/site-request.ts'
import { contosoTenant, TeamsUser } from '../support/teams-user.ts'

/** A guest of Contoso, and a person who is not in the directory. */
const anna = { id: '11111111-aaaa-4aaa-8aaa-000000000047', name: 'Anna Kowalska (Fabrikam)' }
const unknown = { id: '11111111-aaaa-4aaa-8aaa-000000000999', name: 'Dana Fox' }

describe('a decision by a person without access', () => {
  const service = withService()
  const { call } = caller(service)
  const { stateOf, count } = rowsOf(service)
  const inTeams = (person: { id: string; name: string }) =>
    new TeamsUser(() => service.app.url, service.connector, person)
  const byRest = (person: { id: string }, path: string, body: object) =>
    call({ userId: person.id, scope: `${service.app.url}/collab/App.ReadWrite.All` }, 'POST', path, { body })
  const refusedOf = async (requestId: string) => {
    const { text } = await call('sam', 'GET', `/audit/v1/requests/${requestId}`)
    const report = auditReport.parse(JSON.parse(text))
    expect(report).toMatchObject({ proved: true, findings: [] })
    return report.entries.filter(({ action }) => action === 'refused')
  }
  const timelineOf = async (requestId: string) => {
    const { text } = await call('kim', 'GET', `/requests/v1/${requestId}/timeline`)
    return z.object({ value: z.array(z.object({ action: z.string() })) }).parse(JSON.parse(text)).value
  }

  it('changes nothing on clicks of a guest, who gets the reason, and is in the audit once', async () => {
    const { requestId } = await asksFor(service.kim, { displayName: 'For a guest' })
    const before = await stateOf(requestId)
    const guest = inTeams(anna)
    for (const comment of ['yes', 'again', 'and again'])
      for (const verb of ['approval.approve', 'approval.reject'])
        expect(readsAfter(await guest.invokes('no-activity', verb, { requestId, comment }))).toContain(
          'You are not allowed to do this',
        )
    expect(await stateOf(requestId)).toEqual(before)
    expect(await refusedOf(requestId)).toMatchObject([
      { from: 'chat', actor: { kind: 'system' }, data: { tried: 'approve', code: 'forbidden', who: anna.id } },
      { from: 'chat', actor: { kind: 'system' }, data: { tried: 'reject', code: 'forbidden', who: anna.id } },
    ])
    const other = await asksFor(service.kim, { displayName: 'For a guest who types' })
    for (const text of ['approve', 'reject']) await guest.says(`${text} ${other.reference} because`)
    expect(await stateOf(other.requestId)).toMatchObject({ status: 'pendingApproval' })
    expect(await refusedOf(other.requestId)).toMatchObject([
      { from: 'chat', data: { tried: 'approve', code: 'forbidden', who: anna.id } },
      { from: 'chat', data: { tried: 'reject', code: 'forbidden', who: anna.id } },
    ])
    expect((await timelineOf(requestId)).map(({ action }) => action)).not.toContain('refused')
  })

  it('changes nothing on REST calls of a guest, and is in the audit once', async () => {
    const { requestId } = await asksFor(service.kim, { displayName: 'For a guest by REST' })
    const before = await stateOf(requestId)
    const { body } = await call('kim', 'GET', `/requests/v1/${requestId}`)
    const { reference } = z.object({ reference: z.string() }).parse(body)
    // People can guess the number, so attempts with a number are recorded too.
    for (const path of [`${reference}/approve`, `${requestId}/approve`, `${requestId}/reject`, `${reference}/reject`]) {
      const { status, text } = await byRest(anna, `/requests/v1/${path}`, { comment: 'Mine.' })
      expect([status, JSON.parse(text).code]).toEqual([403, 'forbidden'])
      expect(JSON.parse(text).detail).toContain('guest of this organisation')
    }
    expect(await stateOf(requestId)).toEqual(before)
    const refused = await refusedOf(requestId)
    expect(refused.map(({ from, data }) => [from, data?.['tried'], data?.['who']])).toEqual([
      ['rest', 'approve', anna.id],
      ['rest', 'reject', anna.id],
    ])
  })

  it('is recorded by id without a name for an unknown person with an approver’s name', async () => {
    const { requestId } = await asksFor(service.kim, { displayName: 'For a stranger' })
    const text = readsAfter(await inTeams(unknown).invokes('no-activity', 'approval.approve', { requestId }))
    expect(text).toContain('You are not allowed to do this')
    const [entry, ...more] = await refusedOf(requestId)
    expect(more).toEqual([])
    expect(entry?.data).toMatchObject({ who: unknown.id })
    expect(JSON.stringify(entry)).not.toContain('Dana')
  })

  it('is not recorded without a decision, a request or a valid id', async () => {
    const { requestId } = await asksFor(service.kim, { displayName: 'Only looking' })
    const guest = inTeams(anna)
    const before = await count('audit_log')
    for (const verb of ['approval.refresh', 'request.refresh', 'request.cancel', 'admin.retry', 'nothing'])
      await guest.invokes('no-activity', verb, { requestId })
    for (const odd of [undefined, null, 5, 'REQ-1001', [requestId], { requestId }, unknown.id, '__proto__'])
      await guest.invokes('no-activity', 'approval.approve', { requestId: odd })
    await byRest(anna, `/requests/v1/${unknown.id}/approve`, {})
    await byRest(anna, '/requests/v1/REQ-999999/approve', {})
    expect(
      (
        await call(
          { userId: anna.id, scope: `${service.app.url}/collab/App.ReadWrite.All` },
          'GET',
          `/requests/v1/${requestId}`,
        )
      ).status,
    ).toBe(403)
    expect(await count('audit_log')).toBe(before)
  })

  it('from another tenant is rejected and not recorded', async () => {
    const { requestId } = await asksFor(service.kim, { displayName: 'Elsewhere' })
    const before = await count('audit_log')
    const tenant = 'aaaaaaaa-1111-4111-8111-000000000365'
    const { dana } = service
    const conversation = { id: dana.conversationId, conversationType: 'personal', tenantId: tenant }
    const answer = dana
      .invokes(
        'no-activity',
        'approval.approve',
        { requestId },
        { conversation, channelData: { tenant: { id: tenant } } },
      )
      .then(readsAfter, String)
    expect(await answer).not.toContain('Approved')
    expect(await stateOf(requestId)).toMatchObject({ status: 'pendingApproval' })
    expect(await count('audit_log')).toBe(before)
    expect(tenant).not.toBe(contosoTenant)
  })
})
