import { adminStatsCard, adminStatsView } from '../../src/cards/operations/admin-stats.ts'
import type { Figures, RequestState, Spread, Stats } from '../../src/core/index.ts'
import { dana, omar, priya, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const [minute, hour, day] = [60, 3600, 86_400]
const spread = (median: number, p95: number): Spread => ({ median, p95 })

const figures = (more: Partial<Figures>): Figures => ({
  ...{ from: '2026-11-13T10:45:00.000Z', until: '2026-11-20T10:45:00.000Z' },
  ...{ asked: 0, decided: 0, rejected: 0, rejectionRate: null, made: 0, failed: 0 },
  ...{ toDecision: null, toCompletion: null, work: null },
  ...more,
})
const earlier = { from: '2026-11-06T10:45:00.000Z', until: '2026-11-13T10:45:00.000Z' }
const kinds = {
  site: 'teamSite',
  news: 'communicationSite',
  mail: 'sharedMailbox',
  room: 'roomMailbox',
  device: 'equipmentMailbox',
} as const
const statsSample = (
  place: number,
  name: string,
  kind: keyof typeof kinds,
  states: Partial<Record<RequestState, number>>,
): Stats['templates'][number] => ({
  templateId: `4f6b1f0a-6f0e-4d0e-9a55-${String(place).padStart(12, '0')}`,
  ...{ name, kind: kinds[kind], states },
  count: Object.values(states).reduce((sum, count) => sum + count, 0),
})
const person = ({ id, displayName, userPrincipalName }: typeof sam) => ({ id, displayName, userPrincipalName })

/** A week of an organisation that uses the service. */
export const usual: Stats = {
  period: 'week',
  now: figures({
    ...{ asked: 42, decided: 31, rejected: 3, rejectionRate: 9.7, made: 29, failed: 4 },
    ...{ toDecision: spread(3 * hour, 26 * hour), toCompletion: spread(4 * hour, 27 * hour) },
    work: spread(41, 6 * minute),
  }),
  before: figures({
    ...{ ...earlier, asked: 37, decided: 36, rejected: 5, rejectionRate: 13.9, made: 29, failed: 1 },
    ...{ toDecision: spread(5 * hour, 40 * hour), toCompletion: spread(4 * hour, 41 * hour) },
    work: spread(38, 5 * minute),
  }),
  kinds: [
    { kind: 'teamSite', count: 19 },
    { kind: 'sharedMailbox', count: 12 },
    { kind: 'roomMailbox', count: 7 },
    { kind: 'communicationSite', count: 3 },
    { kind: 'equipmentMailbox', count: 1 },
  ],
  templates: [
    statsSample(1, 'Project site', 'site', { succeeded: 9, pendingApproval: 3, rejected: 2, cancelled: 1 }),
    statsSample(2, 'Shared mailbox', 'mail', { succeeded: 8, provisioning: 1, failed: 1 }),
    statsSample(3, 'Meeting room', 'room', { succeeded: 6, queued: 1 }),
    statsSample(4, 'Partner site', 'site', { pendingApproval: 3, expired: 1 }),
    statsSample(5, 'News site', 'news', { succeeded: 2, rejected: 1 }),
    statsSample(6, 'Service desk mailbox', 'mail', { succeeded: 2 }),
    statsSample(7, 'Equipment', 'device', { succeeded: 1 }),
  ],
  approvers: [
    { person: person(dana), decisions: 17, rejections: 2, median: 2 * hour },
    { person: person(omar), decisions: 11, rejections: 0, median: 25 * minute },
    { person: person(priya), decisions: 3, rejections: 1, median: 3 * day },
  ],
  approverCount: 3,
  failures: [
    { code: 'timeout', count: 2 },
    { code: 'name-taken', count: 1 },
    { code: 'ready-check', count: 1 },
  ],
}

const longName = 'Working group of the regional councils for procurement, sustainability and facilities'
/** One huge value and many tiny ones; long names; several codes; unknown people. */
export const awkward: Stats = {
  ...usual,
  period: 'lastMonth',
  now: figures({
    ...{ asked: 12_481, decided: 12_480, rejected: 19, rejectionRate: 0.15, made: 12_377, failed: 1204 },
    ...{ toDecision: spread(8, 13 * day), toCompletion: spread(40 * day, 400 * day), work: spread(0, 1) },
  }),
  before: figures(earlier),
  kinds: [
    { kind: 'communicationSite', count: 12_476 },
    { kind: 'teamSite', count: 2 },
    { kind: 'equipmentMailbox', count: 1 },
    { kind: 'roomMailbox', count: 1 },
    { kind: 'sharedMailbox', count: 1 },
  ],
  templates: [
    statsSample(1, longName, 'news', { succeeded: 12_370, pendingApproval: 1, failed: 104, expired: 1 }),
    ...Array.from({ length: 30 }, (_, index) =>
      statsSample(
        index + 2,
        index === 0 ? 'Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrik' : `Template ${index}`,
        'site',
        {
          [index % 2 === 0 ? 'rejected' : 'succeeded']: 1,
        },
      ),
    ),
  ],
  approvers: [
    { person: { ...person(dana), displayName: longName }, decisions: 12_300, rejections: 1, median: 8 },
    { person: { ...person(omar), displayName: '', userPrincipalName: '' }, decisions: 1, rejections: 0, median: 0 },
  ],
  approverCount: 41,
  failures: [
    { code: 'unknown', count: 1100 },
    ...['timeout', 'http-503', 'name-taken', 'ready-check', 'Request_BadRequest', 'sign-in-refused', 'unexpected'].map(
      (code, index) => ({ code, count: 20 - index }),
    ),
  ],
}

export const nothing: Stats = {
  period: 'thisWeek',
  now: figures({}),
  before: figures(earlier),
  ...{ kinds: [], templates: [], approvers: [], approverCount: 0, failures: [] },
}

/** A week without approvals and before the first completion. */
const begun: Stats = {
  ...nothing,
  period: 'days',
  now: figures({ from: '2026-11-18T23:00:00.000Z', until: '2026-11-19T23:00:00.000Z', asked: 1 }),
  before: figures({ from: '2026-11-17T23:00:00.000Z', until: '2026-11-18T23:00:00.000Z', asked: 3 }),
  kinds: [{ kind: 'roomMailbox', count: 1 }],
  templates: [statsSample(1, 'Meeting room', 'room', { queued: 1 })],
}

export const statsSamples: readonly Sample[] = [
  sample('', adminStatsCard, () => adminStatsView(usual, asSam)),
  sample('awkward', adminStatsCard, () => adminStatsView(awkward, asSam)),
  sample('begun', adminStatsCard, () => adminStatsView(begun, asSam)),
  sample('nothing', adminStatsCard, () => adminStatsView(nothing, asSam)),
]
