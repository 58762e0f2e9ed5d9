import { cardSubject, isForApprover, type JobOrder, jobId, noticeOrder, refreshBatchOrder } from '../shared/index.ts'
import type { Request } from './request.ts'

/**
 * Replaces the cards about one row of a batch by the cards of the batch: one for each approver and stage, and one for the
 * requester. The requester also gets a card about each taken address, which only they can change, and one warning for all rows
 * that expire in a stage on a day. Returns the orders of any other request unchanged.
 */
export function batchJobs(request: Request, orders: readonly JobOrder[], now: Date): JobOrder[] {
  const { batch, tenantId } = request
  if (!batch) return [...orders]
  const { batchId } = batch
  const day = now.toISOString().slice(0, 10)
  return [
    ...orders.flatMap((order): JobOrder[] => {
      // An approver who cannot be reached blocks many rows: the admins get one card a day, about the first row.
      if (order.name === 'notify-admins' && order.payload.card === 'status')
        return [{ ...order, id: jobId('batch', batchId, 'unreachable', day) }]
      if (order.name !== 'notify') return [order]
      const { personId, card } = order.payload
      const subject = cardSubject(card)
      // A reminder is a new card. The first card of a stage comes from the job below.
      if (subject.kind === 'reminder') {
        // Each row counts its own reminders, and later rows have theirs on a later day.
        const reminder = Number(`${day.replaceAll('-', '')}${card.split(':')[2]}`)
        return [noticeOrder(tenantId, personId, `batch-ask:${batchId}:${subject.stage}:${reminder}`)]
      }
      if (isForApprover(card)) return []
      if (personId !== request.requester.id || subject.kind === 'address') return [order]
      return subject.kind === 'warning' ? [{ ...order, id: jobId('batch', batchId, card, day) }] : []
    }),
    refreshBatchOrder(tenantId, batchId, now),
  ]
}
