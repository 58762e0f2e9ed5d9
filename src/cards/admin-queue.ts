import { z } from 'zod'
import {
  isForMailbox,
  nextStep,
  openStage,
  type Queue,
  type QueueEntry,
  type Request,
  referenceOf,
  type Stuck,
  waitingFor,
} from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { type RowLook, rowLook, rowLooks } from './look.ts'
import { stepWords } from './steps.ts'
import { strings } from './strings.ts'
import { cut, decidersOf, duration, longest, time, type Viewer } from './words.ts'

type Why = keyof typeof strings.queue.why
/** Why a request stands where it stands: a key of `strings.queue.why`, and what goes into its words. */
export const whys = Object.keys(strings.queue.why) as [Why, ...Why[]]

/** A request in a list for admins. */
export const waitingRow = z.strictObject({
  reference: z.string(),
  displayName: z.string(),
  requester: z.string(),
  why: z.enum(whys),
  value: z.string(),
  age: z.string(),
  look: rowLook,
})

export const adminQueueCard = defineCard({
  name: 'admin-queue',
  data: z.strictObject({
    at: z.string(),
    counts: z.strictObject({ waiting: z.int(), creating: z.int(), failed: z.int() }),
    hasAttention: z.boolean(),
    attention: z.array(waitingRow),
    hasUnderWay: z.boolean(),
    underWay: z.array(waitingRow),
    isEmpty: z.boolean(),
    older: z.int(),
    /** The only one that failed, which the button tries again; `''` for none, or several. */
    retry: z.string(),
    severalFailed: z.boolean(),
  }),
})
export const adminStuckCard = defineCard({
  name: 'admin-stuck',
  data: z.strictObject({
    at: z.string(),
    count: z.int(),
    heading: z.enum(['one', 'many']),
    older: z.int(),
    requests: z.array(waitingRow.extend({ mend: z.enum(['retry', 'cancel', 'look']) })).min(1),
  }),
})

/** A list shows six rows; those that need somebody come first. */
const mostRows = 6

/** All that is open in the tenant: how much, and the first of it, what needs somebody before all else. */
export function adminQueueView(
  { counts, open, entries }: Queue,
  viewer: Viewer,
): Parameters<typeof adminQueueCard.render>[0] {
  const shown = entries.slice(0, mostRows)
  const attention = shown.filter((entry) => entry.attention).map((entry) => rowOf(entry, viewer, 120))
  const underWay = shown.filter((entry) => !entry.attention).map((entry) => rowOf(entry, viewer, 120))
  const failed = entries.find(({ request }) => request.status === 'failed')
  return {
    at: time(viewer),
    counts: { ...counts },
    hasAttention: attention.length > 0,
    attention,
    hasUnderWay: underWay.length > 0,
    underWay,
    isEmpty: entries.length === 0,
    older: open - shown.length,
    retry: failed && counts.failed < 2 ? referenceOf(failed.request) : '',
    severalFailed: counts.failed > 1,
  }
}

/** What is past the deadline of its state, each with what would mend it. There must be one. */
export function adminStuckView({ count, entries }: Stuck, viewer: Viewer): Parameters<typeof adminStuckCard.render>[0] {
  const shown = entries.slice(0, mostRows)
  return {
    at: time(viewer),
    count,
    heading: count === 1 ? 'one' : 'many',
    older: count - shown.length,
    requests: shown.map((entry) => ({
      ...rowOf(entry, viewer, longest.text),
      mend: entry.attention?.mend ?? 'look',
    })),
  }
}

export function rowOf(entry: QueueEntry, viewer: Viewer, most: number): z.output<typeof waitingRow> {
  const { request, since } = entry
  const { why, value } = reasonOf(entry)
  return {
    reference: referenceOf(request),
    displayName: cut(request.details.displayName, longest.name),
    requester: cut(request.requester.displayName, longest.name),
    why,
    value: cut(value, most),
    age: duration(viewer.now.getTime() - Date.parse(since)),
    look: lookOf(entry),
  }
}

/** `✕` failed, `!` late, `●` on its way. */
export function lookOf({ request, attention }: Pick<QueueEntry, 'request' | 'attention'>): RowLook {
  if (request.status === 'failed') return { ...rowLooks.failed, now: false }
  return attention ? { ...rowLooks.done, mark: '!', color: 'Attention' } : { ...rowLooks.now, now: false }
}

/** Why a request is where it is. Of one that failed, what Microsoft 365 answered: admins go on from it. */
export function reasonOf({ request, attention }: Pick<QueueEntry, 'request' | 'attention'>): {
  why: Why
  value: string
} {
  const mailbox = isForMailbox(request)
  const step = stepWords(request, nextStep(request)?.name)
  switch (request.status) {
    case 'failed':
      return { why: 'failed', value: request.problem?.detail || strings.problem.unexpected }
    case 'pendingApproval':
      return waitsFor(request)
    case 'queued':
      return { why: attention ? 'notStarted' : 'queued', value: '' }
    case 'provisioning':
      return { why: attention ? 'standsStill' : 'creating', value: step }
    default:
      if (mailbox) return { why: attention ? 'notTold' : 'telling', value: '' }
      return { why: attention ? 'notFound' : 'finding', value: '' }
  }
}

function waitsFor({ approvals }: Request): { why: Why; value: string } {
  const stage = openStage(approvals)
  const people = waitingFor(approvals)
  if (!stage || people.length === 0) return { why: 'waitsForNobody', value: '' }
  return { why: 'waitsFor', value: decidersOf(stage, people) }
}
