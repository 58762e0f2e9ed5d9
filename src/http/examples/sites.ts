/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const createSiteExamples = {
  atOnce: {
    summary: 'A site that needs no approval',
    body: {
      displayName: 'Apollo',
      templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
      alias: '',
      owners: ['11111111-aaaa-4aaa-8aaa-000000000002'],
    },
    status: 202,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      approvalRequired: false,
      status: 'queued',
    },
  },
  withApproval: {
    summary: 'A site that is approved first, with answers to the questions of its template',
    body: {
      displayName: 'Apollo',
      description: 'Everything about the launch.',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      metadata: { costCentre: '4711', audience: 'internal' },
    },
    status: 202,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      approvalRequired: true,
      status: 'pendingApproval',
    },
  },
} as const
