/** The core's only door: rooms import from here and nowhere else in `core/`. */
export * from './access.ts'
export type { Queue, QueueEntry, Stuck } from './administration.ts'
export * from './approval.ts'
export * from './approval-policy.ts'
export * from './approval-stage.ts'
export { type Attention, attentionOf, deadlines, type LostPeople, type Mend, type WhyLost } from './attention.ts'
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
} from './audit.ts'
export {
  erasure,
  type Finding,
  findingKinds,
  type StoredChain,
  type StoredEntry,
  type StoredRequest,
  verify,
} from './audit-proof.ts'
export { type AuditReport, auditReport, type Proof, showAudit } from './audit-report.ts'
export * from './batch.ts'
export { type CheckedRow, checkedRow } from './batch-check.ts'
export type { BatchAttempt } from './batch-run.ts'
export type { LostRight } from './card-rights.ts'
export { seedTemplates } from './catalogue.ts'
export { lookTimes } from './change.ts'
export type * from './chat-ports.ts'
export * from './check.ts'
export { type Condition, type JudgedCondition, judge, titleOfFound } from './condition.ts'
export { countryCode } from './country.ts'
export type { GivenUpJob, GivenUpJobs } from './dead-letters.ts'
export { isRetryable, longestComment } from './decision.ts'
export {
  type Delegation,
  type DelegationPage,
  type DelegationStore,
  type Delegations,
  delegation,
} from './delegation.ts'
export type { EndOfDelegation } from './delegation-ends.ts'
export {
  type DeliveryFilter,
  deliveryDetails,
  deliveryView,
  type KnownDelivery,
  showDelivery,
  showDeliveryDetails,
} from './delivery-log.ts'
export { mostFailedCounted, mostReplayed } from './delivery-replays.ts'
export {
  type AwaitedEntry,
  type Digest,
  type DigestNotice,
  type DigestStanding,
  type DigestStore,
  isNothing,
} from './digest.ts'
export type * from './directory-ports.ts'
export * from './draft.ts'
export type { DraftView } from './draft-view.ts'
export type { StatusCard } from './drafting.ts'
export type * from './edge-ports.ts'
export type { Erasure, ErasureBlocks } from './erasure-blocks.ts'
export type { ErasureNotice } from './erasure-notes.ts'
export * from './errors.ts'
export * from './events.ts'
export {
  type Explanation,
  explain,
  explanation,
  explanationTopics,
} from './explanation.ts'
export {
  type ExplanationCode,
  explanationCodes,
  inWords,
  type SentenceKey,
  sentenceKeyOf,
  sentenceKeys,
  sentences,
  type Writing,
} from './explanation-words.ts'
export * from './export-link.ts'
export type { ExportedEntry, UnreadableRequest } from './export-rows.ts'
export type {
  ClosedLink,
  Days,
  ExportFile,
  ExportLink,
  ExportOffer,
  ExportPreview,
  ExportQuery,
  ExportSource,
} from './exporting.ts'
export { asksForAddress } from './form-values.ts'
export { type AddressesInUse, type AddressStore, type HeldAddress, mailKey, siteKey } from './former-address.ts'
export { createGate, type Gate, type GateLimits, type GateState, lineOf } from './gate.ts'
export { type HealthFacts, judgeHealth } from './health.ts'
export { processesParts } from './health-processes.ts'
export * from './health-report.ts'
export * from './health-thresholds.ts'
export * from './health-watch.ts'
export { createHealthWatcher, type HealthWatcher } from './health-watcher.ts'
export * from './health-words.ts'
export { erasedName, type KnownPerson } from './known-person.ts'
export { type ListPage, mostCounted, type PageAt } from './list-page.ts'
export { dayAfter, dayIn, endOf, momentOf } from './local-time.ts'
export type { Outlook } from './look-ahead.ts'
export { readsOf } from './look-up-cost.ts'
export * from './mailbox.ts'
export { nameTokens } from './name-pattern.ts'
export type { NamePreview } from './name-preview.ts'
export * from './naming.ts'
export * from './naming-policy.ts'
export * from './notification.ts'
export { nudgeFrom } from './nudge.ts'
export { type OrganisationAction, organisationActions } from './organisation-audit.ts'
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
} from './origin.ts'
export { type CardContent, type NoticeContent, type Outbox, type RequestCard, requestCard } from './outbox.ts'
export { type Override, refuseOverride } from './override.ts'
export { needsSecondAdmin } from './own-reassignment.ts'
export { type Period, type PeriodName, type Place, periodNames, periodOf, periodOfDays, type Span } from './period.ts'
export * from './person-data.ts'
export type { ErasureOrdered } from './person-erasure.ts'
export { namesOf, shortestName, tellsOf, withoutPerson } from './person-redaction.ts'
export { type Evaluation, isForMailboxPlan, type MailboxPlan, type Plan, type SitePlan } from './plan.ts'
export type * from './ports.ts'
export { type Resource, resourceOf } from './preview.ts'
export * from './processes.ts'
export { createProvisioning, type Provisioning } from './provisioning.ts'
export type { Page } from './reading.ts'
export type { Deciding } from './refused.ts'
export * from './request.ts'
export * from './request-basis.ts'
export { type RequestPreview, requestPreview } from './request-preview.ts'
export * from './request-view.ts'
export * from './resource.ts'
export { type RetentionStore, reduced } from './retention.ts'
export { signingSecrets } from './signing-secrets.ts'
export {
  findSimilar,
  type SimilarResource,
  type SimilarResources,
  type Sought,
  similarResource,
  similarResources,
} from './similar.ts'
export { type SimulatedPreview, type Simulation, simulatedPreview } from './simulation.ts'
export * from './site.ts'
export { standsFor } from './stand-ins.ts'
export { type AskedRow, type Figures, type Spread, type Stats, type StatsStore, stats } from './stats.ts'
export type * from './store-ports.ts'
export * from './telemetry.ts'
export * from './template.ts'
export {
  type MeantTemplates,
  meantTemplates,
  type TemplateEdit,
  type TemplateInUse,
  type TemplatePage,
  type TemplateReport,
} from './template-care.ts'
export { type TemplateField, templateField } from './template-field.ts'
export { type Applied, applied, type PropertyRule, propertiesOf } from './template-property.ts'
export { type TemplateChange, type TemplateVersion, templateVersion } from './template-version.ts'
export type * from './tenant-ports.ts'
export type * from './token-buckets.ts'
export { traceIdOf } from './trace.ts'
export * from './validation.ts'
export { type Warning, type WarningCode, warningCodes } from './warning.ts'
export * from './webhook.ts'
export { type AnswerMeaning, answerMeanings, meaningOf } from './webhook-answer.ts'
export * from './webhook-endpoint.ts'
export {
  type ReceiverId,
  type ReceiverPage,
  type ReceiverState,
  receiverStates,
  templateIdOf,
  type WebhookReceiver,
} from './webhook-receivers.ts'
export { type WebhookTestResult, webhookTestResult } from './webhook-test.ts'
