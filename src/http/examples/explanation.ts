import { dana, omar } from './apollo.ts'

/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const explainRequestExamples = {
  waiting: {
    summary: 'A request that waits for an approval',
    params: { requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11' },
    status: 200,
    answer: {
      value: [
        {
          topic: 'approval',
          code: 'waits',
          stage: 1,
          people: [dana, omar],
          facts: {
            since: '2026-11-20T19:48:45.762Z',
          },
          detail: 'Approval 1 waits for Dana Fox and Omar Haddad since 2026-11-20T19:48:45.762Z.',
        },
        {
          topic: 'approval',
          code: 'will-remind',
          at: '2026-11-21T19:48:45.762Z',
          stage: 1,
          facts: {},
          detail: 'Without a decision, those asked are reminded: 2026-11-21T19:48:45.762Z.',
        },
        {
          topic: 'approval',
          code: 'will-escalate',
          at: '2026-11-23T19:48:45.762Z',
          stage: 1,
          facts: {},
          detail: 'Without a decision, others are asked too: 2026-11-23T19:48:45.762Z.',
        },
        {
          topic: 'approval',
          code: 'will-expire',
          at: '2026-12-04T19:48:45.762Z',
          stage: 1,
          facts: {},
          detail: 'Without a decision, the request expires: 2026-12-04T19:48:45.762Z.',
        },
        {
          topic: 'approval',
          code: 'asked-as',
          stage: 1,
          people: [dana, omar],
          facts: {
            why: 'person',
          },
          detail: 'Asked for approval 1: Dana Fox and Omar Haddad, named by the template.',
        },
        {
          topic: 'name',
          code: 'name-is',
          facts: {
            address: 'prometheus',
          },
          detail: 'The address is prometheus.',
        },
        {
          topic: 'name',
          code: 'name-derived',
          facts: {
            displayName: 'Prometheus',
          },
          detail: 'Nothing was typed for it, so it was made of the name Prometheus.',
        },
        {
          topic: 'time',
          code: 'took-so-far',
          facts: {
            seconds: 720,
          },
          detail: 'Time since the request was sent: 12 minutes.',
        },
        {
          topic: 'time',
          code: 'approval-waits',
          stage: 1,
          facts: {
            seconds: 720,
          },
          detail: 'Of that, approval 1 has waited 12 minutes.',
        },
        {
          topic: 'time',
          code: 'starts-after-approval',
          facts: {},
          detail: 'Once all approvals are given, it starts by itself.',
        },
      ],
    },
  },
} as const
