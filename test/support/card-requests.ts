import {
  because,
  type Draft,
  type ListPage,
  problemOf,
  type Request,
  type RequestForSite,
  type RequestStep,
  type SitePlan,
  snapshot,
  stepsOfSite,
} from '../../src/core/index.ts'
import {
  approvedBy,
  at,
  checksFailed,
  dana,
  kim,
  omar,
  priya,
  projectSite,
  rejectedBy,
  requestId,
  siteRoot,
  stageOf,
  tenantId,
} from './card-world.ts'

export * from './card-world.ts'

const details = {
  displayName: 'Project Aurora',
  description: 'Plans, minutes and drawings for the *Aurora* move to Zürich',
  alias: '',
  owners: [dana.id],
  metadata: { costCentre: '4711', audience: 'partners' },
  labelId: 'b2',
}
const reason = 'The move starts in January; four companies need one place for drawings.'

/** Returns steps of which the first `done` are finished, a minute apart; `current` describes the next one. */
export function stepsUntil(done: number, current: Partial<RequestStep> = {}): RequestStep[] {
  return stepsOfSite(details, kim.id).map((name, index) => {
    if (index < done) {
      const time = at(`09:${String(41 + index).padStart(2, '0')}`)
      return { name, status: 'done', attempts: 1, startedAt: time, finishedAt: time }
    }
    return { name, status: 'pending', attempts: 0, ...(index === done && current) }
  })
}

export function requestOf(more: Partial<RequestForSite> = {}): RequestForSite {
  return {
    v: 1,
    requestId,
    number: 1042,
    tenantId,
    kind: 'teamSite',
    template: snapshot(projectSite),
    status: 'pendingApproval',
    requester: kim,
    channel: 'chat',
    details,
    owners: [kim, dana],
    reason,
    alias: 'project-aurora-2',
    approvals: [stageOf(1, [dana, omar])],
    steps: stepsUntil(0),
    progress: {},
    resource: null,
    checks: [],
    problem: null,
    followUp: { state: 'none' },
    submittedAt: at('09:02'),
    updatedAt: at('09:02'),
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    cancelledBy: null,
    cancelComment: '',
    version: 1,
    ...more,
  }
}

const bothApproved = [
  stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }),
  stageOf(2, [omar, priya], { decisions: [approvedBy(omar, '09:40')] }),
]
const url = `${siteRoot}project-aurora-2`
const queued = { approvals: bothApproved, queuedAt: at('09:40') }
const made = {
  ...queued,
  steps: stepsUntil(6),
  progress: { siteId: 's', url, securityGroupName: 'SPO-project-aurora-2' },
  resource: { url, siteId: 's', groupId: null, securityGroupId: 'g' },
  checks: (['siteOpens', 'owners', 'label'] as const).map((name) => ({ name, ok: true, detail: '' })),
  finishedAt: at('09:47'),
  updatedAt: at('09:47'),
}

const createdAs = {
  displayName: `GRP ${details.displayName}`,
  alias: 'GRP-project-aurora-2',
  mail: 'GRP-project-aurora-2@contoso.example',
}
const renamedUrl = `${siteRoot}${createdAs.alias}`

/** One request in each situation with a different card. */
const missingOmar = because('peopleMissing', { count: 1, people: { all: ['Omar Haddad'] } })

export const requests = {
  waiting: requestOf(),
  addressTaken: requestOf({
    addressConflict: { taken: 'project-aurora-2', suggestion: 'project-aurora-3', at: at('09:20') },
    updatedAt: at('09:20'),
  }),
  addressChanged: requestOf({
    alias: 'project-aurora-3',
    addressChanges: [{ from: 'project-aurora-2', to: 'project-aurora-3', at: at('09:25') }],
    updatedAt: at('09:25'),
  }),
  secondStage: requestOf({
    approvals: [stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }), stageOf(2, [omar, priya])],
    updatedAt: at('09:31'),
  }),
  allOfThem: requestOf({
    approvals: [stageOf(1, [dana, omar, priya], { rule: 'all', decisions: [approvedBy(dana, '09:31')] })],
    updatedAt: at('09:31'),
  }),
  queued: requestOf({ ...queued, status: 'queued', updatedAt: at('09:40') }),
  /** SharePoint is slow. */
  delayed: requestOf({
    ...queued,
    status: 'provisioning',
    steps: stepsUntil(1, { status: 'running', attempts: 1, startedAt: at('09:41'), lateAt: at('09:56') }),
    followUp: { state: 'late' },
    updatedAt: at('10:41'),
  }),
  /** Groups do not accept the schema extension. */
  extensionRefused: requestOf({
    ...queued,
    status: 'provisioning',
    steps: stepsUntil(5, {
      ...{ status: 'running', attempts: 14, startedAt: at('09:41'), lateAt: at('09:56') },
      problem: problemOf(
        'extension-not-accepted',
        because('extensionRefused', { service: 'Microsoft Graph', extension: 'svc_group' }),
        { step: 'link-group' },
      ),
    }),
    progress: { siteId: 's', url },
    followUp: { state: 'late' },
    updatedAt: at('10:41'),
  }),
  creating: requestOf({
    ...queued,
    status: 'provisioning',
    steps: stepsUntil(2, { status: 'running', attempts: 1 }),
    followUp: { state: 'waiting' },
    updatedAt: at('09:42'),
  }),
  finding: requestOf({ ...made, status: 'succeeded', followUp: { state: 'waiting' } }),
  late: requestOf({ ...made, status: 'succeeded', followUp: { state: 'late' } }),
  ready: requestOf({
    ...made,
    status: 'succeeded',
    followUp: { state: 'announced', by: 'webhook', url, at: at('09:47') },
  }),
  /** The tenant's own naming policy changed the approved names. */
  renamed: requestOf({
    ...made,
    status: 'succeeded',
    progress: { ...made.progress, createdAs, url: renamedUrl },
    resource: { ...made.resource, url: renamedUrl },
    followUp: { state: 'announced', by: 'webhook', url: renamedUrl, at: at('09:47') },
  }),
  siteNotReady: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(1, { status: 'failed', attempts: 1, startedAt: '2026-11-18T09:41:00Z' }),
    problem: problemOf('site-not-ready', because('siteNotReady'), { step: 'wait-for-site' }),
    updatedAt: at('09:44'),
  }),
  failed: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(2, { status: 'failed', attempts: 5 }),
    problem: problemOf(
      'unavailable',
      because('serviceSilent', { service: 'Microsoft Graph', purpose: because('addingToSiteOwners') }),
      { step: 'add-owners' },
    ),
    updatedAt: at('09:44'),
  }),
  /** Its process was killed in each attempt. */
  interrupted: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(2, { status: 'failed', attempts: 14 }),
    problem: problemOf('interrupted', because('stepInterrupted'), { step: 'add-owners' }),
    retryAt: at('11:20'),
    updatedAt: at('10:20'),
  }),
  /** The service lacks a permission in the tenant. */
  permissionMissing: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(1, { status: 'failed', attempts: 1 }),
    problem: problemOf(
      'permission-missing',
      because('permissionLacking', {
        ...{ service: 'Microsoft Graph', status: 403, purpose: because('waitingForSite') },
        lacked: because('lackedPermissions', { count: 1, names: 'Sites.Read.All' }),
        remedy: because('grantPermissions', { count: 1 }),
      }),
      { step: 'wait-for-site' },
    ),
    updatedAt: at('09:44'),
  }),
  /** The site is on a second host of the tenant. */
  foreignAddress: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(1, { status: 'failed', attempts: 1 }),
    problem: problemOf('foreign-address', because('hostForeign', { host: 'contosoeur.sharepoint.com' }), {
      step: 'wait-for-site',
    }),
    updatedAt: at('09:44'),
  }),
  /** Chosen people cannot receive their roles. */
  peopleUnavailable: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(0, { status: 'failed', attempts: 1 }),
    // Requests of earlier versions have only the sentence.
    problem: {
      code: 'people-unavailable',
      detail: 'Omar Haddad has left the organisation.',
      step: 'create-site',
      people: [
        { ...omar, why: 'gone' },
        { ...priya, why: 'blocked' },
      ],
    },
    updatedAt: at('09:44'),
  }),
  /** The created site differs from the request. */
  checkFailed: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(4, { status: 'failed', attempts: 1 }),
    checks: [
      { name: 'siteOpens', ok: true, detail: '' },
      { name: 'owners', ok: false, detail: '', reason: missingOmar },
      { name: 'label', ok: true, detail: '' },
    ],
    problem: checksFailed('owners', missingOmar),
    updatedAt: at('09:46'),
  }),
  rejected: requestOf({
    status: 'rejected',
    approvals: [
      stageOf(1, [dana, omar], {
        decisions: [
          rejectedBy(dana, '09:31', 'We already have a site for the Zürich move: ask *Priya* for access, please.'),
        ],
      }),
    ],
    finishedAt: at('09:31'),
    updatedAt: at('09:31'),
  }),
  expired: requestOf({ status: 'expired', finishedAt: at('09:31'), updatedAt: at('09:31') }),
  cancelled: requestOf({ status: 'cancelled', cancelledBy: kim, finishedAt: at('09:15'), updatedAt: at('09:15') }),
} as const satisfies Record<string, RequestForSite>

/** A list with exactly these requests. */
export const onePage = (...shown: readonly Request[]): ListPage => ({ requests: shown, newer: 0, older: 0 })

export const draftOf = (values: Draft['values'], more: Partial<Draft> = {}): Draft => ({
  v: 1,
  requestId,
  tenantId,
  personId: kim.id,
  templateId: projectSite.id,
  version: 1,
  step: 'details',
  values,
  updatedAt: at('09:00'),
  ...more,
})

export const filled: Draft['values'] = {
  displayName: details.displayName,
  alias: 'project-aurora',
  description: details.description,
  owners: dana.id,
  labelId: 'b2',
  reason,
  'metadata.costCentre': '4711',
  'metadata.audience': 'partners',
}

export const planOf = (more: Partial<SitePlan> = {}): SitePlan => ({
  kind: 'teamSite',
  template: projectSite,
  details,
  owners: [kim, dana],
  alias: 'project-aurora-2',
  url,
  around: { prefix: '', suffix: '', separator: '-' },
  applied: [],
  emptyTokens: [],
  reason: '',
  names: [{ name: 'project-aurora-2', pointer: '/alias' }],
  approvals: [stageOf(1, [dana, omar])],
  ...more,
})
