import { healthTurnedCard, healthTurnedView } from '../../src/cards/notifications/health-turned.ts'
import { adminHealthCard, adminHealthView } from '../../src/cards/operations/admin-health.ts'
import { because, type HealthNotice, reportOf } from '../../src/core/index.ts'
import { sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const since = '2026-11-20T09:02:00.000Z'
const turned = (parts: HealthNotice['parts'], until: string | null = null): HealthNotice => ({
  ...{ kind: 'health', turned: until === null ? 'red' : 'well', since, until, parts, others: [] },
})
const database = { name: 'database', state: 'red', says: 'silent', sinceAt: '2026-11-20T09:01:40.000Z' } as const
const exchange = {
  ...({ name: 'exchange', state: 'red', says: 'refuses' } as const),
  problem: because('serviceAnswered', { service: 'Exchange Online', status: 401, purpose: because('findingMailbox') }),
} as const
const still = { name: 'processes', state: 'red', says: 'processesStill', count: 0 } as const
const late = { name: 'queue', state: 'red', says: 'late', waiting: 4100, oldestSeconds: 5400 } as const
const secretSoon = {
  ...({ name: 'botSecret', state: 'red', says: 'secretSoon' } as const),
  ...{ daysLeft: 6, endsAt: '2026-11-26T23:59:59.000Z' },
} as const
const certificateOver = {
  ...({ name: 'certificate', state: 'red', says: 'certificateOver' } as const),
  ...{ daysLeft: -1, endsAt: '2026-11-20T08:00:00.000Z' },
} as const

const withSilent = reportOf(
  [
    { name: 'database', state: 'green', says: 'answers', milliseconds: 3 },
    { name: 'processes', state: 'amber', says: 'processesSilent', silent: 2, silentAt: since, count: 3 },
    { name: 'queue', state: 'green', says: 'onTime', waiting: 4, oldestSeconds: 2 },
  ],
  { at: asSam.now, version: '0.3.0', startedAt: new Date('2026-11-14T10:44:00Z') },
)

/** Notices for admins when the health of the service changes. */
export const watchSamples: readonly Sample[] = [
  sample('', healthTurnedCard, () => healthTurnedView(turned([database]), asSam)),
  sample('many', healthTurnedCard, () => healthTurnedView(turned([still, late, exchange]), asSam)),
  sample('more', healthTurnedCard, () =>
    healthTurnedView({ ...turned([exchange]), turned: 'more', others: [still, late] }, asSam),
  ),
  sample('less', healthTurnedCard, () =>
    healthTurnedView({ ...turned([late], '2026-11-20T09:14:00.000Z'), turned: 'less', others: [exchange] }, asSam),
  ),
  sample('renewed-one', healthTurnedCard, () =>
    healthTurnedView(
      { ...turned([secretSoon], '2026-11-20T10:31:00.000Z'), turned: 'less', others: [certificateOver] },
      asSam,
    ),
  ),
  sample('well', healthTurnedCard, () => healthTurnedView(turned([database], '2026-11-20T09:14:00.000Z'), asSam)),
  sample('well-many', healthTurnedCard, () =>
    healthTurnedView(turned([still, late, exchange], '2026-11-20T10:31:00.000Z'), asSam),
  ),
  sample('expiring', healthTurnedCard, () => healthTurnedView(turned([secretSoon]), asSam)),
  sample('expired', healthTurnedCard, () => healthTurnedView(turned([certificateOver]), asSam)),
  sample('renewed', healthTurnedCard, () => healthTurnedView(turned([secretSoon], '2026-11-20T10:31:00.000Z'), asSam)),
  sample('silent', adminHealthCard, () => adminHealthView(withSilent, asSam)),
]
