import { describe, expect, it } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { admin, answers, hour, withWebhooks } from '../support/webhook-world.ts'

const url = 'https://repaired.contoso.example/'

describe('deliveries that wait for their next attempt', () => {
  const world = withWebhooks()
  /** A receiver that has failed for two hours, with deliveries that wait for hours. */
  async function repaired(count = 3) {
    world.answer(url, () => answers(503))
    const template = await world.template({ url })
    const ids: string[] = []
    for (let made = 0; made < count; made += 1) ids.push(await world.deliver(template))
    await world.runUntil(2 * hour)
    world.answer(url, () => answers(204))
    world.seen.splice(0)
    return { template, ids, all: () => Promise.all(ids.map(world.find)) }
  }
  const statuses = async (all: () => Promise<readonly { status: string }[]>) =>
    (await all()).map(({ status }) => status)

  it('are sent at once when another delivery of their receiver succeeds', async () => {
    const { template, ids, all } = await repaired()
    expect(await statuses(all)).toEqual(['pending', 'pending', 'pending'])
    const next = await world.deliver(template)
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(world.seen).toHaveLength(ids.length + 1)
    expect((await world.find(next)).status).toBe('delivered')
    // The jobs of the later times do nothing.
    await world.runUntil(48 * hour)
    expect(world.seen).toHaveLength(ids.length + 1)
  })

  it('are sent now by an admin, once', async () => {
    const { template, ids, all } = await repaired()
    const send = () => world.provisioning.sendWaitingDeliveries(admin, { subscriber: { templateId: template.id } })
    expect(await send()).toEqual({ sent: 3 })
    expect(await send()).toEqual({ sent: 0 })
    await world.runUntil(world.time + 30_000)
    expect(await statuses(all)).toEqual(['delivered', 'delivered', 'delivered'])
    await world.runUntil(48 * hour)
    expect(world.seen).toHaveLength(ids.length)
  })

  it('are sent now one by one, and keep their schedule if the receiver fails again', async () => {
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
    expect(Date.parse(after.nextAttemptAt ?? '')).toBeGreaterThan(world.time)
  })

  it('are sent when the receiver takes a test, and stay when it refuses one', async () => {
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
