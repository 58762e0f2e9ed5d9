import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { type Request, referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand } from '../define-command.ts'

/** `REQ-1042`, as a question too. */
const reference = z
  .string()
  .transform((typed) => typed.replace(/[\s?]+$/, ''))
  .pipe(z.string().regex(referencePattern))

/** `why REQ-1042`: why these approvers, this name, this long. Alone it explains the newest of one's own. */
export const whyCommand = defineCommand({
  words: 'why',
  alone: ['why?'],
  argument: reference,
  handle: async (turn, argument) =>
    explain(turn, await turn.core.readRequestByReference(turn.actor, { reference: argument })),
  async otherwise(turn, argument) {
    if (argument.replaceAll('?', '').trim() !== '')
      return { card: cards.notice({ code: 'noReferenceToExplain' }, turn.viewer) }
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: 1 })
    const [newest] = requests
    return newest ? explain(turn, newest) : { card: cards.notice({ code: 'noRequests' }, turn.viewer) }
  },
})

async function explain({ core, actor, viewer }: Turn, request: Request): Promise<Reply> {
  return {
    card: cards.why(request, await core.readExplanation(actor, { requestId: request.requestId }), viewer),
  }
}
