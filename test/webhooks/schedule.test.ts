import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { attemptDelays } from '../../src/core/index.ts'
import { signatureOf } from '../../src/jobs/webhooks/post.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { seed } from '../support/seed.ts'
import { admin, answers, hour, type Seen, secretOf, start, timeout, withWebhooks } from '../support/webhook-world.ts'

const url = 'https://hooks.contoso.example/sites'
/** Returns the seconds between the attempts, and from the start to the first attempt. */
const gaps = (received: readonly Seen[]) =>
  received.map(({ seconds }, index) => Math.round((seconds - (received[index - 1]?.seconds ?? 0)) * 1000) / 1000)

describe('a delivery without success', () => {
  const world = withWebhooks()

  it('is tried at 0, 5 s, 5 m, 30 m, 2, 5, 10, 14, 20 and 24 h, then fails for good with one alert', async () => {
    world.answer(url, () => answers(500))
    const template = await world.template({ url })
    const deliveryId = await world.deliver(template)
    await world.runUntil(400 * hour)
    expect(gaps(world.received)).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    expect(await world.find(deliveryId)).toMatchObject({ status: 'failed', attempts: 10, lastStatus: '500' })
    expect(world.alerts).toEqual([`webhook:undelivered:${new Date(start).toISOString()}`])
    expect(world.waiting()).toEqual([])
  })

  it('is tried within 20 % of each of these times for any random value', async () => {
    const random = mulberry32(seed)
    const chances = [...Array.from({ length: 6 }, random), 0, 0.999_999]
    for (const chance of chances) {
      world.received.splice(0)
      world.random = () => chance
      world.answer(url, () => answers(500))
      await world.deliver(await world.template({ url }))
      const from = world.time / 1000
      await world.runUntil(world.time + 400 * hour)
      const found = gaps([{ ...world.received[0], seconds: from } as Seen, ...world.received]).slice(2)
      for (const [index, gap] of found.entries()) {
        const wanted = attemptDelays[index + 1] ?? 0
        expect(Math.abs(gap - wanted), `gap ${index} with seed ${seed}`).toBeLessThanOrEqual(wanted * 0.2 + 0.001)
      }
      expect(found).toHaveLength(9)
    }
  })

  it('has the same message in each attempt, with a new time and signature', async () => {
    world.answer(url, () => answers(503))
    const deliveryId = await world.deliver(await world.template({ url }))
    await world.runUntil(400 * hour)
    expect(new Set(world.received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(world.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([deliveryId]))
    for (const { headers, seconds } of world.received)
      expect(Number(headers['webhook-timestamp'])).toBe(Math.floor(start / 1000 + seconds))
    expect(new Set(world.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(10)
  })

  it('continues its schedule after a restart between the attempts', async () => {
    world.answer(url, () => answers(500))
    const deliveryId = await world.deliver(await world.template({ url }))
    while (world.waiting().length > 0) {
      await world.runNext()
      world.restart()
    }
    expect(gaps(world.received)).toEqual(attemptDelays)
    expect((await world.find(deliveryId)).history?.map(({ status }) => status)).toEqual(attemptDelays.map(() => '500'))
  })

  it('has one attempt when its job runs twice', async () => {
    world.answer(url, () => answers(500))
    await world.deliver(await world.template({ url }))
    const again = world.waiting()
    await world.runNext()
    await world.order(again)
    expect(world.waiting()).toHaveLength(2)
    await world.runNext()
    expect(world.received).toHaveLength(1)
  })
})

describe('a receiver that requests a pause', () => {
  const world = withWebhooks()
  const second = async (answer: ReturnType<typeof answers> | typeof timeout) => {
    const replies = [answer]
    world.answer(url, () => replies.shift() ?? answers(204))
    const deliveryId = await world.deliver(await world.template({ url }))
    await world.runUntil(100 * hour)
    expect(await world.find(deliveryId)).toMatchObject({ status: 'delivered', attempts: 2 })
    return gaps(world.received)[1]
  }
  const date = new Date(start + 7200_000).toUTCString()

  it.each([
    ['503 with seconds', answers(503, '120'), 120],
    ['503 with a date', answers(503, date), 7200],
    ['503 with less than the schedule', answers(503, '1'), 5],
    ['503 with a date that is past', answers(503, new Date(start - 1000).toUTCString()), 5],
    ['503 with more than a day', answers(503, '9999999'), 86_400],
    ['503 with nonsense', answers(503, 'soon'), 5],
    ['503 with less than nothing', answers(503, '-60'), 5],
    ['302 with seconds', answers(302, '90'), 90],
    ['429', answers(429), 60],
    ['429 with less than a minute', answers(429, '10'), 60],
    ['429 with more', answers(429, '600'), 600],
    ['no answer in time', timeout, 60],
  ])('%s', async (_, answer, seconds) => {
    expect(await second(answer)).toBe(seconds)
  })
})

describe('the signatures of webhooks', () => {
  const world = withWebhooks()
  const altered = (text: string, bit: number): string => {
    const bytes = Buffer.from(text)
    const index = bit % (bytes.length * 8)
    bytes.writeUInt8((bytes[index >> 3] ?? 0) ^ (1 << (index & 7)), index >> 3)
    return bytes.toString('latin1')
  }
  // `standardwebhooks` requires a time near the machine's own.
  const verify = ({ headers, body }: Pick<Seen, 'headers' | 'body'>, secret: string) =>
    new Webhook(secret).verify(body, headers)

  it('are verified by standardwebhooks for each delivery, and reveal one altered bit', async () => {
    const random = mulberry32(seed)
    world.time = Date.now() - start
    const template = await world.template({ url })
    for (let count = 0; count < 100; count += 1) await world.deliver(template)
    await world.runUntil(world.time)
    expect(world.received).toHaveLength(100)
    for (const one of world.received) {
      expect(verify(one, secretOf(1))).toMatchObject({ type: 'site.provisioned' })
      const bit = Math.floor(random() * 1e6)
      expect(() => verify({ ...one, body: altered(one.body, bit) }, secretOf(1)), `seed ${seed}`).toThrow()
      for (const name of ['webhook-id', 'webhook-timestamp']) {
        const headers = { ...one.headers, [name]: altered(one.headers[name] ?? '', bit) }
        expect(() => verify({ ...one, headers }, secretOf(1)), `${name}, seed ${seed}`).toThrow()
      }
      // Base64 leaves two bits of its last letter unused, so only letters before it are altered.
      const signature = one.headers['webhook-signature'] ?? ''
      const place = 3 + (bit % 40)
      const letter = signature[place] === 'A' ? 'B' : 'A'
      const wrong = `${signature.slice(0, place)}${letter}${signature.slice(place + 1)}`
      expect(() => verify({ ...one, headers: { ...one.headers, 'webhook-signature': wrong } }, secretOf(1))).toThrow()
    }
  })

  it('are verified by standardwebhooks for a thousand random messages, and refused for altered messages', () => {
    const random = mulberry32(seed)
    const letters = Array.from('aZ09 {}":,\\\n\u0000äß漢字👩‍👧')
    const at = new Date()
    const timestamp = String(Math.floor(at.getTime() / 1000))
    for (let count = 0; count < 1000; count += 1) {
      const text = Array.from(
        { length: 1 + Math.floor(random() * 60) },
        () => letters[Math.floor(random() * letters.length)],
      )
      const [id, body] = [`id-${count}`, JSON.stringify(text.join(''))]
      const headers = (secrets: string[]) => ({
        ...{ 'webhook-id': id, 'webhook-timestamp': timestamp },
        'webhook-signature': signatureOf(secrets, id, at, body) ?? '',
      })
      const both = headers([secretOf(1), secretOf(2)])
      for (const secret of [secretOf(1), secretOf(2)])
        expect(verify({ headers: both, body }, secret)).toBe(text.join(''))
      expect(() => verify({ headers: both, body }, secretOf(3))).toThrow()
      const other = altered(body, Math.floor(random() * 1e6))
      expect(() => verify({ headers: both, body: other }, secretOf(1)), `seed ${seed}`).toThrow()
    }
  })

  it('are two for a day after a change of the secret, then one', async () => {
    world.time = Date.now() - start - 24 * hour
    const { id, version: _, ...template } = await world.template({ url })
    const put = (secret: string | undefined, version: number) => {
      const webhook = { url, events: ['site.provisioned'], ...(secret && { secret }) }
      return world.provisioning.putTemplate(admin, { id, body: { ...template, webhook }, expected: version })
    }
    const sent = async () => {
      await world.deliver({ ...template, id, version: 1 })
      await world.runNext()
      const last = world.received.at(-1)
      if (!last) throw new Error('nothing was sent')
      return last
    }
    const signedBy = ({ headers }: Seen) => headers['webhook-signature']?.split(' ').length
    await put(secretOf(2), 1)
    expect(signedBy(await sent())).toBe(2)
    await put(undefined, 2)
    world.time += 24 * hour - 1000
    const both = await sent()
    expect(signedBy(both)).toBe(2)
    expect([verify(both, secretOf(1)), verify(both, secretOf(2))]).toHaveLength(2)
    await put(secretOf(3), 3)
    expect(signedBy(await sent())).toBe(3)
    world.time += 1000
    const after = await sent()
    expect(() => verify(after, secretOf(1))).toThrow()
    expect([verify(after, secretOf(2)), verify(after, secretOf(3))]).toHaveLength(2)
    await put(secretOf(2), 4)
    const back = await sent()
    expect(signedBy(back)).toBe(2)
    // The former secret is deleted after that day.
    const stored = async () => JSON.stringify((await world.ports.templates.find(admin.tenantId, id))?.webhook)
    expect(await stored()).toContain(secretOf(3))
    await world.ports.templates.forgetOld(new Date(start + world.time + 24 * hour))
    expect(await stored()).not.toContain(secretOf(3))
    expect(await stored()).toContain(secretOf(2))
  })
})
