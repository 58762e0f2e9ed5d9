import { kim, sam } from './apollo.ts'

/** A call as the API document shows it, with what the service answers in local mode. A test makes it and compares. */
export const readAuditExamples = {
  proved: {
    summary: 'A request that was cancelled: everything is as it was written',
    params: { requestId: 'af5e8ddf-a30e-4ac9-a5db-b13b6c902975' },
    status: 200,
    answer: {
      requestId: 'af5e8ddf-a30e-4ac9-a5db-b13b6c902975',
      reference: 'REQ-1001',
      proved: true,
      findings: [],
      entries: [
        {
          entry: 1,
          at: '2026-11-20T20:52:03.912Z',
          action: 'pendingApproval',
          from: 'rest',
          traceId: 'af5e8ddfa30e4ac9a5dbb13b6c902975',
          version: 1,
          erased: false,
          actor: kim,
          digest: 'a4deb3ec76b86f95a7c8323ff224b01ffe4cabd6f04bdebedf23e4fc02cde160',
          before: null,
          after: '4d2fa8db7d4d7d5af7dee0173ea84b25b15cef2575e26e484297f5b8579098b8',
          hash: '1844c17392a43463b9ef8cb6f54331e6b58412fd79cd0623cc8ed0191126ce4f',
        },
        {
          entry: 2,
          at: '2026-11-20T20:52:04.002Z',
          action: 'cancelled',
          from: 'rest',
          traceId: '146d464cce284a06a2fc6ea13e36f5a8',
          version: 2,
          erased: false,
          actor: kim,
          digest: '3c7e896713ae6c590ffcebcf05ec16ce8a0b7d307a7ce0a3468f30802a6adce6',
          before: 'b34d156a3334c37211cb2efefa32176f24b08b92356a3ed84032c16d88daa6f4',
          after: 'a1f2678d59dcf9507d6a6aaae6a2405a547a6b2dfff2ba46c6602c787f07dfb3',
          hash: '61fc89aa44787fb2e24471eba1529320ecc9b592186901609ee0774b68336c93',
        },
      ],
    },
  },
} as const

export const readOrganisationAuditExamples = {
  proved: {
    summary: 'A template was written: everything is as it was written',
    status: 200,
    answer: {
      requestId: '0c0ffee0-1111-4111-8111-000000000365',
      reference: null,
      proved: true,
      findings: [],
      entries: [
        {
          entry: 1,
          at: '2026-11-20T20:52:03.912Z',
          action: 'template-written',
          from: 'rest',
          traceId: 'af5e8ddfa30e4ac9a5dbb13b6c902975',
          version: 1,
          erased: false,
          actor: sam,
          data: {
            templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
            about: 'Working group',
            version: 2,
            changed: ['description'],
          },
          digest: 'a4deb3ec76b86f95a7c8323ff224b01ffe4cabd6f04bdebedf23e4fc02cde160',
          before: null,
          after: null,
          hash: '1844c17392a43463b9ef8cb6f54331e6b58412fd79cd0623cc8ed0191126ce4f',
        },
      ],
    },
  },
} as const
