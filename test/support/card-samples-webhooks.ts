import { adminAuditCard, organisationAuditView } from '../../src/cards/audit/index.ts'
import { noticeCard, noticeView } from '../../src/cards/notifications/notice.ts'
import { adminJobsCard, adminReplayView } from '../../src/cards/operations/admin-stuck.ts'
import {
  adminDeliveriesCard,
  adminDeliveriesView,
  adminDeliveryCard,
  adminDeliveryView,
  type DeliveriesPage,
  type DeliveryNews,
} from '../../src/cards/webhooks/admin-deliveries.ts'
import {
  adminWebhookCard,
  adminWebhooksCard,
  adminWebhooksView,
  adminWebhookView,
  type WebhookNews,
} from '../../src/cards/webhooks/admin-webhooks.ts'
import {
  type AuditReport,
  because,
  type Delivery,
  endpointOf,
  type GivenUpJob,
  type KnownDelivery,
  meaningOf,
  type Template,
  type WebhookReceiver,
  type WebhookTestResult,
} from '../../src/core/index.ts'
import { dana, projectSite, requests, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { rich } from './card-template.ts'
import { templateOf } from './card-world.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const tenantId = '0c0ffee0-1111-4111-8111-000000000365'
const person = ({ id, displayName, userPrincipalName }: typeof sam) => ({ id, displayName, userPrincipalName })
const longNamed = templateOf({
  id: '7e57ed00-0000-4000-8000-000000000002',
  version: 1,
  kind: 'teamSite',
  name: 'Working group of the regional offices for procurement',
})

/** Creates a receiver's status, by default healthy. */
export function receiver(
  template: Template | undefined,
  url: string,
  state: WebhookReceiver['state'],
  more: Partial<WebhookReceiver['endpoint']> & Partial<Pick<WebhookReceiver, 'counts' | 'last'>> = {},
): WebhookReceiver {
  const { counts = { delivered: 42, failed: 0, pending: 1 }, last, ...changed } = more
  const subscriber = template ? { templateId: template.id } : ('bot' as const)
  const endpoint = { ...endpointOf({ tenantId, subscriber }, url), ...changed }
  return { subscriber, template, url, state, endpoint, counts, last }
}
const failing = receiver(rich, 'https://hooks.contoso.example/desks?key=secret', 'failing', {
  failingSince: '2026-11-20T08:12:00Z',
  counts: { delivered: 3, failed: 1, pending: 4 },
  last: { status: 'not reachable (ECONNREFUSED)', at: '2026-11-20T10:41:00Z' },
})
const off = receiver(longNamed, 'https://integration-platform.regional-offices.contoso.example:8443/hooks', 'off', {
  disabledAt: '2026-11-19T16:30:00Z',
  failingSince: '2026-11-19T16:30:00Z',
  reason: 'gone',
  counts: { delivered: 0, failed: 1234, pending: 0 },
  last: { status: '410', at: '2026-11-19T16:30:00Z' },
})
const well = receiver(projectSite, 'https://hooks.contoso.example/sites', 'well', {
  last: { status: '204', at: '2026-11-20T10:40:00Z' },
})
const own = receiver(undefined, 'https://quartermaster.contoso.example/webhooks/provisioning', 'well', {
  counts: { delivered: 0, failed: 0, pending: 0 },
})
const waits = receiver(projectSite, 'https://hooks.contoso.example/sites', 'waits', {
  waitsUntil: '2026-11-20T11:44:00Z',
  failingSince: '2026-11-20T10:43:00Z',
  last: { status: '429', at: '2026-11-20T10:43:00Z' },
})
const page = (receivers: readonly WebhookReceiver[], more: { from?: number; total?: number } = {}) => ({
  ...{ receivers, from: 0, total: receivers.length, ...more },
  troubled: receivers.filter(({ state }) => state !== 'well').length,
})

const result = (status: string, milliseconds: number): WebhookTestResult => ({
  webhookId: '0d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42',
  templateId: rich.id,
  url: failing.url,
  delivered: meaningOf(status) === 'taken',
  status,
  meaning: meaningOf(status),
  milliseconds,
})

/** Creates a delivery about a finished site, by default delivered. */
export const deliveryWith = (more: Partial<Delivery> = {}): Delivery => ({
  deliveryId: '5d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c01',
  requestId: requests.ready.requestId,
  tenantId,
  subscriber: { templateId: rich.id },
  type: 'site.provisioned',
  url: failing.url,
  body: JSON.stringify({
    ...{
      type: 'site.provisioned',
      timestamp: '2026-11-20T10:32:00.000Z',
      requestId: requests.ready.requestId,
      tenantId,
    },
    data: {
      ...{ reference: 'REQ-1042', kind: 'teamSite', status: 'succeeded', displayName: 'Aurora *project* room' },
      url: 'https://contoso.sharepoint.com/sites/project-aurora',
    },
  }),
  status: 'delivered',
  attempts: 1,
  lastStatus: '204',
  createdAt: '2026-11-20T10:32:00.000Z',
  updatedAt: '2026-11-20T10:32:01.000Z',
  history: [{ at: '2026-11-20T10:32:01.000Z', status: '204', milliseconds: 31 }],
  nextAttemptAt: null,
  ...more,
})
const failures = ['503', 'not reachable (ECONNREFUSED)', 'no answer in 15 s', '500', '302', '429', '401', '503']
const failed = deliveryWith({
  ...{ status: 'failed', attempts: 10, lastStatus: '503' },
  history: failures.map((status, index) => ({
    ...{ at: `2026-11-20T${String(index + 1).padStart(2, '0')}:32:00.000Z`, status, milliseconds: 15_000 },
  })),
  replays: [{ at: '2026-11-20T07:30:00.000Z', by: person(dana), after: 6 }],
})
const retried = deliveryWith({
  ...{ status: 'pending', attempts: 2, lastStatus: 'not reachable (ENOTFOUND)' },
  ...{ nextAttemptAt: '2026-11-20T10:49:00.000Z', type: 'request.rejected' },
  history: [{ at: '2026-11-20T10:32:01.000Z', status: 'not reachable (ENOTFOUND)', milliseconds: 4 }],
})
const still = deliveryWith({
  ...{ status: 'pending', attempts: 0, history: [], nextAttemptAt: null, body: 'gone' },
  lastStatus: 'stands still: the process died each time it ran',
})
const unsent = deliveryWith({
  ...{ status: 'failed', attempts: 0, history: [] },
  lastStatus: 'not sent: the receiver was disabled because it answered 410 Gone',
})
const names = new Map([rich, projectSite, longNamed].map((one) => [one.id, one]))
const log = (more: Partial<DeliveriesPage> = {}): DeliveriesPage => ({
  ...{
    of: 'all',
    deliveries: [retried, failed, deliveryWith(), still, unsent],
    isLater: false,
    names,
    canResend: false,
  },
  ...more,
})

const act = (entry: number, action: string, data: Record<string, unknown>) => ({
  ...{ entry, at: `2026-11-20T09:${String(entry).padStart(2, '0')}:00.000Z`, actor: person(sam), action, data },
  ...{ from: 'chat', traceId: null, version: null, erased: false, digest: 'd', before: null, after: null },
  hash: (0x9e3779b1 * entry).toString(16).padStart(16, '7').slice(-16).repeat(4),
})
const acts = [
  act(1, 'template-written', { about: 'Project site', version: 1, changed: [] }),
  act(2, 'template-written', { about: 'Project site', version: 2, changed: ['approval', 'webhook'] }),
  act(3, 'template-switched', { about: longNamed.name, active: false }),
  act(4, 'webhook-tested', { about: 'Service desk', status: 'not reachable (ECONNREFUSED)' }),
  act(5, 'webhook-switched-on', { about: 'Service desk', reason: 'gone' }),
  act(6, 'webhook-all-replayed', { about: 'Service desk', sent: 12 }),
  act(7, 'job-replayed', { about: 'catch-up', job: 'catch-up', problem: '', reason: because('storeAway') }),
  act(8, 'job-dismissed', { about: 'run-batch', job: 'run-batch', problem: 'the process died each time it ran' }),
  act(9, 'exported', {}),
]
const organisation = (entries: AuditReport['entries'], findings: AuditReport['findings'] = []): AuditReport => ({
  ...{ requestId: tenantId, reference: null, proved: findings.length === 0, findings, entries },
})

const overJob: GivenUpJob = {
  letterId: '44444444-dddd-4ddd-8ddd-000000000002',
  isOver: true,
  job: 'run-batch',
  problem: because('jobInterrupted'),
  at: new Date('2026-11-20T09:58:00Z'),
  request: undefined,
}

const one = (variant: string, of: WebhookReceiver, count: number, news: WebhookNews) =>
  sample(variant, adminWebhookCard, () => adminWebhookView(of, count, news, asSam))
const sent = (variant: string, delivery: Delivery, news: DeliveryNews, more: Partial<KnownDelivery> = {}) => {
  const known = { delivery, url: delivery.url, receiver: undefined, ...more }
  return sample(variant, adminDeliveryCard, () => adminDeliveryView(known, names, news, asSam))
}
export const webhookSamples: readonly Sample[] = [
  sample('', adminWebhooksCard, () => adminWebhooksView(page([off, failing, waits, well], { total: 6 }), asSam)),
  sample('well', adminWebhooksCard, () => adminWebhooksView(page([well, own]), asSam)),
  sample('own', adminWebhooksCard, () => adminWebhooksView(page([own]), asSam)),
  sample('later', adminWebhooksCard, () => adminWebhooksView(page([well, own], { from: 4, total: 6 }), asSam)),
  one('', failing, 3, { kind: 'show' }),
  one('taken', well, 0, { kind: 'tested', result: result('204', 31) }),
  one('refused', failing, 3, { kind: 'tested', result: result('not reachable (ECONNREFUSED)', 2) }),
  one('unsent', well, 0, { kind: 'tested', result: result('not sent: A webhook goes to https://.', 0) }),
  one('slow', { ...well, template: longNamed }, 0, { kind: 'slow' }),
  one('ask-on', off, 212, { kind: 'askOn' }),
  one('on', { ...off, state: 'well', endpoint: well.endpoint }, 212, { kind: 'isOn' }),
  one('ask-resend', failing, 212, { kind: 'askResend' }),
  one('resent', { ...well, template: longNamed }, 162, { kind: 'resent', sent: 50 }),
  one('waiting', failing, 0, { kind: 'show' }),
  one('sent-now', failing, 0, { kind: 'sentNow', sent: 4 }),
  one('nothing-waits', well, 0, { kind: 'sentNow', sent: 0 }),
  sample('', adminDeliveriesCard, () => adminDeliveriesView(log({ nextCursor: 'djE6', isLater: true }), asSam)),
  sample('failed', adminDeliveriesCard, () =>
    adminDeliveriesView(
      log({
        ...{ of: 'failed', deliveries: [failed, unsent], canResend: true },
        receiver: { id: longNamed.id, name: longNamed.name },
      }),
      asSam,
    ),
  ),
  sample('nothing', adminDeliveriesCard, () => adminDeliveriesView(log({ of: 'failed', deliveries: [] }), asSam)),
  sample('request', adminDeliveriesCard, () =>
    adminDeliveriesView(
      log({
        deliveries: [deliveryWith(), deliveryWith({ subscriber: 'bot' })],
        request: { requestId: requests.ready.requestId, reference: 'REQ-1042' },
      }),
      asSam,
    ),
  ),
  sent('', failed, ''),
  sent('delivered', deliveryWith(), ''),
  sent('ask', failed, 'ask'),
  sent('again', retried, 'again'),
  sent('still', still, ''),
  sent('off', unsent, '', { receiver: off.endpoint }),
  sent('nowhere', failed, '', { url: undefined }),
  sample('organisation', adminAuditCard, () => organisationAuditView(organisation(acts), 0, asSam)),
  sample('organisation-empty', adminAuditCard, () => organisationAuditView(organisation([]), 0, asSam)),
  sample('organisation-findings', adminAuditCard, () =>
    organisationAuditView(
      organisation(acts.slice(0, 2), [{ kind: 'changed', entry: 2, reason: because('entryRemoved', { entry: 2 }) }]),
      0,
      asSam,
    ),
  ),
  sample('over', adminJobsCard, () => adminReplayView(overJob, asSam)),
  sample('no-webhooks', noticeCard, () => noticeView({ code: 'noWebhooks' }, asSam)),
]
