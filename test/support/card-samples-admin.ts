import { adminAuditCard, adminAuditView } from '../../src/cards/audit/index.ts'
import { adminConfirmCard, adminConfirmView } from '../../src/cards/decisions/admin-decisions.ts'
import { noticeCard, noticeView } from '../../src/cards/notifications/notice.ts'
import {
  adminJobsCard,
  adminJobsView,
  adminReplayView,
  adminStuckCard,
  adminStuckView,
} from '../../src/cards/operations/admin-stuck.ts'
import { adminQueueCard, adminQueueView } from '../../src/cards/requests/admin-queue.ts'
import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import {
  adminTemplateCard,
  adminTemplatesCard,
  adminTemplatesView,
  adminTemplateView,
  type TemplateList,
} from '../../src/cards/templates/admin-templates.ts'
import {
  type AuditReport,
  attentionOf,
  because,
  type GivenUpJob,
  problemOf,
  type Queue,
  type QueueEntry,
  type Request,
  type Template,
  type TemplateInUse,
  type TemplateReport,
  template,
  templateFromStarter,
  withStep,
} from '../../src/core/index.ts'
import { mailboxes, mailboxOf, mailboxStepsUntil } from './card-mailboxes.ts'
import { dana, kim, omar, openCommunity, projectSite, requestOf, requests, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { healthSamples } from './card-samples-health.ts'
import { approvers, rich } from './card-template.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const entryOf = (request: Request, since: string): QueueEntry => ({
  request,
  since,
  attention: attentionOf(request, asSam.now),
})
const later = '2026-11-20T10:41:00Z'

export const stuckEntries: readonly QueueEntry[] = [
  entryOf(requestOf({ number: 1031, submittedAt: '2026-11-17T08:00:00Z' }), '2026-11-17T08:00:00Z'),
  entryOf(mailboxOf({ ...mailboxes.refused, number: 1029 }), mailboxes.refused.updatedAt),
  entryOf({ ...requests.late, number: 1036 }, requests.late.finishedAt ?? ''),
  entryOf(
    mailboxOf({ number: 1038, status: 'provisioning', steps: mailboxStepsUntil(2), updatedAt: '2026-11-20T09:30:00Z' }),
    '2026-11-20T09:30:00Z',
  ),
]
const atLate = '2026-11-20T09:56:00Z'
const outage = problemOf(
  'unavailable',
  because('serviceAnswered', { service: 'SharePoint', status: 503, purpose: because('findingSite') }),
  { step: 'wait-for-site' },
)
const lateEntries: readonly QueueEntry[] = [
  entryOf(requests.delayed, atLate),
  entryOf(withStep({ ...requests.delayed, number: 1046 }, 'wait-for-site', { problem: outage }, later), atLate),
]
const entries: readonly QueueEntry[] = [
  ...stuckEntries,
  entryOf({ ...mailboxes.creating, number: 1041, updatedAt: later }, later),
  entryOf({ ...requests.secondStage, number: 1042, submittedAt: later }, later),
  entryOf({ ...requests.queued, number: 1044, queuedAt: later }, later),
]
export const queue: Queue = { counts: { waiting: 7, creating: 2, failed: 1 }, open: 11, entries }

const givenUp = (more: Partial<GivenUpJob>): GivenUpJob => ({
  letterId: '44444444-dddd-4ddd-8ddd-000000000001',
  isOver: false,
  job: 'notify',
  problem: because('chatRefusesCards'),
  at: new Date('2026-11-20T09:58:00Z'),
  request: requests.ready,
  ...more,
})
export const givenUpJobs: readonly GivenUpJob[] = [
  givenUp({}),
  givenUp({ job: 'provision', problem: because('jobInterrupted'), request: requests.failed }),
  givenUp({ job: 'catch-up', problem: because('storeAway'), request: undefined }),
]

const person = ({ id, displayName, userPrincipalName }: typeof sam) => ({ id, displayName, userPrincipalName })
const quartermaster = { kind: 'system' } as const
const hashes = (entry: number) => {
  const hash = (0x9e3779b1 * entry).toString(16).padStart(16, '7').slice(-16).repeat(4)
  return { digest: hash, before: entry === 1 ? null : hash, after: hash, hash }
}
type Line = Pick<AuditReport['entries'][number], 'actor' | 'action' | 'from' | 'at'> & { readonly comment?: string }
const lines: readonly Line[] = [
  { actor: person(kim), action: 'pendingApproval', from: 'rest', at: '2026-11-19T15:20:00.000Z' },
  ...[
    { actor: person(dana), action: 'approved', comment: 'Go ahead, *but* only for this year.' },
    { actor: quartermaster, action: 'queued' },
  ].map((line) => ({ ...line, from: 'chat', at: '2026-11-20T10:31:00.000Z' })),
  ...['provisioning', 'step:create-site', 'step:wait-for-site', 'step:ready-check', 'succeeded', 'announced'].map(
    (action) => ({ actor: quartermaster, action, from: 'job', at: '2026-11-20T10:32:00.000Z' }),
  ),
]
export const audited = (findings: AuditReport['findings'] = [], count = lines.length): AuditReport => ({
  requestId: requests.ready.requestId,
  reference: 'REQ-1042',
  proved: findings.length === 0,
  findings,
  entries: lines.slice(0, count).map((line, index) => ({
    ...line,
    entry: index + 1,
    // Entries of the previous version do not have a trace.
    traceId: index < 2 ? null : `4bf92f3577b34da6a3ce929d0e0e47${index.toString().padStart(2, '3')}`,
    ...{ version: index + 1, erased: false },
    ...hashes(index + 1),
  })),
})
const damage: AuditReport['findings'] = [
  {
    kind: 'changed',
    entry: 2,
    reason: because('entryChanged', { entry: 2, action: 'approved', at: '2026-11-20T10:31:00.000Z' }),
  },
  { kind: 'removed', entry: 4, reason: because('entryRemoved', { entry: 4 }) },
  { kind: 'inserted', entry: null, reason: because('entryForeignUnnumbered', { action: 'null', at: 'null' }) },
  { kind: 'request', entry: null, reason: because('requestDiffers', { entry: 9 }) },
  {
    kind: 'moved',
    entry: 6,
    reason: because('entryMoved', { entry: 6, action: 'approved', at: '2026-11-20T10:31:00.000Z' }),
  },
]

const used = (template: Template, open: number, resources: number): TemplateInUse => ({ template, open, resources })
const listed = [
  used(projectSite, 2, 12),
  used(rich, 1, 4),
  used({ ...openCommunity, active: false, version: 4 }, 0, 200),
]
const edits: TemplateReport['edits'] = [
  { version: 3, by: person(sam), at: '2026-11-20T09:30:00.000Z', changed: ['approval', 'naming'] },
  { version: 2, by: person(dana), at: '2026-11-03T08:00:00.000Z', changed: ['active'] },
  { version: 1, by: null, at: null, changed: [] },
]
const report = (template: Template, more: Partial<TemplateReport> = {}): TemplateReport => ({
  ...used(template, 2, 12),
  names: { [dana.id]: 'Dana Fox', [kim.id]: 'Kim Lee', [approvers]: 'Site approvers' },
  example: { typed: 'Apollo', displayName: 'Apollo', address: 'https://contoso.sharepoint.com/sites/apollo' },
  edits,
  ...more,
})
const richReport = report(rich, {
  example: { typed: 'Apollo', displayName: 'Apollo (Zürich)', address: 'zur-apollo-001@contoso.example' },
})
const added = report(template.parse(templateFromStarter({ kind: 'room', id: rich.id })), {
  ...{ open: 0, resources: 0, edits: edits.slice(0, 1).map((edit) => ({ ...edit, version: 1, changed: [] })) },
  example: { typed: 'Apollo', displayName: 'Apollo', address: 'room-apollo@contoso.example' },
})
const question = (asks: 'enable' | 'disable', isChanged = false) => ({ asks, isChanged })
const few = (asks?: TemplateList['asks']) => ({ entries: listed, from: 0, total: 3, ...(asks && { asks }) })
const templateSamples: readonly Sample[] = [
  sample('', adminTemplatesCard, () => adminTemplatesView(few(), asSam)),
  sample('page', adminTemplatesCard, () => adminTemplatesView({ entries: listed, from: 6, total: 10 }, asSam)),
  sample('which', adminTemplatesCard, () =>
    adminTemplatesView(few({ typed: 'site', found: true, does: 'disable' }), asSam),
  ),
  sample('near', adminTemplatesCard, () =>
    adminTemplatesView(few({ typed: 'Projct sites', found: false, does: 'show' }), asSam),
  ),
  sample('', adminTemplateCard, () => adminTemplateView(report(projectSite), asSam)),
  sample('added', adminTemplateCard, () => adminTemplateView(added, asSam, { news: 'added' })),
  sample('rich', adminTemplateCard, () => adminTemplateView(richReport, asSam)),
  sample('off', adminTemplateCard, () => adminTemplateView(report({ ...openCommunity, active: false }), asSam)),
  sample('disable', adminTemplateCard, () => adminTemplateView(richReport, asSam, question('disable'))),
  sample('enable', adminTemplateCard, () => adminTemplateView(richReport, asSam, question('enable', true))),
]

export const adminSamples: readonly Sample[] = [
  ...templateSamples,
  sample('', adminQueueCard, () => adminQueueView(queue, asSam)),
  sample('empty', adminQueueCard, () =>
    adminQueueView({ counts: { waiting: 0, creating: 0, failed: 0 }, open: 0, entries: [] }, asSam),
  ),
  sample('', adminStuckCard, () => adminStuckView({ count: 4, entries: stuckEntries }, asSam)),
  sample('late', adminStuckCard, () => adminStuckView({ count: 2, entries: lateEntries }, asSam)),
  sample('one', adminStuckCard, () => adminStuckView({ count: 1, entries: stuckEntries.slice(1, 2) }, asSam)),
  ...healthSamples,
  sample('', adminJobsCard, () => adminJobsView({ total: 3, jobs: givenUpJobs }, asSam)),
  sample('confirm', adminJobsCard, () => adminReplayView(givenUp({}), asSam)),
  sample('', adminAuditCard, () => adminAuditView(audited(), requests.ready, 0, asSam)),
  sample('older', adminAuditCard, () => adminAuditView(audited(), requests.ready, 8, asSam)),
  sample('one', adminAuditCard, () => adminAuditView(audited([], 1), requests.waiting, 0, asSam)),
  sample('findings', adminAuditCard, () => adminAuditView(audited(damage, 5), requests.ready, 0, asSam)),
  sample('retry', adminConfirmCard, () => adminConfirmView({ verb: 'admin.retry', request: mailboxes.refused }, asSam)),
  sample('cancel', adminConfirmCard, () =>
    adminConfirmView({ verb: 'admin.cancel', request: requests.waiting }, asSam),
  ),
  sample('comment-missing', adminConfirmCard, () =>
    adminConfirmView({ verb: 'admin.cancel', request: mailboxes.checkFailed, commentMissing: true }, asSam),
  ),
  ...(['delayed', 'extensionRefused', 'siteNotReady'] as const).map((situation) =>
    sample(`${situation}-admin`, requestStatusCard, () => requestStatusView(requests[situation], asSam)),
  ),
  sample('rejected-to-admin', requestStatusCard, () => requestStatusView(requests.rejected, asSam)),
  sample('not-admin', noticeCard, () => noticeView({ code: 'notAdmin' }, asSam)),
  ...(['webhookUndelivered', 'webhookOwn', 'webhookGone', 'webhookFailing'] as const).map((code) => {
    const variant = code.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
    return sample(variant, noticeCard, () => noticeView({ code, reference: 'REQ-1042', by: 'Project site' }, asSam))
  }),
  ...(['one', 'many'] as const).map((variant) => {
    const [days, count] = variant === 'one' ? [1, 1] : [365, 12_480]
    const about = { code: 'retentionStarts', at: '2026-11-23T10:44:00.000Z', days, count } as const
    return sample(`retention-starts-${variant}`, noticeCard, () => noticeView(about, asSam))
  }),
  sample('nothing-stuck', noticeCard, () => noticeView({ code: 'nothingStuck' }, asSam)),
  sample('second-admin', noticeCard, () => noticeView({ code: 'secondAdminNeeded', people: [dana, omar] }, asSam)),
  sample('no-longer-admin', noticeCard, () => noticeView({ code: 'noLongerAdmin' }, asSam)),
  sample('no-longer-approver', noticeCard, () => noticeView({ code: 'noLongerApprover' }, asSam)),
  sample('no-period', noticeCard, () => noticeView({ code: 'noPeriod' }, asSam)),
  sample('cannot-retry', noticeCard, () =>
    noticeView({ code: 'cannotRetry', reference: 'REQ-1042', requestId: requests.ready.requestId }, asSam),
  ),
]
