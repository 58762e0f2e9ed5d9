import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { deliveryView } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { newHome, runQuartermaster, signIn } from '../support/command-line.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { cardOf } from '../support/site-request.ts'
import { until } from '../support/until.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'

const ways = ['in chat', 'by REST', 'by the command line', 'by itself', 'through an error'] as const
type Way = (typeof ways)[number]
const idOf: Record<Way, string> = {
  'in chat': 'a2b4c6d8-1e3f-4a5b-9c7d-000000000001',
  'by REST': 'a2b4c6d8-1e3f-4a5b-9c7d-000000000002',
  'by the command line': 'a2b4c6d8-1e3f-4a5b-9c7d-000000000003',
  'by itself': 'a2b4c6d8-1e3f-4a5b-9c7d-000000000004',
  'through an error': 'a2b4c6d8-1e3f-4a5b-9c7d-000000000005',
}
const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`

/** Each receiver has failed twice, so its deliveries wait for five minutes. Then it is repaired. */
describe('deliveries that wait for a receiver are sent', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000', RATE_LIMIT_WRITES_PER_MINUTE: '0' })
  const { call } = caller(service)
  const receivers = new Map<Way, Awaited<ReturnType<typeof startSubscriber>>>()
  const receiver = (way: Way) => {
    const found = receivers.get(way)
    if (!found) throw new Error(`no receiver ${way}`)
    return found
  }
  const ask = async (way: Way, displayName: string) => {
    const body = { displayName: `${displayName} ${way}`, templateId: idOf[way] }
    expect((await call('kim', 'POST', '/collab/v1/spo/', { body })).status).toBe(202)
  }
  const deliveries = async (way: Way) => {
    const { body } = await call('sam', 'GET', `/webhooks/v1/deliveries/?templateId=${idOf[way]}`)
    return z.looseObject({ value: z.array(deliveryView) }).parse(body).value
  }
  /** Returns the ids of the messages that the receiver has accepted since its repair. */
  const taken = (way: Way) => receiver(way).received.map(({ headers }) => headers['webhook-id'])
  /** Repairs the receiver, runs the action, and expects the waiting deliveries once, long before their next attempt. */
  async function arrives(way: Way, act: () => Promise<void>, more = 0): Promise<void> {
    const waiting = (await deliveries(way)).map(({ deliveryId }) => deliveryId)
    expect(waiting).toHaveLength(2)
    receiver(way).answers.length = 0
    receiver(way).received.length = 0
    await act()
    const all = await until(async () => {
      const now = await deliveries(way)
      return now.every(({ status }) => status === 'delivered') ? now : undefined
    }, `what waits to arrive ${way}`)
    expect(all).toHaveLength(2 + more)
    expect(taken(way).sort()).toEqual(all.map(({ deliveryId }) => deliveryId).sort())
    expect(taken(way)).toEqual(expect.arrayContaining(waiting))
  }

  beforeAll(async () => {
    const { body } = await call('sam', 'GET', `/templates/v1/${templates.workingGroup}`)
    for (const way of ways) {
      const subscriber = await startSubscriber()
      receivers.set(way, subscriber)
      subscriber.answers.push(...Array.from({ length: 100 }, () => 503))
      const webhook = { url: subscriber.url, secret }
      const { id: _, version: __, ...shape } = z.looseObject({}).parse(body)
      const headers = { 'if-none-match': '*' }
      const template = { ...shape, icon: '', name: `Watched ${way}`, webhook }
      const put = await call('sam', 'PUT', `/templates/v1/${idOf[way]}`, { body: template, headers })
      expect(put.status, put.text).toBe(201)
      for (const name of ['First', 'Second']) await ask(way, name)
    }
    const inFourMinutes = Date.now() + 240_000
    await until(
      async () => {
        const all = (await Promise.all(ways.map(deliveries))).flat()
        const waits = all.filter(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '') > inFourMinutes)
        return waits.length === 2 * ways.length || undefined
      },
      'all to wait',
      60,
    )
  })
  afterAll(() => Promise.all([...receivers.values()].map((one) => one.close())))

  it('now by the button of the receiver’s card', () =>
    arrives('in chat', async () => {
      const list = await service.sam.says('admin webhooks')
      const { id } = list
      const shown = cardOf(await service.sam.clicks(list, 'Watched in chat'))
      expect(textOf(shown)).toContain('2 pending')
      const sent = cardOf(await service.sam.clicks({ id, card: shown }, 'Send waiting now'))
      expect(textOf(sent)).toContain('I am sending 2 waiting deliveries')
      // A second click on the old card sends nothing twice.
      const again = cardOf(await service.sam.clicks({ id, card: shown }, 'Send waiting now'))
      expect(textOf(again)).toContain('No delivery is waiting')
    }))

  it('now by POST …/webhook/send-waiting', () =>
    arrives('by REST', async () => {
      const send = () => call('sam', 'POST', `/templates/v1/${idOf['by REST']}/webhook/send-waiting`)
      const { status, body } = await send()
      expect([status, body]).toEqual([202, { sent: 2 }])
      expect((await send()).body).toEqual({ sent: 0 })
    }))

  it('now by quartermaster webhook send-waiting', () =>
    arrives('by the command line', async () => {
      const home = newHome()
      await signIn(home, service.app.url, 'sam')
      const command = ['webhook', 'send-waiting', 'Watched by the command line']
      const { exit, printed } = await runQuartermaster(command, { home })
      expect([exit, printed]).toEqual([0, expect.stringContaining('2')])
    }))

  it('as soon as a newer delivery succeeds', () => arrives('by itself', () => ask('by itself', 'Third'), 1))

  it('although the store fails just after it recorded the success of the newer one', async () => {
    // A sequence also counts rolled-back updates.
    await service.app.database.query(`
      create sequence brought_forward;
      create function fail_once() returns trigger language plpgsql as $$ begin
        if nextval('brought_forward') = 1 then raise exception 'come again?'; end if;
        return new;
      end $$;
      create trigger fail_once before update on deliveries for each row
        when (new.body -> 'broughtForward' is distinct from old.body -> 'broughtForward')
        execute function fail_once()`)
    await arrives('through an error', () => ask('through an error', 'Third'), 1)
    // The failed one, both again, and the reset of both when they are delivered.
    const { rows } = await service.app.database.query('select last_value::int as updates from brought_forward')
    expect(rows).toEqual([{ updates: 5 }])
  })
})
