import { dana, kim, notBegun, omar, openedAt } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const cancelRequestExamples = {
  cancelled: {
    summary: 'A cancellation, without a comment',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    body: {},
    status: 200,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      status: 'cancelled',
      approvalRequired: true,
      requester: kim,
      submittedAt: '2026-11-20T19:48:46.724Z',
      updatedAt: '2026-11-20T19:48:46.751Z',
      approvals: [
        {
          stage: 1,
          rule: 'any',
          approvers: [dana, omar],
          decisions: [],
          ...openedAt('2026-11-20T19:48:46.724Z'),
        },
      ],
      ...notBegun,
    },
  },
} as const

export const retryRequestExamples = {
  again: {
    summary: 'A failed request goes on',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    body: { comment: 'The rights are there now.' },
    status: 200,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
      status: 'queued',
      approvalRequired: false,
      requester: kim,
      submittedAt: '2026-11-20T19:48:46.903Z',
      updatedAt: '2026-11-20T19:48:47.116Z',
      approvals: [],
      steps: [
        { name: 'create-site', status: 'pending', attempts: 1 },
        { name: 'wait-for-site', status: 'pending', attempts: 0 },
        { name: 'ready-check', status: 'pending', attempts: 0 },
        { name: 'link-group', status: 'pending', attempts: 0 },
      ],
      checks: [],
      problem: null,
      kind: 'teamSite',
      details: {
        displayName: 'Apollo',
        description: '',
        alias: 'wg-apollo',
        owners: ['11111111-aaaa-4aaa-8aaa-000000000001'],
        metadata: {},
        labelId: '',
      },
      resource: null,
    },
  },
} as const
