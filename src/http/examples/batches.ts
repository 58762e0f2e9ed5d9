import { kim } from './apollo.ts'

const batchId = '9d5f1c2e-4b7a-4e61-8f30-2c6a7b8d9e01'
const room = { templateId: 'e1f2a3b4-2d3c-4e5f-9a8b-7c6d5e4f3a55', metadata: { seats: 8 } }
const taken = {
  batchId,
  tenantId: '0c0ffee0-1111-4111-8111-000000000365',
  resource: 'mailbox',
  requester: kim,
  problem: null,
  createdAt: '2026-11-20T19:49:00.635Z',
  updatedAt: '2026-11-20T19:49:00.635Z',
} as const
const atFirst = {
  ...taken,
  status: 'running',
  rows: { total: 2, waiting: 2, submitted: 0, refused: 0, cancelled: 0 },
  requests: {},
  waitsFor: null,
  endedAt: null,
} as const
const rows = [
  { key: '1', body: { ...room, name: 'birch', displayName: 'Birch' } },
  { key: '2', body: { ...room, name: 'cedar', displayName: 'Cedar' } },
] as const

/** Many requests in one call. */
export const createBatchExamples = {
  rooms: {
    summary: 'Two rooms at once',
    body: { resource: 'mailbox', rows },
    status: 202,
    answer: atFirst,
  },
  dryRun: {
    summary: 'What each row would be, and what is wrong with it',
    body: {
      dryRun: true,
      resource: 'mailbox',
      rows: [
        { key: '1', body: { ...room, name: 'maple', displayName: 'Maple' } },
        { key: '2', body: { ...room, name: 'maple', displayName: 'Maple, second floor' } },
      ],
    },
    status: 200,
    answer: {
      valid: false,
      rows: [
        {
          key: '1',
          status: 'ok',
          kind: 'roomMailbox',
          templateId: room.templateId,
          names: { displayName: 'Maple', free: true, final: true, address: 'room-maple@contoso.example' },
          approvalRequired: false,
          errors: [],
        },
        {
          key: '2',
          status: 'refused',
          errors: [
            {
              pointer: '#/name',
              code: 'name-taken',
              detail: 'room-maple@contoso.example is taken. Try room-maple-2.',
              suggestion: 'room-maple-2',
            },
          ],
        },
      ],
    },
  },
} as const

export const readBatchExamples = {
  finished: {
    summary: 'Two rooms that are there',
    params: { batchId },
    status: 200,
    answer: {
      ...atFirst,
      status: 'finished',
      rows: { total: 2, waiting: 0, submitted: 2, refused: 0, cancelled: 0 },
      requests: { succeeded: 2 },
      updatedAt: '2026-11-20T19:49:03.570Z',
      endedAt: '2026-11-20T19:49:03.570Z',
    },
  },
} as const

export const listBatchRowsExamples = {
  some: {
    summary: 'The first row, and the request that came of it',
    params: { batchId },
    query: { limit: '1' },
    status: 200,
    answer: {
      value: [
        {
          key: '1',
          status: 'submitted',
          request: {
            requestId: '6f2f8f0e-3a51-8c0b-9a57-0d6f3a1f7c11',
            reference: 'REQ-1042',
            status: 'succeeded',
          },
          problem: null,
        },
      ],
      nextCursor: 'djE6MA',
    },
  },
} as const

export const cancelBatchExamples = {
  cancelled: {
    summary: 'Nothing more is submitted',
    params: { batchId },
    status: 200,
    answer: {
      ...atFirst,
      status: 'cancelled',
      rows: { total: 2, waiting: 0, submitted: 0, refused: 0, cancelled: 2 },
      endedAt: '2026-11-20T19:49:03.570Z',
    },
  },
} as const
