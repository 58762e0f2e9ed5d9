import type { Viewer } from '../../src/cards/index.ts'
import type {
  ApprovalStage,
  Decision,
  Draft,
  Person,
  Plan,
  Request,
  RequestStep,
  Template,
} from '../../src/core/index.ts'
import { snapshot, stepsOfSite, template as templateSchema } from '../../src/core/index.ts'

/** The people and requests that card samples show: Kim Lee asks for Project Aurora, Dana Fox and Omar Haddad decide. */
const personOf = (number: number, displayName: string): Person => ({
  id: `11111111-aaaa-4aaa-8aaa-${String(number).padStart(12, '0')}`,
  displayName,
  userPrincipalName: `${displayName.split(' ')[0]?.toLowerCase()}@contoso.example`,
})
export const kim = personOf(1, 'Kim Lee')
export const dana = personOf(2, 'Dana Fox')
export const omar = personOf(3, 'Omar Haddad')
export const priya = personOf(4, 'Priya Nair')

export const siteRoot = 'https://contoso.sharepoint.com/sites/'
export const requestId = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42'
const tenantId = '72f988bf-86f1-4af0-91ab-2d7cd0110042'

export const viewerOf = ({ id }: Person, more: Partial<Viewer> = {}): Viewer => ({
  id,
  locale: 'en-GB',
  timeZone: 'Europe/Zurich',
  now: new Date('2026-11-20T10:45:00Z'),
  siteRoot,
  ...more,
})

/** A moment of the sample's day. 10:02 in Zurich is 09:02 in UTC. */
export const at = (time: string): string => `2026-11-20T${time}:00Z`

export const projectSite: Template = templateSchema.parse({
  id: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  version: 3,
  kind: 'teamSite',
  name: 'Project site',
  description: 'Files, lists and pages for one project team',
  fields: [
    {
      key: 'costCentre',
      type: 'text',
      label: 'Cost centre',
      required: true,
      placeholder: 'Four digits, such as 4711',
      pattern: '\\d{4}',
      error: 'A cost centre has four digits, such as 4711.',
    },
    {
      key: 'audience',
      type: 'choice',
      label: 'Who works in it',
      required: true,
      help: 'Guests from outside need an approved partner',
      choices: [
        { title: 'Only people in Contoso', value: 'internal' },
        { title: 'Contoso and named partners', value: 'partners' },
      ],
    },
  ],
  labels: {
    allowed: [
      { id: 'b1', name: 'Public' },
      { id: 'b2', name: 'Internal' },
      { id: 'b3', name: 'Confidential' },
    ],
    default: 'b2',
  },
  approval: { stages: [{ approvers: [{ user: dana.id }, { user: omar.id }] }] },
})

/** The other kind of site, without approval, labels or fields of its own. */
export const openCommunity: Template = templateSchema.parse({
  id: 'd9e8f7a6-1c2b-4d3e-a4f5-6b7c8d9e0f44',
  version: 1,
  kind: 'communicationSite',
  name: 'Open community',
  description: 'For clubs and interest groups',
})

export const stageOf = (stage: number, approvers: Person[], more: Partial<ApprovalStage> = {}): ApprovalStage => ({
  stage,
  rule: 'any',
  approvers,
  decisions: [],
  ...more,
})
export const approvedBy = (by: Person, time: string, comment?: string): Decision => ({
  by,
  decision: 'approved',
  at: at(time),
  ...(comment && { comment }),
})
export const rejectedBy = (by: Person, time: string, comment: string): Decision => ({
  by,
  decision: 'rejected',
  at: at(time),
  comment,
})

const details = {
  displayName: 'Project Aurora',
  description: 'Plans, minutes and drawings for the *Aurora* move to Zürich',
  alias: '',
  owners: [dana.id],
  metadata: { costCentre: '4711', audience: 'partners' },
  labelId: 'b2',
}
const reason = 'The move starts in January; four companies need one place for drawings.'

/** The first `done` steps are finished, a minute after each other; the next one is as `current` says. */
export function stepsUntil(done: number, current: Partial<RequestStep> = {}): RequestStep[] {
  return stepsOfSite(details, kim.id).map((name, index) => {
    if (index < done) {
      const time = at(`09:${String(41 + index).padStart(2, '0')}`)
      return { name, status: 'done', attempts: 1, startedAt: time, finishedAt: time }
    }
    return { name, status: 'pending', attempts: 0, ...(index === done && current) }
  })
}

export function requestOf(more: Partial<Request> = {}): Request {
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
    problem: null,
    followUp: { state: 'none' },
    submittedAt: at('09:02'),
    updatedAt: at('09:02'),
    queuedAt: null,
    finishedAt: null,
    cancelledBy: null,
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
  finishedAt: at('09:47'),
  updatedAt: at('09:47'),
}

/** One request in each situation that looks different to people. */
export const requests = {
  waiting: requestOf(),
  secondStage: requestOf({
    approvals: [stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }), stageOf(2, [omar, priya])],
    updatedAt: at('09:31'),
  }),
  allOfThem: requestOf({
    approvals: [stageOf(1, [dana, omar, priya], { rule: 'all', decisions: [approvedBy(dana, '09:31')] })],
    updatedAt: at('09:31'),
  }),
  queued: requestOf({ ...queued, status: 'queued', updatedAt: at('09:40') }),
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
  failed: requestOf({
    ...queued,
    status: 'failed',
    steps: stepsUntil(2, { status: 'failed', attempts: 5 }),
    problem: { code: 'unavailable', detail: 'The directory did not answer', step: 'add-owners' },
    updatedAt: at('09:44'),
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
} as const satisfies Record<string, Request>

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

export const planOf = (more: Partial<Plan> = {}): Plan => ({
  kind: 'teamSite',
  template: projectSite,
  details,
  owners: [kim, dana],
  alias: 'project-aurora-2',
  url,
  approvals: [stageOf(1, [dana, omar])],
  ...more,
})
