import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCardAction } from '../define-card-action.ts'
import type { Reply, Turn } from '../turn.ts'

const personId = z.uuid()
const address = z
  .string()
  .catch('')
  .transform((text) => text.trim().slice(0, 300))

/** Orders that somebody's data is removed, once their address was typed; a second click on the same card is the same order. */
export const eraseAsAdmin = defineCardAction({
  verb: 'admin.erase',
  forAdmins: true,
  data: z.object({ personId, address, erasureId: z.uuid() }),
  async handle({ provisioning, actor, viewer }, { personId, ...confirmed }) {
    const { state, erasure } = await provisioning.admin.erase(actor, personId, confirmed)
    return { card: cards.adminErase({ step: state, erasure }, viewer) }
  },
})

/** Ends what somebody has delegated, and what is delegated to them; the card asks then, if nothing else is in the way. */
export const endDelegationsAsAdmin = defineCardAction({
  verb: 'admin.undelegate',
  forAdmins: true,
  data: z.object({ personId }),
  async handle(turn, { personId }) {
    await turn.provisioning.admin.endDelegations(turn.actor, personId)
    return erasureAsked(turn, personId)
  },
})

/** What would go and what would stay, or what keeps it from being done. */
export async function erasureAsked({ provisioning, actor, viewer }: Turn, personId: string): Promise<Reply> {
  const erasure = await provisioning.admin.erasure(actor, personId)
  const step = erasure.isYou || erasure.isBlocked ? 'blocked' : 'confirm'
  return { card: cards.adminErase({ step, erasure }, viewer) }
}
