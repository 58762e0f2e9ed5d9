import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { strings } from '../../src/cards/shared/messages.ts'
import {
  asWritten,
  endpointOf,
  failingKinds,
  type HealthFacts,
  type HealthThreshold,
  healthSayings,
  healthStates,
  healthThresholds,
  judgeHealth,
} from '../../src/core/index.ts'
import { factsOf, trafficOf } from '../support/health-facts.ts'

const at = new Date('2026-11-20T10:44:00Z')
const partOf = (more: Parameters<typeof factsOf>[1], name: string) =>
  judgeHealth(factsOf(at, more)).parts.find((part) => part.name === name)
const ended = (days: number): HealthFacts['certificate'] => ({
  endsAt: new Date(at.getTime() + days * 86_400_000),
  problem: undefined,
})
/** Facts with one given measure and otherwise healthy parts. */
const measured: Readonly<Record<string, (value: number) => Parameters<typeof factsOf>[1]>> = {
  'database milliseconds': (value) => ({ own: { databaseMilliseconds: value } }),
  'queue oldestSeconds': (value) => ({ own: { queue: { waiting: 1, oldestSeconds: value } } }),
  'watchdog watchedSecondsAgo': (value) => ({ own: { watchedAt: new Date(at.getTime() - value * 1000) } }),
  'deadLetters count': (value) => ({ deadLetters: value }),
  ...Object.fromEntries(
    (['graph', 'sharePoint', 'exchange'] as const).flatMap((name) => [
      [`${name} milliseconds`, (value: number) => ({ services: [{ name, milliseconds: value }] })],
      [
        `${name} errorRate`,
        (value: number) => ({ traffic: [trafficOf(name, at, { calls: 1000, failed: value * 1000 })] }),
      ],
      [`${name} throttled`, (value: number) => ({ traffic: [trafficOf(name, at, { throttled: value })] })],
    ]),
  ),
  'clock skewSeconds': (value) => ({ clock: { aheadSeconds: value } }),
  'certificate daysLeft': (value) => ({ certificate: ended(value) }),
  'botSecret daysLeft': (value) => ({ botSecret: ended(value) }),
  'webhooks failing': (value) => ({ endpoints: endpoints(value, null) }),
  'webhooks switchedOff': (value) => ({ endpoints: endpoints(value, at.toISOString()) }),
  'directory p95Seconds': (value) => ({ directory: { seen: 3, p50Seconds: value, p95Seconds: value } }),
}
const endpoints = (count: number, disabledAt: string | null) =>
  Array.from({ length: count }, () => ({
    ...endpointOf({ tenantId: at.toISOString(), subscriber: { templateId: 'a' } }, 'https://example.com'),
    ...{ failingSince: at.toISOString(), disabledAt },
  }))

describe('each health threshold', () => {
  it.each(healthThresholds.map((rule: HealthThreshold) => [`${rule.part} ${rule.measure}`, rule] as const))(
    '%s: changes the state of the part exactly from its limit on',
    (name, { part, amber, red, below }) => {
      const facts = measured[name]
      if (!facts) throw new Error(`nobody measures ${name}`)
      const step = name.endsWith('errorRate') ? 0.001 : 1
      const stateAt = (value: number) => partOf(facts(value), part)?.state
      const [good, bad] = below ? [amber, amber - step] : [amber - step, amber]
      expect([stateAt(good), stateAt(bad)]).toEqual(['green', 'amber'])
      if (red !== null) expect(stateAt(below ? red - step : red)).toBe('red')
    },
  )

  it('is in the documentation', () => {
    const file = new URL('../../docs/health.md', import.meta.url)
    const text = readFileSync(file, 'utf8')
    const rows = healthThresholds.map((rule: HealthThreshold) => {
      const from = (bound: number | null) => (bound === null ? '–' : `${rule.below ? 'below' : 'from'} ${bound}`)
      return `| ${rule.part} | \`${rule.measure}\` | ${from(rule.amber)} | ${from(rule.red)} |`
    })
    const table = ['| part | measure | amber | red |', '|---|---|---|---|', ...rows].join('\n')
    const [before = '', rest = ''] = text.split('<!-- thresholds -->\n')
    const after = rest.slice(rest.indexOf('<!-- /thresholds -->'))
    const wanted = `${before}<!-- thresholds -->\n${table}\n${after}`
    if (process.env['UPDATE_DOCS']) writeFileSync(file, wanted)
    expect(readFileSync(file, 'utf8')).toBe(wanted)
  })
})

const service = fc.record({
  name: fc.constantFrom('graph' as const, 'sharePoint' as const, 'exchange' as const),
  milliseconds: fc.nat(20_000),
})
const anyDate = fc.date({ noInvalidDate: true, min: new Date('2020-01-01'), max: new Date('2040-01-01') })
const anyFacts = fc
  .record({
    own: fc.record({
      databaseMilliseconds: fc.option(fc.nat(5000)),
      queue: fc.record({ waiting: fc.nat(), oldestSeconds: fc.nat(100_000) }),
      watchedAt: fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: at })),
    }),
    deadLetters: fc.option(fc.nat(100)),
    services: fc.uniqueArray(service, { selector: ({ name }) => name }),
    directory: fc.option(fc.record({ seen: fc.nat(9), p50Seconds: fc.nat(900), p95Seconds: fc.nat(9000) })),
    certificate: fc.record({
      endsAt: fc.option(anyDate),
      startsAt: fc.option(anyDate, { nil: undefined }),
      problem: fc.option(fc.string().map(asWritten), { nil: undefined }),
    }),
    botSecret: fc.option(fc.record({ endsAt: fc.option(anyDate) }), { nil: undefined }),
  })
  .map((more) => factsOf(at, more))

describe('a health report', () => {
  it('has the state of its worst part, which is first, and a complete text for each part', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { state, parts } = judgeHealth(facts)
        const ranks = parts.map((part) => healthStates.indexOf(part.state))
        expect(ranks).toEqual(ranks.toSorted((one, other) => other - one))
        expect(state).toBe(parts[0]?.state)
        expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length)
        for (const part of parts.filter(({ problem }) => problem === undefined))
          expect(apiTexts.healthPart(part)).not.toMatch(/[{}]|NaN|undefined/)
      }),
    )
  })

  it('never improves when a measure gets worse', () => {
    const rank = (part: string, more: Parameters<typeof factsOf>[1]) =>
      healthStates.indexOf(partOf(more, part)?.state ?? 'green')
    for (const { part, measure, ...rule } of healthThresholds as readonly HealthThreshold[]) {
      const facts = measured[`${part} ${measure}`]
      const most = measure === 'errorRate' ? 1 : Math.min(400, (rule.red ?? rule.amber) * 2)
      fc.assert(
        fc.property(fc.nat(1000), fc.nat(1000), (one, other) => {
          const [less, more] = [one, other].sort((a, b) => a - b).map((value) => facts?.(scaled(value, most, measure)))
          const [before, after] = [rank(part, less), rank(part, more)]
          expect(rule.below ? before >= after : before <= after).toBe(true)
        }),
        { numRuns: 25 },
      )
    }
  })

  it('has no facts from the database while it is unavailable', () => {
    const { parts } = judgeHealth(factsOf(at, { own: { databaseMilliseconds: null } }))
    const inside = ['queue', 'watchdog', 'deadLetters', 'webhooks', 'directory', 'processes']
    expect(parts.map(({ name }) => name).filter((name) => inside.includes(name))).toEqual([])
    expect(parts[0]).toMatchObject({ name: 'database', state: 'red', says: 'silent' })
  })

  it.each<[string, Partial<HealthFacts>, string, object]>([
    ['no date is known', { botSecret: { endsAt: null } }, 'green', { says: 'secretUnknown' }],
    ['the bot has no secret', { botSecret: undefined }, 'green', { says: 'secretNotNeeded' }],
    ['it ends in half a year', { botSecret: ended(180) }, 'green', { says: 'secretGood', daysLeft: 180 }],
    ['it ends in 29 days', { botSecret: ended(29) }, 'amber', { says: 'secretSoon', daysLeft: 29 }],
    ['it ends in 6 days', { botSecret: ended(6) }, 'red', { says: 'secretSoon', daysLeft: 6 }],
    ['it has ended', { botSecret: ended(-1) }, 'red', { says: 'secretOver', daysLeft: -1 }],
  ])('has the remaining time of the bot’s secret: %s', (_, facts, state, measures) => {
    expect(partOf(facts, 'botSecret')).toMatchObject({ state, ...measures })
  })

  it('is red while the certificate is not valid yet', () => {
    const startsAt = new Date(at.getTime() + 60_000)
    const early = { certificate: { ...ended(300), startsAt } }
    expect(partOf(early, 'certificate')).toMatchObject({
      ...{ state: 'red', says: 'certificateEarly', startsAt: startsAt.toISOString() },
    })
  })

  it.each([
    ['final', 'red'],
    ['temporary', 'amber'],
  ])('judges a %s refusal of the sign-in as %s, because a temporary one may concern one token', (kind, state) => {
    const { signIn } = factsOf(at)
    const refusal = { at, problem: asWritten('Entra ID answered 503.'), isFinal: kind === 'final' }
    expect(partOf({ signIn: { ...signIn, refusal } }, 'signIn')).toMatchObject({ state, says: 'signInFails' })
  })

  it('does not judge a service by few calls', () => {
    const few = (calls: number) => ({ traffic: [trafficOf('graph', at, { calls, failed: calls })] })
    expect([partOf(few(99), 'graph')?.state, partOf(few(100), 'graph')?.state]).toEqual(['green', 'amber'])
  })

  it('is red for a kind whose last five requests all failed, whatever other kinds do', () => {
    const anyEnded = fc.array(
      fc.record({
        kind: fc.constantFrom('teamSite' as const, 'roomMailbox' as const),
        status: fc.constantFrom('failed' as const, 'failed' as const, 'failed' as const, 'succeeded' as const),
      }),
      { maxLength: 16, size: 'max' },
    )
    const counts = { red: 0, green: 0 }
    fc.assert(
      fc.property(anyEnded, fc.nat(100), (requests, turn) => {
        const all = requests.map((one, index) => ({ ...one, at: new Date(at.getTime() + index) }))
        const wanted = (['roomMailbox', 'teamSite'] as const).filter((kind) => {
          const statuses = requests.filter((one) => one.kind === kind).map(({ status }) => status)
          return statuses.length >= 5 && !statuses.slice(-5).includes('succeeded')
        })
        // The order of the store does not matter.
        const turned = [...all.slice(turn % (all.length + 1)), ...all.slice(0, turn % (all.length + 1))]
        expect(failingKinds(turned)).toEqual(wanted)
        const part = partOf({ ended: turned }, 'requests')
        expect(part).toMatchObject(
          wanted.length > 0 ? { state: 'red', count: 5, kinds: wanted } : { state: 'green', says: 'requestsGood' },
        )
        counts[wanted.length > 0 ? 'red' : 'green'] += 1
      }),
      { numRuns: 500, seed: 24_02 },
    )
    expect(Math.min(counts.red, counts.green)).toBeGreaterThan(50)
  })

  it('names the kinds whose requests fail', () => {
    const ended = (['teamSite', 'roomMailbox'] as const).flatMap((kind) =>
      Array.from({ length: 5 }, () => ({ kind, status: 'failed' as const, at })),
    )
    const part = partOf({ ended }, 'requests')
    expect(part && apiTexts.healthPart(part)).toContain('Failing: Room and Team site.')
  })

  it('has the same text for a part by REST and on cards', () => {
    expect(Object.keys(strings.health.says).toSorted()).toEqual(healthSayings.toSorted())
  })
})

const scaled = (value: number, most: number, measure: string): number => {
  const shared = (value / 1000) * most
  return measure === 'errorRate' ? shared : Math.round(shared)
}
