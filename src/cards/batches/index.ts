/** The card of a batch for its requester: the progress of its rows, and the summary at its end. */
import { z } from 'zod'
import {
  type BatchProgress,
  isBatchOver,
  isForMailbox,
  lastDecision,
  type ProgressRow,
  referenceOf,
} from '../../core/index.ts'
import { problemText } from '../requests/steps.ts'
import { outlookLink, siteAddress, withoutScheme } from '../shared/links.ts'
import { look, looks, marks, plain, type RowLook, rowLook, shownState, toKnow } from '../shared/look.ts'
import { commandName, format, keysOf, strings } from '../shared/messages.ts'
import { paged, pagesAround } from '../shared/paging.ts'
import { reasonText } from '../shared/reasons.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import { cut, longest, rowTitle, shortName, type Viewer } from '../shared/texts.ts'

export const batchCard = defineCard({
  name: 'batch',
  data: z.strictObject({
    look,
    band: z.enum(keysOf(strings.batch.band)),
    quantity: z.string(),
    says: z.array(z.strictObject({ text: z.string() })),
    ...paged,
    rows: z.array(
      z.strictObject({
        displayName: z.string(),
        says: z.string(),
        look: rowLook,
        reference: z.string(),
        open: z.string(),
        /** The command or the address that a tap on the row opens; a refused row has neither. */
        command: z.string(),
        url: z.string(),
      }),
    ),
    batchId: z.uuid(),
  }),
})

/** A batch for its requester. `isSummary`: the card at the end; the earlier card then only refers to it. */
export interface BatchCard {
  readonly progress: BatchProgress
  readonly isSummary: boolean
  readonly from?: number
}

/** The rows of a page, and fewer for a card that would be too large. */
const sizes = [8, 5, 3]

export function batchView(
  { progress, isSummary, from = 0 }: BatchCard,
  viewer: Viewer,
  size: number = 8,
): ViewOf<typeof batchCard> {
  const { batch, rows } = progress
  const isOver = isBatchOver(progress)
  const isDone = isOver && !isSummary
  const sorted = isDone ? [] : rows.toSorted((one, other) => rank(one) - rank(other))
  const start = Math.max(0, Math.min(Math.floor(from / size), Math.ceil(sorted.length / size) - 1) * size)
  const shown = sorted.slice(start, start + size)
  const isGood = rows.every(({ request }) => request?.status === 'succeeded')
  const texts = strings.batch
  const reasons = [batch.waitsFor, batch.problem].flatMap((one) => (one ? [reasonText(one.reason)] : []))
  const sentences = isDone ? [texts.seeBelow] : [countsOf(rows), ...reasons]
  return {
    look: isDone ? plain : !isOver ? looks.queued : isGood ? looks.succeeded : toKnow,
    band: isDone ? 'done' : !isOver ? 'running' : 'over',
    quantity: format(texts.total, { count: rows.length }),
    says: sentences.map((text) => ({ text })),
    ...pagesAround(start, shown.length, sorted.length, size),
    rows: shown.map((row) => rowOf(row, viewer)),
    batchId: batch.batchId,
  }
}

/** Renders the card, with fewer rows if it would be too large. */
export const renderBatch = (card: BatchCard, viewer: Viewer): CardJson =>
  firstThatFits(sizes.map((size) => () => batchCard.render(batchView(card, viewer, size))))

type State = keyof typeof strings.batch.counts

const stateOf = ({ status, request }: ProgressRow): State => {
  if (!request) return status === 'submitted' ? 'waiting' : status
  const state = shownState(request)
  return state === 'queued' ? 'provisioning' : state
}

/** Rows that need attention first, then those in progress, then those that are ready. */
const order: readonly State[] = [
  ...(['failed', 'refused', 'rejected', 'expired', 'cancelled'] as const),
  ...(['succeeded', 'provisioning', 'pendingApproval', 'waiting'] as const),
]
const rank = (row: ProgressRow): number => (takenIn(row) === undefined ? order.indexOf(stateOf(row)) : -1)

/** The taken address of a waiting row, which the requester has to change; undefined without one. */
const takenIn = ({ request }: ProgressRow): string | undefined =>
  request?.status === 'pendingApproval' ? request.addressConflict?.taken : undefined

/** "38 ready. 2 rejected." */
function countsOf(rows: readonly ProgressRow[]): string {
  const counts = order.toReversed().flatMap((state) => {
    const count = rows.filter((row) => stateOf(row) === state).length
    return count > 0 ? [format(strings.batch.counts[state], { count })] : []
  })
  return counts.join(' ')
}

function rowOf(row: ProgressRow, viewer: Viewer): ViewOf<typeof batchCard>['rows'][number] {
  const { request, key } = row
  const state = stateOf(row)
  const reference = request ? referenceOf(request) : ''
  const url = request && state === 'succeeded' ? linkOf(request, viewer) : ''
  return {
    displayName: request ? rowTitle(request.details) : format(strings.batch.row, { key: cut(key, longest.name) }),
    says: cut(saysOf(row, viewer), longest.address) || strings.batch.state[state],
    look: takenIn(row) === undefined ? lookOf[state] : marks.attention,
    reference,
    open: request ? format(strings.list.open, { reference }) : '',
    command: request && url === '' ? `${commandName('status')} ${reference}` : '',
    url,
  }
}

const lookOf = {
  failed: marks.wrong,
  refused: marks.wrong,
  rejected: marks.wrong,
  expired: marks.ended,
  cancelled: marks.ended,
  succeeded: marks.good,
  provisioning: marks.busy,
  pendingApproval: marks.busy,
  waiting: marks.busy,
} as const satisfies Record<State, RowLook>

const linkOf = (request: NonNullable<ProgressRow['request']>, viewer: Viewer): string =>
  isForMailbox(request) ? outlookLink(request, viewer) : siteAddress(request, viewer)

/** The link of a ready row, the comment of a rejection, the reason of a failure; else the state. */
function saysOf(row: ProgressRow, viewer: Viewer): string {
  const { request, problem } = row
  const state = stateOf(row)
  const taken = takenIn(row)
  if (taken !== undefined) return format(strings.approval.check.addressTaken, { value: taken })
  if (problem) return reasonText(problem.errors[0]?.reason ?? problem.reason)
  if (!request) return strings.batch.state[state]
  if (state === 'succeeded')
    return isForMailbox(request) ? request.address : withoutScheme(siteAddress(request, viewer))
  if (state === 'rejected') {
    const { by, comment = '' } = lastDecision(request.approvals) ?? {}
    return by ? format(strings.batch.rejectedBy, { name: shortName(by), comment }) : strings.batch.state[state]
  }
  if (state === 'failed' && request.problem) return problemText(request.problem.code)
  return strings.batch.state[state]
}
