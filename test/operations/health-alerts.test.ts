import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  afterCheck,
  type HealthPart,
  type HealthWatch,
  healthWatch,
  lessNotice,
  moreNotice,
  type NoticeKey,
  type NoticeOrder,
  noticeKey,
  noticeSubject,
  readHealthNotice,
  redNotice,
  silentAfterSeconds,
  watchTimes,
  wellNotice,
} from '../../src/core/index.ts'

const start = Date.parse('2026-11-20T10:00:00Z')
const at = (second: number): string => new Date(start + second * 1000).toISOString()
const part = { name: 'exchange', state: 'red', says: 'timesOut' } as const

/** The facts about the only process. */
const alone = { unjudged: [], processId: 'one', processIds: ['one'] }

/** Runs checks at these seconds, and returns the notices in their order. */
function noticesOf(checks: readonly (readonly [second: number, isRed: boolean])[]): string[] {
  let watch: HealthWatch | undefined
  return checks.flatMap(([second, isRed]) => {
    const after = afterCheck(watch, { ...alone, at: at(second), parts: isRed ? [part] : [] })
    watch = after.watch
    return after.notices
  })
}

it('docs/health.md has the times of the code', () => {
  const page = readFileSync('docs/health.md', 'utf8')
  for (const sentence of [
    `checked every ${watchTimes.checkEvery} seconds`,
    `two turns in a row, each of ${watchTimes.confirmAfter} seconds`,
    `for ${watchTimes.wellAfter} seconds no check`,
    `silent for more than ${silentAfterSeconds} seconds`,
  ])
    expect(page).toContain(sentence)
})

describe('alerts about health', () => {
  it('report two red checks in a row once, and a healthy minute after them once', () => {
    expect(
      noticesOf([
        [0, false],
        [20, true],
        [40, false],
        [60, true],
        [80, false],
      ]),
    ).toEqual([])
    const trouble = [
      [0, false],
      [20, true],
      [40, true],
      [60, true],
      [80, false],
      [100, true],
      [120, false],
      [140, false],
      [160, false],
    ] as const
    expect(noticesOf(trouble)).toEqual([redNotice(at(20))])
    expect(noticesOf([...trouble, [180, false]])).toEqual([redNotice(at(20)), wellNotice(at(20))])
  })

  it('report an intermittent problem once', () => {
    const checks = Array.from({ length: 100 }, (_, place) => [place * 20, place % 4 < 2] as const)
    expect(noticesOf(checks)).toEqual([redNotice(at(0))])
  })

  it('report a problem also after the clock was set back', () => {
    expect(
      noticesOf([
        [3600, true],
        [0, true],
        [20, true],
      ]),
    ).toEqual([redNotice(at(0))])
  })

  it('count two checks in quick succession as one, because another process may check in between', () => {
    expect(
      noticesOf([
        [0, false],
        [20, true],
        [25, true],
        [39, true],
      ]),
    ).toEqual([])
    expect(
      noticesOf([
        [0, false],
        [20, true],
        [25, true],
        [40, true],
      ]),
    ).toEqual([redNotice(at(20))])
  })

  it('report a service that is red from the start', () => {
    expect(
      noticesOf([
        [0, true],
        [20, true],
      ]),
    ).toEqual([redNotice(at(0))])
  })

  it('know the earlier problem when all is healthy again', () => {
    const first = afterCheck(undefined, { ...alone, at: at(0), parts: [part] })
    const second = afterCheck(first.watch, { ...alone, at: at(20), parts: [part] })
    const third = afterCheck(second.watch, { ...alone, at: at(40), parts: [] })
    const { watch } = afterCheck(third.watch, { ...alone, at: at(100), parts: [] })
    expect(watch).toMatchObject({ state: 'well', since: at(40), turning: null, red: { since: at(0), parts: [part] } })
  })

  const secret = { name: 'botSecret', state: 'red', says: 'secretSoon' } as const
  const checks = (
    steps: readonly (readonly [second: number, parts: readonly HealthPart[]])[],
    stored?: z.input<typeof healthWatch>,
  ) => {
    let watch: HealthWatch | undefined = stored && healthWatch.parse(stored)
    const notices = steps.flatMap(([second, parts]) => {
      const after = afterCheck(watch, { ...alone, at: at(second), parts })
      watch = healthWatch.parse(JSON.parse(JSON.stringify(after.watch)))
      return after.notices
    })
    return { watch, notices }
  }

  /** Returns the content of a card for a person who got the red card. */
  const shown = (watch: HealthWatch | undefined, notice: NoticeKey) => {
    const subject = noticeSubject(notice)
    if (subject.kind !== 'health') throw new Error(notice)
    const stateOf = (order: NoticeOrder) => (order.notice === redNotice(at(0)) ? { state: 'sent' } : undefined)
    const stores = {
      healthWatch: { find: async () => watch, lock: async () => watch, put: async () => undefined },
      notices: { find: async (order: NoticeOrder) => stateOf(order) } as Parameters<
        typeof readHealthNotice
      >[0]['notices'],
    }
    return readHealthNotice(stores, { tenantId: 'a', personId: 'b', notice }, subject)
  }

  it('report an expiring secret also during another long problem', () => {
    const long = [0, 20, 40].map((second) => [second, [part]] as const)
    const { notices } = checks([...long, [60, [part, secret]], [80, [part, secret]], [100, [part, secret]]])
    expect(notices).toEqual([redNotice(at(0)), redNotice(at(60))])
  })

  it('report each of several problems while a secret is expiring', () => {
    const broken = [40, 60].map((second) => [second, [part, secret]] as const)
    const repaired = [80, 100, 120, 140].map((second) => [second, [secret]] as const)
    const { notices } = checks([
      [0, [secret]],
      [20, [secret]],
      ...broken,
      ...repaired,
      [160, [part, secret]],
      [180, [part, secret]],
    ])
    expect(notices).toEqual([redNotice(at(0)), redNotice(at(40)), wellNotice(at(40)), redNotice(at(160))])
  })

  it('name a secret and another part in one card if both turn red in the same check', async () => {
    const { watch, notices } = checks([
      [0, [part, secret]],
      [20, [part, secret]],
    ])
    expect(notices).toEqual([redNotice(at(0))])
    expect(await shown(watch, redNotice(at(0)))).toMatchObject({
      ...{ turned: 'red', since: at(0), until: null, parts: [part, secret] },
    })
  })

  it('report the recovery of such parts separately, or together if both recover in the same check', async () => {
    const red = [0, 20].map((second) => [second, [part, secret]] as const)
    const first = checks([...red, ...[40, 60, 80, 100].map((second) => [second, [secret]] as const)])
    const ofPart = wellNotice(at(0))
    expect(first.notices).toEqual([redNotice(at(0)), ofPart])
    expect(await shown(first.watch, ofPart)).toMatchObject({ turned: 'well', until: at(40), parts: [part] })
    const second = checks(
      [120, 140, 160, 180].map((second) => [second, []] as const),
      first.watch,
    )
    const [ofSecret = ofPart, ...more] = second.notices
    expect(more).toEqual([])
    expect(ofSecret).not.toBe(ofPart)
    expect(noticeKey.parse(ofSecret)).toBe(ofSecret)
    expect(await shown(second.watch, ofSecret)).toMatchObject({ since: at(0), until: at(120), parts: [secret] })
    expect(await shown(second.watch, ofPart)).toMatchObject({ since: at(0), until: at(40), parts: [part] })
    const both = checks([...red, ...[40, 60, 80, 100].map((second) => [second, []] as const)])
    expect(both.notices).toEqual([redNotice(at(0)), ofPart])
    expect(await shown(both.watch, ofPart)).toMatchObject({ until: at(40), parts: [part, secret] })
  })

  const graph = { name: 'graph', state: 'red', says: 'timesOut' } as const
  const every20 = (from: number, until: number, parts: readonly HealthPart[]) =>
    Array.from({ length: (until - from) / 20 + 1 }, (_, index) => [from + index * 20, parts] as const)

  it('report each further part that turns red once, with the parts that stay red', async () => {
    const { watch, notices } = checks([...every20(0, 40, [part]), ...every20(60, 200, [part, graph])])
    expect(notices).toEqual([redNotice(at(0)), moreNotice(at(60))])
    expect(await shown(watch, moreNotice(at(60)))).toEqual({
      ...{ kind: 'health', turned: 'more', since: at(60), until: null, parts: [graph], others: [part] },
    })
  })

  it('report a further part that recovers while another stays red, and later the end of the problem', async () => {
    const red = [...every20(0, 40, [part]), ...every20(60, 100, [part, graph])]
    const less = checks([...red, ...every20(120, 200, [part])])
    expect(less.notices).toEqual([redNotice(at(0)), moreNotice(at(60)), lessNotice(at(120))])
    expect(await shown(less.watch, lessNotice(at(120)))).toEqual({
      ...{ kind: 'health', turned: 'less', since: at(60), until: at(120), parts: [graph], others: [part] },
    })
    expect(await shown(less.watch, moreNotice(at(60)))).toBeUndefined()
    const well = checks(every20(220, 280, []), less.watch)
    expect(well.notices).toEqual([wellNotice(at(0))])
    expect(await shown(well.watch, wellNotice(at(0)))).toMatchObject({ parts: [part, graph], others: [] })
    expect(await shown(well.watch, lessNotice(at(120)))).toBeUndefined()
  })

  it('report a part that turns red again after it recovered', () => {
    const { notices } = checks([
      ...every20(0, 40, [part, graph]),
      ...every20(60, 140, [part]),
      ...every20(160, 200, [part, graph]),
    ])
    expect(notices).toEqual([redNotice(at(0)), lessNotice(at(60)), moreNotice(at(160))])
  })

  it('report a second credential, and the renewal of one of two', async () => {
    const certificate = { name: 'certificate', state: 'red', says: 'certificateSoon' } as const
    const { watch, notices } = checks([
      ...every20(0, 40, [secret]),
      ...every20(60, 100, [secret, certificate]),
      ...every20(120, 200, [certificate]),
    ])
    expect(notices).toEqual([redNotice(at(0)), moreNotice(at(60)), lessNotice(at(120))])
    expect(await shown(watch, lessNotice(at(120)))).toMatchObject({ parts: [secret], others: [certificate] })
  })

  it('report no further part that an earlier version reported already', () => {
    const stored: z.input<typeof healthWatch> = {
      ...{ state: 'red', since: at(-600), turning: null },
      red: { since: at(-600), parts: [part, graph] },
    }
    expect(checks(every20(0, 100, [part, graph]), stored).notices).toEqual([])
  })

  it('alternate for each part, for any checks, and report the end only after every part', () => {
    const names = ['exchange', 'graph', 'sharePoint'] as const
    const anyChecks = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.subarray([...names])), {
      maxLength: 80,
      size: 'max',
    })
    const counts = { more: 0, less: 0, well: 0 }
    fc.assert(
      fc.property(anyChecks, (steps) => {
        let watch: HealthWatch | undefined
        let second = 0
        const reported = new Set<string>()
        const keys: string[] = []
        for (const [turns, red] of steps) {
          second += turns * 20
          const parts = red.map((name) => ({ name, state: 'red', says: 'timesOut' }) as const)
          const after = afterCheck(watch, { ...alone, at: at(second), parts })
          watch = healthWatch.parse(JSON.parse(JSON.stringify(after.watch)))
          const now = new Set<string>(
            watch.state === 'red' ? (watch.broken?.red ?? []).map((one) => one.part.name) : [],
          )
          const [joined, left] = [
            [...now].filter((name) => !reported.has(name)),
            [...reported].filter((name) => !now.has(name)),
          ]
          const kinds = after.notices.map((key) => key.split(':')[1] ?? '')
          // A change of the reported parts has a notice of its own kind, and no notice comes without a change.
          expect(kinds.includes('red') || kinds.includes('more')).toBe(joined.length > 0)
          expect(kinds.includes('less') || kinds.includes('well')).toBe(left.length > 0)
          if (kinds.includes('red')) expect(reported.size).toBe(0)
          if (kinds.includes('less')) expect(now.size).toBeGreaterThan(0)
          if (kinds.includes('well')) expect(red).toEqual([])
          counts.more += kinds.filter((kind) => kind === 'more').length
          counts.less += kinds.filter((kind) => kind === 'less').length
          counts.well += kinds.filter((kind) => kind === 'well').length
          keys.push(...after.notices)
          reported.clear()
          for (const name of now) reported.add(name)
        }
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 500, seed: 24_05 },
    )
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(50)
  })

  it('do not repeat an earlier version’s report about credentials, and report their renewal once', () => {
    const stored: z.input<typeof healthWatch> = {
      state: 'red',
      since: at(-600),
      turning: null,
      red: { since: at(-600), parts: [secret] },
    }
    const stillRed = [0, 20, 40, 60, 80].map((second) => [second, [secret]] as const)
    expect(checks(stillRed, stored).notices).toEqual([])
    const renewed = [100, 120, 140, 160].map((second) => [second, []] as const)
    expect(checks([...stillRed, ...renewed], stored).notices).toEqual([`${wellNotice(at(-600))}/credentials`])
    const broken = [0, 20, 40].map((second) => [second, [part, secret]] as const)
    expect(checks(broken, stored).notices).toEqual([redNotice(at(0))])
  })

  it('alternate between red and healthy for any checks at any times, with the same name for each problem', () => {
    const anyChecks = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(anyChecks, (steps) => {
        let second = 0
        const notices = noticesOf(
          steps.map(([more, isRed]) => {
            second += more
            return [second, isRed] as const
          }),
        )
        expect(notices.map((notice) => notice.split(':')[1])).toEqual(
          notices.map((_, index) => (index % 2 ? 'well' : 'red')),
        )
        expect(new Set(notices).size).toBe(notices.length)
        for (const [index, notice] of notices.entries())
          if (index % 2)
            expect(notice.slice('health:well:'.length)).toBe(notices[index - 1]?.slice('health:red:'.length))
      }),
      { numRuns: 500 },
    )
  })
})
