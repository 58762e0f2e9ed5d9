import { z } from 'zod'
import {
  type Context,
  defineUseCase,
  handedBack,
  instant,
  type Period,
  person,
  type ResourceKind,
  requestState,
  resourceKind,
  type Span,
} from '../shared/index.ts'

const count = z.int().min(0)
/** Durations in seconds: median and 95th percentile. Null without durations. */
const spread = z.object({ median: z.number(), p95: z.number() }).nullable()
export type Spread = z.output<typeof spread>

/** The figures of a period. Requests that were decided, created or failed in it may have been submitted earlier. */
const figures = z.object({
  from: instant,
  until: instant,
  /** Submitted requests. */
  asked: count,
  /** Requests with their last decision in the period; `rejected` of them were rejected. */
  decided: count,
  rejected: count,
  /** Rejected requests per 100 decided ones; null without decisions. */
  rejectionRate: z.number().nullable(),
  made: count,
  /** How often a request became `failed`. A request that was retried and failed again counts twice. */
  failed: count,
  /** From submission to the last decision. */
  toDecision: spread,
  /** From submission until the resource was created; `work`: from the last time when creation could start. */
  toCompletion: spread,
  work: spread,
})
export type Figures = z.output<typeof figures>

/** Requests that were submitted, decided and created in a period, compared with the previous period. */
export const stats = z.object({
  period: z.enum(['week', 'month', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth', 'days']),
  now: figures,
  /** The period of the same length before it. */
  before: figures,
  /** Submitted requests by kind, the most frequent kind first. */
  kinds: z.array(z.object({ kind: resourceKind, count })),
  /** Submitted requests by template, with their present states. */
  templates: z.array(
    z.object({
      templateId: z.string(),
      name: z.string(),
      kind: resourceKind,
      count,
      states: z.partialRecord(requestState, count),
    }),
  ),
  /**
   * The people with the most decisions. `median`: seconds from the start of the stage. An erased person has no name.
   */
  approvers: z.array(z.object({ person, decisions: count, rejections: count, median: z.number() })),
  /** How many people decided. */
  approverCount: count,
  /** Failures by the code of the problem; `unknown` where the problem was removed. */
  failures: z.array(z.object({ code: z.string(), count })),
})
export type Stats = z.output<typeof stats>

/** Submitted requests of one template in one state. `name`: the newest name of the template. */
export interface SubmittedRow {
  readonly kind: z.output<typeof resourceKind>
  readonly templateId: string
  readonly name: string
  readonly status: z.output<typeof requestState>
  readonly count: number
}
type Measured = Pick<Figures, 'decided' | 'rejected' | 'made' | 'failed' | 'toDecision' | 'toCompletion' | 'work'>
/** A request that has succeeded or failed. A retried or cancelled request has neither state. */
export interface EndedRequest {
  readonly kind: ResourceKind
  readonly status: 'succeeded' | 'failed'
  readonly at: Date
}

export interface StatsStore {
  submitted(tenantId: string, span: Span): Promise<SubmittedRow[]>
  countSubmitted(tenantId: string, span: Span): Promise<number>
  measure(tenantId: string, span: Span): Promise<Measured>
  /** Returns the `most` people with the most decisions, and the number of all who decided. */
  approvers(tenantId: string, span: Span, most: number): Promise<Pick<Stats, 'approvers' | 'approverCount'>>
  failures(tenantId: string, span: Span): Promise<Stats['failures']>
  /** Returns the latest `most` requests of each kind that have succeeded or failed since, in any order. */
  lastEnded(tenantId: string, since: Date, most: number): Promise<EndedRequest[]>
}

/** Approvers beyond this are only counted. */
const maxApprovers = 20

/** Returns the statistics of a period. Requests whose details were removed count too. */
export const readStats = defineUseCase({
  permission: 'stats.read',
  input: z.object({ period: handedBack<Period>() }),
  async handle({ ports, actor: { tenantId } }: Context<{ readonly stats: StatsStore }>, { period }): Promise<Stats> {
    const { stats: store } = ports
    const { name, from, until, before } = period
    const span = { from, until }
    const [rows, now, submittedBefore, then, approvers, failures] = await Promise.all([
      store.submitted(tenantId, span),
      store.measure(tenantId, span),
      store.countSubmitted(tenantId, before),
      store.measure(tenantId, before),
      store.approvers(tenantId, span, maxApprovers),
      store.failures(tenantId, span),
    ])
    return {
      period: name,
      now: figuresOf(span, sum(rows), now),
      before: figuresOf(before, submittedBefore, then),
      kinds: kindsOf(rows),
      templates: templatesOf(rows),
      ...approvers,
      failures,
    }
  },
})

function figuresOf({ from, until }: Span, submitted: number, measured: Measured): Figures {
  const { decided, rejected } = measured
  const rejectionRate = decided === 0 ? null : Math.round((rejected / decided) * 10_000) / 100
  return { from: from.toISOString(), until: until.toISOString(), asked: submitted, ...measured, rejectionRate }
}

const sum = (rows: readonly { count: number }[]): number => rows.reduce((all, { count }) => all + count, 0)
const most = (one: { count: number }, other: { count: number }): number => other.count - one.count

function kindsOf(rows: readonly SubmittedRow[]): Stats['kinds'] {
  return [...Map.groupBy(rows, ({ kind }) => kind)]
    .map(([kind, some]) => ({ kind, count: sum(some) }))
    .sort((one, other) => most(one, other) || one.kind.localeCompare(other.kind))
}

function templatesOf(rows: readonly SubmittedRow[]): Stats['templates'] {
  return [...Map.groupBy(rows, ({ templateId }) => templateId)]
    .flatMap(([templateId, [first, ...others]]) => {
      if (!first) return []
      const some = [first, ...others]
      const states = Object.fromEntries(some.map(({ status, count }) => [status, count]))
      return [{ templateId, name: first.name, kind: first.kind, count: sum(some), states }]
    })
    .sort((one, other) => most(one, other) || one.name.localeCompare(other.name))
}
