import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ByHandNote,
  type Conversation,
  createHealthWatcher,
  type HealthWatch,
  type JobOrder,
  type NoticeKey,
  type Ports,
  ProvisioningError,
  type SentNotice,
  type ServiceHealth,
  type Settings,
} from '../src/core/index.ts'
import { priya, tenantId } from './support/card-world.ts'
import { loud } from './support/loud.ts'

const times = { lookEvery: 20, agreeAfter: 20, wellAfter: 60, heldFor: 90, againEvery: 5 }
const away = () => new ProvisioningError('unavailable', 'It is away.', { cause: new Error('away') })

/** A store that several watchers share and that can be away, a tenant that can fail, and the cards that an admin gets. */
function world() {
  let now = Date.parse('2026-11-20T10:00:00Z')
  const state = { isAway: false, isBroken: false, isDirectoryAway: false, standsStill: false, byHandFails: 0 }
  const asked: string[] = []
  let watch: HealthWatch | undefined
  let lease = { holder: '', until: 0 }
  const notices = new Map<string, SentNotice['state']>()
  const cards: NoticeKey[] = []
  const files = new Map<string, ByHandNote | null>()
  const here = <T>(answer: () => T): Promise<T> => (state.isAway ? Promise.reject(away()) : Promise.resolve(answer()))
  const chat: Conversation = {
    ...{ tenantId, personId: priya.id, conversationId: 'chat', reference: {}, locale: 'en', timeZone: 'UTC' },
  }
  const send = (notice: NoticeKey) => {
    if (!notices.has(notice)) cards.push(notice)
    notices.set(notice, 'sent')
  }
  const parts = {
    clock: { now: () => new Date(now) },
    // What is written before the store goes away within a transaction would be undone; these do not fail half way.
    work: { transaction: (work: () => Promise<unknown>) => here(work) },
    healthWatch: {
      hold: (_: string, holder: string, seconds: number) =>
        here(() => {
          if (lease.holder !== holder && lease.until > now) return false
          lease = { holder, until: now + seconds * 1000 }
          return true
        }),
      release: (_: string, holder: string) =>
        here(() => {
          if (lease.holder === holder) lease.until = now
        }),
      find: () => here(() => watch),
      lock: () => here(() => watch),
      put: (_: string, next: HealthWatch) =>
        here(() => {
          watch = next
        }),
    },
    conversations: { ofPerson: () => here(() => chat) },
    directory: {
      person: async (id: string) => {
        asked.push(id)
        if (state.isDirectoryAway) throw new Error('The directory is away.')
        return priya
      },
      isGuest: async () => false,
    },
    notices: {
      put: ({ notice }: { notice: NoticeKey }, to: 'sent') => here(() => void notices.set(notice, to)),
      find: ({ notice }: { notice: NoticeKey }) =>
        here(() => notices.has(notice) && { state: notices.get(notice), updatedAt: new Date(now) }),
      claim: ({ notice }: { notice: NoticeKey }) => here(() => !notices.has(notice) && notices.set(notice, 'sending')),
      remove: ({ notice }: { notice: NoticeKey }) => here(() => void notices.delete(notice)),
    },
    jobs: {
      // What is ordered is done at once, and once.
      enqueue: (orders: readonly JobOrder[]) =>
        here(() => {
          if (state.standsStill) return
          for (const { name, payload } of orders) if (name === 'tell' || name === 'tell-admins') send(payload.notice)
        }),
    },
    tenant: {
      health: async (): Promise<ServiceHealth[]> => [
        { name: 'graph', milliseconds: 5, ...(state.isBroken && { problem: 'It fails.' }) },
      ],
    },
    vitals: {
      own: async () => ({
        ...{
          databaseMilliseconds: state.isAway ? null : 1,
          queue: { waiting: 0, oldestSeconds: state.standsStill ? 900 : 0 },
          version: '1',
        },
        ...{ watchedAt: new Date(now), startedAt: new Date(now) },
      }),
    },
    deadLetters: { list: async () => [] },
    endpoints: { troubled: () => here(() => []) },
    sightings: { delay: () => here(() => ({ seen: 0, p50Seconds: 0, p95Seconds: 0 })) },
    serviceCalls: { lately: async () => [] },
    connection: {
      signIn: () => ({ tokens: [], refusal: undefined }),
      certificate: () => ({ endsAt: null, problem: undefined }),
    },
    processes: { list: () => here(() => []) },
  }
  const settings = { tenantId, admins: [priya.id] } as Partial<Settings> as Settings
  const begin = (holder: string) => {
    // Its file outlives it.
    const slot = holder.split(' ')[0] ?? ''
    const notes = {
      read: async () => files.get(slot) ?? undefined,
      write: async (note: ByHandNote | null) => void files.set(slot, note),
    }
    const byHand = loud('byHand', {
      tell: async (_: Conversation, __: object, notice: NoticeKey) => {
        if (state.byHandFails-- > 0) throw new Error('The connector fails.')
        cards.push(notice)
        return { state: 'sent', activityId: 'a' }
      },
    }) as Parameters<typeof createHealthWatcher>[2]['byHand']
    return createHealthWatcher(loud('ports', parts) as Ports, settings, { holder, byHand, notes, times })
  }
  return {
    ...{ state, cards, asked, begin },
    pass: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

const kinds = (cards: readonly NoticeKey[]): string[] => cards.map((card) => card.split(':')[1] ?? '')

describe('those who look after the health', () => {
  it('tell once when the store goes away, by hand, and once when it is back, through the store', async () => {
    const { state, cards, begin, pass } = world()
    const [one, other] = [begin('one'), begin('other')]
    const all = async () => {
      pass(20)
      return [await one.look(), await other.look()]
    }
    expect(await all()).toEqual(['looked', 'anothers'])
    expect(await all()).toEqual(['looked', 'anothers'])
    state.isAway = true
    for (let turn = 0; turn < 8; turn += 1) expect(await all()).toEqual(['away', 'away'])
    expect(kinds(cards)).toEqual(['red'])
    state.isAway = false
    for (let turn = 0; turn < 6; turn += 1) await all()
    expect(kinds(cards)).toEqual(['red', 'well'])
  })

  it('ask the directory who is an admin every five minutes, not at each look', async () => {
    const { asked, begin, pass } = world()
    const one = begin('one')
    for (let turn = 0; turn < 45; turn += 1) {
      await one.look()
      pass(20)
    }
    expect(asked).toHaveLength(3)
  })

  it('that begin while the directory is away tell those whom the settings name', async () => {
    const { state, cards, begin, pass } = world()
    state.isDirectoryAway = true
    const one = begin('one')
    for (const isAway of [false, true, true, true]) {
      state.isAway = isAway
      await one.look()
      pass(20)
    }
    expect(kinds(cards)).toEqual(['red'])
  })

  it('tell by hand where nobody works on jobs, and again at the next look where the chat did not take it', async () => {
    const { state, cards, begin, pass } = world()
    const one = begin('one')
    await one.look()
    Object.assign(state, { standsStill: true, byHandFails: 2 })
    for (let turn = 0; turn < 3; turn += 1) {
      pass(20)
      await one.look()
    }
    expect(cards).toEqual([])
    for (let turn = 0; turn < 3; turn += 1) {
      pass(20)
      await one.look()
    }
    expect(kinds(cards)).toEqual(['red'])
  })

  it('let another one look at once when they leave, and in the end when they die', async () => {
    const { begin, pass } = world()
    const [one, other, third] = [begin('one'), begin('other'), begin('third')]
    expect([await one.look(), await other.look()]).toEqual(['looked', 'anothers'])
    await one.leave()
    expect(await other.look()).toBe('looked')
    pass(80)
    expect(await third.look()).toBe('anothers')
    pass(20)
    expect(await third.look()).toBe('looked')
  })

  it('whatever goes wrong and whoever looks: an admin is told by turns that it is red and that it is well', async () => {
    let all = 0
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('look one', 'look other') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('away', 'back', 'break', 'mend', 'restart one', 'restart other', 'leave'),
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200, size: 'max' }), async (steps) => {
        const { state, cards, begin, pass } = world()
        const watchers = { one: begin('one'), other: begin('other') }
        for (const [index, does] of steps.entries()) {
          const who = does.endsWith('other') ? 'other' : 'one'
          if (does === 'away' || does === 'back') state.isAway = does === 'away'
          if (does === 'break' || does === 'mend') state.isBroken = does === 'break'
          if (does === 'leave') await watchers.one.leave().catch(() => undefined)
          // While the store is away no process can begin.
          if (does.startsWith('restart') && !state.isAway) watchers[who] = begin(`${who} ${index}`)
          if (does.startsWith('look')) {
            pass(10)
            await watchers.one.look()
            if (who === 'other') await watchers.other.look()
          }
        }
        const told = kinds(cards)
        all += told.length
        expect(told).toEqual(told.map((_, index) => (index % 2 ? 'well' : 'red')))
      }),
      { numRuns: 300 },
    )
    expect(all).toBeGreaterThan(300)
  })
})
