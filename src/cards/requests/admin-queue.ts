import { z } from 'zod'
import {
  type Attention,
  isForMailbox,
  nextStep,
  openStage,
  type Person,
  type Queue,
  type QueueEntry,
  type Request,
  referenceOf,
  type WhyLost,
  waitingFor,
} from '../../core/index.ts'
import { marks, type RowLook, rowLook } from '../shared/look.ts'
import { format, keysOf, restText, strings } from '../shared/messages.ts'
import { paged, pageOf } from '../shared/paging.ts'
import { problemSentence } from '../shared/reasons.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import {
  bound,
  cut,
  decidersOf,
  duration,
  longest,
  moment,
  peopleList,
  rowTitle,
  shortName,
  time,
  type Viewer,
} from '../shared/texts.ts'
import { problemFor, stepText } from './steps.ts'

type Why = keyof typeof strings.queue.why
/** A request in a list for admins. */
export const waitingRow = z.strictObject({
  reference: z.string(),
  displayName: z.string(),
  by: z.string(),
  why: z.string(),
  age: z.string(),
  look: rowLook,
  /** The command that the row types: how to fix the request, or its status. */
  types: z.string(),
})

type Section = keyof typeof strings.queue.section
const sections = keysOf(strings.queue.section)

export const adminQueueCard = defineCard({
  name: 'admin-queue',
  data: z.strictObject({
    at: z.string(),
    counts: z.strictObject({ waiting: z.int(), creating: z.int(), failed: z.int() }),
    /** The rows of this page, by what they wait for. */
    sections: z.array(z.strictObject({ name: z.enum(sections), rows: z.array(waitingRow).min(1) })),
    isEmpty: z.boolean(),
    /** Whether a request needs attention. */
    hasAttention: z.boolean(),
    isDirectorySilent: z.boolean(),
    ...paged,
    /** How many more there are beyond those that were read, or `''`. */
    older: z.string(),
  }),
})

/** The open requests of the tenant: counts and a page, first those that need attention. `from`: the first row of the page. */
export function adminQueueView(
  { counts, open, entries, isDirectorySilent = false }: Queue,
  viewer: Viewer,
  from = 0,
): ViewOf<typeof adminQueueCard> {
  const { shown, page } = pageOf(entries, from)
  const bySection = Map.groupBy(shown, sectionOf)
  return {
    at: time(viewer),
    counts: { ...counts },
    sections: [...bySection].map(([name, of]) => ({ name, rows: of.map((entry) => rowOf(entry, viewer, 120)) })),
    isEmpty: entries.length === 0,
    hasAttention: entries.some(({ attention }) => attention !== undefined),
    isDirectorySilent,
    ...page,
    older: restText(strings.queue.older, open - entries.length),
  }
}

function sectionOf({ attention, request }: QueueEntry): Section {
  if (attention) return 'attention'
  return sections.find((one) => one === request.status) ?? 'attention'
}

/** A row: the request, how long and why it waits, and the command that the row types. `most`: characters of the reason. */
export function rowOf(entry: QueueEntry, viewer: Viewer, most: number): z.output<typeof waitingRow> {
  const { request, since, attention } = entry
  const { why, value } = reasonOf(entry, viewer)
  const reference = referenceOf(request)
  const name = shortName(request.requester)
  return {
    reference,
    displayName: rowTitle(request.details),
    by: format(strings.queue.by, { name }),
    why: format(strings.queue.why[why], { value: cut(value, most) }),
    age: duration(viewer.now.getTime() - Date.parse(since)),
    look: lookOf(entry),
    types: format(strings.queue.types[attention?.remedies[0] ?? 'status'], { reference }),
  }
}

export function lookOf({ request, attention }: Pick<QueueEntry, 'request' | 'attention'>): RowLook {
  if (request.status === 'failed') return marks.wrong
  return attention ? marks.attention : marks.busy
}

/** A key of `strings.queue.why`, and its argument. */
type Reason = { readonly why: Why; readonly value: string }

/** The reason why a request waits; for a failed request the error of Microsoft 365, which admins need. */
export function reasonOf(entry: Pick<QueueEntry, 'request' | 'attention' | 'nextTryAt'>, viewer: Viewer): Reason {
  const { request, attention } = entry
  const mailbox = isForMailbox(request)
  if (attention?.people) return lossOf(attention.why, attention.people)
  switch (request.status) {
    case 'failed':
      return { why: 'failed', value: problemOf(request) }
    case 'pendingApproval':
      return waitsFor(request)
    case 'queued':
      return { why: attention ? 'notStarted' : 'queued', value: '' }
    case 'provisioning':
      return atWork(entry, viewer)
    default:
      if (mailbox) return { why: attention ? 'notTold' : 'telling', value: '' }
      return { why: attention ? 'notFound' : 'finding', value: '' }
  }
}

const problemOf = ({ problem }: Request): string =>
  (problem && problemFor(problem, { isAdmin: true })) || strings.problem.unexpected

/** The messages for one person, and for several. */
const losses = {
  gone: ['gone', 'goneMany'],
  blocked: ['blocked', 'blockedMany'],
  left: ['left', 'leftMany'],
  unreached: ['unreached', 'unreached'],
} as const satisfies Record<WhyLost, readonly [Why, Why]>

function lossOf(why: Attention['why'], people: readonly Person[]): Reason {
  const [one, many] = Object.entries(losses).find(([known]) => known === why)?.[1] ?? ['waitsFor', 'waitsFor']
  return { why: people.length > 1 ? many : one, value: peopleList(people, 'and', 3) }
}

/** The current step; for repeated failures also the last problem and the time of the next attempt. */
function atWork({ request, attention, nextTryAt }: Parameters<typeof reasonOf>[0], viewer: Viewer): Reason {
  const next = nextStep(request)
  const step = stepText(request, next?.name)
  const problem = next?.problem ? cut(problemSentence(next.problem), longest.text) : ''
  if (!attention) return { why: 'creating', value: step }
  if (attention.why === 'late') {
    const since = next?.startedAt === undefined ? '' : bound('since', next.startedAt, viewer, 'full')
    return {
      why: 'late',
      value: format(problem ? strings.queue.late.last : strings.queue.late.now, { since, problem }),
    }
  }
  if (attention.why === 'retrying') {
    const at = nextTryAt && nextTryAt > viewer.now ? moment(nextTryAt.toISOString(), viewer, 'full') : ''
    const message = at === '' ? strings.queue.tried.now : strings.queue.tried.next
    return { why: 'retrying', value: format(message, { step, count: String(next?.attempts ?? 1), problem, at }) }
  }
  return { why: 'standsStill', value: problem ? format(strings.queue.tried.last, { step, problem }) : step }
}

function waitsFor({ approvals }: Request): Reason {
  const stage = openStage(approvals)
  const people = waitingFor(approvals)
  if (!stage || people.length === 0) return { why: 'waitsForNobody', value: '' }
  return { why: 'waitsFor', value: decidersOf(stage, people) }
}
