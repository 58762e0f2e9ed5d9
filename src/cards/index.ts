/** Cards: views that turn results of the core into Adaptive Cards, the message catalogue, and the rendering of templates. */
import {
  type ApprovalFacts,
  type Explanation,
  type GivenUpJobs,
  type HealthPart,
  isForMailbox,
  type Person,
  type ReceiverPage,
  type Request,
  type Stuck,
} from '../core/index.ts'
import * as audit from './audit/index.ts'
import * as batches from './batches/index.ts'
import * as decisions from './decisions/index.ts'
import * as drafts from './drafts/index.ts'
import * as explanations from './explanations/index.ts'
import * as notifications from './notifications/index.ts'
import * as operations from './operations/index.ts'
import * as privacy from './privacy/index.ts'
import * as provisioning from './provisioning/index.ts'
import * as requests from './requests/index.ts'
import * as shared from './shared/index.ts'
import {
  type CardJson,
  cardRegistry,
  format,
  helpCard,
  helpView,
  inLanguage,
  strings,
  type Viewer,
} from './shared/index.ts'
import * as templates from './templates/index.ts'
import * as webhooks from './webhooks/index.ts'

export type {
  Confirmation,
  DecideSeveral,
  DelegationForm,
  ReassignForm,
  ReassignRemark,
  Remark,
  WhichFor,
} from './decisions/index.ts'
export { decidesNow, readTicks, tickOf } from './decisions/index.ts'
export type { DraftOffer, RequestForm } from './drafts/index.ts'
export { formInputIds, peopleInputIds, wholeValue } from './drafts/index.ts'
export { type Notice, type NoticeCode, noticeCodes, type RetryVerb, withdrawnCode } from './notifications/index.ts'
export { maxJobs } from './operations/index.ts'
export type { ErasureNow, ExportNow } from './privacy/index.ts'
export { rowsOfPage } from './requests/index.ts'
export type { CardJson, HelpFor, Viewer } from './shared/index.ts'
export {
  type Catalogue,
  catalogues,
  hasAdminLine,
  languageOf,
  reasonText,
  rowsOfAdminPage,
  summaryOf,
  type Verb,
  verbs,
} from './shared/index.ts'
export type { StarterForm, TemplateChoice, TemplateUse } from './templates/index.ts'
export {
  type DeliveriesOf,
  type DeliveryNews,
  deliveriesOfPage,
  receiverKey,
  receiversOfPage,
  type WebhookNews,
} from './webhooks/index.ts'

/** All cards. */
export const definedCards = [
  helpCard,
  templates.chooseTemplateCard,
  drafts.continueDraftCard,
  drafts.requestFormCard,
  drafts.reviewCard,
  requests.cancelRequestCard,
  requests.cancelWhichCard,
  requests.requestStatusCard,
  decisions.approvalCard,
  decisions.approvalDecidedCard,
  provisioning.siteReadyCard,
  provisioning.mailboxReadyCard,
  provisioning.linksCard,
  requests.movedCard,
  requests.myRequestsCard,
  requests.approvalsCard,
  decisions.decideSeveralCard,
  batches.batchCard,
  decisions.delegationCard,
  notifications.digestCard,
  notifications.digestChoiceCard,
  notifications.noticeCard,
  notifications.healthTurnedCard,
  explanations.whyCard,
  shared.adminHelpCard,
  requests.adminQueueCard,
  operations.adminStuckCard,
  operations.adminHealthCard,
  operations.firstDayCard,
  operations.adminStatsCard,
  operations.adminJobsCard,
  audit.adminAuditCard,
  decisions.adminConfirmCard,
  decisions.adminReassignCard,
  decisions.adminWhichCard,
  decisions.adminDelegationsCard,
  requests.adminSimulateCard,
  requests.adminSimulateChoiceCard,
  templates.adminTemplatesCard,
  templates.adminTemplateCard,
  templates.startersCard,
  templates.starterFormCard,
  webhooks.adminWebhooksCard,
  webhooks.adminWebhookCard,
  webhooks.adminDeliveriesCard,
  webhooks.adminDeliveryCard,
  privacy.adminExportCard,
  privacy.adminPersonCard,
  privacy.adminEraseCard,
] as const

/** Returns a function that renders a card from the arguments of its view. */
const shown =
  <A extends unknown[], V>(card: { render(view: V): CardJson }, view: (...args: A) => V) =>
  (...args: A): CardJson =>
    card.render(view(...args))

const notice = shown(notifications.noticeCard, notifications.noticeView)
const approval = decisions.renderApproval
const approvalDecided = shown(decisions.approvalDecidedCard, decisions.approvalDecidedView)
const siteReady = shown(provisioning.siteReadyCard, provisioning.siteReadyView)
const mailboxReady = shown(provisioning.mailboxReadyCard, provisioning.mailboxReadyView)
const adminStuck = shown(operations.adminStuckCard, operations.adminStuckView)
const adminJobs = shown(operations.adminJobsCard, operations.adminJobsView)
const adminTemplates = shown(templates.adminTemplatesCard, templates.adminTemplatesView)
const starters = shown(templates.startersCard, templates.startersView)
const adminWebhooks = shown(webhooks.adminWebhooksCard, webhooks.adminWebhooksView)

const cards = {
  help: shown(helpCard, helpView),
  chooseTemplate: shown(templates.chooseTemplateCard, templates.chooseTemplateView),
  continueDraft: shown(drafts.continueDraftCard, drafts.continueDraftView),
  form: drafts.renderForm,
  review: shown(drafts.reviewCard, drafts.reviewView),
  cancelRequest: shown(requests.cancelRequestCard, requests.cancelRequestView),
  cancelWhich: shown(requests.cancelWhichCard, requests.cancelWhichView),
  requestStatus: requests.renderRequestStatus,
  approval,
  approvalDecided,
  /**
   * The approval card while the viewer can decide, else the decided one. A card for an earlier `stage` shows only how that
   * stage was decided. `facts`: checked a moment before.
   */
  approvalNow: (request: Request, viewer: Viewer, stage?: number, facts?: ApprovalFacts): CardJson =>
    decisions.decidesNow(request, viewer, stage)
      ? approval(request, viewer, undefined, facts)
      : approvalDecided(request, viewer, stage),
  /** The one card that announces a created resource. */
  ready: (request: Request, viewer: Viewer, helpers?: readonly Person[]): CardJson =>
    isForMailbox(request) ? mailboxReady(request, viewer, helpers) : siteReady(request, viewer),
  /** The one card that announces several created resources. */
  links: shown(provisioning.linksCard, provisioning.linksView),
  /** An earlier card, in one line, when a newer card shows the request. */
  moved: shown(requests.movedCard, requests.movedView),
  myRequests: shown(requests.myRequestsCard, requests.myRequestsView),
  approvals: shown(requests.approvalsCard, requests.approvalsView),
  decideSeveral: decisions.renderDecideSeveral,
  batch: batches.renderBatch,
  delegation: shown(decisions.delegationCard, decisions.delegationView),
  digest: shown(notifications.digestCard, notifications.digestView),
  digestChoice: shown(notifications.digestChoiceCard, notifications.digestChoiceView),
  notice,
  healthTurned: shown(notifications.healthTurnedCard, notifications.healthTurnedView),
  why: explanations.renderWhy,
  adminHelp: shown(shared.adminHelpCard, shared.adminHelpView),
  adminQueue: shown(requests.adminQueueCard, requests.adminQueueView),
  /** Stuck requests and how to fix them; a notice when nothing is stuck. */
  adminStuck: (stuck: Stuck, viewer: Viewer, from?: number): CardJson =>
    stuck.entries.length === 0 && !stuck.deadLetters && !stuck.isDirectorySilent
      ? notice({ code: 'nothingStuck' }, viewer)
      : adminStuck(stuck, viewer, from),
  adminHealth: shown(operations.adminHealthCard, operations.adminHealthView),
  adminStats: operations.renderStats,
  /** The failed jobs; a notice without any. */
  adminJobs: (givenUp: GivenUpJobs, viewer: Viewer): CardJson =>
    givenUp.jobs.length === 0 ? notice({ code: 'nothingGivenUp' }, viewer) : adminJobs(givenUp, viewer),
  adminReplay: shown(operations.adminJobsCard, operations.adminReplayView),
  adminAudit: shown(audit.adminAuditCard, audit.adminAuditView),
  organisationAudit: shown(audit.adminAuditCard, audit.organisationAuditView),
  adminConfirm: shown(decisions.adminConfirmCard, decisions.adminConfirmView),
  adminReassign: shown(decisions.adminReassignCard, decisions.adminReassignView),
  adminWhich: shown(decisions.adminWhichCard, decisions.adminWhichView),
  adminDelegations: shown(decisions.adminDelegationsCard, decisions.adminDelegationsView),
  adminSimulate: shown(requests.adminSimulateCard, requests.adminSimulateView),
  adminSimulateChoice: shown(requests.adminSimulateChoiceCard, requests.adminSimulateChoiceView),
  /** All templates, or the matches of a typed name; a notice without a match, and the starters if there is no template at all. */
  adminTemplates(list: templates.TemplateList, viewer: Viewer): CardJson {
    if (list.entries.length > 0) return adminTemplates(list, viewer)
    return list.asks ? notice({ code: 'noTemplateLikeIt' }, viewer) : starters()
  },
  starters,
  starterForm: shown(templates.starterFormCard, templates.starterFormView),
  firstDay: shown(operations.firstDayCard, operations.firstDayView),
  adminTemplate: shown(templates.adminTemplateCard, templates.adminTemplateView),
  /** The receivers of webhooks; without any, a notice that explains how to add one. */
  adminWebhooks: (page: ReceiverPage, viewer: Viewer): CardJson =>
    page.receivers.length === 0 ? notice({ code: 'noWebhooks' }, viewer) : adminWebhooks(page, viewer),
  adminWebhook: shown(webhooks.adminWebhookCard, webhooks.adminWebhookView),
  adminDeliveries: shown(webhooks.adminDeliveriesCard, webhooks.adminDeliveriesView),
  adminDelivery: shown(webhooks.adminDeliveryCard, webhooks.adminDeliveryView),
  adminExport: shown(privacy.adminExportCard, privacy.adminExportView),
  adminPerson: shown(privacy.adminPersonCard, privacy.adminPersonView),
  adminErase: shown(privacy.adminEraseCard, privacy.adminEraseView),
}

/**
 * The cards of the chat (DESIGN §6), each as plain JSON, ready to be attached to an activity. The views describe the
 * arguments.
 */
export type Cards = typeof cards

/** Returns the cards in the language of their reader. */
export function cardsFor({ locale: tag }: Pick<Viewer, 'locale'>): Cards {
  const known = cardsByTag.get(tag)
  if (known) return known
  const own = Object.entries(cards).map(([name, render]) => [
    name,
    (...args: unknown[]) => inLanguage(tag, () => Reflect.apply(render, undefined, args)),
  ])
  const made: Cards = Object.fromEntries(own)
  if (cardsByTag.size >= maxTags) cardsByTag.clear()
  cardsByTag.set(tag, made)
  return made
}

/** Clients send any text as their locale, so the number of remembered tags is limited. */
const cardsByTag = new Map<string, Cards>()
const maxTags = 100

/** Returns a function that writes in English, also while a card in another language is being rendered. */
const inEnglish =
  <A extends unknown[]>(write: (...args: A) => string) =>
  (...args: A): string =>
    inLanguage('en', () => write(...args))

/** The sentences of the API's `detail` fields, from the catalogue: the same as on cards, with facts as machines write them. */
export const apiTexts = {
  /** The reason of a refusal. */
  reason: inEnglish(shared.reasonText),
  /** One line of an explanation; `''` for a line of another version. */
  explanation: inEnglish(
    (line: Explanation) => explanations.explanationText(line, explanations.plainExplanation) ?? '',
  ),
  healthPartName: inEnglish((name: HealthPart['name']) => strings.health.part[name]),
  /** The health of one part of the service. */
  healthPart: inEnglish((part: HealthPart) =>
    operations.healthText(strings.health.says[part.says], part, operations.plainHealth),
  ),
}

/** A sentence that the chat shows while the card does not change. `traceId`: for the text `failed`. */
export const toastFor = (
  { locale: tag }: Pick<Viewer, 'locale'>,
  text: keyof typeof strings.toast,
  traceId = '',
): string => inLanguage(tag, () => format(strings.toast[text], { traceId }))

/** The sample name that `admin simulate` gives to a resource, in the language of its card. */
export const exampleNameFor = ({ locale: tag }: Pick<Viewer, 'locale'>): string =>
  inLanguage(tag, () => strings.simulate.example)

/**
 * Checks that cards and templates match, and expands one card: the first expansion of the process costs 60 to 70 ms,
 * which a person's first click should not pay.
 */
export function warmUp(): void {
  cardRegistry(...definedCards)
  cards.help({ displayName: '', has: { approvals: true, drafts: true }, isAdmin: true, offers: [] })
}
