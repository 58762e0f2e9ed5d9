import { z } from 'zod'
import { changedNames, inLocale, type Request, referenceOf, resourceKind } from '../../core/index.ts'
import { askedAddress } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest, moment, type Viewer } from '../shared/texts.ts'

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

/**
 * The name of a resource as the tenant has it, and a sentence when the tenant's own naming policy made it of another one:
 * people asked for that one, and approvers approved it.
 */
export function titleOf(request: Request): { displayName: string; renamed: string } {
  const names = changedNames(request)
  const { displayName: asked } = request.details
  if (!names) return { displayName: cut(asked, longest.title), renamed: '' }
  const { displayName, mail, alias } = names
  const values = { name: cut(displayName, longest.name), asked: cut(asked, longest.name), address: mail ?? alias }
  return { displayName: cut(displayName, longest.title), renamed: format(strings.status.renamed, values) }
}
