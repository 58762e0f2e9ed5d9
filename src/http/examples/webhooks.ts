/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const receiveWebhookExamples = {
  ready: {
    summary: 'A site is ready',
    body: {
      type: 'site.provisioned',
      timestamp: '2026-03-02T09:00:41.000Z',
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      data: {
        reference: 'REQ-1042',
        kind: 'teamSite',
        status: 'succeeded',
        displayName: 'Apollo',
        url: 'https://contoso.sharepoint.com/sites/apollo',
        siteId: 'contoso.sharepoint.com,2c712604-1370-44e7-a1f5-426573fda80a,2d2244c3-251a-49ea-93a8-39e1c3a060fe',
        groupId: '02bd9fd6-8f93-4758-87c3-1fb73740a315',
        securityGroupId: '7b1d8f0e-4c2a-4e53-9d1c-5f0a3b2c1d44',
      },
    },
    status: 204,
  },
  test: {
    summary: 'An admin tries the receiver: about no request',
    body: {
      type: 'webhook.test',
      timestamp: '2026-03-02T09:00:41.000Z',
      requestId: '00000000-0000-0000-0000-000000000000',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      data: { templateId: null },
    },
    status: 204,
  },
} as const
