import { openedAt } from './stage-times.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

const kim = {
  id: '11111111-aaaa-4aaa-8aaa-000000000001',
  displayName: 'Kim Lee',
  userPrincipalName: 'kim@contoso.example',
} as const
const dana = {
  id: '11111111-aaaa-4aaa-8aaa-000000000002',
  displayName: 'Dana Fox',
  userPrincipalName: 'dana@contoso.example',
} as const
const omar = {
  id: '11111111-aaaa-4aaa-8aaa-000000000003',
  displayName: 'Omar Haddad',
  userPrincipalName: 'omar@contoso.example',
} as const
const sam = {
  id: '11111111-aaaa-4aaa-8aaa-000000000004',
  displayName: 'Sam Roy',
  userPrincipalName: 'sam@contoso.example',
} as const

const waiting = {
  requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
  reference: 'REQ-1042',
  tenantId: '0c0ffee0-1111-4111-8111-000000000365',
  templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  status: 'pendingApproval',
  approvalRequired: true,
  requester: kim,
  submittedAt: '2026-11-20T19:48:45.762Z',
  updatedAt: '2026-11-20T20:02:11.208Z',
  steps: [
    { name: 'create-site', status: 'pending', attempts: 0 },
    { name: 'wait-for-site', status: 'pending', attempts: 0 },
    { name: 'apply-label', status: 'pending', attempts: 0 },
    { name: 'ready-check', status: 'pending', attempts: 0 },
    { name: 'link-group', status: 'pending', attempts: 0 },
  ],
  checks: [],
  problem: null,
  kind: 'teamSite',
  details: {
    displayName: 'Apollo',
    description: '',
    alias: 'apollo',
    owners: [kim.id],
    metadata: { audience: 'internal', costCentre: '4711' },
    labelId: '33333333-cccc-4ccc-8ccc-000000000002',
  },
  resource: null,
} as const
const stage = {
  stage: 1,
  rule: 'any',
  decisions: [],
  ...openedAt('2026-11-20T19:48:45.762Z'),
} as const

export const reassignRequestExamples = {
  given: {
    summary: 'An approver gives their part to somebody else',
    params: { requestId: waiting.requestId },
    body: { to: sam.id, comment: 'Sam knows the Apollo team.' },
    status: 200,
    answer: {
      ...waiting,
      approvals: [
        {
          ...stage,
          approvers: [sam, omar],
          reassigned: [
            { from: [dana], to: sam, by: dana, at: waiting.updatedAt, comment: 'Sam knows the Apollo team.' },
          ],
        },
      ],
    },
  },
} as const

export const nudgeRequestExamples = {
  nudged: {
    summary: 'The requester reminds the approvers',
    params: { requestId: waiting.requestId },
    body: {},
    status: 200,
    answer: {
      ...waiting,
      approvals: [{ ...stage, approvers: [dana, omar], reminders: [{ at: waiting.updatedAt, by: kim }] }],
    },
  },
} as const
