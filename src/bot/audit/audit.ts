import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import type { Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, requestId } from '../define-card-action.ts'

/** Turns the page of a request's audit, or of the organisation's. The card changes in place. */
export const pageAudit = defineCardAction({
  verb: 'admin.audit',
  forAdmins: true,
  // Cards of the version before name no request: theirs is the organisation's.
  data: z.object({
    requestId: requestId.or(z.literal('')).default(''),
    from: z.coerce.number().int().min(0).max(999_999).default(0),
  }),
  async handle(turn, { requestId, from }) {
    if (requestId === '') return showOrganisationAudit(turn, from)
    return showAudit(turn, await turn.core.readRequest(turn.actor, { requestId }), from)
  },
})

/** A page of a request's, the newest first, with the proof of all. */
export async function showAudit({ core, actor, viewer }: Turn, request: Request, from = 0): Promise<Reply> {
  const report = await core.readAudit(actor, { requestId: request.requestId })
  return { card: cards.adminAudit(report, request, from, viewer) }
}

/** The same of the organisation's. */
export async function showOrganisationAudit({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.organisationAudit(await core.readOrganisationAudit(actor), from, viewer) }
}
