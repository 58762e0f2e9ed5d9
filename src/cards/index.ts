import { type Draft, type Plan, type Request, waitingFor } from '../core/index.ts'
import { approvalCard, approvalDecidedCard, approvalDecidedView, approvalView } from './approval-card.ts'
import { cardRegistry } from './define-card.ts'
import { renderSiteForm, type SiteForm, siteFormCard } from './form.ts'
import { chooseTemplateCard, chooseTemplateView, helpCard, helpView, type TemplateChoice } from './help.ts'
import { approvalsCard, approvalsView, myRequestsCard, myRequestsView } from './lists.ts'
import { type Notice, noticeCard, noticeView } from './notice.ts'
import type { CardJson } from './render.ts'
import { requestStatusCard, requestStatusView } from './request-card.ts'
import { reviewCard, reviewView } from './review.ts'
import { siteReadyCard, siteReadyView } from './site-ready.ts'
import { strings } from './strings.ts'
import type { Viewer } from './words.ts'

export { formInputIds, type SiteForm } from './form.ts'
export type { TemplateChoice } from './help.ts'
export { type Notice, type NoticeCode, noticeCodes, type RetryVerb } from './notice.ts'
export type { CardJson } from './render.ts'
export { type Verb, verbs } from './verbs.ts'
export type { Viewer } from './words.ts'

/** Every card there is. */
export const definedCards = [
  helpCard,
  chooseTemplateCard,
  siteFormCard,
  reviewCard,
  requestStatusCard,
  approvalCard,
  approvalDecidedCard,
  siteReadyCard,
  myRequestsCard,
  approvalsCard,
  noticeCard,
] as const

/** The cards of the chat (DESIGN §6), each as plain JSON, ready to be attached to an activity. */
export const cards = {
  help: (me: { displayName: string; isApprover: boolean }): CardJson => helpCard.render(helpView(me)),
  chooseTemplate: (templates: readonly TemplateChoice[]): CardJson =>
    chooseTemplateCard.render(chooseTemplateView(templates)),
  siteForm: (form: SiteForm): CardJson => renderSiteForm(form),
  review: (review: { draft: Draft; plan: Plan }): CardJson => reviewCard.render(reviewView(review)),
  requestStatus: (request: Request, viewer: Viewer): CardJson =>
    requestStatusCard.render(requestStatusView(request, viewer)),
  approval: (request: Request, viewer: Viewer, form?: { comment: string; commentMissing: boolean }): CardJson =>
    approvalCard.render(approvalView(request, viewer, form)),
  approvalDecided: (request: Request, viewer: Viewer): CardJson =>
    approvalDecidedCard.render(approvalDecidedView(request, viewer)),
  /** The approval card while the viewer can decide, else the decided one. */
  approvalNow: (request: Request, viewer: Viewer): CardJson =>
    request.status === 'pendingApproval' && waitingFor(request.approvals).some(({ id }) => id === viewer.id)
      ? cards.approval(request, viewer)
      : cards.approvalDecided(request, viewer),
  siteReady: (request: Request, viewer: Viewer): CardJson => siteReadyCard.render(siteReadyView(request, viewer)),
  myRequests: (requests: readonly Request[], older: number, viewer: Viewer): CardJson =>
    myRequestsCard.render(myRequestsView(requests, older, viewer)),
  approvals: (requests: readonly Request[], viewer: Viewer): CardJson =>
    approvalsCard.render(approvalsView(requests, viewer)),
  notice: (notice: Notice, viewer: Viewer): CardJson => noticeCard.render(noticeView(notice, viewer)),
}

/** Sentences that are shown beside a card that stays as it is. */
export const toasts = {
  working: strings.toast.working,
  unavailable: strings.toast.unavailable,
  failed: (traceId: string): string => strings.toast.failed.replace('{traceId}', traceId),
}

/** One sentence for the activity's `summary`, which is the notification on a phone. It never holds text of people. */
export function summaryOf(card: CardJson): string {
  return typeof card['fallbackText'] === 'string' ? card['fallbackText'] : ''
}

/**
 * Checks that cards and templates match, and expands one card: the first expansion of the process costs 60 to 70 ms,
 * which a person's first click should not pay.
 */
export function warmUp(): void {
  cardRegistry(...definedCards)
  cards.help({ displayName: '', isApprover: true })
}
