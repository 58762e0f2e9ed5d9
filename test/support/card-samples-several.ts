import { batchCard, batchView } from '../../src/cards/batches/index.ts'
import { decideSeveralCard, decideSeveralView } from '../../src/cards/decisions/decide-several.ts'
import {
  type Batch,
  type BatchQuestion,
  type JointReport,
  maxCounted,
  type ProgressRow,
  type Request,
} from '../../src/core/index.ts'
import { mailboxes } from './card-mailboxes.ts'
import { approvedBy, at, dana, kim, omar, requestOf, requests, stageOf, tenantId, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

const asDana = viewerOf(dana)
const asKim = viewerOf(kim)
const batchId = '7c4e2a60-91d3-4b5f-8a7e-5d0c3b2a1f77'
const decisionId = '7c4e2a60-91d3-4b5f-8a7e-5d0c3b2a1f78'
const idOf = (place: number) => `7c4e2a60-91d3-4b5f-8a7e-${String(place).padStart(12, '0')}`

const batch: Batch = {
  ...{ v: 1, batchId, tenantId, resource: 'site', status: 'finished', requester: kim, waitsFor: null, problem: null },
  ...{ createdAt: at('09:00'), updatedAt: at('09:02'), endedAt: at('09:02') },
}

/** A row of the batch: a site with its own name, address and cost centre. The fourth row has one owner, and the fifth a taken address. */
const rowOf = (place: number): Request => {
  const { details } = requestOf()
  const metadata = { ...details.metadata, costCentre: `47${10 + place}` }
  return requestOf({
    requestId: idOf(place),
    number: 1040 + place,
    details: { ...details, displayName: `Building ${place}, drawings and minutes`, description: 'Drawings', metadata },
    alias: `building-${place}`,
    ...(place === 5 && { addressConflict: { taken: 'building-5', suggestion: 'building-5-2', at: at('09:20') } }),
    owners: place === 4 ? [kim] : [kim, omar],
    approvals: [stageOf(1, [dana, omar]), stageOf(2, [omar])],
    batch: { batchId, row: String(place) },
  })
}
const rows = Array.from({ length: 40 }, (_, place) => rowOf(place + 1))
const question: BatchQuestion = {
  ...{ batch, stage: 1, waiting: rows, approved: 0, rejected: 0, over: 0, last: undefined, undecided: [] },
}
const report: JointReport = {
  decision: {
    ...{ v: 1, decisionId, tenantId, personId: dana.id, decision: 'approved', comment: '' },
    items: rows.slice(0, 38).map(({ requestId }) => ({ requestId, stage: 1 })),
  },
  results: Object.fromEntries(
    rows.slice(0, 30).map(({ requestId }, index) => [
      requestId,
      index === 0
        ? {
            code: 'already-decided',
            reason: {
              key: 'decidedBy',
              facts: { name: 'Omar Haddad', decision: 'approved', at: '2026-11-20T10:00:00Z' },
            },
          }
        : ('done' as const),
    ]),
  ),
}
/** The first row, which Omar approved before the click. */
const decided = {
  ...rowOf(1),
  approvals: [stageOf(1, [dana, omar], { decisions: [approvedBy(omar, '09:31')] }), stageOf(2, [omar])],
}
const left = { ...question, waiting: rows.slice(38), approved: 29, over: 1, last: report, undecided: [decided] }
const over = { ...left, waiting: [], approved: 39 }

const progressRow = (request: Request | null, place: number, more: Partial<ProgressRow> = {}): ProgressRow => {
  return { key: String(place), status: 'submitted', problem: null, request, ...more }
}
const ended: readonly ProgressRow[] = [
  progressRow(requests.ready, 1),
  progressRow(mailboxes.ready, 2),
  progressRow(requests.rejected, 3),
  progressRow(requests.failed, 4),
  progressRow(null, 5, {
    status: 'refused',
    problem: {
      code: 'validation-failed',
      reason: { key: 'asWritten', facts: { text: 'Enter a cost centre.' } },
      errors: [],
    },
  }),
]
const running = rows.map((request, place) => progressRow(request, place + 1))

/** Cards about several requests at once. */
export const severalSamples: readonly Sample[] = [
  sample('', decideSeveralCard, () => decideSeveralView({ question, waiting: rows }, asDana)),
  sample('ticked', decideSeveralCard, () =>
    decideSeveralView(
      { question, waiting: rows, from: 6, ticked: new Set(['1041.1', '1050.1']), fault: 'comment' },
      asDana,
    ),
  ),
  sample('no-ticks', decideSeveralCard, () =>
    decideSeveralView({ question, waiting: rows.slice(0, 2), fault: 'ticks', comment: 'Fine.' }, asDana),
  ),
  sample('pending', decideSeveralCard, () =>
    decideSeveralView({ question: left, waiting: left.waiting, last: report, undecided: left.undecided }, asDana),
  ),
  sample('over', decideSeveralCard, () => decideSeveralView({ question: over, waiting: [] }, asDana)),
  sample('oldest', decideSeveralCard, () => decideSeveralView({ waiting: rows, newer: maxCounted }, asDana)),
  sample('list', decideSeveralCard, () =>
    decideSeveralView({ waiting: [requests.waiting, mailboxes.waiting] }, asDana),
  ),
  sample('', batchCard, () => batchView({ progress: { batch, rows: running }, isSummary: false }, asKim)),
  sample('over', batchCard, () => batchView({ progress: { batch, rows: ended }, isSummary: true }, asKim)),
  sample('done', batchCard, () => batchView({ progress: { batch, rows: ended }, isSummary: false }, asKim)),
]
