import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  afterCheck,
  type HealthPart,
  type HealthWatch,
  healthWatch,
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

/** Looks at so many seconds, each `R` for red or anything else; what was told, in order. */
function tells(looks: readonly (readonly [second: number, isRed: boolean])[]): string[] {
  let watch: HealthWatch | undefined
  return looks.flatMap(([second, isRed]) => {
    const after = afterCheck(watch, { at: at(second), parts: isRed ? [part] : [] })
    watch = after.watch
    return after.tell
  })
}

it('the times are those of the page for people', () => {
  const page = readFileSync('docs/health.md', 'utf8')
  for (const said of [
    `checked every ${watchTimes.checkEvery} seconds`,
    `two turns in a row, each of ${watchTimes.confirmAfter} seconds`,
    `for ${watchTimes.wellAfter} seconds no check`,
    `silent for more than ${silentAfterSeconds} seconds`,
  ])
    expect(page).toContain(said)
})

describe('what looks at the health come to', () => {
  it('one red look is none; two in a row are told once, and so is that all is well for a minute, of the same trouble', () => {
    expect(
      tells([
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
    expect(tells(trouble)).toEqual([redNotice(at(20))])
    expect(tells([...trouble, [180, false]])).toEqual([redNotice(at(20)), wellNotice(at(20))])
  })

  it('what comes and goes is one trouble: nobody is told again and again', () => {
    const looks = Array.from({ length: 100 }, (_, place) => [place * 20, place % 4 < 2] as const)
    expect(tells(looks)).toEqual([redNotice(at(0))])
  })

  it('a clock that was set back keeps nobody from being told', () => {
    expect(
      tells([
        [3600, true],
        [0, true],
        [20, true],
      ]),
    ).toEqual([redNotice(at(0))])
  })

  it('two looks that are not far apart are as one: another process may have looked between', () => {
    expect(
      tells([
        [0, false],
        [20, true],
        [25, true],
        [39, true],
      ]),
    ).toEqual([])
    expect(
      tells([
        [0, false],
        [20, true],
        [25, true],
        [40, true],
      ]),
    ).toEqual([redNotice(at(20))])
  })

  it('a service that begins red is told of as any other', () => {
    expect(
      tells([
        [0, true],
        [20, true],
      ]),
    ).toEqual([redNotice(at(0))])
  })

  it('what was wrong is known when it is well again', () => {
    const first = afterCheck(undefined, { at: at(0), parts: [part] })
    const second = afterCheck(first.watch, { at: at(20), parts: [part] })
    const third = afterCheck(second.watch, { at: at(40), parts: [] })
    const { watch } = afterCheck(third.watch, { at: at(100), parts: [] })
    expect(watch).toMatchObject({ state: 'well', since: at(40), turning: null, red: { since: at(0), parts: [part] } })
  })

  const secret = { name: 'botSecret', state: 'red', says: 'secretSoon' } as const
  const checks = (
    steps: readonly (readonly [second: number, parts: readonly HealthPart[]])[],
    stored?: z.input<typeof healthWatch>,
  ) => {
    let watch: HealthWatch | undefined = stored && healthWatch.parse(stored)
    const tell = steps.flatMap(([second, parts]) => {
      const after = afterCheck(watch, { at: at(second), parts })
      watch = healthWatch.parse(JSON.parse(JSON.stringify(after.watch)))
      return after.tell
    })
    return { watch, tell }
  }

  /** What a card says to somebody who got the card that it is red. */
  const shown = (watch: HealthWatch | undefined, notice: NoticeKey) => {
    const subject = noticeSubject(notice)
    if (subject.kind !== 'health') throw new Error(notice)
    const told = (asked: NoticeOrder) => (asked.notice === redNotice(at(0)) ? { state: 'sent' } : undefined)
    const stores = {
      healthWatch: { find: async () => watch, lock: async () => watch, put: async () => undefined },
      notices: { find: async (asked: NoticeOrder) => told(asked) } as Parameters<typeof readHealthNotice>[0]['notices'],
    }
    return readHealthNotice(stores, { tenantId: 'a', personId: 'b', notice }, subject)
  }

  it('a secret that is about to expire is reported also while something else has been broken for long', () => {
    const long = [0, 20, 40].map((second) => [second, [part]] as const)
    const { tell } = checks([...long, [60, [part, secret]], [80, [part, secret]], [100, [part, secret]]])
    expect(tell).toEqual([redNotice(at(0)), redNotice(at(60))])
  })

  it('other troubles come and go while a secret is about to expire, and are reported each', () => {
    const broken = [40, 60].map((second) => [second, [part, secret]] as const)
    const repaired = [80, 100, 120, 140].map((second) => [second, [secret]] as const)
    const { tell } = checks([
      [0, [secret]],
      [20, [secret]],
      ...broken,
      ...repaired,
      [160, [part, secret]],
      [180, [part, secret]],
    ])
    expect(tell).toEqual([redNotice(at(0)), redNotice(at(40)), wellNotice(at(40)), redNotice(at(160))])
  })

  it('one card names a secret and another part that turned red at the same check', async () => {
    const { watch, tell } = checks([
      [0, [part, secret]],
      [20, [part, secret]],
    ])
    expect(tell).toEqual([redNotice(at(0))])
    expect(await shown(watch, redNotice(at(0)))).toMatchObject({
      ...{ turned: 'red', since: at(0), until: null, parts: [part, secret] },
    })
  })

  it('each that turned red at the same check has a card when it is well again, and both have one if they are at once', async () => {
    const red = [0, 20].map((second) => [second, [part, secret]] as const)
    const first = checks([...red, ...[40, 60, 80, 100].map((second) => [second, [secret]] as const)])
    const ofPart = wellNotice(at(0))
    expect(first.tell).toEqual([redNotice(at(0)), ofPart])
    expect(await shown(first.watch, ofPart)).toMatchObject({ turned: 'well', until: at(40), parts: [part] })
    const second = checks(
      [120, 140, 160, 180].map((second) => [second, []] as const),
      first.watch,
    )
    const [ofSecret = ofPart, ...more] = second.tell
    expect(more).toEqual([])
    expect(ofSecret).not.toBe(ofPart)
    expect(noticeKey.parse(ofSecret)).toBe(ofSecret)
    expect(await shown(second.watch, ofSecret)).toMatchObject({ since: at(0), until: at(120), parts: [secret] })
    expect(await shown(second.watch, ofPart)).toMatchObject({ since: at(0), until: at(40), parts: [part] })
    const both = checks([...red, ...[40, 60, 80, 100].map((second) => [second, []] as const)])
    expect(both.tell).toEqual([redNotice(at(0)), ofPart])
    expect(await shown(both.watch, ofPart)).toMatchObject({ until: at(40), parts: [part, secret] })
  })

  it('credentials that an earlier version has reported are not reported again, and not as well before they are', () => {
    const stored: z.input<typeof healthWatch> = {
      state: 'red',
      since: at(-600),
      turning: null,
      red: { since: at(-600), parts: [secret] },
    }
    const stillRed = [0, 20, 40, 60, 80].map((second) => [second, [secret]] as const)
    expect(checks(stillRed, stored).tell).toEqual([])
    const renewed = [100, 120, 140, 160].map((second) => [second, []] as const)
    expect(checks([...stillRed, ...renewed], stored).tell).toEqual([`${wellNotice(at(-600))}/credentials`])
    const broken = [0, 20, 40].map((second) => [second, [part, secret]] as const)
    expect(checks(broken, stored).tell).toEqual([redNotice(at(0))])
  })

  it('whatever the looks see, and whoever looks when: red and well are told by turns, each trouble by its own name', () => {
    const looks = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(looks, (steps) => {
        let second = 0
        const told = tells(
          steps.map(([more, isRed]) => {
            second += more
            return [second, isRed] as const
          }),
        )
        expect(told.map((notice) => notice.split(':')[1])).toEqual(told.map((_, index) => (index % 2 ? 'well' : 'red')))
        expect(new Set(told).size).toBe(told.length)
        for (const [index, notice] of told.entries())
          if (index % 2) expect(notice.slice('health:well:'.length)).toBe(told[index - 1]?.slice('health:red:'.length))
      }),
      { numRuns: 500 },
    )
  })
})
