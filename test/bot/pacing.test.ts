import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createPacedChats,
  enter,
  type Limit,
  leave,
  longestCall,
  ownLimits,
  teamsLimits,
} from '../../src/bot/channel/chat-pace.ts'
import { type CardRank, type ChatTraffic, PutOff } from '../../src/core/index.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { chatPaceInMemory, createChatPace } from '../../src/store/notifications/chats.ts'
import { saying } from '../support/bot-activities.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { withDatabase } from '../support/database.ts'
import { maxIn } from '../support/traffic.ts'

const untouched: ChatTraffic = { sent: [], waiting: [], heldUntil: 0 }
const one = (what: string, rank: CardRank = 'new') => ({ what, rank })
const silent = { warn: () => undefined }
const noHold = () => 0

/** Mostly round times, so that ends of long calls and starts of short calls coincide. */
const time = (max: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 40, 1000, 5000) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max }) },
  )
/**
 * The messages to one chat: bursts, each after a pause. Each call takes some time, and its message arrives during the
 * call.
 */
const messages = fc
  .array(
    fc.record({
      count: fc.integer({ min: 1, max: 9 }),
      pause: time(90_000),
      takes: time(longestCall),
      arrives: fc.constantFrom(0, 0.5, 1),
    }),
    { minLength: 1, maxLength: 15 },
  )
  .map((bursts) =>
    bursts.flatMap(({ count, pause, ...call }) =>
      Array.from({ length: count }, (_, index) => ({ pause: index === 0 ? pause : 0, ...call })),
    ),
  )

/**
 * Sends messages in order of time. A message that must wait returns at the given time. Returns the time of each
 * arrival.
 */
function play(planned: readonly { pause: number; takes: number; arrives: number }[], limits: readonly Limit[]) {
  let [traffic, clock, refused] = [untouched, 1_000_000, 0]
  const agenda = planned.map(({ pause, ...call }, index) => {
    clock += pause
    return { at: clock, what: `message ${index}`, call, ends: undefined as number | undefined }
  })
  const arrivals: number[] = []
  while (agenda.length > 0) {
    agenda.sort((one, other) => one.at - other.at)
    const next = agenda.shift()
    if (!next) break
    const { at, what, call, ends } = next
    if (ends !== undefined) {
      traffic = leave(traffic, at, ends)
      continue
    }
    const step = enter(traffic, at, { what, rank: 'new' }, limits)
    traffic = step.traffic
    if ('wait' in step.result) {
      refused += 1
      expect(step.result.wait).toBeGreaterThan(0)
      agenda.push({ at: at + step.result.wait, what, call, ends: undefined })
    } else {
      arrivals.push(at + call.takes * call.arrives)
      agenda.push({ at: at + call.takes, what, call, ends: step.result.ticket })
    }
  }
  return { arrivals, refused }
}

describe('the pace of a chat', () => {
  it.each([
    ['the limits of Teams', teamsLimits],
    ['our limits of proactive messages', ownLimits],
  ])('never exceeds %s in any window, however long calls take', (_, limits) => {
    fc.assert(
      fc.property(messages, (planned) => {
        const { arrivals } = play(planned, limits)
        expect(arrivals).toHaveLength(planned.length)
        for (const { milliseconds, count } of limits) expect(maxIn(arrivals, milliseconds)).toBeLessThanOrEqual(count)
      }),
    )
  })

  it('stays within the limit of an hour, and thousands of waiting messages return only a few times', () => {
    const burst = Array.from({ length: 2500 }, () => ({ pause: 0, takes: 40, arrives: 0.5 }))
    const { arrivals, refused } = play(burst, ownLimits)
    expect(arrivals).toHaveLength(2500)
    for (const { milliseconds, count } of ownLimits) expect(maxIn(arrivals, milliseconds)).toBeLessThanOrEqual(count)
    expect(refused).toBeLessThan(6 * burst.length)
  })

  it('reserves messages for answers, which count but are never delayed', () => {
    const { traffic } = Array.from({ length: 100 }).reduce<{ traffic: ChatTraffic }>(
      ({ traffic }, _, index) => enter(traffic, 1000, one(`message ${index}`)),
      { traffic: untouched },
    )
    expect(traffic.sent).toHaveLength(5)
    for (const [index, { count }] of ownLimits.entries()) expect(count).toBeLessThan(teamsLimits[index]?.count ?? 0)
    const answered = { ...untouched, sent: Array.from({ length: 6 }, () => 5000) }
    expect(enter(answered, 5001, one('a message')).result).toEqual({ wait: 2000 })
  })

  it('lets a card shrink to one line when other updates have used their limit, and still has room for new cards', () => {
    const written = (count: number): ChatTraffic => ({
      ...untouched,
      sent: Array.from({ length: count }, (_, index) => 1000 + index * 500),
    })
    const now = 18_000
    const update = enter(written(30), now, one('a step', 'update'))
    expect(update.result).toMatchObject({ wait: expect.any(Number) })
    const used = { ...update.traffic, sent: written(29).sent }
    const short = { what: 'the end', rank: 'update', isShort: true } as const
    expect(enter(used, now, short).result).toHaveProperty('ticket')
    const full = enter(written(30), now, short)
    expect(full.result).toMatchObject({ wait: expect.any(Number) })
    expect(enter(full.traffic, now, one('a card')).result).toHaveProperty('ticket')
    const line = enter(full.traffic, now, one('a step', 'update')).traffic.waiting
    expect(line.map(([what, , rank]) => [what, rank])).toEqual([
      ['the end', 'update'],
      ['a step', 'update'],
    ])
    expect(line[1]?.[1]).toBeGreaterThan(line[0]?.[1] ?? 0)
  })

  it('releases a ticket that was not ended after the time-out of its call', () => {
    let traffic = untouched
    for (let index = 0; index < 5; index += 1) traffic = enter(traffic, 1000, one(`message ${index}`)).traffic
    expect(enter(traffic, 1000 + longestCall, one('a message')).result).toHaveProperty('wait')
    expect(enter(traffic, 1000 + longestCall + 2001, one('a message')).result).toHaveProperty('ticket')
  })

  it('sends nothing during a pause that the connector requires', () => {
    const { traffic, result } = enter(untouched, 1000, one('a message'))
    const held = leave(traffic, 2000, 'ticket' in result ? result.ticket : 0, 30_000)
    expect(enter(held, 31_999, one('a message')).result).toEqual({ wait: 1 })
    expect(enter(held, 32_000, one('a message')).result).toHaveProperty('ticket')
  })
})

describe('many writers to chats at the same time', () => {
  const store = withDatabase('server')

  it('stay within the limits together, in several processes, and do not delay another chat', async () => {
    const other = await openDatabase(store.options)
    try {
      const processes = [store.database, other].map((database) => createPacedChats(createChatPace(database), silent))
      const arrived: string[] = []
      const write = (chat: string, index: number) =>
        processes[index % 2]?.write(chat, one(`message ${index}`), async () => void arrived.push(chat), noHold)
      const busy = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => write('busy', index)))
      await write('calm', 0)
      const refused = busy.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(arrived.filter((chat) => chat === 'busy')).toHaveLength(5)
      expect(arrived.at(-1)).toBe('calm')
      expect(refused.every((error) => error instanceof PutOff)).toBe(true)
      const turns = refused.map(({ putOffMilliseconds }: PutOff) => Math.round(putOffMilliseconds / 100))
      expect(new Set(turns).size, 'each has a turn of its own').toBe(25)
      const { rows } = await store.database.query<{ sent: number }>(
        `SELECT jsonb_array_length(body -> 'sent') AS sent FROM chat_pace WHERE conversation_id = 'busy'`,
      )
      expect(rows).toEqual([{ sent: 5 }])
    } finally {
      await other.close()
    }
  })

  it('leave counts that are deleted after hours without messages', async () => {
    const pace = createChatPace(store.database)
    await store.database.query(
      `UPDATE chat_pace SET updated_at = now() - interval '3 hours' WHERE conversation_id = 'busy'`,
    )
    await pace.forgetOld()
    const { rows } = await store.database.query('SELECT conversation_id FROM chat_pace')
    expect(rows).toEqual([{ conversation_id: 'calm' }])
  })

  it('count answers at once, and forget those that no limit counts any more', async () => {
    const pace = createChatPace(store.database)
    const sent = () => pace.change('answers', (traffic) => ({ traffic, result: traffic.sent }))
    await Promise.all(Array.from({ length: 8 }, () => pace.count('answers', 3_600_000)))
    expect(await sent()).toHaveLength(8)
    const old = Date.now() - 2 * 3_600_000
    await pace.change('answers', (traffic, now) => ({
      traffic: { ...traffic, sent: [old, now + 15_000] },
      result: now,
    }))
    await pace.count('answers', 3_600_000)
    const [kept, latest] = await sent()
    expect(kept).toBeGreaterThan(latest ?? Number.NaN)
    expect(Math.abs((latest ?? 0) - Date.now())).toBeLessThan(60_000)
    await store.database.query(`DELETE FROM chat_pace WHERE conversation_id = 'answers'`)
  })

  it('are counted in memory if there is one process', async () => {
    let now = 0
    const pace = chatPaceInMemory(() => now)
    const chats = createPacedChats(pace, silent)
    const write = () => chats.write('chat', one('a message'), async () => 'written', noHold)
    await Promise.all(Array.from({ length: 5 }, write))
    await expect(write()).rejects.toBeInstanceOf(PutOff)
    now += 3 * 3_600_000
    await pace.forgetOld()
    expect(await write()).toBe('written')
  })

  it('that replace others ask again soon, because those leave the line', async () => {
    let now = 0
    const chats = createPacedChats(
      chatPaceInMemory(() => now),
      silent,
    )
    const write = (what: string, instead?: readonly string[]) =>
      chats.write('chat', { ...one(what, 'first'), instead }, async () => 'written', noHold)
    for (let count = 0; count < 45; count += 1) {
      await write(`message ${count}`)
      now += 400
    }
    const putOff = async (...message: Parameters<typeof write>) => {
      const error = await write(...message).catch((thrown: unknown) => thrown)
      return error instanceof PutOff ? error.putOffMilliseconds : undefined
    }
    expect(await putOff('one')).toBeGreaterThan(10_000)
    expect(await putOff('two', ['one'])).toBe(2000)
    now += 12_001
    expect(await write('two', ['one'])).toBe('written')
  })

  it('that replace others do not ask again during a pause that the connector requires', () => {
    const paused = leave(untouched, 1000, 0, 60_000)
    expect(enter(paused, 1000, { what: 'two', rank: 'first', instead: ['one'] }).result).toEqual({ wait: 60_000 })
  })
})

describe('an answer of a turn', () => {
  const world = withBotWorld()

  it('counts for the chat and is never delayed', async () => {
    const bot = startBot(world)
    const activity = saying('kim', 'help')
    const sent = () =>
      world.stores.chatPace.change(activity.conversation?.id ?? '', (traffic) => ({
        traffic,
        result: traffic.sent.length,
      }))
    for (let count = 1; count <= 10; count += 1) {
      expect(await bot.says('kim', 'help')).not.toBe('')
      expect(await sent()).toBe(count)
    }
  })
})
