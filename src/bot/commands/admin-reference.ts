import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { longestComment, ProvisioningError, type Request, referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../turn.ts'

/** `REQ-1042`, and words that may follow it. Several numbers say nothing of which is meant. */
export const referenceAndWords = z.string().transform((typed, context) => {
  const [, reference = '', words = ''] = /^((?:REQ-?|#)?\s*\d+)(?:\s+(.+))?$/is.exec(typed.trim()) ?? []
  const several = words !== '' && words.split(/[\s,;]+/).every((word) => referencePattern.test(word))
  if (!referencePattern.test(reference) || several) context.addIssue('this is not the number of one request')
  return { reference, words: words.slice(0, longestComment) }
})

/** The request of a number; where there is none, an admin is led to the queue. */
export async function ifFound(
  turn: Turn,
  reference: string,
  then: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const found = await turn.provisioning.readByReference(turn.actor, reference).catch((error: unknown) => {
    if (error instanceof ProvisioningError && error.code === 'not-found') return undefined
    throw error
  })
  return found ? then(found) : { card: cards.notice({ code: 'notFoundForAdmin' }, turn.viewer) }
}
