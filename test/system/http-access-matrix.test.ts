import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Permission, type Request, requestStates } from '../../src/core/index.ts'
import { problemBody, routes } from '../../src/http/index.ts'
import { type Act, everybody, isMember, mayBy, outcomeOf, type Who } from '../support/access-roles.ts'
import { idOf, secret, withAccessWorld } from '../support/access-world.ts'

interface Sent {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
/** A route: the permission that it needs, as a second copy, and its object. */
type Row =
  /** A route of one batch, which is hidden from people without access to it. */
  | { readonly needs: Permission; readonly ofBatch: true; send(): Promise<Sent> }
  | { readonly needs: Permission; readonly act: Act; send(request: Request): Sent }
  | { readonly needs: Permission; readonly success: number; send(): Promise<Sent> }

describe('every route, for everybody,', () => {
  const world = withAccessWorld()
  const request = (needs: Permission, act: Act, more = ''): Row => ({
    ...{ needs, act },
    send: ({ requestId }) => ({
      path: `/requests/v1/${requestId}${more}`,
      ...(act !== 'read' && { body: { comment: 'So.' } }),
    }),
  })
  const list = (needs: Permission, path: string): Row => ({ needs, success: 200, send: async () => ({ path }) })
  const about = async () => world.request('failed')
  const ofBatch = (needs: Permission, more: string): Row => ({
    ...{ needs, ofBatch: true },
    send: async () => ({ path: `/batches/v1/${await world.batch()}${more}` }),
  })

  /** One row for each route. A new route without a row fails the test below. */
  const table: Readonly<Record<string, Row>> = {
    'GET /requests/v1/:requestId': request('request.read', 'read'),
    'GET /requests/v1/:requestId/timeline': request('request.read', 'read', '/timeline'),
    'GET /requests/v1/:requestId/explanation': request('request.read', 'read', '/explanation'),
    'POST /requests/v1/:requestId/approve': request('request.decide', 'approve', '/approve'),
    'POST /requests/v1/:requestId/reject': request('request.decide', 'reject', '/reject'),
    'POST /requests/v1/:requestId/cancel': request('request.cancel', 'cancel', '/cancel'),
    'POST /requests/v1/:requestId/retry': request('request.retry', 'retry', '/retry'),
    'POST /requests/v1/:requestId/reassign': {
      ...{ needs: 'request.reassign', act: 'reassign' },
      send: ({ requestId }) => ({ path: `/requests/v1/${requestId}/reassign`, body: { to: world.colleague.id } }),
    },
    'POST /requests/v1/:requestId/nudge': {
      ...{ needs: 'request.nudge', act: 'nudge' },
      send: ({ requestId }) => ({ path: `/requests/v1/${requestId}/nudge`, body: {} }),
    },
    'POST /requests/v1/:requestId/address': {
      ...{ needs: 'request.address', act: 'address' },
      send: ({ requestId }) => ({ path: `/requests/v1/${requestId}/address`, body: { address: 'never' } }),
    },
    'GET /requests/v1': list('request.list', '/requests/v1'),
    'POST /collab/v1/spo': {
      ...{ needs: 'request.create', success: 202 },
      send: async () => ({
        path: '/collab/v1/spo',
        body: { displayName: `Site ${randomUUID()}`, templateId: world.doors.templates.open.id },
      }),
    },
    'POST /mail/v1/mailboxes': {
      ...{ needs: 'request.create', success: 202 },
      send: async () => ({
        path: '/mail/v1/mailboxes',
        body: {
          ...{ name: `m${randomUUID().slice(0, 12)}`, displayName: 'Mailbox' },
          templateId: world.doors.templates.mailbox.id,
        },
      }),
    },
    'POST /requests/v1/preview': {
      ...{ needs: 'request.create', success: 200 },
      send: async () => ({
        path: '/requests/v1/preview',
        body: { name: 'never-made', displayName: 'Never made', templateId: world.doors.templates.mailbox.id },
      }),
    },
    'POST /requests/v1/batch': {
      ...{ needs: 'request.create', success: 202 },
      send: async () => ({
        path: '/requests/v1/batch',
        body: {
          resource: 'mailbox',
          rows: [
            { key: '1', body: { name: 'never', displayName: 'Never', templateId: world.doors.templates.mailbox.id } },
          ],
        },
      }),
    },
    'GET /batches/v1/:batchId': ofBatch('batch.read', ''),
    'GET /batches/v1/:batchId/rows': ofBatch('batch.read', '/rows'),
    'POST /batches/v1/:batchId/cancel': ofBatch('batch.cancel', '/cancel'),
    'GET /templates/v1': list('template.read', '/templates/v1'),
    'GET /templates/v1/:templateId': {
      ...{ needs: 'template.read', success: 200 },
      send: async () => ({ path: `/templates/v1/${world.doors.templates.open.id}` }),
    },
    'PUT /templates/v1/:templateId': {
      ...{ needs: 'template.write', success: 201 },
      send: async () => ({
        path: `/templates/v1/${randomUUID()}`,
        body: { kind: 'teamSite', name: 'Another', active: false },
        headers: { 'if-none-match': '*' },
      }),
    },
    'GET /audit/v1/requests/:requestId': {
      ...{ needs: 'audit.read', success: 200 },
      send: async () => ({ path: `/audit/v1/requests/${(await about()).requestId}` }),
    },
    'GET /admin/v1/stats': list('stats.read', '/admin/v1/stats?period=month'),
    'GET /admin/v1/health': list('health.read', '/admin/v1/health'),
    'GET /audit/v1/organisation': list('audit.read', '/audit/v1/organisation'),
    'GET /admin/v1/dead-letters': list('deadLetter.read', '/admin/v1/dead-letters'),
    'POST /admin/v1/dead-letters/:letterId/dismiss': {
      ...{ needs: 'deadLetter.dismiss', success: 204 },
      send: async () => ({ path: `/admin/v1/dead-letters/${world.letter(await about())}/dismiss` }),
    },
    'POST /admin/v1/dead-letters/:letterId/replay': {
      ...{ needs: 'deadLetter.replay', success: 204 },
      send: async () => ({ path: `/admin/v1/dead-letters/${world.letter(await about())}/replay` }),
    },
    'POST /templates/v1/:templateId/webhook/test': {
      ...{ needs: 'webhook.test', success: 200 },
      send: async () => ({ path: `/templates/v1/${world.doors.templates.hidden.id}/webhook/test` }),
    },
    'POST /templates/v1/:templateId/webhook/send-waiting': {
      ...{ needs: 'delivery.replay', success: 202 },
      send: async () => ({ path: `/templates/v1/${world.doors.templates.hidden.id}/webhook/send-waiting` }),
    },
    'GET /webhooks/v1/deliveries': list('delivery.read', '/webhooks/v1/deliveries'),
    'GET /webhooks/v1/deliveries/:deliveryId': {
      ...{ needs: 'delivery.read', success: 200 },
      send: async () => ({ path: `/webhooks/v1/deliveries/${await world.delivery(await about())}` }),
    },
    'POST /webhooks/v1/deliveries/:deliveryId/replay': {
      ...{ needs: 'delivery.replay', success: 202 },
      send: async () => ({ path: `/webhooks/v1/deliveries/${await world.delivery(await about())}/replay` }),
    },
  }
  const guarded = routes.flatMap((route) =>
    route.permission === 'public' ? [] : [{ ...route, name: `${route.method} ${route.path}` }],
  )

  async function call(who: Who, name: string, { path, body, headers = {} }: Sent) {
    const route = guarded.find((one) => one.name === name)
    const isMail = route?.audience === 'mail' || name === 'POST /requests/v1/batch'
    const token = await world.token(who, isMail ? 'mail' : 'collab')
    const response = await fetch(`${world.doors.rest.server.url}${path}`, {
      method: route?.method ?? 'GET',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json')
    const code = isProblem ? problemBody.parse(JSON.parse(text)).code : undefined
    return { status: response.status, code, text, asks: response.headers.get('www-authenticate') }
  }
  /** Checks the answer to callers without access: no token, a token of another tenant or API, or a deleted person. */
  function refusedAsNobody(who: Who, answer: { status: number; code: string | undefined; asks: string | null }) {
    if (who === 'gone' || who === 'guest') return expect([answer.status, answer.code]).toEqual([403, 'forbidden'])
    expect([answer.status, answer.code]).toEqual([401, who === 'anonymous' ? 'unauthenticated' : 'invalid-token'])
    expect(answer.asks).toMatch(/^Bearer realm="quartermaster"/)
  }

  it('has a row with the permission of the route', () => {
    const needs = Object.entries(table).map(([name, row]) => [name, row.needs])
    expect(Object.fromEntries(needs)).toEqual(
      Object.fromEntries(guarded.map(({ name, permission }) => [name, permission])),
    )
  })

  const rows = Object.entries(table)
  const ofOne = rows.flatMap(([name, row]) => ('act' in row ? everybody.map((who) => ({ name, row, who })) : []))
  it.each(ofOne)('$name, $who: follows the access table in every state', async ({ name, row, who }) => {
    for (const state of requestStates) {
      const request = await world.request(state)
      const before = await world.rows()
      const expected = outcomeOf(who, row.needs, row.act, state)
      const answer = await call(who, name, row.send(request))
      const about = `${state}: ${answer.text}`
      const after = await world.find(request.requestId)
      if (expected.kind === 'done') {
        expect([answer.status, after?.status], about).toEqual([200, expected.status])
        // No address of these requests is taken, so another address changes nothing.
        expect(after?.version, about).toBe(row.act === 'read' || row.act === 'address' ? 1 : 2)
        continue
      }
      if (expected.kind === 'nobody') refusedAsNobody(who, answer)
      if (expected.kind === 'hidden') expect([answer.status, answer.code], about).toEqual([404, 'not-found'])
      if (expected.kind === 'hidden' || (expected.kind === 'refused' && expected.unread)) {
        const nothing = await call(who, name, row.send({ ...request, requestId: randomUUID() }))
        expect([nothing.status, strange(nothing.text)]).toEqual([answer.status, strange(answer.text)])
      }
      if (expected.kind === 'refused') expect([answer.status, answer.code], about).toEqual([403, expected.code])
      if (expected.kind === 'incomplete')
        expect([answer.status, answer.code], about).toEqual([422, 'validation-failed'])
      else if (expected.kind === 'late') expect([answer.status, answer.code], about).toEqual([409, expected.code])
      else expect(answer.text).not.toMatch(new RegExp(`${secret}|Kim|Dana|Omar`))
      expect(after).toEqual(request)
      expect(await world.rows(), about).toEqual(before)
    }
  })

  const ofBatches = rows.flatMap(([name, row]) =>
    'ofBatch' in row ? everybody.map((who) => ({ name, row, who })) : [],
  )
  it.each(ofBatches)('$name, $who: follows the access table', async ({ name, row, who }) => {
    const sent = await row.send()
    const before = await world.rows()
    const answer = await call(who, name, sent)
    if (!isMember(who)) refusedAsNobody(who, answer)
    else if (mayBy(who, row.needs)) expect(answer.status, answer.text).toBe(200)
    else {
      expect([answer.status, answer.code], answer.text).toEqual([404, 'not-found'])
      const [, ofIt] = sent.path.split(/[0-9a-f-]{36}/)
      const nothing = await call(who, name, { ...sent, path: `/batches/v1/${randomUUID()}${ofIt}` })
      expect([nothing.status, strange(nothing.text)]).toEqual([404, strange(answer.text)])
      expect(answer.text).not.toMatch(new RegExp(`${secret}|Kim`))
    }
    // A cancelled batch orders the update of its cards.
    const ordered = name.startsWith('POST') && answer.status === 200 ? 1 : 0
    expect(await world.rows()).toEqual({ ...before, ordered_jobs: Number(before['ordered_jobs']) + ordered })
  })

  const others = rows.flatMap(([name, row]) =>
    'act' in row || 'ofBatch' in row ? [] : everybody.map((who) => ({ name, row, who })),
  )
  it.each(others)('$name, $who: follows the access table', async ({ name, row, who }) => {
    const sent = await row.send()
    const before = await world.rows()
    const answer = await call(who, name, sent)
    const isMails = guarded.find((one) => one.name === name)?.audience === 'collab' && who === 'application'
    if (!isMember(who) || isMails) refusedAsNobody(who, answer)
    else if (mayBy(who, row.needs)) expect(answer.status, answer.text).toBe(row.success)
    else expect([answer.status, answer.code], answer.text).toEqual([403, 'forbidden'])
    if (answer.status >= 400) expect(await world.rows()).toEqual(before)
    const seesAll = who === 'requester' || mayBy(who, 'request.listAll')
    if (!seesAll) expect(answer.text).not.toContain(secret)
  })

  it.each(everybody)('refuses a preview on behalf of another person: %s', async (who) => {
    const before = await world.rows()
    const { hidden } = world.doors.templates
    const asRequester = `/requests/v1/preview?as=${idOf('requester')}`
    const body = { displayName: 'Never made', templateId: hidden.id }
    const answer = await call(who, 'POST /requests/v1/preview', { path: asRequester, body })
    if (!isMember(who)) refusedAsNobody(who, answer)
    else if (mayBy(who, 'request.simulate')) expect(answer.status, answer.text).toBe(200)
    else expect([answer.status, answer.code], answer.text).toEqual([403, 'forbidden'])
    if (who !== 'admin') expect(answer.text).not.toMatch(new RegExp(`${secret}|Kim|Dana|Omar`))
    const own = await call(who, 'POST /requests/v1/preview', { path: '/requests/v1/preview', body })
    if (isMember(who)) expect(own.status, own.text).toBe(who === 'requester' ? 200 : 422)
    expect(await world.rows()).toEqual(before)
  })

  it.each(everybody)('offers a template only to its requesters: %s', async (who) => {
    const { hidden } = world.doors.templates
    const sees = who === 'requester' || who === 'admin'
    const before = await world.rows()
    const read = await call(who, 'GET /templates/v1/:templateId', { path: `/templates/v1/${hidden.id}` })
    const body = { displayName: `${secret} ${randomUUID()}`, templateId: hidden.id }
    const response =
      who === 'requester' ? undefined : await call(who, 'POST /collab/v1/spo', { path: '/collab/v1/spo', body })
    if (!isMember(who)) return refusedAsNobody(who, read)
    expect(read.status).toBe(sees ? 200 : 404)
    if (!sees) expect(read.text).not.toContain(secret)
    // Admins, too, can only use templates that are for them.
    if (who !== 'requester') expect(response?.status).toBe(who === 'application' ? 401 : 422)
    expect(await world.rows()).toEqual(before)
  })
})

/** Returns an answer without its own id and address. */
const strange = (text: string): object => ({ ...problemBody.parse(JSON.parse(text)), traceId: '', instance: '' })
