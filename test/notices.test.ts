import { describe, expect, it } from 'vitest'
import type { NoticeContent, Outbox, SendResult } from '../src/core/index.ts'
import { kim, omar, priya, tenantId, withCore } from './support/core.ts'

describe('a card that tells of no one request', () => {
  const core = withCore()
  const told: string[] = []
  const never = () => Promise.reject(new Error('nobody expected a card of a request'))
  const outbox = (tell: () => Promise<SendResult>): Outbox => ({
    send: never,
    update: never,
    tell: ({ personId }, notice: NoticeContent, what) => {
      told.push(`${personId} ${notice.kind} ${what}`)
      return tell()
    },
  })
  const sent = async (): Promise<SendResult> => ({ state: 'sent', activityId: 'a' })
  const lost = async (): Promise<SendResult> => ({ state: 'unknown' })
  const own = { databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null, version: '0' }
  const system = () =>
    core.with({
      tenant: { ...core.ports.tenant, health: async () => [] },
      vitals: { own: async () => ({ ...own, startedAt: new Date() }) },
    }).system
  const order = (notice: `health:red:${string}`, personId = priya.id) => ({ tenantId, personId, notice })
  const meets = (personId: string) =>
    core.ports.conversations.put({
      ...{ tenantId, personId, conversationId: `chat of ${personId}`, reference: {} },
      ...{ locale: 'en-GB', timeZone: 'Europe/Berlin' },
    })

  it('goes once to each admin who has a chat, however often it is ordered', async () => {
    await meets(priya.id)
    await system().tellAdmins('health:red:one')
    await system().tellAdmins('health:red:one')
    const { rows } = await core.database.query<{ payload: object }>(
      `SELECT payload FROM ordered_jobs WHERE name = 'tell'`,
    )
    expect(rows).toEqual([{ payload: { v: 1, ...order('health:red:one') } }])
    const tell = (attempt: number) => system().tell(outbox(sent), order('health:red:one'), attempt)
    await Promise.all([tell(1), tell(1), tell(1)])
    await tell(2)
    expect(told.splice(0)).toEqual([`${priya.id} health health:red:one`])
  })

  it('is sent once more where its answer was lost, and then no more', async () => {
    const tell = (attempt: number) => system().tell(outbox(lost), order('health:red:two'), attempt)
    await expect(tell(1)).rejects.toThrow('was lost')
    await tell(2)
    await tell(3)
    expect(told.splice(0)).toHaveLength(2)
  })

  it('is tried again when it surely did not arrive', async () => {
    const refused = () =>
      system().tell(
        outbox(() => Promise.reject(new Error('away'))),
        order('health:red:three'),
        1,
      )
    await expect(refused()).rejects.toThrow('away')
    await system().tell(outbox(sent), order('health:red:three'), 2)
    expect(told.splice(0)).toHaveLength(2)
  })

  it('goes to nobody without a chat, and closes one that takes none', async () => {
    await system().tell(outbox(sent), order('health:red:four', kim.id), 1)
    expect(told.splice(0)).toEqual([])
    await meets(omar.id)
    const closed = async (): Promise<SendResult> => ({ state: 'undeliverable', why: 'BotDisabled', closed: true })
    await system().tell(outbox(closed), order('health:red:four', omar.id), 1)
    expect(await core.provisioning.system.isClosed(tenantId, omar.id)).toBe(true)
  })
})
