import { dana, kim, notBegun, omar, openedAt, sam } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

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
  ...notBegun,
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
