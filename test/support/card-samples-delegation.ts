import {
  adminDelegationsCard,
  adminDelegationsView,
  type DelegationNow,
  delegationCard,
  delegationView,
} from '../../src/cards/decisions/delegation.ts'
import { approvalsCard, approvalsView } from '../../src/cards/requests/lists.ts'
import type { Delegation } from '../../src/core/index.ts'
import { dana, kim, omar, onePage, priya, requestId, requestOf, requests, tenantId, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { faultSaying } from './refusal.ts'

const asDana = viewerOf(dana)
const until = '2026-11-30T22:59:59.999Z'
export const delegationOf = (
  person: typeof dana,
  delegate: typeof dana,
  more: Partial<Delegation> = {},
): Delegation => ({
  ...{ delegationId: requestId, tenantId, person, delegate, from: '2026-11-20T09:00:00.000Z', until, endedAt: null },
  ...more,
})
const own = delegationOf(dana, omar)
const toMe = [delegationOf(priya, dana), delegationOf(kim, dana, { until: '2026-12-04T17:00:00.000Z' })]
const namesake = {
  ...omar,
  id: kim.id,
  displayName: 'Omar Haddad-Lang',
  userPrincipalName: 'omar.lang@contoso.example',
}
const away = [delegationOf(priya, dana), delegationOf(kim, namesake, { until: '2026-12-04T17:00:00.000Z' })]
const many = Array.from({ length: 6 }, (_, index) =>
  delegationOf(index % 2 === 0 ? dana : priya, omar, { from: `2026-11-1${index}T09:00:00.000Z` }),
)
const nothing = { own: undefined, toMe: [] }

const empty = { values: { to: '', until: '' }, people: [], isChoice: false, remarks: [], faults: [] }
const form = (more: object = {}): DelegationNow => ({
  step: 'form',
  form: { ...empty, earliest: '2026-11-20', ...more },
})
const notMoved = { requested: 0, others: 0 }
const waiting = (count: number, more = false): DelegationNow => ({
  step: 'saved',
  waiting: { names: Array.from({ length: count }, (_, index) => `Project *${index + 1}*`), more, notMoved },
})

const shown = (variant: string, now: DelegationNow, known: Parameters<typeof delegationView>[1] = nothing) =>
  sample(variant, delegationCard, () => delegationView(now, known, asDana))

/** Delegations of Dana Fox: the question, saved, changed and ended. */
export const delegationSamples: readonly Sample[] = [
  shown('', form()),
  shown(
    'found',
    form({
      ...{ values: { to: omar.id, until: '' }, people: [omar] },
      remarks: [
        { words: 'check', typed: 'Omar Haddad (omar@contoso.example)' },
        { words: 'unclearDay', typed: '3/4' },
      ],
    }),
  ),
  shown(
    'several',
    form({
      ...{ values: { to: '', until: '2026-11-30' }, people: [omar, namesake], isChoice: true },
      remarks: [{ words: 'several', typed: 'Omar' }],
    }),
  ),
  shown('nobody', form({ values: { to: '', until: '2026-11-30' }, remarks: [{ words: 'nobody', typed: 'Omra' }] })),
  shown(
    'returned',
    form({
      ...{ values: { to: kim.id, until: '2026-11-19' }, people: [kim] },
      faults: [
        faultSaying('/to', 'cannot-decide', 'Kim Lee cannot be an approver. Choose somebody else.'),
        faultSaying('/until', 'past', 'This day is in the past. Choose a later day.'),
        faultSaying('/more', 'unknown-field', 'more is not a field of this form.'),
      ],
    }),
  ),
  shown('delegated', form({ values: { to: omar.id, until: '2026-11-30' }, people: [omar] }), { own, toMe }),
  sample('', adminDelegationsCard, () => adminDelegationsView({ delegations: away, from: 0, total: 2 }, asDana)),
  sample('page', adminDelegationsCard, () => adminDelegationsView({ delegations: many, from: 6, total: 14 }, asDana)),
  sample('empty', adminDelegationsCard, () => adminDelegationsView({ delegations: [], from: 0, total: 0 }, asDana)),
  shown('saved', waiting(2), { own, toMe: [] }),
  shown('saved-many', waiting(100, true), { own, toMe: Array.from({ length: 8 }, () => delegationOf(priya, dana)) }),
  shown('replaced', { ...waiting(0), former: priya } as DelegationNow, { own, toMe: [] }),
  shown('ended', { step: 'ended', ended: own }),
  shown('nothing', { step: 'ended', ended: undefined }, { own: undefined, toMe }),
  sample('delegated', approvalsCard, () =>
    approvalsView(
      onePage(requestOf({ number: 1040, submittedAt: '2026-11-19T08:00:00Z' }), requests.waiting),
      asDana,
      own,
    ),
  ),
]
