import { cards, withdrawnCode } from '../../cards/index.ts'
import type { Reply, Turn } from '../turn.ts'

/** Brings a clicked card to its present state. A person who has lost the right that it needed gets a card without data. */
export async function unlessWithdrawn(turn: Turn, requestId: string, show: () => Promise<Reply>): Promise<Reply> {
  const { provisioning, actor, viewer, clickedActivityId: activityId } = turn
  const lost = activityId && (await provisioning.withdrawClicked(actor, requestId, activityId))
  return lost ? { card: cards.notice({ code: withdrawnCode[lost] }, viewer) } : show()
}
