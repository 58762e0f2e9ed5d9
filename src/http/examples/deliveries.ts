import { sam } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const listDeliveriesExamples = {
  some: {
    summary: 'The latest delivery',
    query: { limit: '1' },
    status: 200,
    answer: {
      value: [
        {
          deliveryId: '2ca68251-8e6e-4ebe-9d71-f9098b5fdab2',
          requestId: '58f6ef50-5fa0-4fa2-abd2-b5029a301dd7',
          templateId: null,
          type: 'site.provisioned',
          url: 'https://provisioning.contoso.example/webhooks/provisioning',
          status: 'delivered',
          attemptCount: 1,
          lastStatus: '204',
          nextAttemptAt: null,
          createdAt: '2026-11-20T19:49:00.635Z',
          updatedAt: '2026-11-20T19:49:00.787Z',
        },
      ],
      nextCursor: 'djE6MjAyNi0wMy0wMlQwOTowMDowMC4wMDBafDEwNDI',
    },
  },
} as const

export const readDeliveryExamples = {
  delivered: {
    summary: 'A delivery to our own bot',
    params: { deliveryId: 'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d' },
    status: 200,
    answer: {
      deliveryId: 'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d',
      requestId: 'aa2fcfa0-8a44-4f87-abb4-a51c7f2ed9a7',
      templateId: null,
      type: 'site.provisioned',
      url: 'https://provisioning.contoso.example/webhooks/provisioning',
      status: 'delivered',
      attemptCount: 1,
      lastStatus: '204',
      nextAttemptAt: null,
      createdAt: '2026-11-20T19:49:03.570Z',
      updatedAt: '2026-11-20T19:49:03.682Z',
      attempts: [{ at: '2026-11-20T19:49:03.624Z', status: '204', milliseconds: 58 }],
      replays: [],
      body: '{"type":"site.provisioned","timestamp":"2026-11-20T19:49:03.570Z","requestId":"aa2fcfa0-8a44-4f87-abb4-a51c7f2ed9a7","tenantId":"0c0ffee0-1111-4111-8111-000000000365","data":{"reference":"REQ-1042","kind":"teamSite","status":"succeeded","displayName":"Apollo","url":"https://contoso.sharepoint.com/sites/apollo","siteId":"contoso.sharepoint.com,cfd70c0c-0f14-4395-b754-863f0b34bd35,cb3470a4-63f3-48d1-ae95-b60ec855b1a9","groupId":"a6cd53a4-a3e7-448f-ab2c-77be2ddc6732","securityGroupId":"99b126b5-76d2-4849-9fe7-a22d73bac255"}}',
      receiver: null,
    },
  },
} as const

export const replayDeliveryExamples = {
  again: {
    summary: 'It is sent once more',
    params: { deliveryId: 'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d' },
    status: 202,
    answer: {
      deliveryId: 'c9a1d7b4-2f3e-4a5b-8c6d-7e8f9a0b1c2d',
      requestId: '0ae3b069-2a08-4c24-a4e4-71d31cfb2160',
      templateId: null,
      type: 'site.provisioned',
      url: 'https://provisioning.contoso.example/webhooks/provisioning',
      status: 'pending',
      attemptCount: 1,
      lastStatus: '204',
      nextAttemptAt: '2026-11-20T19:49:06.995Z',
      createdAt: '2026-11-20T19:49:06.763Z',
      updatedAt: '2026-11-20T19:49:06.995Z',
      attempts: [{ at: '2026-11-20T19:49:06.875Z', status: '204', milliseconds: 49 }],
      replays: [
        {
          at: '2026-11-20T19:49:06.995Z',
          by: sam,
        },
      ],
      body: '{"type":"site.provisioned","timestamp":"2026-11-20T19:49:06.763Z","requestId":"0ae3b069-2a08-4c24-a4e4-71d31cfb2160","tenantId":"0c0ffee0-1111-4111-8111-000000000365","data":{"reference":"REQ-1042","kind":"teamSite","status":"succeeded","displayName":"Apollo","url":"https://contoso.sharepoint.com/sites/apollo","siteId":"contoso.sharepoint.com,037eaf34-73a4-4b9d-be40-20e842af96e0,927aec86-1e50-481b-aaa9-7987838f2df8","groupId":"c3e9d3c9-56a8-44e3-a860-d85fc6637e78","securityGroupId":"4bd346d8-ceb1-484e-8f76-77b8c7acfa41"}}',
      receiver: null,
    },
  },
} as const
