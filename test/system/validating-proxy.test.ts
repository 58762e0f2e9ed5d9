import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batchView } from '../../src/core/index.ts'
import { accepted, acceptedMailbox } from '../../src/http/routes/requests/index.ts'
import { caller, type RestAnswer } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import { withValidatingProxy } from '../support/validating-proxy.ts'

/** Prism answers with this type if a request or an answer violates the document. */
const violation = 'https://stoplight.io/prism/errors#VIOLATIONS'

describe('behind a proxy that validates every call against the OpenAPI document', () => {
  const service = withService()
  const proxy = withValidatingProxy(service)
  const direct = caller(service)
  const kimsMail = () => ({ userId: people.kim.id, scope: `${service.app.url}/mail/App.ReadWrite.All` })
  const tokens = new Map<string, Promise<string>>()

  async function call(who: Parameters<typeof direct.token>[0], method: string, path: string, body?: unknown) {
    const key = JSON.stringify(who)
    tokens.set(key, tokens.get(key) ?? direct.token(who))
    const response = await fetch(`${proxy.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await tokens.get(key)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
  }
  const statusOf = ({ status, text }: RestAnswer) => (status < 400 ? status : `${status} ${text}`)
  const site = (more: object = {}) => ({
    displayName: `Proxied ${randomUUID().slice(0, 8)}`,
    templateId: templates.projectSite,
    metadata: { costCentre: '4711', audience: 'internal' },
    ...more,
  })
  const mailbox = (more: object = {}) => {
    const name = `proxied-${randomUUID().slice(0, 8)}`
    return { name, displayName: name, templateId: templates.sharedMailbox, ...more }
  }
  const waiting = async () => accepted.parse((await call('kim', 'POST', '/collab/v1/spo/', site())).body).requestId

  it('a site is requested, read, explained and approved', async () => {
    const made = await call('kim', 'POST', '/collab/v1/spo/', site({ owners: null, description: null }))
    expect(statusOf(made)).toBe(202)
    const { requestId } = accepted.parse(made.body)
    for (const path of ['', '/timeline', '/explanation'])
      expect(statusOf(await call('kim', 'GET', `/requests/v1/${requestId}${path}`))).toBe(200)
    const approved = await call('dana', 'POST', `/requests/v1/${requestId}/approve`, { comment: 'fine' })
    expect(statusOf(approved)).toBe(200)
    await until(async () => {
      const { body } = await call('kim', 'GET', `/requests/v1/${requestId}`)
      return z.object({ status: z.string() }).parse(body).status === 'succeeded' ? true : undefined
    }, 'the site to be there')
  })

  it('a mailbox of a typed client is requested, and its warnings pass', async () => {
    const body = mailbox({
      ...{ primaryOwner: people.dana.id, isAllowAutomaticReplyOverride: false, capacity: null, alias: '', tags: null },
      ...{ metadata: { floors: [1, 2], contact: { name: 'Reception' } }, permissions: {} },
    })
    const made = await call(kimsMail(), 'POST', '/mail/v1/mailboxes/', body)
    expect(statusOf(made)).toBe(202)
    const { requestId, warnings } = acceptedMailbox.parse(made.body)
    expect(warnings).toHaveLength(4)
    expect(statusOf(await call('kim', 'GET', `/requests/v1/${requestId}`))).toBe(200)
  })

  it('a request is rejected, nudged or cancelled', async () => {
    const [rejected, nudged] = [await waiting(), await waiting()]
    const answers = [
      await call('dana', 'POST', `/requests/v1/${rejected}/reject`, { comment: 'no' }),
      await call('kim', 'POST', `/requests/v1/${nudged}/nudge`, {}),
      await call('kim', 'POST', `/requests/v1/${nudged}/address`, { address: 'proxied-anew' }),
      await call('kim', 'POST', `/requests/v1/${nudged}/cancel`, {}),
    ]
    expect(answers.map(statusOf)).toEqual([200, 200, 200, 200])
  })

  it('a preview, a dry run and a batch with its rows pass', async () => {
    const rows = [1, 2].map((key) => ({ key: String(key), body: mailbox({ tags: ['quiet'] }) }))
    const order = { resource: 'mailbox', rows }
    expect(statusOf(await call('kim', 'POST', '/requests/v1/preview', site()))).toBe(200)
    expect(statusOf(await call(kimsMail(), 'POST', '/requests/v1/batch', { ...order, dryRun: true }))).toBe(200)
    const sent = await call(kimsMail(), 'POST', '/requests/v1/batch', order)
    expect(statusOf(sent)).toBe(202)
    const { batchId } = batchView.parse(sent.body)
    for (const path of ['', '/rows'])
      expect(statusOf(await call('kim', 'GET', `/batches/v1/${batchId}${path}`))).toBe(200)
  })

  it.each([
    ['kim', '/requests/v1?limit=5&status=succeeded'],
    ['kim', '/templates/v1'],
    ['kim', `/templates/v1/${templates.projectSite}`],
    ['sam', '/templates/v1'],
    ['sam', '/admin/v1/health'],
    ['sam', '/admin/v1/stats?period=week'],
    ['sam', '/admin/v1/dead-letters'],
    ['sam', '/webhooks/v1/deliveries'],
    ['sam', '/audit/v1/organisation'],
    ['kim', '/healthz'],
    ['kim', '/readyz'],
    ['kim', '/openapi.json'],
  ] as const)('%s reads %s', async (who, path) => {
    expect(statusOf(await call(who, 'GET', path))).toBe(200)
  })

  it.each<[string, number, () => Promise<RestAnswer>]>([
    ['an unknown request', 404, () => call('kim', 'GET', `/requests/v1/${randomUUID()}`)],
    ['a refused field', 422, () => call('kim', 'POST', '/collab/v1/spo/', site({ metadata: { costCentre: '47' } }))],
    ['a call that only admins may make', 403, () => call('kim', 'GET', '/admin/v1/health')],
  ])('the problem of %s passes', async (_, status, provoke) => {
    const answer = await provoke()
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ type: expect.stringMatching(/^urn:quartermaster:problem:/) })
  })

  it('a call that violates the document fails', async () => {
    const request = await call('kim', 'POST', '/collab/v1/spo/', site({ displayName: 7 }))
    expect(request.body).toMatchObject({ type: expect.stringContaining('https://stoplight.io/prism/errors#') })
    const restore = proxy.dropField('value')
    const answer = await call('kim', 'GET', '/requests/v1?limit=1')
    restore()
    expect([answer.status, answer.body]).toMatchObject([500, { type: violation }])
    expect(statusOf(await call('kim', 'GET', '/requests/v1?limit=1'))).toBe(200)
  })
})
