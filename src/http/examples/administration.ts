/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const listDeadLettersExamples = {
  some: {
    summary: 'The latest job that was given up',
    query: { limit: '1' },
    status: 200,
    answer: {
      value: [
        {
          id: '7120e344-e027-4415-a28f-24bf07b33a10',
          job: 'refresh-cards',
          problem: '✖ Invalid input: expected 1\n  → at v',
          at: '2026-11-20T19:48:50.797Z',
          requestId: '5ca3438a-d66b-4c19-8d39-4473441512e3',
          reference: 'REQ-1042',
        },
      ],
    },
  },
} as const

export const replayDeadLetterExamples = {
  again: { summary: 'It is run again', params: { letterId: '3d8f1a62-5b7c-4e0d-9f31-6a2b8c4d0e17' }, status: 204 },
} as const

export const dismissDeadLetterExamples = {
  dismissed: {
    summary: 'It is off the list',
    params: { letterId: '3d8f1a62-5b7c-4e0d-9f31-6a2b8c4d0e17' },
    status: 204,
  },
} as const
