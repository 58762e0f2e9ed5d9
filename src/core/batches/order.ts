import { z } from 'zod'
import { issueOf } from '../shared/index.ts'

/** The maximum number of rows in a batch. A person can still read this many rows, and one transaction can store them. */
export const maxRows = 200

export const resource = z.enum(['mailbox', 'site'])
const rowKey = z
  .string()
  .min(1)
  .max(64)
  // A pattern that readers without the flag `u` understand. The check below also refuses invisible characters.
  .regex(/^[ -~\u00a0-\uffff]+$/)
  .refine((key) => /^\P{C}+$/u.test(key), issueOf('keyInvisible'))
  .describe('The caller’s key for the row, such as a number or name; unique in a batch.')

/** The rows of a batch, and the kind of resource that all of them request. */
export const batchRows = {
  resource: resource.describe('Resource that all rows request.'),
  rows: z
    .array(
      z.strictObject({
        key: rowKey,
        body: z.looseObject({}).describe('The body of `POST /mail/v1/mailboxes/` or `POST /collab/v1/spo/`.'),
      }),
    )
    .min(1)
    .max(maxRows),
}

/** Many requests of one kind in one call. */
export const batchOrder = z
  .strictObject({
    dryRun: z.boolean().optional().describe('Whether to return only a preview of each row. Nothing is stored.'),
    ...batchRows,
  })
  .superRefine(({ rows }, context) => {
    const known = new Set<string>()
    for (const [index, { key }] of rows.entries()) {
      if (known.has(key)) context.addIssue({ code: 'custom', path: ['rows', index, 'key'], message: 'keyTwice' })
      known.add(key)
    }
  })
export type BatchOrder = z.output<typeof batchOrder>
