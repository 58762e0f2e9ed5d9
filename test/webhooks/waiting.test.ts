import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { attemptDelays, type Template } from '../../src/core/index.ts'
import { refusal } from '../support/refusal.ts'
import { admin, answers, hour, withWebhooks } from '../support/webhook-world.ts'

const url = 'https://repaired.contoso.example/'

describe('deliveries that wait for their next attempt', () => {
  const world = withWebhooks()
  /** Creates a receiver that has failed for two hours, with deliveries that wait for hours. */
  async function repaired(count = 3) {
    world.answer(url, () => answers(503))
    const template = await world.template({ url })
    const ids: string[] = []
    for (let made = 0; made < count; made += 1) ids.push(await world.deliver(template))
    await world.runUntil(2 * hour)
    world.answer(url, () => answers(204))
    world.received.splice(0)
    return { template, ids, all: () => Promise.all(ids.map(world.find)) }
  }
  const statuses = async (all: () => Promise<readonly { status: string }[]>) =>
    (await all()).map(({ status }) => status)

  it('are sent at once after another delivery of their receiver succeeds', async () => {
    const { template, ids, all } = await repaired()
    expect(await statuses(all)).toEqual(['pending', 'pending', 'pending'])
    const next = await world.deliver(template)
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(world.received).toHaveLength(ids.length + 1)
    expect((await world.find(next)).status).toBe('delivered')
    // The jobs of the later times do nothing.
    await world.runUntil(48 * hour)
    expect(world.received).toHaveLength(ids.length + 1)
  })

  it('are sent once when an admin sends them now', async () => {
    const { template, ids, all } = await repaired()
    const send = () => world.provisioning.sendWaitingDeliveries(admin, { subscriber: { templateId: template.id } })
    expect(await send()).toEqual({ sent: 3 })
    expect(await send()).toEqual({ sent: 0 })
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['delivered', 'delivered', 'delivered'])
    await world.runUntil(48 * hour)
    expect(world.received).toHaveLength(ids.length)
  })

  it('can be sent now one by one, and keep their schedule if the receiver fails again', async () => {
    const { ids } = await repaired(1)
    const [deliveryId = ''] = ids
    world.answer(url, () => answers(503))
    const before = await world.find(deliveryId)
    await world.provisioning.replayDelivery(admin, { deliveryId })
    const { code } = await refusal(() => world.provisioning.replayDelivery(admin, { deliveryId }))
    expect(code).toBe('illegal-transition')
    await world.runUntil(world.time + 1000)
    const after = await world.find(deliveryId)
    expect([after.status, after.attempts, after.replays ?? []]).toEqual(['pending', before.attempts + 1, []])
    expect(after.nextAttemptAt).toBe(before.nextAttemptAt)
    // The same number of attempts follows as without the extra attempt.
    await world.runUntil(200 * hour)
    expect(await world.find(deliveryId)).toMatchObject({ status: 'failed', attempts: attemptDelays.length + 1 })
  })

  it('keep their attempts for days if their receiver accepts all others but never them', async () => {
    const template = await world.template({ url })
    const deliveryId = await world.deliver(template)
    world.answer(url, ({ headers }) => answers(headers['webhook-id'] === deliveryId ? 500 : 204))
    for (let delivered = 0; delivered < 120; delivered += 1) {
      await world.deliver(template)
      await world.runUntil(world.time + 5000)
    }
    const tried = await world.find(deliveryId)
    expect(tried.status).toBe('pending')
    // At most once in ten seconds.
    const times = (tried.history ?? []).map(({ at }) => Date.parse(at))
    expect(times.length).toBeGreaterThan(attemptDelays.length)
    // The second attempt of the schedule comes after 5 seconds.
    const gaps = times.slice(2).map((time, index) => time - (times[index + 1] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10_000)
    world.answer(url, () => answers(204))
    await world.deliver(template)
    await world.runUntil(world.time + 120_000)
    expect((await world.find(deliveryId)).status).toBe('delivered')
  })

  it('are all sent while the receiver accepts them, also if they are many', async () => {
    const { template, ids } = await repaired(1)
    const one = await world.find(ids[0] ?? '')
    const copies = Array.from({ length: 205 }, () => randomUUID())
    for (const deliveryId of copies) await world.ports.deliveries.insert({ ...one, deliveryId })
    await world.deliver(template)
    await world.runUntil(world.time + 60_000)
    expect(new Set(await statuses(() => Promise.all(copies.map(world.find))))).toEqual(new Set(['delivered']))
  })

  it.each([
    [
      'with all others',
      async (deliveryId: string, template: Template) => {
        expect(deliveryId).toBeDefined()
        await world.provisioning.sendWaitingDeliveries(admin, { subscriber: { templateId: template.id } })
      },
    ],
    [
      'alone',
      async (deliveryId: string) => {
        await world.provisioning.replayDelivery(admin, { deliveryId })
      },
    ],
    [
      'by a test that the receiver takes',
      async (_: string, template: Template) => {
        await world.provisioning.testReceiver(admin, { subscriber: { templateId: template.id } })
      },
    ],
  ] as const)('are sent now although the receiver requested a pause of a day: %s', async (_, send) => {
    const template = await world.template({ url })
    world.answer(url, () => answers(503, '86400'))
    await world.deliver(template)
    await world.runUntil(world.time + 1000)
    const later = await world.deliver(template)
    await world.runUntil(world.time + hour)
    expect(await world.find(later)).toMatchObject({ status: 'pending', attempts: 0 })
    world.answer(url, () => answers(204))
    world.received.splice(0)
    await send(later, template)
    await world.runUntil(world.time + 60_000)
    expect(await world.find(later)).toMatchObject({ status: 'delivered', attempts: 1 })
    await world.runUntil(world.time + 48 * hour)
    expect(world.received.filter(({ headers }) => headers['webhook-id'] === later)).toHaveLength(1)
  })

  it('are sent after the receiver accepts a test, and wait after it refuses one', async () => {
    const { template, all } = await repaired()
    const test = () => world.provisioning.testReceiver(admin, { subscriber: { templateId: template.id } })
    world.answer(url, () => answers(500))
    expect((await test()).delivered).toBe(false)
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['pending', 'pending', 'pending'])
    world.answer(url, () => answers(204))
    expect((await test()).delivered).toBe(true)
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['delivered', 'delivered', 'delivered'])
  })
})
