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

/** A receiver that can die and come back at the same address. */
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
    /** Takes what comes, and answers none of it until it is let go. */
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

describe('webhooks, for admins in chat', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000' })
  const { call, problem } = caller(service)
  const hook = receiver()
  const path = `/templates/v1/${templates.workingGroup}`
  const log = '/webhooks/v1/deliveries'
  const says = async (words: string) => textOf((await service.sam.says(words)).card)

  async function writeWebhook(webhook: object | null = { url: hook.url, secret, events: ['site.provisioned'] }) {
    const { body, headers } = await call('sam', 'GET', path)
    const written = { ...z.looseObject({}).parse(body), webhook }
    const answer = await call('sam', 'PUT', path, { body: written, headers: { 'if-match': headers.get('etag') ?? '' } })
    expect(answer.status, answer.text).toBe(200)
  }
  async function ask(displayName: string): Promise<string> {
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
    }, `${count} tries`)
  const delivered = (requestId: string) =>
    until(async () => (await deliveryOf(requestId))?.status === 'delivered' || undefined, 'it to arrive')
  /** Ends a delivery as its last attempt would, three days later. */
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

  it('while no template has one, the bot’s own are shown, and how to add one', async () => {
    const shown = await says('admin webhooks')
    for (const words of ['The webhook arrives', 'My own webhooks', 'PUT /templates/v1/']) expect(shown).toContain(words)
  })

  it('a test is signed, verifies, is told with its time, and stands in no log', async () => {
    await writeWebhook()
    const list = await service.sam.says('admin webhooks')
    expect(textOf(list.card)).toContain('127.0.0.1')
    expect(JSON.stringify(list.card)).not.toContain('hidden')
    const { card } = await service.sam.clicks(list, 'Test')
    expect(textOf(card ?? {})).toMatch(/It works.*204, taken, after [\d,]+ ms/s)
    const [sent, ...more] = hook.received.splice(0)
    const event = verifyProvisioningWebhook(sent?.headers as Record<string, string>, sent?.body ?? '', secret)
    expect(more).toEqual([])
    expect(event).toMatchObject({ type: 'webhook.test', data: { templateId: templates.workingGroup } })
    expect(event.id).toBe(sent?.headers['webhook-id'])
    expect(z.looseObject({ value: z.array(z.unknown()) }).parse((await call('sam', 'GET', log)).body).value).toEqual([])
    expect(await acts()).toEqual(['template-written', 'webhook-tested'])
  })

  it('a test of the bot’s own reaches the bot, which takes it', async () => {
    const { core, endpoints } = service.app
    const sam = await core.actor({ tenantId: endpoints.tenantId, id: people.sam.id })
    expect(await core.testReceiver(sam, { subscriber: 'bot' })).toMatchObject({
      delivered: true,
      status: '204',
    })
  })

  it('by REST: what came back, or why nothing did; nobody else may, and a template without a webhook is 404', async () => {
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

  it('on the command line: 0 when it was taken, 1 when it was not', async () => {
    const home = newHome()
    await signIn(home.path, service.app.url, 'sam')
    const test = () => runQuartermaster(['webhook', 'test', 'Working group'], { home: home.path })
    const taken = await test()
    expect([taken.exit, taken.printed]).toEqual([0, expect.stringMatching(/^Taken: .* answered 204 in \d+ ms\n$/)])
    hook.answers(500)
    const notTaken = await test()
    expect([notTaken.exit, notTaken.printed]).toEqual([1, expect.stringMatching(/^Not taken by .*: 500 /)])
    hook.answers(204)
    home.remove()
  })

  it('a dead receiver shows within a minute, with the right words; back again, Send again delivers it once', async () => {
    await hook.dies()
    hook.received.splice(0)
    const requestId = await ask('Not heard')
    const { deliveryId } = await tried(requestId)
    const health = await says('admin health')
    expect(health).toContain('Webhooks')
    expect(health).toContain('Receivers that fail: 1')
    const list = await service.sam.says('admin webhooks')
    for (const words of ['A webhook needs you', 'Fails since', 'nobody listens there (ECONNREFUSED)', '1 on the way'])
      expect(textOf(list.card)).toContain(words)
    const tested = await service.sam.clicks(list, 'Test')
    expect(textOf(tested.card ?? {})).toMatch(/It does not work.*nobody listens there \(ECONNREFUSED\)/s)
    await failsForGood(deliveryId)
    expect(await says('admin webhooks failures')).toContain('Failed deliveries')
    await hook.start()
    const { reference } = z
      .object({ reference: z.string() })
      .parse((await call('sam', 'GET', `/requests/v1/${requestId}`)).body)
    expect(await says('admin webhooks Nothing like it')).toContain('No template is called anything like that.')
    const ofRequest = await service.sam.says(`admin webhooks ${reference}`)
    expect(textOf(ofRequest.card)).toContain(`Of ${reference}`)
    const one = await service.sam.invokes(ofRequest.id, 'admin.delivery', { deliveryId })
    const shown = { id: ofRequest.id, card: cardOf(one) }
    expect(textOf(shown.card)).toContain('Not delivered')
    const asked = await service.sam.clicks(shown, 'Send again')
    expect(textOf(asked.card ?? {})).toContain('Send it again?')
    const again = await service.sam.clicks({ id: shown.id, card: asked.card }, 'Send again')
    expect(textOf(again.card ?? {})).toContain('It was sent again')
    await service.sam.clicks({ id: shown.id, card: asked.card }, 'Send again')
    await delivered(requestId)
    expect(hook.received.map(({ headers }) => headers['webhook-id'])).toEqual([deliveryId])
    expect(await says('admin health')).not.toContain('Receivers that fail')
    expect(await says('admin webhooks')).toContain('All webhooks arrive')
  })

  it('switched off by 410: Switch on, once confirmed, then Send again brings what it missed', async () => {
    hook.answers(410)
    hook.received.splice(0)
    const requestIds = [await ask('Gone one')]
    await tried(requestIds[0] ?? '')
    requestIds.push(await ask('Gone two'))
    const missed = await until(async () => {
      const all = await Promise.all(requestIds.map(deliveryOf))
      return all.every((one) => one?.status === 'failed') ? all.map((one) => one?.deliveryId) : undefined
    }, 'both to fail')
    hook.answers(204)
    hook.received.splice(0)
    const list = await service.sam.says('admin webhooks')
    expect(textOf(list.card)).toContain('it said 410 Gone')
    // What was not sent since then is no answer.
    expect(textOf(list.card)).toMatch(/Last answer, .*: 410/)
    expect(await says('admin health')).toContain('Switched off: 1')
    const asked = await service.sam.clicks(list, 'Switch on')
    expect(textOf(asked.card ?? {})).toContain('Switch it on again?')
    const refused = await service.sam.invokes(list.id, 'admin.resend', {
      templateId: templates.workingGroup,
      version: 1,
    })
    expect(textOf(cardOf(refused))).toContain('Switch it on again?')
    const on = await service.sam.clicks({ id: list.id, card: asked.card }, 'Switch on')
    expect(textOf(on.card ?? {})).toContain('It is switched on')
    await service.sam.clicks({ id: list.id, card: asked.card }, 'Switch on')
    const all = await service.sam.clicks({ id: list.id, card: on.card }, 'Send again')
    expect(textOf(all.card ?? {})).toContain('2 failed for good')
    const sent = await service.sam.clicks({ id: list.id, card: all.card }, 'Send again')
    expect(textOf(sent.card ?? {})).toContain('2 are on their way again')
    const twice = await service.sam.clicks({ id: list.id, card: all.card }, 'Send again')
    expect(textOf(twice.card ?? {})).toContain('nothing was sent')
    await Promise.all(requestIds.map(delivered))
    expect(hook.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(missed.sort())
    const done = await acts()
    expect(done.filter((action) => action === 'webhook-switched-on')).toHaveLength(1)
    expect(done.filter((action) => action === 'webhook-all-replayed')).toHaveLength(1)
    const audit = await says('admin audit')
    for (const words of ['Webhook switched on: Working group', 'Failed webhooks sent again: Working group', '2 sent'])
      expect(audit).toContain(words)
  })

  it('a receiver that is slow to answer a test keeps nobody waiting; what came of it is written down', async () => {
    const letGo = hook.holds()
    const before = (await acts()).filter((action) => action === 'webhook-tested').length
    const list = await service.sam.says('admin webhooks')
    const { card } = await service.sam.clicks(list, 'Test')
    expect(textOf(card ?? {})).toMatch(/No answer yet.*admin audit/s)
    letGo()
    await until(
      async () => (await acts()).filter((action) => action === 'webhook-tested').length > before || undefined,
      'what came of it',
    )
    expect(await says('admin audit')).toMatch(/Webhook tested: Working group.*204/s)
  })

  it('what failed for a template without a webhook is not offered to be sent again, and says why', async () => {
    hook.answers(500)
    const requestId = await ask('Nowhere to go')
    const { deliveryId } = await tried(requestId)
    await failsForGood(deliveryId)
    const list = await service.sam.says('admin webhooks failures')
    const { id, card } = {
      id: list.id,
      card: cardOf(await service.sam.invokes(list.id, 'admin.delivery', { deliveryId })),
    }
    expect(JSON.stringify(card)).toContain('admin.redeliver')
    await writeWebhook(null)
    const clicked = await service.sam.clicks({ id, card }, 'Send again')
    expect(textOf(clicked.card ?? {})).toContain('Its template has no webhook any more')
    expect(JSON.stringify(clicked.card)).not.toContain('admin.redeliver')
  })

  it('are for admins', async () => {
    for (const words of ['admin webhooks', 'admin webhooks failures', 'admin audit'])
      expect(textOf((await service.kim.says(words)).card)).toContain("This is for the service's admins.")
  })
})
