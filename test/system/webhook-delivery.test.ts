import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { requestView } from '../../src/core/index.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ReceivedWebhook, startSubscriber } from '../support/webhook-subscriber.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

describe("a template's own webhook", () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000' })
  let subscriber: Awaited<ReturnType<typeof startSubscriber>>

  beforeAll(async () => {
    subscriber = await startSubscriber()
    const path = `/templates/v1/${templates.workingGroup}`
    const { body, headers } = await service.rest('sam', 'GET', path)
    const webhook = { url: subscriber.url, secret, events: ['site.provisioned'] }
    const put = await service.rest('sam', 'PUT', path, { ...body, webhook }, { 'if-match': headers.get('etag') ?? '' })
    expect(put.status).toBe(200)
    expect(JSON.stringify(put.body)).not.toContain(secret)
  })
  afterAll(() => subscriber.close())
  beforeEach(() => void subscriber.received.splice(0))

  async function ask(displayName: string): Promise<string> {
    const body = { displayName, templateId: templates.workingGroup }
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    expect(answer.status).toBe(202)
    return String(answer.body['requestId'])
  }
  const nth = (number: number): Promise<ReceivedWebhook> =>
    until(() => subscriber.received[number - 1], `webhook number ${number}`)
  /** Returns the stored delivery, for facts that otherwise only time could show. */
  async function deliveryOf(requestId: string): Promise<{ status: string; attempts: number } | undefined> {
    const { rows } = await service.app.database.query<{
      body: { status: string; attempts: number; subscriber: unknown }
    }>('SELECT body FROM deliveries WHERE request_id = $1', [requestId])
    return rows.map(({ body }) => body).find(({ subscriber }) => subscriber !== 'bot')
  }

  it('is signed by Standard Webhooks, and reports the result of the request', async () => {
    const requestId = await ask('Signed')
    const { headers, body } = await nth(1)
    const answer = await service.rest('sam', 'GET', `/requests/v1/${requestId}`)
    const { resource, tenantId, reference, kind } = requestView.parse(answer.body)
    const { createdAs } = Object(answer.body)
    expect(createdAs).toMatchObject({ displayName: 'Signed', alias: expect.any(String) })
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: 'site.provisioned',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId,
      tenantId,
      data: { reference, kind, status: 'succeeded', displayName: 'Signed', createdAs, ...resource },
    })
    const other = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
    expect(() => new Webhook(other).verify(body, headers)).toThrow()
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': /Quartermaster/ })
  })

  it('is sent again after a failure: the same message, at another time, with a new signature', async () => {
    subscriber.answers.push(503)
    const requestId = await ask('Fails once')
    const first = await nth(1)
    const second = await nth(2)
    expect(second.body).toBe(first.body)
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']))
    expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature'])
    expect(new Webhook(secret).verify(second.body, second.headers)).toMatchObject({ requestId })
    await until(async () => (await deliveryOf(requestId))?.status === 'delivered' || undefined, 'its delivery')
    expect(await deliveryOf(requestId)).toMatchObject({ attempts: 2 })
  })

  it('is not sent to the target of a redirect, and is sent again instead', async () => {
    subscriber.answers.push(302)
    const requestId = await ask('Redirects')
    await nth(1)
    await until(async () => (await deliveryOf(requestId))?.attempts === 1 || undefined, 'the attempt to be recorded')
    expect(await deliveryOf(requestId)).toMatchObject({ status: 'pending', lastStatus: '302' })
  })

  it('ends when its receiver answers 410 Gone', async () => {
    subscriber.answers.push(410)
    const requestId = await ask('Gone')
    await nth(1)
    await until(async () => (await deliveryOf(requestId))?.status === 'failed' || undefined, 'the end of it')
    expect(await deliveryOf(requestId)).toMatchObject({ attempts: 1, lastStatus: '410' })
    const waiting = (await service.app.queue.counts()).find(({ name }) => name === 'deliver-webhook')
    expect(subscriber.received.filter(({ body }) => body.includes(requestId))).toHaveLength(1)
    // The only waiting delivery may be the next attempt after the redirect.
    expect(waiting?.waiting).toBeLessThanOrEqual(1)
  })
})
