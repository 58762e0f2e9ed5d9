/** `why`: the reasons of a request’s status. */
import { cardsFor } from '../../cards/index.ts'
import type { Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand, reference, showNotice } from '../define.ts'
import { ofReference } from '../requests/index.ts'

/**
 * `why REQ-1042`: explains the approvers, the name and the duration. Alone, it explains the person's newest request.
 */
const whyCommand = defineCommand({
  name: 'why',
  alone: ['why?'],
  // People also type the number as a question: `why REQ-1042?`.
  argument: reference,
  handle: (turn, reference) => ofReference(turn, reference, (request) => explain(turn, request)),
  async withoutValidArgument(turn, argument) {
    if (argument.replaceAll('?', '').trim() !== '') return showNotice(turn, { code: 'noReferenceToExplain' })
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: 1 })
    const [newest] = requests
    return newest ? explain(turn, newest) : showNotice(turn, { code: 'noRequests' })
  },
})

async function explain({ core, actor, viewer }: Turn, request: Request): Promise<Reply> {
  const explanation = await core.readExplanation(actor, { requestId: request.requestId })
  return { card: cardsFor(viewer).why(request, explanation, viewer) }
}

export const explanationCommands = [whyCommand]
