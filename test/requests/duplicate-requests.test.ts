import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isRepeated, repeatHours, requestStates } from '../../src/core/index.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

const json = { 'content-type': 'application/json' }
const idOf = (body: unknown): string => z.object({ requestId: z.uuid() }).parse(body).requestId

describe('an equal body without an Idempotency-Key', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const post = (body: unknown, { who = 'kim', query = '', headers = {} } = {}) =>
    call(who as 'kim' | 'omar', 'POST', `/collab/v1/spo${query}`, { body, headers: { ...json, ...headers } })
  const siteOf = (displayName: string) => ({ displayName, templateId: templates.workingGroup, description: 'One.' })
  const count = async () =>
    (await service.app.database.query<{ n: number }>('SELECT count(*)::int AS n FROM requests')).rows[0]?.n

  it('gets 409 with the id of the first request and creates nothing', async () => {
    const site = siteOf('Apollo')
    const first = await post(site)
    const before = await count()
    const again = await post(site)
    const refused = problem(again)
    expect([again.status, refused.code, refused.requestId]).toEqual([409, 'duplicate-request', idOf(first.body)])
    expect(again.headers.get('location')).toBe(`/requests/v1/${idOf(first.body)}`)
    expect(refused.detail).toMatch(/REQ-\d+.*another=true or a new Idempotency-Key/)
    expect(await count()).toBe(before)
    const reordered = { description: 'One.', owners: null, templateId: site.templateId, displayName: 'Apollo' }
    expect((await post(reordered)).status).toBe(409)
  })

  it('creates one request, even if several bodies arrive at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(siteOf('Minerva'))))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(problem(answer).code).toBe('duplicate-request')
  })

  it('creates another site with a key, with another=true, for another person or with another body', async () => {
    const site = siteOf('Hermes')
    const first = idOf((await post(site)).body)
    const ways = [
      await post(site, { headers: { 'idempotency-key': randomUUID() } }),
      await post(site, { query: '?another=true' }),
      await post(site, { who: 'omar' }),
      await post({ ...site, description: 'Two.' }),
    ]
    expect(ways.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect(new Set([first, ...ways.map(({ body }) => idOf(body))]).size).toBe(5)
    expect((await post(site, { query: '?another=perhaps' })).status).toBe(422)
  })

  it('is a new request after the first was cancelled', async () => {
    const site = {
      ...siteOf('Vesta'),
      templateId: templates.projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    }
    const first = idOf((await post(site)).body)
    expect((await post(site)).status).toBe(409)
    expect((await call('kim', 'POST', `/requests/v1/${first}/cancel`, { body: {} })).status).toBe(200)
    expect((await post(site)).status).toBe(202)
  })

  it('gets 409 as a duplicate also for a mailbox, not as a taken name', async () => {
    const asKim = { scope: `${service.app.url}/mail/App.ReadWrite.All`, userId: people.kim.id }
    const body = { name: 'echo', displayName: 'Echo', officeLocation: 'Hall' }
    const send = () => call(asKim, 'POST', '/mail/v1/mailboxes', { body, headers: json })
    const first = await send()
    expect(first.status).toBe(202)
    expect(problem(await send())).toMatchObject({ code: 'duplicate-request', requestId: idOf(first.body) })
  })
})

describe('the rule of repeats', () => {
  const submittedAt = '2026-03-02T09:00:00.000Z'
  const later = (hours: number) => new Date(Date.parse(submittedAt) + hours * 3_600_000)

  it('covers requests that are open or have succeeded', () => {
    const repeated = requestStates.filter((status) => isRepeated({ status, submittedAt }, later(1)))
    expect(repeated.toSorted()).toEqual(['pendingApproval', 'provisioning', 'queued', 'succeeded'])
  })

  it('applies for a limited number of hours', () => {
    const at = (hours: number) => isRepeated({ status: 'queued', submittedAt }, later(hours))
    expect([at(0), at(repeatHours - 0.001), at(repeatHours)]).toEqual([true, true, false])
  })
})
