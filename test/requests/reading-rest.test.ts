import { describe, expect, test } from 'vitest'
import { asWritten, ProvisioningError } from '../../src/core/index.ts'
import { asAdmin, coreWith, requestOf, startIssuer, startRest } from '../support/rest.ts'

const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
const templateId = 'bbbbbbbb-0000-4000-8000-000000000001'
describe('reading requests', () => {
  test('returns 304 without a body for If-None-Match with the current ETag', async () => {
    const rest = await startRest(await startIssuer(), {
      core: coreWith({ readRequest: async () => requestOf() }),
    })
    const etag = (await rest.call('GET', `/requests/v1/${requestId}`)).headers.get('etag') ?? ''
    expect(etag).toBe('"1"')
    for (const tag of [etag, `W/${etag}`, `"0", ${etag}`, '*']) {
      const answer = await rest.call('GET', `/requests/v1/${requestId}`, { headers: { 'if-none-match': tag } })
      expect([answer.status, answer.headers.get('etag')]).toEqual([304, etag])
    }
    const headers = { 'if-none-match': '"0"' }
    expect((await rest.call('GET', `/requests/v1/${requestId}`, { headers })).status).toBe(200)
  })

  test('passes the filters of a list on and returns the cursor', async () => {
    const filters: unknown[] = []
    const list = async (_: unknown, filter: unknown) => {
      filters.push(filter)
      return { requests: [requestOf()], nextCursor: 'next' }
    }
    const rest = await startRest(await startIssuer(), { core: coreWith({ listRequests: list }) })
    const answer = await rest.call('GET', '/requests/v1/?status=queued&kind=teamSite&limit=100&cursor=abc')
    expect(answer.body.nextCursor).toBe('next')
    await rest.call('GET', '/requests/v1')
    expect(filters).toEqual([{ status: 'queued', kind: 'teamSite', limit: 100, cursor: 'abc' }, { limit: 25 }])
  })

  test.each([
    ['limit=0', '#/limit'],
    ['limit=101', '#/limit'],
    ['limit=1e1', '#/limit'],
    ['limit=', '#/limit'],
    ['limit=1&limit=2', '#/limit'],
    ['status=done', '#/status'],
    ['kind=mailbox', '#/kind'],
    ['cursor=', '#/cursor'],
    ['reference=1042', '#/reference'],
    ['reference=REQ-1%27', '#/reference'],
    ['waitingFor=dana', '#/waitingFor'],
    ['staus=queued', '#/staus'],
    ['__proto__=1', '#/__proto__'],
  ])('refuses a list by ?%s with 422 at %s', async (query, pointer) => {
    const answer = await (await startRest(await startIssuer())).call('GET', `/requests/v1/?${query}`)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
  })

  test('lists one request by its reference, if it is visible and matches the other filters', async () => {
    const readRequestByReference = async (_: unknown, { reference }: { reference: string }) => {
      if (reference === 'req-1042') return requestOf()
      throw new ProvisioningError('not-found', asWritten('There is no such request.'))
    }
    const rest = await startRest(await startIssuer(), { core: coreWith({ readRequestByReference }) })
    const found = async (query: string) => {
      const { status, body } = await rest.call('GET', `/requests/v1/?${query}`)
      return [status, ...body.value.map(({ reference }: { reference: string }) => reference)]
    }
    expect(await found('reference=req-1042')).toEqual([200, 'REQ-1042'])
    expect(await found('reference=req-1042&status=queued&kind=teamSite')).toEqual([200, 'REQ-1042'])
    expect(await found('reference=req-1042&status=failed')).toEqual([200])
    expect(await found('reference=REQ-7')).toEqual([200])
  })

  test('shows the timeline without the ids of the request', async () => {
    const at = '2026-03-02T09:00:00.000Z'
    const entry = { requestId, tenantId: requestId, at, actor: { kind: 'system' }, action: 'queued' }
    const rest = await startRest(await startIssuer(), { core: coreWith({ readTimeline: async () => [entry] }) })
    const { body } = await rest.call('GET', `/requests/v1/${requestId}/timeline`)
    expect(body).toEqual({ value: [{ at, actor: { kind: 'system' }, action: 'queued' }] })
  })
})

describe('reading templates', () => {
  const secret = 'whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0'
  const webhook = { url: 'https://flows.contoso.example/', secret, events: ['site.provisioned'] }
  const stored = { ...requestOf().template, version: 4, webhook }
  const templates = { listTemplates: async () => [stored], readTemplate: async () => stored }

  test('shows an admin everything except the secret of the webhook', async () => {
    const rest = await startRest(await startIssuer(), { core: coreWith({ ...asAdmin, ...templates }) })
    const [list, one] = [await rest.call('GET', '/templates/v1'), await rest.call('GET', `/templates/v1/${templateId}`)]
    expect(one.body.webhook).toEqual({ url: webhook.url, events: webhook.events })
    expect([list.body.value, one.headers.get('etag')]).toEqual([[one.body], '"4"'])
    expect(list.text + one.text).not.toContain('whsec_')
  })

  test('shows other people only the fields that the form needs', async () => {
    const rest = await startRest(await startIssuer(), { core: coreWith(templates) })
    const { body } = await rest.call('GET', `/templates/v1/${templateId.toUpperCase()}`)
    expect(body).toMatchObject({ id: templateId, approvalRequired: false })
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['webhook', 'approval', 'audience']))
  })
})

describe('writing a template', () => {
  const url = `/templates/v1/${templateId}`
  const body = { kind: 'teamSite', name: 'Project site' }
  const writing = async (admin = true) => {
    const puts: unknown[] = []
    const stored = { ...requestOf().template, version: 4, webhook: null }
    const putTemplate = async (_: unknown, { id, body, expected }: { id: string; body: object; expected: number }) => {
      puts.push([id, expected])
      return { ...stored, ...body, id, version: expected + 1 }
    }
    const provisioning = coreWith({ ...(admin && asAdmin), putTemplate, readTemplate: async () => stored })
    const rest = await startRest(await startIssuer(), { core: provisioning })
    return { puts, write: (headers: Record<string, string>) => rest.call('PUT', url, { body, headers }) }
  }

  test('accepts the current version in If-Match', async () => {
    const { puts, write } = await writing()
    const answer = await write({ 'if-match': '"4"' })
    expect([answer.status, answer.headers.get('etag'), puts]).toEqual([200, '"5"', [[templateId, 4]]])
  })

  test('accepts any version by *, and one of several', async () => {
    const { puts, write } = await writing()
    await write({ 'if-match': '*' })
    await write({ 'if-match': '"3", "4"' })
    expect(puts).toEqual([
      [templateId, 4],
      [templateId, 4],
    ])
  })

  test('creates a template with If-None-Match: *', async () => {
    const { puts, write } = await writing()
    const answer = await write({ 'if-none-match': '*' })
    expect([answer.status, answer.headers.get('location'), puts]).toEqual([201, url, [[templateId, 0]]])
  })

  test.each([[{}], [{ 'if-none-match': '"4"' }], [{ 'if-match': '"4"', 'if-none-match': '*' }]])(
    'returns 428 with the headers %j',
    async (headers) => {
      expect((await (await writing()).write(headers as Record<string, string>)).status).toBe(428)
    },
  )

  test.each([['W/"4"'], ['"1", "2"'], ['4'], ['"x"']])('returns 412 with If-Match %s', async (match) => {
    expect((await (await writing()).write({ 'if-match': match })).status).toBe(412)
  })

  test('returns 403 for people who are not admins', async () => {
    const { puts, write } = await writing(false)
    expect([(await write({ 'if-match': '"4"' })).status, puts]).toEqual([403, []])
  })
})
