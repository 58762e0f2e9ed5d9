import { dana, kim, notBegun, omar, openedAt } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const approveRequestExamples = {
  approved: {
    summary: 'An approval',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    body: { comment: 'Go ahead.', stage: 1 },
    status: 200,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      status: 'queued',
      approvalRequired: true,
      requester: kim,
      submittedAt: '2026-11-20T19:48:45.762Z',
      updatedAt: '2026-11-20T19:48:45.832Z',
      approvals: [
        {
          stage: 1,
          rule: 'any',
          approvers: [dana, omar],
          decisions: [
            {
              by: dana,
              decision: 'approved',
              at: '2026-11-20T19:48:45.832Z',
              comment: 'Go ahead.',
            },
          ],
          ...openedAt('2026-11-20T19:48:45.762Z'),
        },
      ],
      ...notBegun,
    },
  },
} as const

export const rejectRequestExamples = {
  rejected: {
    summary: 'A rejection',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    body: { comment: 'Please use the site of the Apollo team.' },
    status: 200,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      status: 'rejected',
      approvalRequired: true,
      requester: kim,
      submittedAt: '2026-11-20T19:48:46.246Z',
      updatedAt: '2026-11-20T19:48:46.380Z',
      approvals: [
        {
          stage: 1,
          rule: 'any',
          approvers: [dana, omar],
          decisions: [
            {
              by: dana,
              decision: 'rejected',
              at: '2026-11-20T19:48:46.380Z',
              comment: 'Please use the site of the Apollo team.',
            },
          ],
          ...openedAt('2026-11-20T19:48:46.246Z'),
        },
      ],
      ...notBegun,
    },
  },
} as const
