import {
  type AuditReport,
  type CertificateReading,
  type Delegation,
  type Delegations,
  type Digest,
  type DigestSetting,
  type Explanation,
  type GivenUpJob,
  type GivenUpJobs,
  type HealthNotice,
  type HealthReport,
  isForMailbox,
  type ListPage,
  type Queue,
  type Request,
  type Simulation,
  type Stats,
  type Stuck,
  type TemplateReport,
} from '../core/index.ts'
import { adminAuditCard, adminAuditView } from './audit/index.ts'
import {
  type ApprovalForm,
  adminConfirmCard,
  adminConfirmView,
  approvalCard,
  approvalDecidedCard,
  approvalDecidedView,
  type Confirmation,
  type DelegationNow,
  decidesNow,
  delegationCard,
  delegationView,
  renderApproval,
} from './decisions/index.ts'
import type { RequestForm } from './drafts/index.ts'
import {
  continueDraftCard,
  continueDraftView,
  type DraftOffer,
  type Review,
  renderForm,
  requestFormCard,
  reviewCard,
  reviewView,
} from './drafts/index.ts'
import { renderWhy, whyCard } from './explanations/index.ts'
import {
  digestCard,
  digestChoiceCard,
  digestChoiceView,
  digestView,
  healthTurnedCard,
  healthTurnedView,
  type Notice,
  noticeCard,
  noticeView,
} from './notifications/index.ts'
import {
  adminHealthCard,
  adminHealthView,
  adminJobsCard,
  adminJobsView,
  adminReplayView,
  adminStatsCard,
  adminStuckCard,
  adminStuckView,
  mendingCards,
  mendingCardsDefined,
  renderStats,
} from './operations/index.ts'
import {
  adminEraseCard,
  adminEraseView,
  adminExportCard,
  adminExportView,
  adminPersonCard,
  adminPersonView,
  type ErasureNow,
  type ExportNow,
  type PersonChoice,
} from './privacy/index.ts'
import { mailboxReadyCard, mailboxReadyView, siteReadyCard, siteReadyView } from './provisioning/index.ts'
import type { Timeline } from './requests/index.ts'
import {
  adminQueueCard,
  adminQueueView,
  adminSimulateCard,
  adminSimulateChoiceCard,
  adminSimulateChoiceView,
  adminSimulateView,
  approvalsCard,
  approvalsView,
  myRequestsCard,
  myRequestsView,
  renderRequestStatus,
  requestStatusCard,
  type SimulateChoice,
} from './requests/index.ts'
import type { CardJson, Viewer } from './shared/index.ts'
import {
  cardRegistry,
  chooseTemplateCard,
  chooseTemplateView,
  type HelpFor,
  helpCard,
  helpView,
  type TemplateChoice,
} from './shared/index.ts'
import {
  adminTemplateCard,
  adminTemplatesCard,
  adminTemplatesView,
  adminTemplateView,
  type TemplateList,
  type TemplateQuestion,
} from './templates/index.ts'
import { definedWebhookCards, webhookCards } from './webhooks/index.ts'

export type { Confirmation, DelegationForm, ReassignForm, ReassignRemark, Remark, WhichFor } from './decisions/index.ts'
export { decidesNow } from './decisions/index.ts'
export type { DraftOffer, RequestForm } from './drafts/index.ts'
export { formInputIds, peopleInputIds } from './drafts/index.ts'
export { type Notice, type NoticeCode, noticeCodes, type RetryVerb, withdrawnCode } from './notifications/index.ts'
export { mostJobs } from './operations/index.ts'
export type { ErasureNow, ExportNow } from './privacy/index.ts'
export { rowsOfPage } from './requests/index.ts'
export type { CardJson, HelpFor, TemplateChoice, Viewer } from './shared/index.ts'
export {
  apiTexts,
  hasAdminLine,
  reasonText,
  rowsOfAdminPage,
  summaryOf,
  toasts,
  type Verb,
  verbs,
} from './shared/index.ts'
export type { TemplateUse } from './templates/index.ts'
export {
  type DeliveriesOf,
  type DeliveryNews,
  deliveriesOfPage,
  receiverKey,
  receiversOfPage,
  type WebhookNews,
} from './webhooks/index.ts'

/** Every card there is. */
export const definedCards = [
  helpCard,
  chooseTemplateCard,
  continueDraftCard,
  requestFormCard,
  reviewCard,
  requestStatusCard,
  approvalCard,
  approvalDecidedCard,
  siteReadyCard,
  mailboxReadyCard,
  myRequestsCard,
  approvalsCard,
  delegationCard,
  digestCard,
  digestChoiceCard,
  noticeCard,
  adminQueueCard,
  adminStuckCard,
  adminHealthCard,
  healthTurnedCard,
  adminStatsCard,
  adminJobsCard,
  adminAuditCard,
  adminConfirmCard,
  ...mendingCardsDefined,
  adminSimulateCard,
  adminSimulateChoiceCard,
  adminTemplatesCard,
  adminTemplateCard,
  ...definedWebhookCards,
  adminExportCard,
  adminPersonCard,
  adminEraseCard,
  whyCard,
] as const

/** The cards of the chat (DESIGN §6), each as plain JSON, ready to be attached to an activity. */
export const cards = {
  ...webhookCards,
  help: (me: HelpFor): CardJson => helpCard.render(helpView(me)),
  /** `unmatched`: the part of a name that was asked for, when no template has it. */
  chooseTemplate: (templates: readonly TemplateChoice[], unmatched?: string): CardJson =>
    chooseTemplateCard.render(chooseTemplateView(templates, unmatched)),
  /** Offers what a person has begun. */
  continueDraft: (offer: DraftOffer, viewer: Viewer): CardJson =>
    continueDraftCard.render(continueDraftView(offer, viewer)),
  /** The form of a template, whatever it makes. */
  form: (form: RequestForm): CardJson => renderForm(form),
  review: (review: Review): CardJson => reviewCard.render(reviewView(review)),
  /** `known`: its timeline; without it the card has a button that asks for it. */
  requestStatus: (request: Request, viewer: Viewer, known?: Timeline): CardJson =>
    renderRequestStatus(request, viewer, known),
  approval: (request: Request, viewer: Viewer, form?: ApprovalForm): CardJson => renderApproval(request, viewer, form),
  approvalDecided: (request: Request, viewer: Viewer, stage?: number): CardJson =>
    approvalDecidedCard.render(approvalDecidedView(request, viewer, stage)),
  /**
   * The approval card while the viewer can decide, else the decided one. A card that asked about an earlier `stage` tells how that one
   * was decided, and asks about no other.
   */
  approvalNow: (request: Request, viewer: Viewer, stage?: number): CardJson =>
    decidesNow(request, viewer, stage)
      ? cards.approval(request, viewer)
      : cards.approvalDecided(request, viewer, stage),
  /** The one card that tells of a finished resource. */
  ready: (request: Request, viewer: Viewer): CardJson =>
    isForMailbox(request)
      ? mailboxReadyCard.render(mailboxReadyView(request, viewer))
      : siteReadyCard.render(siteReadyView(request, viewer)),
  myRequests: (page: ListPage, viewer: Viewer): CardJson => myRequestsCard.render(myRequestsView(page, viewer)),
  /** `own`: what the viewer has delegated. */
  approvals: (page: ListPage, viewer: Viewer, own?: Delegation): CardJson =>
    approvalsCard.render(approvalsView(page, viewer, own)),
  /** Who decides while the viewer is away, and for whom the viewer decides. */
  delegation: (now: DelegationNow, known: Delegations, viewer: Viewer): CardJson =>
    delegationCard.render(delegationView(now, known, viewer)),
  /** What is open for the viewer. */
  digest: (digest: Digest, standing: DigestSetting, viewer: Viewer): CardJson =>
    digestCard.render(digestView(digest, standing, viewer)),
  /** Whether the viewer gets that each day. */
  digestChoice: (standing: DigestSetting, viewer: Viewer): CardJson =>
    digestChoiceCard.render(digestChoiceView(standing, viewer)),
  notice: (notice: Notice, viewer: Viewer): CardJson => noticeCard.render(noticeView(notice, viewer)),
  /** `from`: the row with which its page begins. */
  adminQueue: (queue: Queue, viewer: Viewer, from?: number): CardJson =>
    adminQueueCard.render(adminQueueView(queue, viewer, from)),
  /** What is stuck, and what mends it; a friendly notice when nothing is. */
  adminStuck: (stuck: Stuck, viewer: Viewer, from?: number): CardJson =>
    stuck.entries.length === 0 && !stuck.deadLetters && !stuck.isDirectorySilent
      ? cards.notice({ code: 'nothingStuck' }, viewer)
      : adminStuckCard.render(adminStuckView(stuck, viewer, from)),
  /** How the service does, after its certificate was read again if it was. */
  adminHealth: (report: HealthReport, viewer: Viewer, reading?: CertificateReading): CardJson =>
    adminHealthCard.render(adminHealthView(report, viewer, reading)),
  /** Tells an admin that something is broken, or that all is well again. */
  healthTurned: (notice: HealthNotice, viewer: Viewer): CardJson =>
    healthTurnedCard.render(healthTurnedView(notice, viewer)),
  /** Asks an admin before the jobs of silent processes are taken over. */
  /** How much was asked for, decided and made in a period, and how long it took. */
  adminStats: (stats: Stats, viewer: Viewer): CardJson => renderStats(stats, viewer),
  /** What was given up; a friendly notice when nothing is. */
  adminExport: (now: ExportNow, viewer: Viewer): CardJson => adminExportCard.render(adminExportView(now, viewer)),
  adminPerson: (choice: PersonChoice): CardJson => adminPersonCard.render(adminPersonView(choice)),
  adminErase: (now: ErasureNow, viewer: Viewer): CardJson => adminEraseCard.render(adminEraseView(now, viewer)),
  adminJobs: (given: GivenUpJobs, viewer: Viewer): CardJson =>
    given.jobs.length === 0
      ? cards.notice({ code: 'nothingGivenUp' }, viewer)
      : adminJobsCard.render(adminJobsView(given, viewer)),
  /** Asks an admin before a given-up job is run again, or dismissed. */
  adminReplay: (given: GivenUpJob, viewer: Viewer): CardJson => adminJobsCard.render(adminReplayView(given, viewer)),
  /** Who did what with a request, and the proof of it. */
  adminAudit: (report: AuditReport, request: Request, from: number, viewer: Viewer): CardJson =>
    adminAuditCard.render(adminAuditView(report, request, from, viewer)),
  /** Why a request is as it is. */
  why: (request: Request, explained: readonly Explanation[], viewer: Viewer): CardJson =>
    renderWhy(request, explained, viewer),
  /** Templates, all of them or those that may be meant; a notice when there is none. */
  adminTemplates: (list: TemplateList, viewer: Viewer): CardJson =>
    list.entries.length === 0
      ? cards.notice({ code: list.asks ? 'noTemplateLikeIt' : 'noTemplatesAtAll' }, viewer)
      : adminTemplatesCard.render(adminTemplatesView(list)),
  /** What a template decides, or the question whether to switch it. */
  adminTemplate: (report: TemplateReport, viewer: Viewer, question?: TemplateQuestion): CardJson =>
    adminTemplateCard.render(adminTemplateView(report, viewer, question)),
  /** What a template does for somebody. */
  adminSimulate: (simulation: Simulation, viewer: Viewer): CardJson =>
    adminSimulateCard.render(adminSimulateView(simulation, viewer)),
  /** Asks which template, or which person, was meant. */
  adminSimulateChoice: (choice: SimulateChoice, viewer: Viewer): CardJson =>
    adminSimulateChoiceCard.render(adminSimulateChoiceView(choice, viewer)),
  ...mendingCards,
  /** Asks an admin before a request is tried again, ended or decided over the heads of its approvers. */
  adminConfirm: (confirmation: Confirmation, viewer: Viewer): CardJson =>
    adminConfirmCard.render(adminConfirmView(confirmation, viewer)),
}

/**
 * Checks that cards and templates match, and expands one card: the first expansion of the process costs 60 to 70 ms,
 * which a person's first click should not pay.
 */
export function warmUp(): void {
  cardRegistry(...definedCards)
  cards.help({ displayName: '', isApprover: true, isAdmin: true, offers: [] })
}
