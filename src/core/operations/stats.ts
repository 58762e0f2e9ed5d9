import { z } from 'zod'
import {
  type Context,
  defineUseCase,
  handedBack,
  instant,
  type Period,
  person,
  requestState,
  resourceKind,
  type Span,
} from '../shared/index.ts'

const count = z.int().min(0)
/** How long something took: half of all within `median` seconds, 95 of 100 within `p95`. Null where there was none. */
const spread = z.object({ median: z.number(), p95: z.number() }).nullable()
export type Spread = z.output<typeof spread>

/** What happened in a span of time; what was decided, made or failed in it may have been asked for before. */
const figures = z.object({
  from: instant,
  until: instant,
  /** Submitted. */
  asked: count,
  /** Needed approval and got the last decision that it needed; `rejected` of them were rejected. */
  decided: count,
  rejected: count,
  /** Rejected of 100 that were decided; null where none was. */
  rejectionRate: z.number().nullable(),
  made: count,
  /** How often work ended in the state `failed`; what was tried again and failed again counts twice. */
  failed: count,
  /** From submission to the last decision. */
  toDecision: spread,
  /** From submission until it was made; of that, from the moment that work was last possible. */
  toCompletion: spread,
  work: spread,
})
export type Figures = z.output<typeof figures>

/** How much was asked for, decided and made in a period, and how that compares with the one before. */
export const stats = z.object({
  period: z.enum(['week', 'month', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth', 'days']),
  now: figures,
  /** The same length of time before it. */
  before: figures,
  /** Of what was asked for: the most first. */
  kinds: z.array(z.object({ kind: resourceKind, count })),
  /** The same by template, with the states that these requests are in by now. */
  templates: z.array(
    z.object({
      templateId: z.string(),
      name: z.string(),
      kind: resourceKind,
      count,
      states: z.partialRecord(requestState, count),
    }),
  ),
  /** Who decided most: each decision counts, from when the stage's turn came. An erased person has no name. */
  approvers: z.array(z.object({ person, decisions: count, rejections: count, median: z.number() })),
  /** How many people decided in all. */
  approverCount: count,
  /** Why work failed, by the code of the problem; `unknown` where it is not kept any more. */
  failures: z.array(z.object({ code: z.string(), count })),
})
export type Stats = z.output<typeof stats>

/** What is read of one span; names are the newest that there are. */
export interface AskedRow {
  readonly kind: z.output<typeof resourceKind>
  readonly templateId: string
  readonly name: string
  readonly status: z.output<typeof requestState>
  readonly count: number
}
type Measured = Pick<Figures, 'decided' | 'rejected' | 'made' | 'failed' | 'toDecision' | 'toCompletion' | 'work'>
export interface StatsStore {
  asked(tenantId: string, span: Span): Promise<AskedRow[]>
  countAsked(tenantId: string, span: Span): Promise<number>
  measure(tenantId: string, span: Span): Promise<Measured>
  /** The `most` that decided most, and how many there are in all. */
  approvers(tenantId: string, span: Span, most: number): Promise<Pick<Stats, 'approvers' | 'approverCount'>>
  failures(tenantId: string, span: Span): Promise<Stats['failures']>
}

/** More approvers are only counted. */
const mostApprovers = 20

/** What happened in a period. Requests whose words were taken out count as all others do. */
export const readStats = defineUseCase({
  permission: 'stats.read',
  input: z.object({ period: handedBack<Period>() }),
  async handle({ ports, actor: { tenantId } }: Context<{ readonly stats: StatsStore }>, { period }): Promise<Stats> {
    const { stats: store } = ports
    const { name, from, until, before } = period
    const span = { from, until }
    const [rows, now, askedBefore, then, approvers, failures] = await Promise.all([
      store.asked(tenantId, span),
      store.measure(tenantId, span),
      store.countAsked(tenantId, before),
      store.measure(tenantId, before),
      store.approvers(tenantId, span, mostApprovers),
      store.failures(tenantId, span),
    ])
    return {
      period: name,
      now: figuresOf(span, sum(rows), now),
      before: figuresOf(before, askedBefore, then),
      kinds: kindsOf(rows),
      templates: templatesOf(rows),
      ...approvers,
      failures,
    }
  },
})

function figuresOf({ from, until }: Span, asked: number, measured: Measured): Figures {
  const { decided, rejected } = measured
  const rejectionRate = decided === 0 ? null : Math.round((rejected / decided) * 10_000) / 100
  return { from: from.toISOString(), until: until.toISOString(), asked, ...measured, rejectionRate }
}

const sum = (rows: readonly { count: number }[]): number => rows.reduce((all, { count }) => all + count, 0)
const most = (one: { count: number }, other: { count: number }): number => other.count - one.count

function kindsOf(rows: readonly AskedRow[]): Stats['kinds'] {
  return [...Map.groupBy(rows, ({ kind }) => kind)]
    .map(([kind, some]) => ({ kind, count: sum(some) }))
    .sort((one, other) => most(one, other) || one.kind.localeCompare(other.kind))
}

function templatesOf(rows: readonly AskedRow[]): Stats['templates'] {
  return [...Map.groupBy(rows, ({ templateId }) => templateId)]
    .flatMap(([templateId, [first, ...others]]) => {
      if (!first) return []
      const some = [first, ...others]
      const states = Object.fromEntries(some.map(({ status, count }) => [status, count]))
      return [{ templateId, name: first.name, kind: first.kind, count: sum(some), states }]
    })
    .sort((one, other) => most(one, other) || one.name.localeCompare(other.name))
}
