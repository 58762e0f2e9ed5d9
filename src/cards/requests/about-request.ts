import { z } from 'zod'
import { changedNames, inLocale, type Request, referenceOf, resourceKind } from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, fullName, longest, moment, shortName, type Viewer } from '../shared/texts.ts'

/** The first facts of a card about another person's request. */
export const about = {
  reference: z.string(),
  kind: resourceKind,
  templateName: z.string(),
  displayName: z.string(),
  /** The requester and the time. */
  asks: z.string(),
}

export const aboutOf = (request: Request, viewer: Viewer) => ({
  reference: referenceOf(request),
  kind: request.kind,
  templateName: inLocale(request.template, viewer.locale).name,
  // Approvers decide about the whole name.
  displayName: fullName(request.details.displayName),
  asks: format(strings.approval.asks, {
    name: shortName(request.requester),
    at: moment(request.submittedAt, viewer, 'full'),
  }),
})

/**
 * The name of a resource in the tenant, and a sentence if the tenant's naming policy changed it: people requested and
 * approved another name.
 */
export function titleOf(request: Request): { displayName: string; renamed: string } {
  const names = changedNames(request)
  const { displayName: requested } = request.details
  if (!names) return { displayName: fullName(requested), renamed: '' }
  const { displayName, mail, alias } = names
  const values = { name: cut(displayName, longest.name), asked: cut(requested, longest.name), address: mail ?? alias }
  return { displayName: fullName(displayName), renamed: format(strings.status.renamed, values) }
}
