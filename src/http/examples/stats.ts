const none = { asked: 0, decided: 0, rejected: 0, rejectionRate: null, made: 0, failed: 0 }

/** A call as the API document shows it, with what a service answers in whose first week one site was asked for. */
export const readStatsExamples = {
  week: {
    summary: 'The last seven days',
    query: { period: 'week' },
    status: 200,
    answer: {
      period: 'week',
      now: {
        from: '2026-11-13T10:45:00.000Z',
        until: '2026-11-20T10:45:00.000Z',
        ...{ asked: 1, decided: 1, rejected: 0, rejectionRate: 0, made: 1, failed: 0 },
        toDecision: { median: 5340, p95: 5340 },
        toCompletion: { median: 5382, p95: 5382 },
        work: { median: 42, p95: 42 },
      },
      before: {
        from: '2026-11-06T10:45:00.000Z',
        until: '2026-11-13T10:45:00.000Z',
        ...none,
        ...{ toDecision: null, toCompletion: null, work: null },
      },
      kinds: [{ kind: 'teamSite', count: 1 }],
      templates: [
        {
          templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
          name: 'Project site',
          kind: 'teamSite',
          count: 1,
          states: { succeeded: 1 },
        },
      ],
      approvers: [
        {
          person: {
            id: '11111111-aaaa-4aaa-8aaa-000000000002',
            displayName: 'Dana Fox',
            userPrincipalName: 'dana@contoso.example',
          },
          ...{ decisions: 1, rejections: 0, median: 5340 },
        },
      ],
      approverCount: 1,
      failures: [],
    },
  },
} as const
