import { z } from 'zod'
import { type Request, referenceOf, requestKind } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { labelName } from './facts.ts'
import { withoutScheme } from './links.ts'
import { siteAddress } from './request-card.ts'
import { cut, duration, longest, peopleList, type Viewer } from './words.ts'

export const siteReadyCard = defineCard({
  name: 'site-ready',
  data: z.strictObject({
    templateId: z.uuid(),
    reference: z.string(),
    kind: requestKind,
    templateName: z.string(),
    displayName: z.string(),
    link: z.string(),
    url: z.string(),
    checks: z
      .array(z.strictObject({ name: z.enum(['siteOpens', 'groupFound', 'ownersAdded', 'label']), value: z.string() }))
      .min(1),
    took: z.enum(['plain', 'approval']),
    duration: z.string(),
    waited: z.string(),
  }),
})

/** The one card that tells of a finished site. */
export function siteReadyView(request: Request, viewer: Viewer): Parameters<typeof siteReadyCard.render>[0] {
  const url = siteAddress(request, viewer.siteRoot)
  const start = Date.parse(request.submittedAt)
  const end = Date.parse(request.followUp.at ?? request.finishedAt ?? request.updatedAt)
  const queued = request.queuedAt === null ? start : Date.parse(request.queuedAt)
  const sensitivity = labelName(request)
  const group = request.progress.securityGroupName ?? ''
  return {
    templateId: request.template.id,
    reference: referenceOf(request),
    kind: request.kind,
    templateName: request.template.name,
    displayName: cut(request.details.displayName, longest.title),
    link: withoutScheme(url),
    url,
    checks: [
      { name: 'siteOpens', value: '' },
      ...(group ? [{ name: 'groupFound' as const, value: cut(group, longest.title) }] : []),
      { name: 'ownersAdded', value: peopleList(request.owners, 'and') },
      ...(sensitivity ? [{ name: 'label' as const, value: sensitivity }] : []),
    ],
    took: request.approvals.length > 0 ? 'approval' : 'plain',
    duration: duration(end - start),
    waited: duration(queued - start),
  }
}
