import { whyCard, whyView } from '../../src/cards/explanations/index.ts'
import { explain, type Request } from '../../src/core/index.ts'
import { mailboxes } from './card-mailboxes.ts'
import { at, dana, kim, omar, priya, requestOf, requests, sam, stageOf, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

/** A waiting request: one approver is away, another is unreachable, and one approval was omitted. */
const waiting = requestOf({
  passedOver: ['project-aurora'],
  policy: [
    { place: 1, stage: 1, conditions: [{ condition: { field: 'labelId', oneOf: ['b2'] }, found: 'b2', holds: true }] },
    { place: 2, stage: null, conditions: [{ condition: { field: 'owners', above: 5 }, found: '2', holds: false }] },
  ],
  approvals: [
    stageOf(1, [dana, omar], {
      ...{ place: 1, openedAt: at('09:02') },
      times: {
        ...{ reachBy: at('09:12'), remindAt: '2026-11-21T09:02:00Z', escalateAt: '2026-11-23T09:02:00Z' },
        ...{ warnAt: '2026-12-02T09:02:00Z', expiresAt: '2026-12-04T09:02:00Z' },
      },
      reminders: [{ at: at('10:20'), by: kim }],
      unreachable: [{ person: omar, why: 'NoChat', at: at('09:12') }],
      standIns: [
        {
          ...{ person: priya, insteadOf: [dana.id], why: 'delegated', as: 'delegate', by: dana },
          ...{ since: at('08:00'), until: '2026-11-30T22:59:59Z' },
        },
        { person: sam, insteadOf: [omar.id], why: 'unreachable', as: 'manager', since: at('09:12') },
      ],
    }),
  ],
})

const why = (variant: string, request: Request, isAdmin = false) => {
  const viewer = viewerOf(kim, { isAdmin })
  return sample(variant, whyCard, () => whyView(request, explain(request, [], viewer.now), viewer))
}

/** Explanations of requests in situations with different texts. */
export const whySamples: readonly Sample[] = [
  why('', waiting),
  why('ready', requests.ready),
  why('failed', requests.failed),
  why('mailbox', mailboxes.ready),
]
