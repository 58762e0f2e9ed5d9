import { cards, type WhichFor } from '../../cards/index.ts'
import { isRetryable, type QueueEntry } from '../../core/index.ts'
import { isCancellable } from '../actions/admin.ts'
import type { Reply, Turn } from '../turn.ts'

/** How to type a command that needs a number, and the requests that it can be about, the oldest first. */
export async function which({ provisioning, actor, viewer }: Turn, does: WhichFor): Promise<Reply> {
  const { entries, counts } = await provisioning.admin.queue(actor)
  // One's own is for others to decide.
  const isDecidable = ({ request }: QueueEntry): boolean =>
    request.status === 'pendingApproval' && request.requester.id !== actor.id
  const fits = {
    approve: isDecidable,
    reject: isDecidable,
    reassign: isDecidable,
    retry: ({ request }: QueueEntry) => isRetryable(request, viewer.now),
    cancel: ({ request }: QueueEntry) => isCancellable(request),
  }[does]
  const found = entries.filter(fits).toSorted((one, other) => one.since.localeCompare(other.since))
  const isAboutWaiting = does !== 'retry' && does !== 'cancel'
  const total = isAboutWaiting ? counts.waiting : found.length
  return { card: cards.adminWhich(does, { entries: found, total }, viewer) }
}
