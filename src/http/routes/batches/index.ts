/** Many requests in one call. */
import { z } from 'zod'
import {
  type BatchReason,
  type BatchReport,
  type BatchRow,
  batchOrder,
  batchRowStatuses,
  batchRowView,
  batchView,
  type CheckedRow,
  checkedRow,
  maxRows,
  readsOf,
  referenceOf,
} from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import { type ApiTexts, errorsOf } from '../../server/problem.ts'
import { listOf, paging, warningsWithTexts } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const ofOneBatch = z.object({ batchId: z.uuid().toLowerCase() })
/** 200 rows of the longest realistic mailbox need about half of it. */
const largestBatch = { bytes: 512 * 1024, depth: 10 } as const
/** A dry run checks all rows before it answers. The client waits 150 s. Seconds. */
const longestSeconds = 180
/** The first rows are submitted within this time. Seconds. */
const firstPoll = '5'

const dryRun = z.strictObject({
  valid: z.boolean().describe('Whether every row is valid.'),
  rows: z.array(checkedRow),
})

/**
 * Many requests in one call, queued under the rate limits. The caller needs a token for the resource, as for the call
 * that creates one. A repeat under the same Idempotency-Key returns the same batch.
 */
const createBatch = defineRoute({
  id: 'createBatch',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/batch',
  summary: 'Request many sites or mailboxes at once, or preview them',
  description:
    'Queues up to 200 requests of one kind in one call. Jobs submit the rows within the rate limits. A dry run returns a preview of each row.',
  permission: 'request.create',
  audience: 'any',
  // A body without a valid resource is refused by its field, with any token.
  audienceOf: (body) => {
    const { resource } = Object(body)
    return resource === 'mailbox' ? 'mail' : resource === 'site' ? 'collab' : 'any'
  },
  body: batchOrder,
  largest: largestBatch,
  longestSeconds,
  answers: {
    200: { description: 'The result of a dry run: a preview of each row. Nothing was stored.', body: dryRun },
    202: {
      description: 'Accepted: the rows are submitted one after the other. Poll `Location` after `Retry-After`.',
      body: batchView,
      headers: ['Location', 'Retry-After'],
    },
  },
  refusals: ['too-many-open-requests', 'not-found'],
  examples: examples.createBatch,
  idempotent: true,
  // Each row of a dry run costs as much as a preview.
  extraReads: (body) => {
    const { dryRun, rows } = Object(body)
    if (dryRun !== true || !Array.isArray(rows)) return 0
    return rows.slice(0, maxRows).reduce((sum, row) => sum + readsOf(Object(row).body), 0)
  },
  changesNothing: (body) => Object(body).dryRun === true,
  async handle({ actor, services, core, requestId: batchId }, { body }) {
    if (body.dryRun) {
      const rows = await core.checkBatch(actor, body)
      return {
        status: 200,
        body: {
          valid: rows.every(({ status }) => status === 'ok'),
          rows: rows.map((row) => showChecked(row, services.texts)),
        },
      }
    }
    return {
      status: 202,
      headers: { Location: `/batches/v1/${batchId}`, 'Retry-After': firstPoll },
      body: showBatch(await core.beginBatch(actor, { batchId, ...body }), services.texts),
    }
  },
})

const showChecked = (row: CheckedRow, texts: ApiTexts) => ({
  ...row,
  warnings: warningsWithTexts(row.warnings, texts),
  errors: errorsOf(texts, row.errors),
})

function showBatch({ batch: one, counts }: BatchReport, texts: ApiTexts): z.output<typeof batchView> {
  const { v: _, clientId: __, ...shown } = one
  const { waiting = 0, submitted = 0, refused = 0, cancelled = 0 } = counts.rows
  const total = waiting + submitted + refused + cancelled
  const waitsFor = shown.waitsFor && showReason(shown.waitsFor, texts)
  const problem = shown.problem && showReason(shown.problem, texts)
  return {
    ...shown,
    waitsFor,
    problem,
    rows: { total, waiting, submitted, refused, cancelled },
    requests: counts.requests,
  }
}

const showReason = ({ code, reason }: BatchReason, texts: ApiTexts) => ({ code, detail: texts.reason(reason) })

const readBatch = defineRoute({
  id: 'readBatch',
  tag: 'Requests',
  method: 'GET',
  path: '/batches/v1/:batchId',
  summary: 'Read the status of a batch',
  description:
    'Returns the numbers of rows and requests in each status, and the reason if the batch waits or has stopped.',
  permission: 'batch.read',
  audience: 'any',
  params: ofOneBatch,
  answers: { 200: { description: 'The batch as it is now.', body: batchView } },
  refusals: ['not-found'],
  examples: examples.readBatch,
  async handle({ actor, services, core }, { params: { batchId } }) {
    return { status: 200, body: showBatch(await core.readBatch(actor, { batchId }), services.texts) }
  },
})

const listBatchRows = defineRoute({
  id: 'listBatchRows',
  tag: 'Requests',
  method: 'GET',
  path: '/batches/v1/:batchId/rows',
  summary: 'List the results of the rows of a batch, in their order',
  description: 'Returns one page of rows, each with its request and warnings, or with the reason why it was refused.',
  permission: 'batch.read',
  audience: 'any',
  params: ofOneBatch,
  query: z.strictObject({ status: z.enum(batchRowStatuses).optional(), ...paging }),
  answers: { 200: { description: 'A page of the list.', body: listOf(batchRowView) } },
  refusals: ['not-found'],
  examples: examples.listBatchRows,
  async handle({ actor, services, core }, { params: { batchId }, query }) {
    const { rows, nextCursor } = await core.readBatchRows(actor, { batchId, ...query })
    return { status: 200, body: { value: rows.map((row) => showRow(row, services.texts)), nextCursor } }
  },
})

function showRow(
  { key, status, request, problem, warnings }: BatchRow,
  texts: ApiTexts,
): z.output<typeof batchRowView> {
  return {
    key,
    status,
    request: request && { requestId: request.requestId, reference: referenceOf(request), status: request.status },
    problem: problem && { ...showReason(problem, texts), errors: errorsOf(texts, problem.errors) },
    warnings: warningsWithTexts(warnings, texts),
  }
}

const cancelBatch = defineRoute({
  id: 'cancelBatch',
  tag: 'Requests',
  method: 'POST',
  path: '/batches/v1/:batchId/cancel',
  summary: 'Cancel the rows of a batch that are not submitted yet',
  description: 'Stops before the next row. Submitted requests stay, and each can be cancelled separately.',
  permission: 'batch.cancel',
  audience: 'any',
  params: ofOneBatch,
  answers: { 200: { description: 'The batch as it is now.', body: batchView } },
  refusals: ['not-found', 'already-ended'],
  examples: examples.cancelBatch,
  idempotent: true,
  // Everybody who may read a batch may cancel it.
  mayStill: ({ actor, core }, { batchId }) => core.readBatch(actor, { batchId }),
  async handle({ actor, services, core }, { params: { batchId } }) {
    return { status: 200, body: showBatch(await core.cancelBatch(actor, { batchId }), services.texts) }
  },
})

export const batchRoutes = [createBatch, readBatch, listBatchRows, cancelBatch] as const
