import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { measureAccepts } from './accepts.ts'
import { measureBurst } from './burst.ts'
import { measureCompletion } from './completion.ts'
import { quantile } from './figures.ts'
import { measureFlood } from './flood.ts'
import type { Engine, Places } from './places.ts'
import { measureReads, readNames } from './reads.ts'
import type { PartReport, Row } from './report.ts'
import { longSoak, measureSoak, type Soak } from './soak.ts'

/** The scale of the measurement: complete, or the minimum that shows that it works. */
export interface Scale {
  readonly reads: { readonly engine: Engine; readonly sizes: readonly number[]; readonly rounds: number }[]
  readonly accepts: {
    readonly engine: Engine
    /** The time to the server and back, in milliseconds; 0 = on this machine. */
    readonly roundTrip?: number
    readonly options: Parameters<typeof measureAccepts>[1]
  }[]
  readonly completion: { readonly engine: Engine; readonly options: Parameters<typeof measureCompletion>[1] }[]
}
export const whole: Scale = {
  reads: [
    { engine: 'server', sizes: [1_000, 10_000, 100_000, 1_000_000], rounds: 250 },
    { engine: 'embedded', sizes: [1_000, 10_000, 100_000], rounds: 150 },
  ],
  accepts: [
    { engine: 'embedded', options: {} },
    { engine: 'server', options: {} },
    // A server on another host. Its calls after a pause tell nothing more.
    { engine: 'server', roundTrip: 4, options: { rounds: 3, callers: [32], cold: { calls: 0, idle: 0 } } },
  ],
  completion: [
    { engine: 'embedded', options: {} },
    { engine: 'server', options: {} },
  ],
}

export const nameOf = { server: 'PostgreSQL server', embedded: 'embedded store' } as const
const flat = 1.3
const limits = [
  { share: 0.5, milliseconds: 50 },
  { share: 0.99, milliseconds: 250 },
] as const

/** Measures reads of stores of several sizes. The ratio is that of the largest store to the smallest. */
export async function readsPart(places: Places, runs: Scale['reads'] = whole.reads): Promise<PartReport> {
  const rows: Row[] = []
  const charts: Record<string, PartReport['charts'][string]> = {}
  for (const run of runs) {
    const { engine, sizes } = run
    const times = await measureReads(places, run)
    const [smallest = 0, largest = 0] = [sizes.at(0), sizes.at(-1)]
    const of = (name: (typeof readNames)[number], share: number, size: number): number =>
      quantile(times.get(name)?.get(size) ?? [], share)
    for (const name of readNames) {
      const pair = (size: number) => `${ms(of(name, 0.5, size))}, ${ms(of(name, 0.95, size))}`
      const ratioOf = (share: number) => ratio(of(name, share, largest), of(name, share, smallest))
      const what = `${count(smallest)} stored, p50 and p95; at most ${flat}×`
      const figure = `${name}, ${count(largest)} stored, ${nameOf[engine]}`
      rows.push([figure, pair(largest), pair(smallest), `${ratioOf(0.5)}, ${ratioOf(0.95)}`, what])
    }
    const panels = readNames.map((name) => ({
      title: name,
      x: sizes.map(count),
      series: [
        { name: 'p50', values: sizes.map((size) => of(name, 0.5, size)) },
        { name: 'p95', values: sizes.map((size) => of(name, 0.95, size)) },
      ],
    }))
    const title = `Reads by stored requests, ${nameOf[engine]}`
    charts[`reads-${engine}`] = {
      chart: { title, unit: 'milliseconds', kind: 'lines', columns: 3, panels },
      alt: `Milliseconds of each kind of read at ${sizes.map(count).join(', ')} stored requests: p50 and p95`,
    }
  }
  return { rows, charts }
}

const floors = [
  { name: 'bare', what: 'restify and one transaction' },
  { name: 'checking', what: 'restify and one transaction, and the same check in the tenant' },
] as const

/** Measures accepted requests per second, compared with two floors, in both kinds of store. */
export async function acceptsPart(places: Places, runs: Scale['accepts'] = whole.accepts): Promise<PartReport> {
  const rows: Row[] = []
  const panels: PartReport['charts'][string]['chart']['panels'][number][] = []
  for (const { engine, roundTrip = 0, options } of runs) {
    const place = () => places.place(engine, roundTrip)
    const store = `${nameOf[engine]}${roundTrip === 0 ? '' : `, ${roundTrip} ms away`}`
    const all = await measureAccepts({ ours: await place(), floor: await place() }, options)
    const [{ cold } = { cold: { accepts: Number.NaN, bare: Number.NaN } }] = all
    const afterIdle = `one call after ten seconds without calls, ${store}`
    if (!Number.isNaN(cold.accepts))
      rows.push([afterIdle, ms(cold.accepts), ms(cold.bare), ratio(cold.accepts, cold.bare), floors[0].what])
    for (const { callers, rate, p99 } of all) {
      const figure = `accept, ${callers === 1 ? 'one caller' : `${callers} callers`}, ${store}`
      for (const { name, what } of floors)
        rows.push([figure, perSecondOf(rate.accepts), perSecondOf(rate[name]), ratio(rate.accepts, rate[name]), what])
      for (const { name, what } of floors)
        rows.push([`${figure}, p99`, ms(p99.accepts), ms(p99[name]), ratio(p99.accepts, p99[name]), what])
    }
    const series = [
      { name: 'Quartermaster', values: all.map(({ rate }) => rate.accepts) },
      { name: 'restify, the check, one transaction', values: all.map(({ rate }) => rate.checking) },
      { name: 'restify, one transaction', values: all.map(({ rate }) => rate.bare) },
    ]
    panels.push({ title: store, x: all.map(({ callers }) => `${callers} at once`), series })
  }
  const chart = { title: 'Accepted requests', unit: 'per second', kind: 'bars', columns: 2, panels } as const
  return { rows, charts: { accepts: { chart, alt: 'Accepted requests for each second next to the floors' } } }
}

/**
 * Measures the time from the completion event until the connector has the card, by webhook and by poll, in both stores.
 */
export async function completionPart(
  places: Places,
  runs: Scale['completion'] = whole.completion,
): Promise<PartReport> {
  const rows: Row[] = []
  const panels: PartReport['charts'][string]['chart']['panels'][number][] = []
  const shares = Array.from({ length: 101 }, (_, percent) => percent / 100)
  for (const { engine, options } of runs) {
    const times = await measureCompletion(await places.place(engine), options)
    for (const [by, values] of [
      ['webhook', times.webhook],
      ['poll', times.poll],
    ] as const) {
      for (const { share, milliseconds } of limits) {
        const ours = quantile(values, share)
        const figure = `${by} to card, p${share * 100}, ${nameOf[engine]}`
        const limit = `${milliseconds} ms`
        rows.push([figure, ms(ours), limit, ratio(ours, milliseconds), `the limit; ${values.length} completions`])
      }
    }
    panels.push({
      title: nameOf[engine],
      x: shares.map((share) => ((share * 100) % 25 === 0 ? `p${share * 100}` : '')),
      series: [
        { name: 'after the webhook', values: shares.map((share) => quantile(times.webhook, share)) },
        { name: "after the directory's answer", values: shares.map((share) => quantile(times.poll, share)) },
      ],
      limits: limits.map(({ share, milliseconds }) => ({
        place: share * 100,
        value: milliseconds,
        label: `limit of p${share * 100}`,
      })),
    })
  }
  const chart = { title: 'From completion to card', unit: 'milliseconds', kind: 'lines', columns: 2, panels } as const
  const alt = 'Milliseconds from the completion event until the connector had the card, by percentile, with the limits'
  return { rows, charts: { completion: { chart, alt } } }
}

/** Numbers of requests of one person that end at the same time. */
const bursts = [1, 30, 200]

/**
 * Measures the time from the end of a request until its requester has the link, for several requests of one person at the
 * same time.
 */
export async function burstPart(
  places: Places,
  counts: readonly number[] = bursts,
  silence?: number,
): Promise<PartReport> {
  const rows: Row[] = []
  for (const at of counts) {
    const { links, floor, cards, others } = await measureBurst(await places.place('server'), at, silence)
    const what = `the limits of a chat, one card for each; ${count(cards)} cards with links, ${count(others)} other messages`
    for (const share of [0.5, 0.99]) {
      const [ours, least] = [quantile(links, share), quantile(floor, share)]
      const times = least === 0 ? 'no wait' : ratio(ours, least)
      rows.push([`end to link, p${share * 100}, ${count(at)} at once`, ms(ours), ms(least), times, what])
    }
  }
  return { rows, charts: {} }
}

/**
 * Measures how long other people wait while one person floods the service with previews, compared with a quiet service.
 */
export async function floodPart(folder: string, scale: Parameters<typeof measureFlood>[2] = {}): Promise<PartReport> {
  const rows: Row[] = []
  const panels: PartReport['charts'][string]['chart']['panels'][number][] = []
  for (const [index, limits] of (['on', 'off'] as const).entries()) {
    const dataDir = join(folder, `flood-${index}`)
    mkdirSync(dataDir)
    const { times, graphCalls, previews, people } = await measureFlood(dataDir, limits, scale)
    const named = `rate limits ${limits}`
    for (const what of ['turn', 'click', 'read'] as const) {
      const [ours, quiet] = [quantile(times[what].flood, 0.95), quantile(times[what].quiet, 0.95)]
      const samples = `a quiet service; ${times[what].flood.length} during floods, ${times[what].quiet.length} without`
      rows.push([`${nameOfTimes[what]} of others, p95, ${named}`, ms(ours), ms(quiet), ratio(ours, quiet), samples])
    }
    const each = previews * people
    const flood = `calls to Graph for ${count(previews)} previews of ${people} unknown people, ${named}`
    rows.push([flood, count(graphCalls), count(each), ratio(graphCalls, each), 'one call for each person'])
    const p95 = (when: 'flood' | 'quiet') => Object.values(times).map((one) => quantile(one[when], 0.95))
    const series = [
      { name: 'during a flood', values: p95('flood') },
      { name: 'quiet', values: p95('quiet') },
    ]
    panels.push({ title: named, x: Object.keys(times), series })
  }
  const chart = {
    title: 'Other people during a flood',
    unit: 'milliseconds',
    kind: 'bars',
    columns: 2,
    panels,
  } as const
  const alt = 'Milliseconds, p95, of other people’s turns, clicks and reads during a flood of previews and without one'
  return { rows, charts: { flood: { chart, alt } } }
}
const nameOfTimes = { turn: 'turn `help`', click: 'click on a template', read: 'own list by REST' } as const

/** Memory that the service must not exceed under load, in MiB, by store. */
const memoryLimits = { embedded: 512, server: 300 } as const

/** Measures the memory of the service during many turns and requests. */
export async function soakPart(places: Places, engine: Engine, soak: Soak = longSoak): Promise<PartReport> {
  const limit = memoryLimits[engine] * 2 ** 20
  const { samples, isLimited } = await measureSoak(await places.place(engine), soak, limit)
  const after = `${count(soak.turns)} turns and ${count(soak.requests)} requests`
  const row = (what: string, ours: number, floor: number, name: string): Row => [
    ...([`${what}, ${nameOf[engine]}`, megabytes(ours), megabytes(floor), ratio(ours, floor), name] as const),
  ]
  const [first, last] = [samples[Math.floor(samples.length / 10)], samples.at(-1)]
  const highest = Math.max(...samples.map(({ resident }) => resident))
  const rows = [
    row('resident memory, highest', highest, limit, `the limit${isLimited ? ' of the kernel' : ''}; ${after}`),
    row('heap at the end', last?.heap ?? 0, first?.heap ?? 0, `after ${count(first?.turns ?? 0)} turns; ${after}`),
  ]
  const inMegabytes = (of: (sample: (typeof samples)[number]) => number) => samples.map((one) => of(one) / 2 ** 20)
  const everyFifth = Math.max(1, Math.round(samples.length / 5))
  const panel = {
    title: nameOf[engine],
    x: samples.map(({ turns }, index) => (index % everyFifth === 0 ? count(turns) : '')),
    series: [
      { name: 'resident', values: inMegabytes(({ resident }) => resident) },
      { name: 'heap after a collection', values: inMegabytes(({ heap }) => heap) },
    ],
  }
  const title = 'Memory during turns and requests'
  const chart = { title, unit: 'MiB', kind: 'lines', columns: 1, panels: [panel] } as const
  const alt = `Memory of the service by the number of turns, ${nameOf[engine]}`
  return { rows, charts: { [`soak-${engine}`]: { chart, alt } } }
}

const count = (size: number): string => size.toLocaleString('en')
export const ms = (value: number): string => `${value.toFixed(value < 100 ? 2 : 0)} ms`
export const perSecondOf = (value: number): string => `${value.toFixed(0)}/s`
export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`
export const ratio = (value: number, floor: number): string => `${(value / floor).toFixed(2)}×`
