import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verifyProvisioningWebhook } from '../../src/client/index.ts'
import { deliveryView, webhookTestResult } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { newHome, runQuartermaster, signIn } from '../support/command-line.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { cardOf } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
interface Received {
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** Creates a receiver that can stop and start again at the same address. */
function receiver() {
  const received: Received[] = []
  let server: Server | undefined
  let port = 0
  let status = 204
  let held = Promise.resolve()
  const start = async () => {
    server = createServer((request, response) => {
      text(request).then(
        (body) => {
          received.push({ headers: request.headers, body })
          return held.then(() => {
            response.writeHead(status)
            response.end()
          })
        },
        () => response.destroy(),
      )
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  return {
    received,
    start,
    /** Accepts calls and answers none until it is released. */
    holds() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    answers: (with_: number) => {
      status = with_
    },
    get url() {
      return `http://127.0.0.1:${port}/hooks?key=hidden`
    },
    async dies() {
      server?.closeAllConnections()
      await new Promise((resolve) => server?.close(resolve))
    },
  }
}

describe('webhooks for admins in chat', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000' })
  const { call, problem } = caller(service)
  const hook = receiver()
  const path = `/templates/v1/${templates.workingGroup}`
  const log = '/webhooks/v1/deliveries'
  const says = async (text: string) => textOf((await service.sam.says(text)).card)

  async function writeWebhook(webhook: object | null = { url: hook.url, secret, events: ['site.provisioned'] }) {
    const { body, headers } = await call('sam', 'GET', path)
    const written = { ...z.looseObject({}).parse(body), webhook }
    const answer = await call('sam', 'PUT', path, { body: written, headers: { 'if-match': headers.get('etag') ?? '' } })
    expect(answer.status, answer.text).toBe(200)
  }
  async function requestSite(displayName: string): Promise<string> {
    const body = { displayName, templateId: templates.workingGroup }
    return String(z.looseObject({}).parse((await call('kim', 'POST', '/collab/v1/spo/', { body })).body)['requestId'])
  }
  const deliveryOf = async (requestId: string) => {
    const { body } = await call('sam', 'GET', `${log}/?requestId=${requestId}&templateId=${templates.workingGroup}`)
    return z.looseObject({ value: z.array(deliveryView) }).parse(body).value[0]
  }
  const tried = (requestId: string, count = 1) =>
    until(async () => {
      const one = await deliveryOf(requestId)
      return one && one.attemptCount >= count ? one : undefined
    }, `${count} attempts`)
  const delivered = (requestId: string) =>
    until(async () => (await deliveryOf(requestId))?.status === 'delivered' || undefined, 'the delivery to arrive')
  /** Marks a delivery as failed, as the last attempt does after three days. */
  const failsForGood = (deliveryId: string) =>
    service.app.database.query(
      `UPDATE deliveries SET status = 'failed', body = body || '{"status": "failed", "nextAttemptAt": null}'
       WHERE delivery_id = $1`,
      [deliveryId],
    )
  const acts = async () => {
    const { body } = await call('sam', 'GET', '/audit/v1/organisation')
    const report = z.looseObject({ proved: z.literal(true), entries: z.array(z.looseObject({})) }).parse(body)
    return report.entries.map(({ action }) => action)
  }

  beforeAll(() => hook.start())
  afterAll(() => hook.dies())

  it('show the bot’s own receiver, and how to add a webhook, while no template has one', async () => {
    const shown = await says('admin webhooks')
    for (const text of ['The receiver is healthy', 'My own receiver', 'PUT /templates/v1/'])
      expect(shown).toContain(text)
  })

  it('a test delivery is signed, verifies, is shown with its time, and is not in the log', async () => {
    await writeWebhook()
    const list = await service.sam.says('admin webhooks')
    expect(textOf(list.card)).toContain('127.0.0.1')
    expect(JSON.stringify(list.card)).not.toContain('hidden')
    const { card } = await service.sam.clicks(list, 'Test')
    expect(textOf(card ?? {})).toMatch(/The receiver works.*204, accepted, after [\d,]+ ms/s)
    const [sent, ...more] = hook.received.splice(0)
    const event = verifyProvisioningWebhook(sent?.headers as Record<string, string>, sent?.body ?? '', secret)
    expect(more).toEqual([])
    expect(event).toMatchObject({ type: 'webhook.test', data: { templateId: templates.workingGroup } })
    expect(event.id).toBe(sent?.headers['webhook-id'])
    expect(z.looseObject({ value: z.array(z.unknown()) }).parse((await call('sam', 'GET', log)).body).value).toEqual([])
    expect(await acts()).toEqual(['template-written', 'webhook-tested'])
  })

  it('a test of the bot’s own webhook reaches the bot, which accepts it', async () => {
    const { core, endpoints } = service.app
    const sam = await core.actor({ tenantId: endpoints.tenantId, id: people.sam.id })
    expect(await core.testReceiver(sam, { subscriber: 'bot' })).toMatchObject({
      delivered: true,
      status: '204',
    })
  })

  it('can be tested by REST, which returns the receiver’s answer, 403 for other people, and 404 without a webhook', async () => {
    const test = (who: 'sam' | 'kim', id: string = templates.workingGroup) =>
      call(who, 'POST', `/templates/v1/${id}/webhook/test`)
    hook.answers(302)
    const redirected = webhookTestResult.parse((await test('sam')).body)
    expect(redirected).toMatchObject({ delivered: false, status: '302', meaning: 'redirect' })
    hook.answers(204)
    expect(webhookTestResult.parse((await test('sam')).body)).toMatchObject({ delivered: true, meaning: 'taken' })
    expect(problem(await test('kim')).code).toBe('forbidden')
    expect(problem(await test('sam', templates.newsSite)).code).toBe('not-found')
  })

  it('on the command line: exit code 0 after acceptance, 1 otherwise', async () => {
    const home = newHome()
    await signIn(home, service.app.url, 'sam')
    const test = () => runQuartermaster(['webhook', 'test', 'Working group'], { home })
    const taken = await test()
    expect([taken.exit, taken.printed]).toEqual([0, expect.stringMatching(/^Accepted: .* answered 204 in \d+ ms\n$/)])
    hook.answers(500)
    const notTaken = await test()
    expect([notTaken.exit, notTaken.printed]).toEqual([1, expect.stringMatching(/^Not accepted by .*: 500 /)])
    hook.answers(204)
  })

  it('a dead receiver is shown within a minute with its error; once it is back, a resend delivers once', async () => {
    await hook.dies()
    hook.received.splice(0)
    const requestId = await requestSite('Not heard')
    const { deliveryId } = await tried(requestId)
    const health = await says('admin health')
    expect(health).toContain('Webhooks')
    expect(health).toContain('Failing receivers: 1')
    const list = await service.sam.says('admin webhooks')
    for (const words of [
      'A receiver needs attention',
      'Failing since',
      'connection refused (ECONNREFUSED)',
      '1 pending',
    ])
      expect(textOf(list.card)).toContain(words)
    const tested = await service.sam.clicks(list, 'Test')
    expect(textOf(tested.card ?? {})).toMatch(/The receiver does not work.*connection refused \(ECONNREFUSED\)/s)
    await failsForGood(deliveryId)
    expect(await says('admin webhooks failures')).toContain('Failed deliveries')
    await hook.start()
    const { reference } = z
      .object({ reference: z.string() })
      .parse((await call('sam', 'GET', `/requests/v1/${requestId}`)).body)
    expect(await says('admin webhooks Nothing like it')).toContain('No template has a similar name.')
    const ofRequest = await service.sam.says(`admin webhooks ${reference}`)
    expect(textOf(ofRequest.card)).toContain(`About ${reference}`)
    const one = await service.sam.invokes(ofRequest.id, 'admin.delivery', { deliveryId })
    const shown = { id: ofRequest.id, card: cardOf(one) }
    expect(textOf(shown.card)).toContain('Failed')
    const confirmation = await service.sam.clicks(shown, 'Resend')
    expect(textOf(confirmation.card ?? {})).toContain('Resend this delivery?')
    const again = await service.sam.clicks({ id: shown.id, card: confirmation.card }, 'Resend')
    expect(textOf(again.card ?? {})).toContain('I resent this delivery')
    await service.sam.clicks({ id: shown.id, card: confirmation.card }, 'Resend')
    await delivered(requestId)
    expect(hook.received.map(({ headers }) => headers['webhook-id'])).toEqual([deliveryId])
    expect(await says('admin health')).not.toContain('Failing receivers')
    expect(await says('admin webhooks')).toContain('All receivers are healthy')
  })

  it('a receiver that was disabled by 410 is enabled after a confirmation, and a resend delivers missed events', async () => {
    hook.answers(410)
    hook.received.splice(0)
    const requestIds = [await requestSite('Gone one')]
    await tried(requestIds[0] ?? '')
    requestIds.push(await requestSite('Gone two'))
    const missed = await until(async () => {
      const all = await Promise.all(requestIds.map(deliveryOf))
      return all.every((one) => one?.status === 'failed') ? all.map((one) => one?.deliveryId) : undefined
    }, 'both deliveries to fail')
    hook.answers(204)
    hook.received.splice(0)
    const list = await service.sam.says('admin webhooks')
    expect(textOf(list.card)).toContain('the receiver answered 410 Gone')
    // Deliveries after the 410 are not sent, so the last answer is still the 410.
    expect(textOf(list.card)).toMatch(/Last answer, .*: 410/)
    expect(await says('admin health')).toContain('Disabled: 1')
    const confirmation = await service.sam.clicks(list, 'Enable')
    expect(textOf(confirmation.card ?? {})).toContain('Enable this receiver?')
    const refused = await service.sam.invokes(list.id, 'admin.resend', {
      templateId: templates.workingGroup,
      version: 1,
    })
    expect(textOf(cardOf(refused))).toContain('Enable this receiver?')
    const on = await service.sam.clicks({ id: list.id, card: confirmation.card }, 'Enable')
    expect(textOf(on.card ?? {})).toContain('The receiver is enabled')
    await service.sam.clicks({ id: list.id, card: confirmation.card }, 'Enable')
    const all = await service.sam.clicks({ id: list.id, card: on.card }, 'Resend')
    expect(textOf(all.card ?? {})).toContain('Failed deliveries: 2')
    const sent = await service.sam.clicks({ id: list.id, card: all.card }, 'Resend')
    expect(textOf(sent.card ?? {})).toContain('I am resending 2 deliveries')
    const twice = await service.sam.clicks({ id: list.id, card: all.card }, 'Resend')
    expect(textOf(twice.card ?? {})).toContain('I sent nothing')
    await Promise.all(requestIds.map(delivered))
    expect(hook.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(missed.sort())
    const done = await acts()
    expect(done.filter((action) => action === 'webhook-switched-on')).toHaveLength(1)
    expect(done.filter((action) => action === 'webhook-all-replayed')).toHaveLength(1)
    const audit = await says('admin audit')
    for (const words of ['Receiver enabled: Working group', 'Failed deliveries resent: Working group', '2 sent'])
      expect(audit).toContain(words)
  })

  it('a test of a slow receiver answers the admin within seconds, and the audit stores the result later', async () => {
    const letGo = hook.holds()
    const before = (await acts()).filter((action) => action === 'webhook-tested').length
    const list = await service.sam.says('admin webhooks')
    const { card } = await service.sam.clicks(list, 'Test')
    expect(textOf(card ?? {})).toMatch(/No answer yet.*admin audit/s)
    letGo()
    await until(
      async () => (await acts()).filter((action) => action === 'webhook-tested').length > before || undefined,
      'the result of the test',
    )
    expect(await says('admin audit')).toMatch(/Receiver tested: Working group.*204/s)
  })

  it('failed deliveries of a template without a webhook cannot be resent, and the card shows the reason', async () => {
    hook.answers(500)
    const requestId = await requestSite('Nowhere to go')
    const { deliveryId } = await tried(requestId)
    await failsForGood(deliveryId)
    const list = await service.sam.says('admin webhooks failures')
    const { id, card } = {
      id: list.id,
      card: cardOf(await service.sam.invokes(list.id, 'admin.delivery', { deliveryId })),
    }
    expect(JSON.stringify(card)).toContain('admin.redeliver')
    await writeWebhook(null)
    const clicked = await service.sam.clicks({ id, card }, 'Resend')
    expect(textOf(clicked.card ?? {})).toContain('its template has no webhook now')
    expect(JSON.stringify(clicked.card)).not.toContain('admin.redeliver')
  })

  it('are for admins only', async () => {
    for (const words of ['admin webhooks', 'admin webhooks failures', 'admin audit'])
      expect(textOf((await service.kim.says(words)).card)).toContain('Only admins of this service can use this.')
  })
})
