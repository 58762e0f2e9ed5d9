import { dana, kim, notBegun, omar, openedAt } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const readRequestExamples = {
  site: {
    summary: 'A site that is ready',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    status: 200,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      status: 'succeeded',
      approvalRequired: true,
      requester: kim,
      submittedAt: '2026-11-20T19:48:38.690Z',
      updatedAt: '2026-11-20T19:48:41.887Z',
      approvals: [
        {
          stage: 1,
          rule: 'any',
          approvers: [dana, omar],
          decisions: [
            {
              by: dana,
              decision: 'approved',
              comment: 'Go ahead.',
              at: '2026-11-20T19:48:38.900Z',
            },
          ],
          ...openedAt('2026-11-20T19:48:38.690Z'),
        },
      ],
      steps: [
        {
          name: 'create-site',
          status: 'done',
          attempts: 1,
          startedAt: '2026-11-20T19:48:39.300Z',
          finishedAt: '2026-11-20T19:48:39.399Z',
        },
        {
          name: 'wait-for-site',
          status: 'done',
          attempts: 1,
          startedAt: '2026-11-20T19:48:39.434Z',
          finishedAt: '2026-11-20T19:48:41.640Z',
        },
        {
          name: 'apply-label',
          status: 'done',
          attempts: 1,
          startedAt: '2026-11-20T19:48:41.648Z',
          finishedAt: '2026-11-20T19:48:41.675Z',
        },
        {
          name: 'ready-check',
          status: 'done',
          attempts: 1,
          startedAt: '2026-11-20T19:48:41.688Z',
          finishedAt: '2026-11-20T19:48:41.795Z',
        },
        {
          name: 'link-group',
          status: 'done',
          attempts: 1,
          startedAt: '2026-11-20T19:48:41.807Z',
          finishedAt: '2026-11-20T19:48:41.863Z',
        },
      ],
      checks: [
        { name: 'siteOpens', ok: true, detail: '' },
        { name: 'owners', ok: true, detail: '' },
        { name: 'label', ok: true, detail: '' },
      ],
      problem: null,
      kind: 'teamSite',
      details: {
        displayName: 'Apollo',
        description: '',
        alias: 'apollo',
        owners: ['11111111-aaaa-4aaa-8aaa-000000000001'],
        metadata: { audience: 'internal', costCentre: '4711' },
        labelId: '33333333-cccc-4ccc-8ccc-000000000002',
      },
      resource: {
        url: 'https://contoso.sharepoint.com/sites/apollo',
        siteId: 'contoso.sharepoint.com,b7442c33-ee79-49c0-a61c-ec8beafbfd29,556b24ef-e043-493f-9ca7-a7359848a6d0',
        groupId: 'c3c73122-0a79-45e7-8025-b7cd1ed5a9ad',
        securityGroupId: '655341d2-5f4a-4892-95f7-e7bff07ab63d',
      },
    },
  },
  sentAgain: {
    summary: 'One that was edited and sent again in chat, after it was rejected',
    params: { requestId: 'd02f6353-0538-4f0f-a84c-ac627a8ba75a' },
    status: 200,
    answer: {
      requestId: 'd02f6353-0538-4f0f-a84c-ac627a8ba75a',
      reference: 'REQ-1042',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
      status: 'pendingApproval',
      approvalRequired: true,
      requester: kim,
      basedOn: {
        requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c10',
        reference: 'REQ-1041',
        how: 'resubmission',
        changed: ['reason'],
        ended: { status: 'rejected', by: dana, comment: 'What is it for?' },
      },
      submittedAt: '2026-11-20T19:48:38.334Z',
      updatedAt: '2026-11-20T19:48:38.334Z',
      approvals: [
        {
          stage: 1,
          rule: 'any',
          approvers: [dana, omar],
          decisions: [],
          ...openedAt('2026-11-20T19:48:38.334Z'),
        },
      ],
      ...notBegun,
      details: { ...notBegun.details, reason: 'Four companies need one place for drawings.' },
    },
  },
} as const

export const listRequestsExamples = {
  waiting: {
    summary: 'The newest of the own requests that wait for approval',
    query: { status: 'pendingApproval', limit: '1' },
    status: 200,
    answer: {
      value: [
        {
          requestId: 'd02f6353-0538-4f0f-a84c-ac627a8ba75a',
          reference: 'REQ-1042',
          tenantId: '0c0ffee0-1111-4111-8111-000000000365',
          templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
          status: 'pendingApproval',
          approvalRequired: true,
          requester: omar,
          submittedAt: '2026-11-20T19:48:38.334Z',
          updatedAt: '2026-11-20T19:48:38.334Z',
          approvals: [
            {
              stage: 1,
              rule: 'any',
              approvers: [dana],
              decisions: [],
              ...openedAt('2026-11-20T19:48:38.334Z'),
            },
          ],
          ...notBegun,
          details: { ...notBegun.details, owners: [omar.id] },
        },
      ],
      nextCursor: 'djE6MjAyNi0wMy0wMlQwOTowMDowMC4wMDBafDEwNDI',
    },
  },
} as const

export const readTimelineExamples = {
  approved: {
    summary: 'A request that was approved and made',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    status: 200,
    answer: {
      value: [
        {
          at: '2026-11-20T19:48:42.074Z',
          actor: kim,
          action: 'pendingApproval',
        },
        {
          at: '2026-11-20T19:48:42.206Z',
          actor: dana,
          action: 'approved',
          comment: 'Go ahead.',
        },
        { at: '2026-11-20T19:48:42.206Z', actor: { kind: 'system' }, action: 'queued' },
        { at: '2026-11-20T19:48:42.504Z', actor: { kind: 'system' }, action: 'provisioning' },
        { at: '2026-11-20T19:48:42.688Z', actor: { kind: 'system' }, action: 'step:create-site' },
        { at: '2026-11-20T19:48:45.266Z', actor: { kind: 'system' }, action: 'step:wait-for-site' },
        { at: '2026-11-20T19:48:45.379Z', actor: { kind: 'system' }, action: 'step:apply-label' },
        { at: '2026-11-20T19:48:45.424Z', actor: { kind: 'system' }, action: 'step:ready-check' },
        { at: '2026-11-20T19:48:45.476Z', actor: { kind: 'system' }, action: 'step:link-group' },
        {
          at: '2026-11-20T19:48:45.490Z',
          actor: { kind: 'system' },
          action: 'succeeded',
          data: {
            url: 'https://contoso.sharepoint.com/sites/apollo',
            siteId: 'contoso.sharepoint.com,800f96a4-b7a7-4563-8223-c866cf563632,b59e677f-4e2f-42c4-94e8-d723d429d774',
            groupId: '25e8bead-85b3-49f8-97a0-9dfa0453f42a',
            securityGroupId: '92ed5910-267c-4ff8-abf5-9f2cd3c08cc7',
          },
        },
      ],
    },
  },
} as const
