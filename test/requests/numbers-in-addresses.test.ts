import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'

describe('the number of a request in a URL', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const made = async (who: 'kim' | 'omar' = 'kim') => {
    const body = {
      displayName: 'Apollo',
      templateId: templates.projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    }
    const answer = await call(who, 'POST', '/collab/v1/spo?another=true', { body })
    const { requestId } = z.object({ requestId: z.uuid() }).parse(answer.body)
    const { reference } = z
      .object({ reference: z.string() })
      .parse((await call(who, 'GET', `/requests/v1/${requestId}`)).body)
    return { requestId, reference }
  }

  it('finds the request for reads and decisions, in any case', async () => {
    const { requestId, reference } = await made()
    for (const path of [reference, reference.toLowerCase(), `${reference}/`])
      expect((await call('kim', 'GET', `/requests/v1/${path}`)).body).toMatchObject({ requestId, reference })
    expect((await call('kim', 'GET', `/requests/v1/${reference}/timeline`)).status).toBe(200)
    const headers = { 'idempotency-key': `approve ${reference}` }
    for (const _ of [1, 2]) {
      const approved = await call('dana', 'POST', `/requests/v1/${reference}/approve`, { body: {}, headers })
      expect([approved.status, approved.body]).toMatchObject([200, { requestId }])
    }
  })

  it('leads to the same audit entry as the id when a decision is refused', async () => {
    const tried = async (name: (one: { requestId: string; reference: string }) => string) => {
      const one = await made('omar')
      const answer = await call('kim', 'POST', `/requests/v1/${name(one)}/approve`, { body: {} })
      const audit = await call('sam', 'GET', `/audit/v1/requests/${one.requestId}`)
      const entries = z
        .object({ entries: z.array(z.object({ action: z.string(), data: z.unknown().optional() })) })
        .parse(audit.body).entries
      return { code: problem(answer).code, refused: entries.filter(({ action }) => action === 'refused') }
    }
    const byNumber = await tried(({ reference }) => reference)
    expect(byNumber).toMatchObject({ code: 'not-found', refused: [{ data: { tried: 'approve', code: 'not-found' } }] })
    expect(byNumber).toEqual(await tried(({ requestId }) => requestId))
  })

  it('gets 404 for a request that the caller may not see, and for an unknown number', async () => {
    const { requestId, reference } = await made('omar')
    for (const one of [reference, 'REQ-999999', requestId])
      expect(problem(await call('kim', 'GET', `/requests/v1/${one}`)).code).toBe('not-found')
    expect(problem(await call('kim', 'GET', '/requests/v1/1042')).code).toBe('no-such-address')
  })
})
