import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

const personId = z.uuid()
const address = z
  .string()
  .catch('')
  .transform((text) => text.trim().slice(0, 300))

/** Orders the removal of a person's data after their address was typed. A second click is the same order. */
export const eraseAsAdmin = defineCardAction({
  verb: 'admin.erase',
  forAdmins: true,
  data: z.object({ personId, address, erasureId: z.uuid() }),
  async handle({ core, actor, viewer }, { personId, ...confirmed }) {
    const { state, erasure } = await core.orderErasure(actor, { personId, ...confirmed })
    return { card: cards.adminErase({ step: state, erasure }, viewer) }
  },
})

/** Ends a person's delegations and those to them. Then the card asks to confirm, unless something else blocks it. */
export const endDelegationsAsAdmin = defineCardAction({
  verb: 'admin.undelegate',
  forAdmins: true,
  data: z.object({ personId }),
  async handle(turn, { personId }) {
    await turn.core.endDelegationsOf(turn.actor, { personId })
    return erasureAsked(turn, personId)
  },
})

/** What would go and what would stay, or what keeps it from being done. */
export async function erasureAsked({ core, actor, viewer }: Turn, personId: string): Promise<Reply> {
  const erasure = await core.readErasure(actor, { personId })
  const step = erasure.isYou || erasure.isBlocked ? 'blocked' : 'confirm'
  return { card: cards.adminErase({ step, erasure }, viewer) }
}
