import { z } from 'zod'
import { type Figures, periodNames, type RequestState, type Spread, type Stats } from '../../core/index.ts'
import { problemText } from '../requests/steps.ts'
import { format, locale, restText, strings } from '../shared/messages.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import { cut, days, duration, listOf, longest, quantity, shortName, type Viewer } from '../shared/texts.ts'

/**
 * Draws bars with full and half blocks (Unicode U+2588, U+258C, U+2591), which every monospaced font has. They keep the theme's
 * colours and their true length; coloured containers are pale and never shorter than their padding.
 */
const full = '█'
const half = '▌'
const shade = '░'
/** The longest bar in blocks: with its number it fits into 256 px in any font. */
const longestBar = 16

const part = z.strictObject({
  text: z.string(),
  color: z.enum(['Accent', 'Good', 'Attention', 'Default']),
})
/** A row of a chart: its label, the parts of its bar, the number next to the bar, and the text below. */
const barRow = z.strictObject({
  label: z.string(),
  parts: z.array(part),
  value: z.string(),
  figures: z.string(),
})
type BarRow = z.output<typeof barRow>
type Part = z.output<typeof part>
/** `shaded`: requests that ended without a result. */
interface Look {
  readonly color: Part['color']
  readonly shaded?: boolean
}

/** The colours of the parts of a bar. */
export const barLooks = {
  plain: { color: 'Accent' },
  good: { color: 'Good' },
  bad: { color: 'Attention' },
  ended: { color: 'Default', shaded: true },
} as const satisfies Record<string, Look>

/** A bar of one value; `most`: the largest value of the chart. A value above 0 is visible. */
export function barOf(value: number, most: number, look: Look = barLooks.plain): Part[] {
  if (value <= 0 || most <= 0) return []
  const halves = Math.max(1, Math.round((value / most) * longestBar * 2))
  return [{ text: full.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? half : ''), color: look.color }]
}

/** A bar that is solid up to one value, and shaded up to a larger one. */
export function rangeOf(solid: number, end: number, most: number): Part[] {
  if (end <= 0 || most <= 0) return []
  const blocks = Math.max(1, Math.round((end / most) * longestBar))
  const filled = Math.min(blocks, Math.round((solid / most) * longestBar))
  const texts = [full.repeat(filled), shade.repeat(blocks - filled)]
  return texts.filter((text) => text !== '').map((text) => ({ text, color: barLooks.plain.color }))
}

/** A bar of several parts. Each part above 0 has at least one block. */
export function stackOf(values: readonly { value: number; look: Look }[], most: number): Part[] {
  const some = values.filter(({ value }) => value > 0)
  const sum = some.reduce((all, { value }) => all + value, 0)
  if (sum === 0 || most <= 0) return []
  const blocks = Math.max(some.length, Math.round((sum / most) * longestBar))
  const exact = some.map(({ value }) => (value / sum) * blocks)
  const lengths = exact.map((length) => Math.max(1, Math.floor(length)))
  // Corrects rounding: the part that lost most gets a missing block; the longest part loses an extra one.
  for (let left = blocks - total(lengths); left !== 0; left -= Math.sign(left)) {
    const gaps = exact.map((length, index) => length - (lengths[index] ?? 0))
    const index = left > 0 ? gaps.indexOf(Math.max(...gaps)) : lengths.indexOf(Math.max(...lengths))
    lengths[index] = (lengths[index] ?? 0) + Math.sign(left)
  }
  return some.map(({ look }, index) => {
    const text = (look.shaded ? shade : full).repeat(lengths[index] ?? 0)
    return { text, color: look.color }
  })
}

const total = (lengths: readonly number[]): number => lengths.reduce((all, length) => all + length, 0)

const tileNames = ['asked', 'decided', 'made'] as const
const sectionNames = ['kinds', 'times', 'decisions', 'failures', 'templates', 'approvers'] as const
type SectionName = (typeof sectionNames)[number]
const section = z.strictObject({
  name: z.enum(sectionNames),
  rows: z.array(barRow).min(1),
  /** The number of rows that are left out, as text. */
  rest: z.string(),
})

export const adminStatsCard = defineCard({
  name: 'admin-stats',
  data: z.strictObject({
    period: z.enum([...periodNames, 'days']),
    /** The days of the period. */
    at: z.string(),
    isEmpty: z.boolean(),
    tiles: z.array(z.strictObject({ name: z.enum(tileNames), quantity: z.string(), delta: z.string() })),
    sections: z.array(section),
    /** The sections that a button shows. */
    folded: z.array(section),
    compared: z.string(),
    /** The command that refreshes the card, and the other period. */
    command: z.string(),
    other: z.enum(['week', 'month']),
  }),
})
type View = ViewOf<typeof adminStatsCard>
type Section = View['sections'][number]

/** The largest number of rows of a section. */
interface Room {
  readonly templates: number
  readonly approvers: number
  readonly failures: number
}
const rooms: readonly Room[] = [
  { templates: 4, approvers: 4, failures: 4 },
  { templates: 3, approvers: 3, failures: 3 },
  { templates: 2, approvers: 1, failures: 2 },
]

/** Renders the statistics of a period, with fewer rows if the card would be too large. */
export const renderStats = (stats: Stats, viewer: Viewer): CardJson =>
  firstThatFits(rooms.map((room) => () => adminStatsCard.render(adminStatsView(stats, viewer, room))))

export function adminStatsView(stats: Stats, viewer: Viewer, room: Room = rooms[0] as Room): View {
  const { period, now, before } = stats
  const isEmpty = now.asked + now.decided + now.made + now.failed === 0
  return {
    period,
    at: days(now.from, now.until, viewer),
    isEmpty,
    tiles: isEmpty
      ? []
      : tileNames.map((name) => ({ name, quantity: quantity(now[name]), delta: deltaOf(now[name], before[name]) })),
    sections: [kindsOf(stats), decisionsOf(stats), timesOf(now, before), failuresOf(stats, room)].filter(isThere),
    folded: [templatesOf(stats, room), approversOf(stats, room)].filter(isThere),
    compared: isEmpty ? '' : format(strings.stats.compared, { range: days(before.from, before.until, viewer) }),
    command: `${strings.types.adminStats} ${typedOf(stats, viewer)}`,
    other: period === 'week' ? 'month' : 'week',
  }
}

const isThere = (one: Section): boolean => one.rows.length > 0
const sectionOf = (name: SectionName, rows: readonly BarRow[], rest = ''): Section => ({ name, rows: [...rows], rest })

/** The argument of the command for the same period. */
const typedOf = ({ period, now }: Stats, { timeZone }: Viewer): string => {
  if (period !== 'days') return strings.stats.types[period]
  const day = (at: string, back: number): string =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: knownZone(timeZone) }).format(new Date(Date.parse(at) - back))
  return format(strings.stats.types.days, { first: day(now.from, 0), last: day(now.until, 1) })
}
const knownZone = (timeZone: string): string => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}

function deltaOf(now: number, before: number): string {
  if (now === before) return strings.stats.delta.same
  return now > before
    ? format(strings.stats.delta.more, { count: quantity(now - before) })
    : format(strings.stats.delta.fewer, { count: quantity(before - now) })
}

function kindsOf({ kinds }: Stats): Section {
  const most = kinds[0]?.count ?? 0
  const rows = kinds.map(({ kind, count }) => plainRow(strings.kind[kind], count, most))
  return sectionOf('kinds', rows)
}

const plainRow = (
  label: string,
  count: number,
  most: number,
  look = barLooks.plain as (typeof barLooks)[keyof typeof barLooks],
): BarRow => ({
  label,
  parts: barOf(count, most, look),
  value: quantity(count),
  figures: '',
})

/** Approved and rejected in one bar, and how the rate compares. */
function decisionsOf({ now, before }: Stats): Section {
  const { decided, rejected, rejectionRate } = now
  if (decided === 0 || rejectionRate === null) return sectionOf('decisions', [])
  const rate = percent(rejectionRate)
  const parts = [
    { value: decided - rejected, look: barLooks.good },
    { value: rejected, look: barLooks.bad },
  ]
  const values = { approved: quantity(decided - rejected), rejected: quantity(rejected) }
  return sectionOf('decisions', [
    {
      label: format(strings.stats.decided, values),
      parts: stackOf(parts, decided),
      value: '',
      figures: [format(strings.stats.rate, { rate }), rateDelta(rejectionRate, before.rejectionRate)].join(' '),
    },
  ])
}

/** A whole percentage; with one decimal next to 0 and 100 %. */
function percent(rate: number): string {
  const maximumFractionDigits = (rate > 0 && rate < 1) || (rate > 99 && rate < 100) ? 1 : 0
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits }).format(rate / 100)
}
function rateDelta(now: number, before: number | null): string {
  if (before === null) return strings.stats.rateDelta.none
  const rate = percent(before)
  if (rate === percent(now)) return strings.stats.rateDelta.same
  return format(now > before ? strings.stats.rateDelta.more : strings.stats.rateDelta.fewer, { rate })
}

/** Each bar is solid up to the median and shaded up to the 95th percentile. All bars have one scale. */
function timesOf(now: Figures, before: Figures): Section {
  const names = ['toDecision', 'toCompletion', 'work'] as const
  const most = Math.max(...names.map((name) => now[name]?.p95 ?? 0), 1)
  const rows = names.flatMap((name): BarRow[] => {
    const spread = now[name]
    if (spread === null) return []
    const parts = rangeOf(spread.median, spread.p95, most)
    return [{ label: strings.stats.time[name], parts, value: '', figures: spreadText(spread, before[name]) }]
  })
  return sectionOf('times', rows)
}

/** A time of at least one second. */
const time = (seconds: number): string => duration(Math.max(1, seconds) * 1000)
function spreadText(now: Spread & object, before: Spread): string {
  const text = format(strings.stats.spread, { median: time(now.median), p95: time(now.p95) })
  if (before === null) return text
  const median = time(before.median)
  if (median === time(now.median)) return `${text} ${strings.stats.timeDelta.same}`
  return `${text} ${format(now.median > before.median ? strings.stats.timeDelta.slower : strings.stats.timeDelta.quicker, { median })}`
}

/** Adds up causes of the same text. */
function failuresOf({ failures }: Stats, { failures: most }: Room): Section {
  const causes = Map.groupBy(failures, ({ code }) =>
    code === 'unknown' ? strings.stats.unknownCause : problemText(code),
  )
  const all = [...causes]
    .map(([cause, some]) => ({ cause, count: some.reduce((sum, { count }) => sum + count, 0) }))
    .sort((one, other) => other.count - one.count)
  const rows = all.slice(0, most).map(({ cause, count }) => plainRow(cause, count, all[0]?.count ?? 0, barLooks.bad))
  return sectionOf('failures', rows, restText(strings.stats.more.causes, all.length - rows.length))
}

/** The parts of a template's bar in their order: created, in progress, failed or rejected, ended. */
const shares = [
  { look: barLooks.good, states: ['succeeded'] },
  { look: barLooks.plain, states: ['pendingApproval', 'queued', 'provisioning'] },
  { look: barLooks.bad, states: ['failed', 'rejected'] },
  { look: barLooks.ended, states: ['expired', 'cancelled'] },
] as const satisfies readonly { look: object; states: readonly RequestState[] }[]

function templatesOf({ templates }: Stats, { templates: room }: Room): Section {
  const most = templates[0]?.count ?? 0
  const rows = templates.slice(0, room).map(({ name, count, states }): BarRow => {
    const parts = shares.map(({ look, states: some }) => {
      return { look, value: some.reduce((sum, state) => sum + (states[state] ?? 0), 0) }
    })
    const note = shares.flatMap(({ states: some }) =>
      some.flatMap((state) => {
        const count = states[state] ?? 0
        return count === 0 ? [] : [format(strings.stats.state[state], { count: quantity(count) })]
      }),
    )
    return {
      label: cut(name, longest.name),
      parts: stackOf(parts, most),
      value: quantity(count),
      figures: listOf(note, 'unit'),
    }
  })
  return sectionOf('templates', rows, restText(strings.stats.more.templates, templates.length - rows.length))
}

function approversOf({ approvers, approverCount }: Stats, { approvers: room }: Room): Section {
  const most = approvers[0]?.decisions ?? 0
  const rows = approvers.slice(0, room).map(({ person, decisions, rejections, median }): BarRow => {
    const parts = [
      { value: decisions - rejections, look: barLooks.good },
      { value: rejections, look: barLooks.bad },
    ]
    const name = shortName(person) || strings.stats.erased
    const values = { median: time(median), count: quantity(rejections) }
    const figures = format(rejections === 0 ? strings.stats.approver : strings.stats.approverRejected, values)
    return { label: name, parts: stackOf(parts, most), value: quantity(decisions), figures }
  })
  return sectionOf('approvers', rows, restText(strings.stats.more.approvers, approverCount - rows.length))
}
