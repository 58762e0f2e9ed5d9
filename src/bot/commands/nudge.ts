import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { referencePattern } from '../../core/index.ts'
import { nudged } from '../actions/request.ts'
import { defineCommand } from '../define-command.ts'

/** How many of somebody's newest requests are looked through for one that waits. */
const listed = 100

/** `nudge REQ-1042`: reminds those who have not decided; alone, those of the newest own request that waits. */
export const nudgeCommand = defineCommand({
  words: 'nudge',
  also: ['remind'],
  argument: z.string().regex(referencePattern),
  handle: async (turn, argument) =>
    nudged(turn, (await turn.provisioning.readByReference(turn.actor, argument)).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return { card: cards.notice({ code: 'noReferenceToNudge' }, turn.viewer) }
    const { requests } = await turn.provisioning.listOwn(turn.actor, listed)
    const newest = requests.find(({ status }) => status === 'pendingApproval')
    if (newest) return nudged(turn, newest.requestId)
    return { card: cards.notice({ code: 'nothingToNudge' }, turn.viewer) }
  },
})
