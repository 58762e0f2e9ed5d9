/** The core's only door: rooms import from here and nowhere else in `core/`. */
export * from './shared/access.ts'
export type { Queue, QueueEntry, Stuck } from './operations/administration.ts'
export * from './approvals/approval.ts'
export * from './templates/approval-policy.ts'
export * from './approvals/stage.ts'
export { type Attention, attentionOf, deadlines, type LostPeople, type Mend, type WhyLost } from './requests/attention.ts'
export {
  type AuditedState,
  type ChainedEntry,
  type ChainHead,
  chain,
  type EntryFacts,
  genesis,
  hashOf,
  headOf,
  type SealedHead,
  sealOf,
  stateDigest,
  textDigest,
  type Words,
  wordsOf,
} from './audit/chain.ts'
export {
  erasure,
  type Finding,
  findingKinds,
  type StoredChain,
  type StoredEntry,
  type StoredRequest,
  verify,
} from './audit/proof.ts'
export { type AuditReport, auditReport, type Proof, showAudit } from './audit/report.ts'
export * from './batches/batch.ts'
export { type CheckedRow, checkedRow } from './batches/check.ts'
export type { BatchAttempt } from './batches/run.ts'
export type { LostRight } from './decisions/card-rights.ts'
export { seedTemplates } from './templates/catalogue.ts'
export { lookTimes } from './requests/change.ts'
export type * from './requests/chat-ports.ts'
export * from './resources/check.ts'
export { type Condition, type JudgedCondition, judge, titleOfFound } from './templates/condition.ts'
export { countryCode } from './shared/country.ts'
export type { GivenUpJob, GivenUpJobs } from './operations/dead-letters.ts'
export { isRetryable, longestComment } from './decisions/decision.ts'
export {
  type Delegation,
  type DelegationPage,
  type DelegationStore,
  type Delegations,
  delegation,
} from './approvals/delegation.ts'
export type { EndOfDelegation } from './decisions/delegation-ends.ts'
export {
  type DeliveryFilter,
  deliveryDetails,
  deliveryView,
  type KnownDelivery,
  showDelivery,
  showDeliveryDetails,
} from './webhooks/delivery-log.ts'
export { mostFailedCounted, mostReplayed } from './webhooks/delivery-replays.ts'
export {
  type AwaitedEntry,
  type Digest,
  type DigestNotice,
  type DigestStanding,
  type DigestStore,
  isNothing,
} from './notifications/digest.ts'
export type * from './shared/directory.ts'
export * from './drafts/draft.ts'
export type { DraftView } from './drafts/draft-view.ts'
export type { StatusCard } from './drafts/drafting.ts'
export type * from './shared/bot-state-ports.ts'
export type { Erasure, ErasureBlocks } from './privacy/erasure-blocks.ts'
export type { ErasureNotice } from './privacy/erasure-notes.ts'
export * from './shared/errors.ts'
export * from './shared/events.ts'
export {
  type Explanation,
  explain,
  explanation,
  explanationTopics,
} from './explanations/explanation.ts'
export {
  type ExplanationCode,
  explanationCodes,
  inWords,
  type SentenceKey,
  sentenceKeyOf,
  sentenceKeys,
  sentences,
  type Writing,
} from './explanations/explanation-words.ts'
export * from './privacy/export-link.ts'
export type { ExportedEntry, UnreadableRequest } from './privacy/export-rows.ts'
export type {
  ClosedLink,
  Days,
  ExportFile,
  ExportLink,
  ExportOffer,
  ExportPreview,
  ExportQuery,
  ExportSource,
} from './privacy/exporting.ts'
export { asksForAddress } from './drafts/form-values.ts'
export { type AddressesInUse, type AddressStore, type HeldAddress, mailKey, siteKey } from './naming/former-addresses.ts'
export { createGate, type Gate, type GateLimits, type GateState, lineOf } from './shared/gate.ts'
export { type HealthFacts, judgeHealth } from './operations/health.ts'
export type { HealthNotice } from './notifications/health-notice.ts'
export { processesParts } from './operations/health-processes.ts'
export * from './operations/health-report.ts'
export * from './operations/health-thresholds.ts'
export * from './notifications/health-watch.ts'
export { createHealthWatcher, type HealthWatcher } from './notifications/health-watcher.ts'
export * from './operations/health-words.ts'
export { erasedName, type KnownPerson } from './privacy/known-person.ts'
export { type ListPage, mostCounted, type PageAt } from './requests/list-page.ts'
export { dayAfter, dayIn, endOf, momentOf } from './shared/local-time.ts'
export type { Outlook } from './approvals/preview.ts'
export { readsOf } from './shared/lookup-cost.ts'
export * from './resources/mailbox.ts'
export { nameTokens } from './templates/name-pattern.ts'
export type { NamePreview } from './drafts/name-preview.ts'
export * from './naming/naming.ts'
export * from './templates/naming-policy.ts'
export type { NoticeContent, NoticeOrder, NoticeStore, SentNotice } from './notifications/notices.ts'
export { nudgeFrom } from './decisions/nudge.ts'
export { type OrganisationAction, organisationActions } from './audit/organisation-audit.ts'
export {
  checkingIdentity,
  from,
  type Origin,
  originNow,
  originOf,
  originOfJob,
  origins,
  traceHeaders,
  traceparentNow,
  traceparentToEnqueue,
  within,
} from './shared/origin.ts'
export { type Override, refuseOverride } from './decisions/override.ts'
export { needsSecondAdmin } from './approvals/own-reassignment.ts'
export { type Period, type PeriodName, type Place, periodNames, periodOf, periodOfDays, type Span } from './shared/period.ts'
export * from './privacy/person-data.ts'
export type { ErasureOrdered } from './privacy/person-erasure.ts'
export { namesOf, shortestName, tellsOf, withoutPerson } from './privacy/person-redaction.ts'
export { type Evaluation, isForMailboxPlan, type MailboxPlan, type Plan, type SitePlan } from './requests/plan.ts'
export type * from './shared/ports.ts'
export { type Resource, resourceOf } from './requests/evaluate.ts'
export * from './operations/processes.ts'
export { createProvisioning, type Provisioning } from './operations/provisioning.ts'
export type { Page } from './requests/reading.ts'
export type { Deciding } from './requests/refusals.ts'
export * from './requests/request.ts'
export * from './requests/basis.ts'
export { type RequestPreview, requestPreview } from './requests/request-preview.ts'
export * from './requests/view.ts'
export * from './resources/resource.ts'
export { type RetentionStore, reduced } from './privacy/retention.ts'
export { signingSecrets } from './templates/signing-secrets.ts'
export {
  findSimilar,
  type SimilarResource,
  type SimilarResources,
  type Sought,
  similarResource,
  similarResources,
} from './naming/similar.ts'
export { type SimulatedPreview, type Simulation, simulatedPreview } from './requests/simulation.ts'
export * from './resources/site.ts'
export { standsFor } from './approvals/stand-ins.ts'
export { type AskedRow, type Figures, type Spread, type Stats, type StatsStore, stats } from './operations/stats.ts'
export type * from './requests/store-ports.ts'
export * from './shared/telemetry.ts'
export * from './templates/template.ts'
export {
  type MeantTemplates,
  meantTemplates,
  type TemplateEdit,
  type TemplateInUse,
  type TemplatePage,
  type TemplateReport,
} from './templates/template-admin.ts'
export { type TemplateField, templateField } from './templates/field.ts'
export { type Applied, applied, type PropertyRule, propertiesOf } from './templates/property.ts'
export { type TemplateChange, type TemplateVersion, templateVersion } from './templates/version.ts'
export type * from './requests/tenant-ports.ts'
export type * from './shared/token-buckets.ts'
export { traceIdOf } from './shared/trace.ts'
export * from './shared/validation.ts'
export { type Warning, type WarningCode, warningCodes } from './approvals/warning.ts'
export * from './templates/webhook-address.ts'
export { type AnswerMeaning, answerMeanings, meaningOf } from './webhooks/answer.ts'
export * from './webhooks/endpoint.ts'
export {
  type ReceiverId,
  type ReceiverPage,
  type ReceiverState,
  receiverStates,
  templateIdOf,
  type WebhookReceiver,
} from './webhooks/receivers.ts'
export { type WebhookTestResult, webhookTestResult } from './webhooks/test.ts'
