import { describe, expect, it } from 'vitest'
import { endpointOf, type Template } from '../../src/core/index.ts'
import { troubledEndpoints } from '../../src/core/webhooks/receivers.ts'
import { until } from '../support/until.ts'
import { admin, answers, hour, secretOf, start, timeout, withWebhooks } from '../support/webhook-world.ts'

const dead = 'https://dead.contoso.example/'
const alive = 'https://alive.contoso.example/'
/** A receiver that holds its answers until they are released. */
function held() {
  const waiting: (() => void)[] = []
  return {
    waiting,
    receiver: () => new Promise<ReturnType<typeof answers>>((resolve) => waiting.push(() => resolve(answers(500)))),
    release: () => {
      for (const answer of waiting.splice(0)) answer()
    },
  }
}

describe('a receiver', () => {
  const world = withWebhooks()
  const endpoint = (template: Template, url = template.webhook?.url ?? '') =>
    world.ports.endpoints.find(
      endpointOf({ tenantId: admin.tenantId, subscriber: { templateId: template.id } }, url).endpointId,
    )
  const urlsSeen = () => world.received.map(({ url }) => url)
  /** Starts `count` jobs at once, and waits until all are done except those that a receiver holds. */
  async function work(count: number, { waiting, release }: ReturnType<typeof held>, heldJobs: number) {
    let done = 0
    const atWork = Array.from({ length: count }, async () => {
      await world.runNext()
      done += 1
    })
    await until(() => done + waiting.length === count || undefined, 'all jobs to be done or held')
    expect(waiting).toHaveLength(heldJobs)
    return async () => {
      release()
      await Promise.all(atWork)
    }
  }

  it('without an answer delays no other receiver, and uses at most two workers', async () => {
    const silence = held()
    world.answer(dead, silence.receiver)
    const [one, other] = [await world.template({ url: dead }), await world.template({ url: alive })]
    for (let count = 0; count < 12; count += 1) await world.deliver(one)
    const last = await world.deliver(other)
    // As many concurrent jobs as workers. More jobs than workers are for the dead receiver, and they come first.
    const end = await work(13, silence, 2)
    expect(await world.find(last)).toMatchObject({ status: 'delivered', attempts: 1 })
    expect(urlsSeen().sort()).toEqual([alive, dead, dead])
    await end()
  })

  it('is no longer troubled if its address changed during an attempt', async () => {
    const silence = held()
    world.answer(dead, silence.receiver)
    const { id, version, ...contents } = await world.template({ url: dead })
    await world.deliver({ id, version, ...contents })
    const end = await work(1, silence, 1)
    const webhook = { url: alive, secret: secretOf(1), events: ['site.provisioned'] }
    await world.provisioning.putTemplate(admin, { id, body: { ...contents, webhook }, expected: version })
    await end()
    const { tenantId } = admin
    const ours = { tenantId, followUpWebhookUrl: 'https://here.contoso.example/' }
    const urls = (some: readonly { templateId: string | null; url: string }[]) =>
      some.flatMap(({ templateId, url }) => (templateId === id || templateId === null ? [url] : []))
    expect(urls(await world.ports.endpoints.troubled(tenantId))).toEqual([dead])
    expect(urls(await troubledEndpoints(world.ports, ours))).toEqual([])
    for (const url of ['https://moved.contoso.example/', ours.followUpWebhookUrl]) {
      const own = endpointOf({ tenantId, subscriber: 'bot' }, url)
      await world.ports.endpoints.lock({ ...own, failingSince: new Date(start).toISOString() })
    }
    expect(urls(await troubledEndpoints(world.ports, ours))).toEqual([ours.followUpWebhookUrl])
  })

  it('gets all deliveries in the end without losing attempts when jobs are put off', async () => {
    const silence = held()
    world.answer(dead, silence.receiver)
    const template = await world.template({ url: dead })
    const ids = await Promise.all(Array.from({ length: 5 }, () => world.deliver(template)))
    const end = await work(5, silence, 2)
    const turnedAway = (await Promise.all(ids.map(world.find))).filter(({ attempts }) => attempts === 0)
    expect([turnedAway.length, world.received.length]).toEqual([5, 2])
    world.answer(dead, () => answers(200))
    await end()
    await world.runUntil(hour)
    for (const { status, attempts } of await Promise.all(ids.map(world.find)))
      expect([status, attempts <= 2]).toEqual(['delivered', true])
    expect(world.received.length).toBe(7)
  })

  it('gets one delivery at a time while it fails, and failing receivers leave workers to the others', async () => {
    const urls = Array.from({ length: 8 }, (_, index) => `https://dead-${index}.contoso.example/`)
    const silence = held()
    for (const url of urls) {
      world.answer(url, () => answers(500))
      await world.deliver(await world.template({ url }))
    }
    for (const _ of urls) await world.runNext()
    for (const url of urls) world.answer(url, silence.receiver)
    const end = await work(urls.length, silence, 5)
    await end()
  })

  it('gets no deliveries during a requested pause, and no delivery loses an attempt', async () => {
    const replies = [answers(429, '600')]
    world.answer(alive, () => replies.shift() ?? answers(204))
    const template = await world.template({ url: alive })
    const ids = [await world.deliver(template), await world.deliver(template), await world.deliver(template)]
    await world.runUntil(599_000)
    expect(world.received).toHaveLength(1)
    world.restart()
    await world.runUntil(620_000)
    expect((await Promise.all(ids.map(world.find))).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['delivered', 2],
      ['delivered', 1],
      ['delivered', 1],
    ])
    expect(await endpoint(template)).toMatchObject({ failingSince: null, waitsUntil: null })
  })

  it('is disabled at once after a 410, with one alert, and later deliveries are recorded', async () => {
    world.answer(dead, () => answers(410))
    const template = await world.template({ url: dead })
    const first = await world.deliver(template)
    await world.runNext()
    expect(await world.find(first)).toMatchObject({ status: 'failed', attempts: 1, lastStatus: '410' })
    const at = new Date(start).toISOString()
    expect(await endpoint(template)).toMatchObject({ disabledAt: at, reason: 'gone', failingSince: at })
    const later = await world.deliver(template)
    world.restart()
    await world.runUntil(400 * hour)
    expect(world.received).toHaveLength(1)
    expect(await world.find(later)).toMatchObject({
      ...{ status: 'failed', attempts: 0, lastStatus: expect.stringContaining('410 Gone') },
    })
    expect(world.alerts).toEqual([`webhook:gone:${at}`])
  })

  it('is disabled after 120 hours of failures, with one alert', async () => {
    world.answer(dead, () => answers(500))
    const template = await world.template({ url: dead })
    for (let count = 0; count < 12; count += 1) {
      world.time = count * 12 * hour
      await world.deliver(template)
      await world.runUntil((count + 1) * 12 * hour)
      if (count === 5) world.restart()
    }
    await world.runUntil(400 * hour)
    const state = await endpoint(template)
    expect(state).toMatchObject({ reason: 'failing', failingSince: new Date(start).toISOString() })
    const disabled = Date.parse(state?.disabledAt ?? '') - start
    expect(disabled).toBeGreaterThanOrEqual(120 * hour)
    expect(disabled).toBeLessThan(133 * hour)
    expect(world.received.every(({ seconds }) => seconds * 1000 <= disabled)).toBe(true)
    expect(world.alerts.filter((card) => card.startsWith('webhook:failing'))).toHaveLength(1)
    // Another alert reported the deliveries that failed for good before.
    expect(world.alerts).toHaveLength(2)
  })

  it('is not disabled after a success in between', async () => {
    world.answer(alive, () => answers(world.time === 60 * hour ? 200 : 500))
    const template = await world.template({ url: alive })
    for (const hours of [0, 60, 119, 130, 179]) {
      world.time = hours * hour
      await world.deliver(template)
      await world.runNext()
    }
    expect(await endpoint(template)).toMatchObject({
      disabledAt: null,
      failingSince: new Date(start + 119 * hour).toISOString(),
    })
  })

  it('is enabled by saving the webhook again, and missed deliveries can be resent with the same id', async () => {
    world.answer(dead, () => answers(410))
    const template = await world.template({ url: dead })
    const missed = [await world.deliver(template), await world.deliver(template)]
    await world.runUntil(hour)
    const { id, version, ...body } = template
    const refused = world.provisioning.replayDelivery(admin, { deliveryId: missed[1] ?? '' })
    await expect(refused).rejects.toMatchObject({ code: 'illegal-transition' })
    world.answer(alive, () => answers(200))
    const webhook = { url: alive, secret: secretOf(1), events: ['site.provisioned'] }
    await world.provisioning.putTemplate(admin, { id, body: { ...body, webhook }, expected: version })
    for (const one of missed) await world.provisioning.replayDelivery(admin, { deliveryId: one })
    await expect(world.provisioning.replayDelivery(admin, { deliveryId: missed[0] ?? '' })).rejects.toMatchObject({
      code: 'illegal-transition',
    })
    world.restart()
    await world.runUntil(2 * hour)
    const again = world.received.filter(({ url }) => url === alive)
    expect(again.map(({ headers }) => headers['webhook-id']).sort()).toEqual([...missed].sort())
    expect(again[0]?.body).toBe((await world.find(again[0]?.headers['webhook-id'] ?? '')).body)
    for (const one of missed) expect(await world.find(one)).toMatchObject({ status: 'delivered', url: alive })
  })

  it('gets the whole schedule again after a resend', async () => {
    world.answer(dead, () => answers(500))
    const template = await world.template({ url: dead })
    const deliveryId = await world.deliver(template)
    await world.runUntil(100 * hour)
    expect((await world.find(deliveryId)).attempts).toBe(10)
    await world.provisioning.replayDelivery(admin, { deliveryId })
    const before = world.time
    await world.runNext()
    await world.runNext()
    expect(world.time - before).toBe(5000)
    expect(await world.find(deliveryId)).toMatchObject({ status: 'pending', attempts: 12 })
    world.answer(dead, () => answers(204))
    await world.runUntil(500 * hour)
    expect(await world.find(deliveryId)).toMatchObject({ status: 'delivered', attempts: 13 })
    // A delivered message can be resent too, because its receiver may have lost it.
    await world.provisioning.replayDelivery(admin, { deliveryId })
    await world.runUntil(501 * hour)
    const timeline = await world.ports.audit.timeline((await world.find(deliveryId)).requestId)
    expect(timeline.map(({ action, actor }) => [action, 'id' in actor && actor.id])).toEqual([
      ['webhook-replayed', admin.id],
      ['webhook-replayed', admin.id],
    ])
  })

  it('is never disabled or paused if it is the service itself', async () => {
    const own = 'http://127.0.0.1:3978/webhooks/provisioning'
    const replies = [timeout, answers(410)]
    world.answer(own, () => replies.shift() ?? answers(204))
    const first = await world.deliver('bot', own)
    const second = await world.deliver('bot', own)
    const third = await world.deliver('bot', own)
    for (let count = 0; count < 3; count += 1) await world.runNext()
    expect((await world.find(second)).status).toBe('failed')
    expect((await world.find(third)).status).toBe('delivered')
    await world.runUntil(hour)
    expect((await world.find(first)).status).toBe('delivered')
    expect(world.received.every(({ anywhere }) => anywhere)).toBe(true)
    expect(world.alerts).toEqual([`webhook:own:${new Date(start).toISOString()}`])
  })

  it('gets nothing after its webhook was removed from the template', async () => {
    const template = await world.template({ url: dead })
    const deliveryId = await world.deliver(template)
    const { id, version, ...body } = template
    await world.provisioning.putTemplate(admin, { id, body: { ...body, webhook: null }, expected: version })
    await world.runUntil(hour)
    expect(await world.find(deliveryId)).toMatchObject({ status: 'failed', attempts: 0 })
    expect([world.received, world.alerts]).toEqual([[], []])
  })
})
