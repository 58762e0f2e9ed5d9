/** A call as the API document shows it, with what the service answers in local mode. A test makes it and compares. */
export const readHealthExamples = {
  well: {
    summary: 'All is well; more parts follow',
    status: 200,
    answer: {
      state: 'green',
      at: '2026-11-20T19:48:50.797Z',
      version: '0.4.0',
      uptimeSeconds: 518_400,
      parts: [
        { name: 'database', state: 'green', detail: 'Answers in 3 ms.', milliseconds: 3 },
        {
          name: 'processes',
          state: 'green',
          detail: 'At work: 1, the first since 2026-11-14T19:48:50.797Z.',
          count: 1,
          sinceAt: '2026-11-14T19:48:50.797Z',
        },
        { name: 'queue', state: 'green', detail: 'Waiting or at work: 4. None is late.', waiting: 4, oldestSeconds: 0 },
        {
          name: 'watchdog',
          state: 'green',
          detail: 'Looked for requests that stand still 24 seconds ago.',
          watchedSecondsAgo: 24,
        },
        { name: 'deadLetters', state: 'green', detail: 'No job was given up.', count: 0 },
        {
          name: 'graph',
          state: 'green',
          detail: 'Answers in 182 ms.',
          milliseconds: 182,
          calls: 1204,
          failed: 3,
          throttled: 1,
          timedOut: 0,
          errorRate: 0.0025,
          lastSuccessAt: '2026-11-20T19:48:50.612Z',
          lastFailureAt: '2026-11-20T19:41:07.330Z',
        },
      ],
    },
  },
} as const
