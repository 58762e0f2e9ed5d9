/** The audit of a request or of the organisation, for admins. */
import { z } from 'zod'
import { cardsFor } from '../../cards/index.ts'
import { type Request, referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand, pageStart, requestId, showNotice } from '../define.ts'
import { ifFound } from '../requests/index.ts'

/** Shows another page of the audit of a request or of the organisation, on the same card. */
const pageAudit = defineCardAction({
  verb: 'admin.audit',
  forAdmins: true,
  // Cards of the earlier version have no request id. They show the organisation's audit.
  data: z.object({ requestId: requestId.or(z.literal('')).default(''), from: pageStart }),
  async handle(turn, { requestId, from }) {
    if (requestId === '') return showOrganisationAudit(turn, from)
    return showAudit(turn, await turn.core.readRequest(turn.actor, { requestId }), from)
  },
})

/**
 * `admin audit REQ-1042`: the request's audit, and whether it is unchanged. Without a number: the organisation's audit.
 */
const adminAuditCommand = defineCommand({
  name: 'admin audit',
  forAdmins: true,
  argument: z.string().regex(referencePattern),
  handle: (turn, reference) => ifFound(turn, reference, (request) => showAudit(turn, request)),
  withoutValidArgument: async (turn, typed) =>
    typed === '' ? showOrganisationAudit(turn) : showNotice(turn, { code: 'noReferenceToAudit' }),
})

/** Shows a page of a request's audit, newest entry first, with the proof of all entries. */
async function showAudit({ core, actor, viewer }: Turn, request: Request, from = 0): Promise<Reply> {
  const report = await core.readAudit(actor, { requestId: request.requestId })
  return { card: cardsFor(viewer).adminAudit(report, request, from, viewer) }
}

async function showOrganisationAudit({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cardsFor(viewer).organisationAudit(await core.readOrganisationAudit(actor), from, viewer) }
}

export const auditActions = [pageAudit]
export const auditCommands = [adminAuditCommand]
