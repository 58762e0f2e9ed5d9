import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { asWritten, type Outbox, type Person, PutOff, type SendResult } from '../../src/core/index.ts'
import { kim, omar, priya, tenantId, withCore } from '../support/core.ts'

describe('a notice', () => {
  const core = withCore()
  const deliveries: string[] = []
  const never = () => Promise.reject(new Error('nobody expected an update'))
  const outbox = (tell: () => Promise<SendResult>): Outbox => ({
    update: never,
    send: ({ personId }, content, name) => {
      deliveries.push(`${personId} ${content.kind} ${name}`)
      return tell()
    },
  })
  const sent = async (): Promise<SendResult> => ({ state: 'sent', activityId: 'a' })
  const lost = async (): Promise<SendResult> => ({ state: 'unknown' })
  const system = () => core.provisioning.system
  /** The core with more admins. */
  const systemOf = (...more: Person[]) => core.with({}, { admins: [priya, ...more].map(({ id }) => id) }).system
  const days = {
    one: '01',
    two: '02',
    three: '03',
    four: '04',
    five: '05',
    again: '06',
    other: '07',
    slow: '08',
  } as const
  const since = (day: keyof typeof days) => `2026-11-${days[day]}T10:00:00.000Z`
  const red = (day: keyof typeof days) => `health:red:${since(day)}` as const
  /** Stores that the service has been red since that day, or was red until now. */
  const turns = async (day: keyof typeof days, state: 'red' | 'well' = 'red') => {
    const { healthWatch } = core.ports
    const parts = [{ name: 'graph', state: 'red', says: 'fails', problem: asWritten('As told.') } as const]
    const until = state === 'red' ? since(day) : '2026-11-20T10:00:00.000Z'
    await healthWatch.put(tenantId, { state, since: until, turning: null, red: { since: since(day), parts } })
  }
  const order = (notice: `health:${'red' | 'well'}:${string}`, personId = priya.id) => ({ tenantId, personId, notice })
  const meets = (personId: string) =>
    core.ports.conversations.put({
      ...{ tenantId, personId, conversationId: `chat of ${personId}`, reference: {} },
      ...{ locale: 'en-GB', timeZone: 'Europe/Berlin' },
    })

  it('goes once to each admin with a chat, even if it is ordered several times', async () => {
    await meets(priya.id)
    await turns('one')
    await system().notifyAdmins({ notice: red('one') })
    await system().notifyAdmins({ notice: red('one') })
    const { rows } = await core.database.query<{ payload: object }>(
      `SELECT payload FROM ordered_jobs WHERE name = 'tell'`,
    )
    expect(rows).toEqual([{ payload: { v: 1, ...order(red('one')) } }])
    const tell = (attempt: number) => system().deliverCard(outbox(sent), order(red('one')), attempt)
    await Promise.all([tell(1), tell(1), tell(1)])
    await tell(2)
    expect(deliveries.splice(0)).toEqual([`${priya.id} health ${red('one')}`])
  })

  it('is sent once more after a lost answer, and then not again', async () => {
    await turns('two')
    const tell = (attempt: number) => system().deliverCard(outbox(lost), order(red('two')), attempt)
    await expect(tell(1)).rejects.toThrow('was lost')
    await tell(2)
    await tell(3)
    expect(deliveries.splice(0)).toHaveLength(2)
  })

  it('is sent once more after a lost answer, although two jobs try, and the service was dead for a while', async () => {
    await turns('again')
    const tell = (attempt: number, job: string) => system().deliverCard(outbox(lost), order(red('again')), attempt, job)
    const [own, other] = [randomUUID(), randomUUID()]
    await expect(tell(1, own)).rejects.toThrow('was lost')
    await expect(tell(1, other)).rejects.toThrow(PutOff)
    expect(deliveries.splice(0)).toHaveLength(1)
    await core.database.query(`UPDATE notices SET updated_at = now() - interval '10 minutes' WHERE key = $1`, [
      red('again'),
    ])
    const both = await Promise.allSettled([tell(2, own), tell(1, other)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await tell(1, other)
    expect(deliveries.splice(0)).toHaveLength(1)
  })

  it('is not sent again because a slow attempt was refused after the next attempt had sent it', async () => {
    await turns('slow')
    const job = randomUUID()
    const tell = (attempt: number, send: () => Promise<SendResult>) =>
      system().deliverCard(outbox(send), order(red('slow')), attempt, job)
    const slow = Promise.withResolvers<SendResult>()
    const first = tell(1, () => slow.promise)
    await expect.poll(() => deliveries.length).toBe(1)
    await tell(2, sent)
    slow.reject(new Error('the connector refused'))
    await expect(first).rejects.toThrow('refused')
    await tell(3, sent)
    expect(deliveries.splice(0)).toHaveLength(2)
  })

  it('is sent by another job if the first one no longer sends it', async () => {
    await turns('other')
    const tell = (attempt: number, job: string) => system().deliverCard(outbox(lost), order(red('other')), attempt, job)
    const [first, second] = [randomUUID(), randomUUID()]
    await expect(tell(1, first)).rejects.toThrow('was lost')
    // An admin may replay the first job at once, after its last attempt: the replay must not end without the card.
    await expect(tell(1, second)).rejects.toThrow(PutOff)
    await core.database.query(`UPDATE notices SET updated_at = now() - interval '10 minutes' WHERE key = $1`, [
      red('other'),
    ])
    await tell(1, second)
    await tell(2, first)
    expect(deliveries.splice(0)).toHaveLength(2)
  })

  it('is sent again if it certainly did not arrive', async () => {
    await turns('three')
    const refused = () =>
      system().deliverCard(
        outbox(() => Promise.reject(new Error('away'))),
        order(red('three')),
        1,
      )
    await expect(refused()).rejects.toThrow('away')
    await system().deliverCard(outbox(sent), order(red('three')), 2)
    expect(deliveries.splice(0)).toHaveLength(2)
  })

  it('does not go to people without a chat, and closes a chat that rejects it', async () => {
    await turns('four')
    await systemOf(kim).deliverCard(outbox(sent), order(red('four'), kim.id), 1)
    expect(deliveries.splice(0)).toEqual([])
    await meets(omar.id)
    const closed = async (): Promise<SendResult> => ({ state: 'undeliverable', why: 'BotDisabled', closed: true })
    await systemOf(omar).deliverCard(outbox(closed), order(red('four'), omar.id), 1)
    expect((await core.provisioning.system.storedChatOf(tenantId, omar.id))?.closed).toBeDefined()
  })

  it('is not sent after the end of its trouble', async () => {
    deliveries.splice(0)
    await turns('five')
    await system().deliverCard(outbox(sent), order(red('four')), 1)
    await turns('five', 'well')
    await system().deliverCard(outbox(sent), order(red('five')), 1)
    expect(deliveries.splice(0)).toEqual([])
  })

  it('reports a healthy service only to people who got the alert', async () => {
    const well = `health:well:${since('five')}` as const
    await turns('five')
    await system().deliverCard(outbox(sent), order(red('five')), 1)
    await turns('five', 'well')
    await meets(kim.id)
    await system().deliverCard(outbox(sent), order(well), 1)
    await systemOf(kim).deliverCard(outbox(sent), order(well, kim.id), 1)
    expect(deliveries.splice(0)).toEqual([`${priya.id} health ${red('five')}`, `${priya.id} health ${well}`])
  })
})
