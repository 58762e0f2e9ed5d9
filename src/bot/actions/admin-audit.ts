import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCardAction } from '../define-card-action.ts'
import type { Reply, Turn } from '../turn.ts'

/** Turns the page of what admins did that is about no one request; the card changes in place. */
export const pageOrganisationAudit = defineCardAction({
  verb: 'admin.audit',
  forAdmins: true,
  data: z.object({ from: z.coerce.number().int().min(0).max(999_999).default(0) }),
  handle: (turn, { from }) => showOrganisationAudit(turn, from),
})

/** A page of it, the newest first, with the proof of all. */
export async function showOrganisationAudit({ provisioning, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.organisationAudit(await provisioning.admin.organisationAudit(actor), from, viewer) }
}
