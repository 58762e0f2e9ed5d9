import { z } from 'zod'
import {
  type BatchQuestion,
  inLocale,
  isForMailbox,
  type JointReport,
  type JointResult,
  lastDecision,
  maxCounted,
  maxJoint,
  openStage,
  type Request,
  referenceOf,
} from '../../core/index.ts'
import { labelFact, mainFacts, otherFacts } from '../requests/request-facts.ts'
import { type Fact, fact, readBy } from '../shared/facts.ts'
import { look, looks, marks, rowLook, toFix } from '../shared/look.ts'
import { format, keysOf, restText, strings } from '../shared/messages.ts'
import { paged, pagesAround } from '../shared/paging.ts'
import { reasonText } from '../shared/reasons.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import { age, cut, longest, moment, rowTitle, shortName, type Viewer } from '../shared/texts.ts'
import { alertsOf, notesOf } from './row-facts.ts'

const line = z.strictObject({ text: z.string(), look: rowLook })

export const decideSeveralCard = defineCard({
  name: 'decide-several',
  data: z.strictObject({
    look,
    band: z.enum(keysOf(strings.several.band)),
    /** How many requests wait. */
    waiting: z.string(),
    /** The requester and the templates of a batch. */
    asks: z.string(),
    /** The result of the last decision, and the earlier decisions. */
    results: z.array(line),
    /** The facts that all rows have in common. */
    common: z.array(fact),
    help: z.string(),
    ...paged,
    rows: z.array(
      z.strictObject({
        input: z.string(),
        reference: z.string(),
        ticked: z.enum(['true', 'false']),
        displayName: z.string(),
        says: z.string(),
        /** The results of the checks that need attention. */
        alert: z.string(),
        open: z.string(),
      }),
    ),
    /** The ticks of all requests of the card, on all pages: “all” decides no others. */
    listed: z.string(),
    /** The ticked requests on other pages. */
    ticked: z.string(),
    tickedOthers: z.string(),
    comment: z.string(),
    fault: z.enum(['', 'comment', 'ticks']),
    error: z.string(),
    /** The batch, or `''`; the stage, or 0. */
    batchId: z.string(),
    stage: z.int(),
    from: z.int(),
    decisionId: z.string(),
    isPending: z.boolean(),
  }),
})

/** The rows of a batch, or all requests that wait for the viewer. */
export interface DecideSeveral {
  readonly question?: BatchQuestion | undefined
  readonly waiting: readonly Request[]
  /** How many newer requests wait than the card lists, up to {@link maxCounted}. */
  readonly newer?: number
  /** The first row of the page, and the ticks of the requests, as `tickOf` returns them. */
  readonly from?: number
  readonly ticked?: ReadonlySet<string>
  readonly comment?: string
  readonly fault?: 'comment' | 'ticks' | ''
  /** The last decision, and the requests that it could not decide. */
  readonly last?: JointReport | undefined
  readonly undecided?: readonly Request[]
  /** The requests of the last decision, for their names. */
  readonly decided?: readonly Request[]
  /** How many waiting requests the clicked card did not list. */
  readonly more?: number
}

/** The rows of a page, and fewer for a card that would be too large. */
const sizes = [6, 5, 3, 2]
/** The facts of a row, the common facts and the failed requests that a card shows. */
const most = { facts: 3, common: 4, failed: 5, named: 5 } as const

/** Returns the name of a request's tick: its number and its open stage, so that no later stage is decided. */
export const tickOf = ({ number, approvals }: Request): string => `${number}.${openStage(approvals)?.stage ?? 1}`

/** Returns ticks as a short text: `1041.1,1042.1,1043.1,1060.2` is `1041-1043.1,1060.2`. */
export function shortTicks(ticks: readonly string[]): string {
  const runs: { first: number; last: number; stage: number }[] = []
  for (const tick of ticks) {
    const [number = 0, stage = 0] = tick.split('.').map(Number)
    const run = runs.at(-1)
    if (run?.stage === stage && run.last + 1 === number) run.last = number
    else runs.push({ first: number, last: number, stage })
  }
  return runs.map(({ first, last, stage }) => `${first === last ? first : `${first}-${last}`}.${stage}`).join(',')
}

/** Reads the result of {@link shortTicks}. Ignores other text, and ticks after the first {@link maxJoint}. */
export function readTicks(text: string): ReadonlySet<string> {
  const ticks = new Set<string>()
  for (const one of text.split(',')) {
    const [, first, last = first, stage] = /^(\d{1,9})(?:-(\d{1,9}))?\.([1-9]\d?)$/.exec(one) ?? []
    for (let number = Number(first); number <= Number(last) && ticks.size < maxJoint; number += 1)
      ticks.add(`${number}.${stage}`)
  }
  return ticks
}

export function decideSeveralView(
  {
    question,
    waiting: stored,
    newer = 0,
    from = 0,
    ticked = new Set(),
    comment = '',
    fault = '',
    last,
    undecided = [],
    decided = [],
    more = 0,
  }: DecideSeveral,
  viewer: Viewer,
  size: number = 6,
): ViewOf<typeof decideSeveralCard> {
  const texts = strings.several
  const waiting = stored.map((request) => readBy(request, viewer))
  const start = Math.max(0, Math.min(Math.floor(from / size), Math.ceil(waiting.length / size) - 1) * size)
  const shown = waiting.slice(start, start + size)
  const facts = new Map(waiting.map((request) => [request.requestId, factsOf(request)]))
  const common = question && waiting.length > 1 ? commonOf([...facts.values()]) : []
  const others = waiting.filter((request) => ticked.has(tickOf(request)) && !shown.includes(request))
  const pending = last ? last.decision.items.filter(({ requestId }) => last.results[requestId] === undefined).length : 0
  const isOver = waiting.length === 0
  return {
    look: fault ? toFix : isOver ? (pending > 0 ? looks.queued : looks.succeeded) : looks.pendingApproval,
    band: fault ? 'fix' : isOver ? 'over' : 'waiting',
    waiting: format(newer < maxCounted ? texts.waits : texts.waitsMany, { count: waiting.length + newer }),
    asks: question ? asksOf(question, viewer) : '',
    results: [...resultsOf(last, undecided, decided, pending, viewer), ...moreWaitOf(more), ...earlierOf(question)],
    common: common.slice(0, most.common),
    help: helpOf(waiting.length, shown.length, newer),
    ...pagesAround(start, shown.length, waiting.length, size),
    rows: shown.map((request) => {
      const own = (facts.get(request.requestId) ?? []).filter((one) => !common.some((other) => isSame(one, other)))
      const reference = referenceOf(request)
      return {
        input: `row.${tickOf(request)}`,
        reference,
        ticked: ticked.has(tickOf(request)) ? 'true' : 'false',
        displayName: rowTitle(request.details),
        says: cut((question ? factTexts(own) : listTexts(request, viewer)).join(' · '), longest.address),
        alert: alertsOf(request, viewer),
        open: format(strings.list.open, { reference }),
      }
    }),
    listed: shortTicks(waiting.map(tickOf)),
    ticked: others.map(tickOf).join(','),
    tickedOthers: restText(texts.tickedOthers, others.length),
    comment: cut(comment, 500),
    fault,
    error: fault ? texts.error[fault] : '',
    batchId: question?.batch.batchId ?? '',
    stage: question?.stage ?? 0,
    from: start,
    decisionId: last?.decision.decisionId ?? '',
    isPending: pending > 0,
  }
}

/** Renders the card, with fewer rows if it would be too large. */
export const renderDecideSeveral = (several: DecideSeveral, viewer: Viewer): CardJson =>
  firstThatFits(sizes.map((size) => () => decideSeveralCard.render(decideSeveralView(several, viewer, size))))

function helpOf(listed: number, shown: number, newer: number): string {
  const { help, helpPages, helpOldest } = strings.several
  if (newer > 0) return format(helpOldest, { count: listed })
  return listed > shown ? helpPages : help
}

function asksOf({ batch, waiting, stage }: BatchQuestion, { locale }: Viewer): string {
  const templates = [...new Set(waiting.map(({ template }) => inLocale(template, locale).name))]
  const [template = ''] = templates
  const name = shortName(batch.requester)
  const values = { name, template: cut(template, longest.name), templates: templates.length, stage }
  const stages = Math.max(1, ...waiting.map(({ approvals }) => approvals.length))
  return format(strings.several.asks[stages > 1 ? 'stage' : 'only'], { ...values, stages }).trim()
}

/** The facts of a request that may differ between rows: the address first. */
function factsOf(request: Request): Fact[] {
  // A site's address is too long for a row.
  const value = isForMailbox(request) ? request.address : request.alias
  const address = { label: strings.field.address, value }
  return [address, ...mainFacts(request, longest.name), ...labelFact(request), ...otherFacts(request)]
}

const isSame = (one: Fact, other: Fact): boolean => one.label === other.label && one.value === other.value

/** The facts that all rows have with the same value. */
const commonOf = ([first = [], ...rest]: readonly Fact[][]): { label: string; value: string }[] =>
  first
    .filter((one) => rest.every((facts) => facts.some((other) => isSame(one, other))))
    .map(({ label, value }) => ({ label, value: cut(value, longest.title) }))

/** The address alone needs no label. */
const factTexts = (facts: readonly Fact[]): string[] =>
  facts
    .slice(0, most.facts)
    .map(({ label, value }) =>
      label === strings.field.address
        ? value
        : format(strings.several.fact, { label, value: cut(value, longest.name) }),
    )

const listTexts = (request: Request, viewer: Viewer): string[] => [
  format(strings.approvals.asks, { kind: strings.kind[request.kind], name: shortName(request.requester) }),
  age(request.submittedAt, viewer),
  ...[notesOf(request, viewer)].filter((notes) => notes !== ''),
]

type Line = z.output<typeof line>

function resultsOf(
  last: JointReport | undefined,
  undecided: readonly Request[],
  decided: readonly Request[],
  pending: number,
  viewer: Viewer,
): Line[] {
  if (!last) return []
  const texts = strings.several
  const { decision } = last.decision
  const repeated = undecided.filter((request) => isRepeated(request, last, viewer))
  const done = Object.values(last.results).filter((result) => result === 'done').length + repeated.length
  const named = [...decided.filter(({ requestId }) => last.results[requestId] === 'done'), ...repeated].sort(
    (one, other) => one.number - other.number,
  )
  const failed = undecided
    .filter((request) => !repeated.includes(request))
    .map((request): Line => {
      return { text: failureText(request, last.results[request.requestId], viewer), look: marks.attention }
    })
  const hidden = failed.length - most.failed
  return [
    ...(done > 0
      ? [
          {
            text: `${format(texts.done[decision], { count: done })} ${namesOf(named, done)}`.trim(),
            look: marks.good,
          },
        ]
      : []),
    ...failed.slice(0, most.failed),
    ...(hidden > 0 ? [{ text: format(texts.moreFailed, { count: hidden }), look: marks.attention }] : []),
    ...(pending > 0 ? [{ text: format(texts.pending, { count: pending }), look: marks.busy }] : []),
  ]
}

/** Whether the viewer has already made this decision in this stage: a second click on the same button is no failure. */
function isRepeated({ requestId, approvals }: Request, { decision, results }: JointReport, { id }: Viewer): boolean {
  const result = results[requestId]
  if (typeof result !== 'object' || result.code !== 'already-decided') return false
  const stage = decision.items.find((item) => item.requestId === requestId)?.stage
  const decisions = approvals.filter((one) => one.stage === stage).flatMap((one) => one.decisions)
  return decisions.some((one) => one.by.id === id && one.decision === decision.decision)
}

/** The decided requests, of which there are `count`, the first ones by name; `''` if they were not read. */
function namesOf(decided: readonly Request[], count: number): string {
  const named = decided.slice(0, most.named).map((request) =>
    format(strings.several.named, {
      reference: referenceOf(request),
      name: cut(request.details.displayName, longest.name),
    }),
  )
  if (named.length === 0) return ''
  return format(strings.several.decided, { list: named.join(', '), count: count - named.length })
}

/** Why a request was not decided. */
function failureText(request: Request, result: JointResult | undefined, viewer: Viewer): string {
  const texts = strings.several
  const values = { reference: referenceOf(request), name: shortName(request.details) }
  const earlier = lastDecision(request.approvals)
  if (typeof result !== 'object') return format(texts.failed, { ...values, reason: '' })
  if (result.code === 'already-decided' && earlier)
    return format(texts.decidedBefore, {
      ...values,
      by: shortName(earlier.by),
      decision: earlier.decision,
      at: moment(earlier.at, viewer, 'full'),
    })
  return format(texts.failed, { ...values, reason: reasonText(result.reason) })
}

/** The requests that the clicked card did not list. */
const moreWaitOf = (count: number): Line[] =>
  count === 0 ? [] : [{ text: format(strings.several.moreWait, { count }), look: marks.attention }]

/** All decisions so far about the rows of a batch. */
function earlierOf(question: BatchQuestion | undefined): Line[] {
  const { approved = 0, rejected = 0, over = 0 } = question ?? {}
  if (approved + rejected + over === 0) return []
  return [{ text: format(strings.several.earlier, { approved, rejected, over }), look: marks.ended }]
}
