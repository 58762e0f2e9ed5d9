import { z } from 'zod'
import { cards, type WhichFor } from '../../cards/index.ts'
import {
  isRetryable,
  longestComment,
  ProvisioningError,
  type QueueEntry,
  type Request,
  referencePattern,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { isCancellable } from '../operations/actions.ts'

/** `REQ-1042`, and a text that may follow it. Several numbers are refused, since the command is about one request. */
export const referenceAndWords = z.string().transform((typed, context) => {
  const [, reference = '', words = ''] = /^((?:REQ-?|#)?\s*\d+)(?:\s+(.+))?$/is.exec(typed.trim()) ?? []
  const several = words !== '' && words.split(/[\s,;]+/).every((word) => referencePattern.test(word))
  if (!referencePattern.test(reference) || several) context.addIssue('this is not the number of one request')
  return { reference, words: words.slice(0, longestComment) }
})

/** Runs a command on the request with this number. If it does not exist, the card leads to the queue. */
export async function ifFound(
  turn: Turn,
  reference: string,
  then: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const found = await turn.core.readRequestByReference(turn.actor, { reference }).catch((error: unknown) => {
    if (error instanceof ProvisioningError && error.code === 'not-found') return undefined
    throw error
  })
  return found ? then(found) : { card: cards.notice({ code: 'notFoundForAdmin' }, turn.viewer) }
}

/** Explains a command that needs a number, and lists the requests that it can be about, the oldest first. */
export async function which({ core, actor, viewer }: Turn, does: WhichFor): Promise<Reply> {
  const { entries, counts } = await core.readQueue(actor)
  // An admin does not decide their own request.
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
