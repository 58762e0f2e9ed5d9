import { z } from 'zod'
import type { Request } from '../requests/index.ts'
import { instant, person, requestState, shownFault, shownReason, withReason } from '../shared/index.ts'

/** How many rows a batch may have: what a person can look through, and what one transaction stores at once. */
export const mostRows = 200
/** How many batches of one person may be under way at a time. */
export const mostBatches = 10

const resource = z.enum(['mailbox', 'site'])
const rowKey = z
  .string()
  .min(1)
  .max(64)
  .regex(/^\P{C}+$/u)
  .describe('What the caller calls the row, such as its number or its name; once in a batch.')

/** The rows of a batch, and what all of them ask for. */
export const batchRows = {
  resource: resource.describe('What every row asks for.'),
  rows: z
    .array(
      z.strictObject({
        key: rowKey,
        body: z
          .looseObject({})
          .describe('The body of the call that would create it: `POST /mail/v1/mailboxes` or `POST /collab/v1/spo`.'),
      }),
    )
    .min(1)
    .max(mostRows),
}

/** Many requests of one kind in one call. */
export const batchOrder = z
  .strictObject({
    dryRun: z.boolean().optional().describe('Only tell what each row would be. Nothing is written.'),
    ...batchRows,
  })
  .superRefine(({ rows }, context) => {
    const known = new Set<string>()
    for (const [place, { key }] of rows.entries()) {
      if (known.has(key))
        context.addIssue({ code: 'custom', path: ['rows', place, 'key'], message: 'it is there twice' })
      known.add(key)
    }
  })
export type BatchOrder = z.output<typeof batchOrder>

/** `stopped`: it cannot go on, as when who asked for it may ask for nothing any more. */
export const batchStatuses = ['running', 'finished', 'cancelled', 'stopped'] as const
export const batchRowStatuses = ['waiting', 'submitted', 'refused', 'cancelled'] as const
export type BatchRowStatus = (typeof batchRowStatuses)[number]

const fault = withReason({ pointer: z.string(), code: z.string(), suggestion: z.string().optional() })
/** Why a row was refused. The pointers of its errors are pointers into the body of the row. */
export const rowProblem = withReason({ code: z.string(), errors: z.array(fault) })
export type RowProblem = z.output<typeof rowProblem>
/** Why a batch waits or has stopped. */
const batchReason = withReason({ code: z.string() })
export type BatchReason = z.output<typeof batchReason>

/** A batch as it is stored. */
export const batch = z.object({
  v: z.literal(1),
  batchId: z.uuid(),
  tenantId: z.uuid(),
  resource,
  status: z.enum(batchStatuses),
  requester: person,
  /** Of an application that asks for itself. */
  clientId: z.string().optional(),
  waitsFor: batchReason.nullable(),
  problem: batchReason.nullable(),
  createdAt: instant,
  /** When a row was last done, or the batch ended. */
  updatedAt: instant,
  endedAt: instant.nullable(),
})
export type Batch = z.output<typeof batch>

/** A row that nothing was done about yet. What it asks for is kept only so long: then its request has it. */
export interface WaitingRow {
  readonly place: number
  readonly key: string
  /** The id that its request will have: the same however often it is submitted. */
  readonly requestId: string
  readonly body: unknown
}
/** A row, with how its request does. */
export interface BatchRow {
  readonly place: number
  readonly key: string
  readonly status: BatchRowStatus
  readonly request: Pick<Request, 'requestId' | 'number' | 'status'> | null
  readonly problem: RowProblem | null
}
/** How many rows stand how, and how many of their requests. */
export interface BatchCounts {
  readonly rows: Partial<Record<BatchRowStatus, number>>
  readonly requests: Partial<Record<Request['status'], number>>
}
export interface BatchReport {
  readonly batch: Batch
  readonly counts: BatchCounts
}

export interface BatchStore {
  /** Stores a new batch with its rows, all of them waiting; false when its id is known already. */
  insert(one: Batch, rows: readonly WaitingRow[]): Promise<boolean>
  find(batchId: string): Promise<Batch | undefined>
  /** Changes one that is under way, and locks it until the transaction ends; false when it has ended. */
  change(
    batchId: string,
    to: Partial<Pick<Batch, 'status' | 'waitsFor' | 'problem' | 'updatedAt' | 'endedAt'>>,
  ): Promise<boolean>
  countRunning(tenantId: string, personId: string): Promise<number>
  /** Those rows that nothing was done about yet, in their order. */
  waiting(batchId: string, limit: number): Promise<WaitingRow[]>
  /** Says what became of a row that waits; false when it does not wait any more. */
  settle(batchId: string, place: number, to: BatchRowStatus, problem?: RowProblem): Promise<boolean>
  /** Whatever waits is not going to be done. */
  cancelWaiting(batchId: string): Promise<void>
  rows(query: { batchId: string; status?: BatchRowStatus; after?: number; limit: number }): Promise<BatchRow[]>
  counts(batchId: string): Promise<BatchCounts>
  /** Forgets, at this time, those that ended long ago. */
  forgetOld(at: Date): Promise<void>
}

const count = z.int().min(0)
/** A batch as the API shows it. */
export const batchView = z.strictObject({
  batchId: z.uuid(),
  tenantId: z.uuid(),
  resource,
  status: z
    .enum(batchStatuses)
    .describe(
      '`running`: rows wait for their turn; `finished`: each was submitted or refused; `stopped`: see `problem`.',
    ),
  requester: person,
  rows: z.strictObject({
    total: count,
    waiting: count,
    submitted: count,
    refused: count,
    cancelled: count,
  }),
  requests: z.partialRecord(requestState, count).describe('How many of its requests are in which state.'),
  waitsFor: shownReason.nullable().describe('Why nothing goes on just now; it goes on by itself.'),
  problem: shownReason.nullable().describe('Why it has stopped.'),
  createdAt: instant,
  updatedAt: instant,
  endedAt: instant.nullable(),
})

/** Why a row was refused. */
const shownRowProblem = z.strictObject({
  ...shownReason.shape,
  errors: z.array(shownFault).describe('What is wrong with fields; a pointer is one into the body of the row.'),
})

/** A row as the API shows it. */
export const batchRowView = z.strictObject({
  key: z.string(),
  status: z.enum(batchRowStatuses),
  request: z
    .strictObject({ requestId: z.uuid(), reference: z.string(), status: requestState })
    .nullable()
    .describe('What came of it, when it was submitted.'),
  problem: shownRowProblem.nullable().describe('Why it was refused.'),
})
