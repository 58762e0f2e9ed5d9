import { z } from 'zod'
import { inLocale, type Request, referenceOf, resourceKind } from '../../core/index.ts'
import { askedAddress } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, type Viewer } from '../shared/texts.ts'

export const cancelRequestCard = defineCard({
  name: 'cancel-request',
  data: z.strictObject({
    requestId: z.uuid(),
    reference: z.string(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    address: z.string(),
    says: z.enum(['waiting', 'nothing', 'created']),
    fallback: z.string(),
  }),
})

/** Asks the requester once before the request is cancelled. */
export function cancelRequestView(request: Request, viewer: Viewer): ViewOf<typeof cancelRequestCard> {
  const reference = referenceOf(request)
  const isCreated = request.steps.some(({ status }) => status === 'done')
  return {
    requestId: request.requestId,
    reference,
    kind: request.kind,
    templateName: inLocale(request.template, viewer.locale).name,
    displayName: cut(request.details.displayName, longest.title),
    address: askedAddress(request, viewer),
    says: isCreated ? 'created' : request.status === 'pendingApproval' ? 'waiting' : 'nothing',
    fallback: format(strings.cancel.fallback, { reference }),
  }
}
