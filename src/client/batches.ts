import { idOf } from './address.ts'
import type { ReadWrite } from './read-write.ts'
import type { Timing } from './timing.ts'
import type {
  Batch,
  BatchRow,
  BatchRowFilter,
  BatchTrial,
  CallOptions,
  NewBatch,
  Page,
  TokenResource,
  WriteOptions,
} from './types.ts'

/** How a batch is waited for. */
export interface BatchWaitOptions extends CallOptions {
  /** Told of the batch as it is at each look. */
  readonly onLook?: (batch: Batch) => void | Promise<void>
  /** What is waited for; unless given, that nothing more happens by itself. */
  readonly until?: (batch: Batch) => boolean
}

/** Looks come so fast at first, and so much slower with each, up to the slowest. Milliseconds. */
const looks = { first: 1000, slower: 1.2, slowest: 10_000 } as const
/** A dry run looks at all rows before it answers. Seconds. */
const trialSeconds = 120

/** Whether nothing more happens to a batch by itself: each row was done, and what came of them waits for people at most. */
export const isBatchOver = ({ status, requests: { queued = 0, provisioning = 0 } }: Batch): boolean =>
  status !== 'running' && queued + provisioning === 0

/** Many requests in one call: see `client.createBatch`. */
export function createBatches({ read, inquire, write }: ReadWrite, eachOf: EachOf, timing: Timing) {
  const tokenOf = ({ resource }: Pick<NewBatch, 'resource'>): TokenResource =>
    resource === 'mailbox' ? 'mail' : 'collab'
  const at = (batchId: string, rest = '') => `/batches/v1/${idOf('batch', batchId)}${rest}`
  const fields = ['batchId', 'status', 'rows']
  const getBatch = async (batchId: string, given: CallOptions = {}): Promise<Batch> => read(at(batchId), fields, given)
  const batchRows = async (batchId: string, filter: BatchRowFilter = {}, given: CallOptions = {}) =>
    read<Page<BatchRow>>(at(batchId, '/rows'), ['value'], given, { ...filter })
  return {
    /** What each row would be, and what would be refused; as if the rows before it were there. Nothing is written. */
    tryBatch: (batch: NewBatch, given: CallOptions = {}): Promise<BatchTrial> =>
      inquire('/requests/v1/batch', ['valid', 'rows'], { ...batch, dryRun: true }, given, {
        ...{ resource: tokenOf(batch), seconds: trialSeconds },
      }),
    /**
     * Asks for many at once: rows are submitted one after the other, as the limits of use allow, and one that is refused keeps no
     * other. Repeated under the same Idempotency-Key it is the same batch, so give your own to repeat after your own crash.
     */
    createBatch: (batch: NewBatch, given: WriteOptions = {}): Promise<Batch> =>
      write('/requests/v1/batch', tokenOf(batch), batch, given, fields),
    getBatch,
    /** One page of what became of its rows, in their order. */
    batchRows,
    /** All of them: `for await (const row of client.allBatchRows(batchId))`. */
    allBatchRows: (batchId: string, filter: Omit<BatchRowFilter, 'cursor'> = {}, given: CallOptions = {}) =>
      eachOf((cursor) => batchRows(batchId, { limit: 100, ...filter, ...(cursor && { cursor }) }, given)),
    /** Submits no more rows; what was submitted stays, each to be cancelled by itself. */
    cancelBatch: (batchId: string, given: WriteOptions = {}): Promise<Batch> =>
      write(at(batchId, '/cancel'), 'either', undefined, given, fields),
    /** Waits until each row was done and what came of it was made, or waits for an approval. */
    async waitForBatch(
      batchId: string,
      { signal, onLook, until = isBatchOver }: BatchWaitOptions = {},
    ): Promise<Batch> {
      const options = signal === undefined ? {} : { signal }
      for (let pause: number = looks.first; ; pause = Math.min(looks.slowest, pause * looks.slower)) {
        const batch = await getBatch(batchId, options)
        await onLook?.(batch)
        if (until(batch)) return batch
        await timing.sleep(pause, signal)
      }
    },
  }
}

type EachOf = <T>(page: (cursor: string | undefined) => Promise<Page<T>>) => AsyncGenerator<T, void, undefined>
