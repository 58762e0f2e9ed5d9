import { z } from 'zod'
import { inLocale, type Request, referenceOf, resourceKind } from '../../core/index.ts'
import { askedAddress } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest, moment, type Viewer } from '../shared/words.ts'

/** What the head of a card says on which an admin acts on somebody's request. */
export const aboutRequest = {
  requestId: z.uuid(),
  reference: z.string(),
  kind: resourceKind,
  templateName: z.string(),
  displayName: z.string(),
  address: z.string(),
  asks: z.string(),
}

/** What was asked for, by whom and when. */
export const aboutRequestView = (request: Request, viewer: Viewer) => ({
  requestId: request.requestId,
  reference: referenceOf(request),
  kind: request.kind,
  templateName: inLocale(request.template, viewer.locale).name,
  displayName: cut(request.details.displayName, longest.title),
  address: askedAddress(request, viewer),
  asks: format(strings.confirm.asks, {
    name: cut(request.requester.displayName, longest.name),
    at: moment(request.submittedAt, viewer, 'full'),
  }),
})
