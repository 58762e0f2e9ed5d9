import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/http/index.ts'
import { goodTemplate, ids, mailbox, secret, site, tiedInTemplate, webhook } from '../support/mutable-bodies.ts'
import { type Endpoint, figuresLine, isLongRun, run, wire, writeSeenAnswers } from '../support/mutation-run.ts'
import type { JsonObject } from '../support/mutations.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'

/** All of these people have to approve, so no requested resource is ever created. */
const approval = {
  stages: [{ approvers: [{ user: people.dana.id }, { user: people.omar.id }], rule: 'all' }],
}
const unhandled: unknown[] = []
const noteUnhandled = (error: unknown) => void unhandled.push(error)

describe('mutations of REST writes', () => {
  const service = withService({ WEBHOOK_SECRET: secret })
  const { call } = caller(service)
  const tokens = new Map<string, string>()
  let requestId = ''

  async function put(id: string, template: JsonObject) {
    const answer = await call('sam', 'PUT', `/templates/v1/${id}`, {
      body: template,
      headers: { 'if-none-match': '*' },
    })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  }
  async function likeOf(known: string): Promise<JsonObject> {
    const {
      id: _,
      version: __,
      webhook: ___,
      ...rest
    } = (await call('sam', 'GET', `/templates/v1/${known}`)).body as JsonObject
    return { ...rest, default: false, approval }
  }
  beforeAll(async () => {
    process.on('unhandledRejection', noteUnhandled)
    await put(ids.site, await likeOf(templates.projectSite))
    await put(ids.sharedMailbox, { ...(await likeOf(templates.sharedMailbox)), fields: [], localised: {} })
    await put(ids.equipmentMailbox, { ...(await likeOf(templates.equipment)), fields: [], localised: {} })
    await put(ids.roomMailbox, { ...(await likeOf(templates.meetingRoom)), fields: [], localised: {} })
    await put(ids.written, goodTemplate())
    const { app } = service
    const simulator = app.endpoints.simulator?.url ?? ''
    for (const who of ['kim', 'dana', 'sam'] as const)
      for (const api of ['collab', 'mail'] as const)
        tokens.set(`${who} ${api}`, await tokenFor(simulator, people[who].id, scopes[api]))
    const accepted = await call('kim', 'POST', '/collab/v1/spo', { body: site(0) })
    requestId = String((accepted.body as JsonObject)['requestId'])
  })
  afterAll(() => {
    process.off('unhandledRejection', noteUnhandled)
    console.info(`seen: ${writeSeenAnswers('rest')}`)
  })

  /** Creates an endpoint that requires a token. */
  const signedIn = (
    name: string,
    as: string,
    path: () => string,
    good: Endpoint['good'],
    usual: Record<string, string> = {},
  ): Endpoint => ({
    name,
    good,
    send: ({ body, headers }, change) =>
      wire(service.app.url, {
        method: name.split(' ')[0] ?? '',
        path: change.path ? change.path(path()) : path(),
        headers: {
          authorization: `Bearer ${tokens.get(as)}`,
          ...(body.length > 0 && { 'content-type': 'application/json' }),
          ...{ ...usual, ...headers, ...change.headers },
        },
        ...(body.length > 0 && { body }),
      }),
  })
  const decision = (verb: string, who: string, more: object = {}): Endpoint =>
    signedIn(
      `POST /requests/v1/:requestId/${verb}`,
      `${who} collab`,
      () => `/requests/v1/${requestId}/${verb}`,
      () => ({
        comment: 'Because it is fine.',
        ...more,
      }),
    )
  const endpoints: readonly Endpoint[] = [
    signedIn('POST /collab/v1/spo', 'kim collab', () => '/collab/v1/spo', site),
    signedIn('POST /mail/v1/mailboxes', 'kim mail', () => '/mail/v1/mailboxes', mailbox),
    signedIn(
      'POST /requests/v1/preview',
      'kim mail',
      () => '/requests/v1/preview',
      (count) => (count % 2 === 0 ? site(count) : mailbox(count)),
    ),
    signedIn(
      'POST /requests/v1/batch',
      'kim mail',
      () => '/requests/v1/batch',
      // Previews only, so that the rows of one batch do not wait for those of earlier batches.
      (count) => ({
        ...{ dryRun: true, resource: 'mailbox' },
        rows: [0, 1].map((more) => ({ key: `Room ${more}`, body: mailbox(2 * count + more) })),
      }),
    ),
    signedIn(
      'POST /batches/v1/:batchId/cancel',
      'kim collab',
      () => `/batches/v1/${randomUUID()}/cancel`,
      () => undefined,
    ),
    decision('approve', 'dana', { stage: 1 }),
    decision('reject', 'dana', { stage: 1 }),
    decision('cancel', 'kim'),
    decision('retry', 'sam'),
    signedIn(
      'POST /requests/v1/:requestId/reassign',
      'dana collab',
      () => `/requests/v1/${requestId}/reassign`,
      () => ({ to: people.sam.id, from: people.dana.id, comment: 'She knows it.' }),
    ),
    signedIn(
      'POST /requests/v1/:requestId/nudge',
      'kim collab',
      () => `/requests/v1/${requestId}/nudge`,
      () => undefined,
    ),
    signedIn(
      'POST /requests/v1/:requestId/address',
      'kim collab',
      () => `/requests/v1/${requestId}/address`,
      () => ({ address: 'another-one' }),
    ),
    {
      ...signedIn('PUT /templates/v1/:templateId', 'sam collab', () => `/templates/v1/${ids.written}`, goodTemplate, {
        'if-match': '*',
      }),
      tied: tiedInTemplate,
    },
    signedIn(
      'POST /admin/v1/dead-letters/:letterId/dismiss',
      'sam collab',
      () => `/admin/v1/dead-letters/${randomUUID()}/dismiss`,
      () => undefined,
    ),
    signedIn(
      'POST /admin/v1/dead-letters/:letterId/replay',
      'sam collab',
      () => `/admin/v1/dead-letters/${randomUUID()}/replay`,
      () => undefined,
    ),
    signedIn(
      'POST /webhooks/v1/deliveries/:deliveryId/replay',
      'sam collab',
      () => `/webhooks/v1/deliveries/${randomUUID()}/replay`,
      () => undefined,
    ),
    signedIn(
      'POST /templates/v1/:templateId/webhook/test',
      'sam collab',
      () => `/templates/v1/${randomUUID()}/webhook/test`,
      () => undefined,
    ),
    signedIn(
      'POST /templates/v1/:templateId/webhook/send-waiting',
      'sam collab',
      () => `/templates/v1/${randomUUID()}/webhook/send-waiting`,
      () => undefined,
    ),
    signedIn(
      'POST /exports/v1/:token',
      'sam collab',
      () => `/exports/v1/${'A'.repeat(86)}`,
      () => undefined,
    ),
    {
      name: 'POST /webhooks/provisioning',
      good: () => webhook(requestId),
      send: ({ body, headers }, change) => {
        const path = '/webhooks/provisioning'
        return wire(service.app.url, {
          method: 'POST',
          path: change.path ? change.path(path) : path,
          headers: { 'content-type': 'application/json', ...signed(body), ...headers, ...change.headers },
          body,
        })
      },
    },
  ]

  it('cover every route that writes', () => {
    const written = routes.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)
    // The route of the chat has its own test file.
    expect([...endpoints.map(({ name }) => name), 'POST /api/messages'].toSorted()).toEqual(written.toSorted())
  })

  it.each(endpoints)(
    '$name: never cause a 5xx, and every refusal is a problem that names its field',
    async (endpoint) => {
      const figures = await run(endpoint)
      console.info(figuresLine(figures))
      expect(figures.failures).toEqual([])
      expect(unhandled).toEqual([])
      if (figures.ofField > 0) {
        const share = figures.named / figures.ofField
        expect(share, figures.unnamed.slice(0, 10).join('\n')).toBeGreaterThanOrEqual(0.99)
      }
      if (isLongRun) expect(figures.slow).toEqual([])
    },
    3_600_000,
  )
})

/** Signs a delivery by Standard Webhooks 1.0.0, whatever its body contains. */
function signed(body: string | Buffer): Record<string, string> {
  const [id, timestamp] = [`msg_${randomUUID()}`, String(Math.floor(Date.now() / 1000))]
  const mac = createHmac('sha256', Buffer.alloc(32, 7)).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
}
