import type { HealthFacts, ServiceHealth, ServiceTraffic } from '../../src/core/index.ts'

const minutes = (count: number): number => count * 60_000

/** What a service that does well has counted. */
export const trafficOf = (
  name: ServiceHealth['name'],
  at: Date,
  more: Partial<ServiceTraffic> = {},
): ServiceTraffic => ({
  name,
  ...{ calls: 1204, failed: 3, throttled: 1, timedOut: 0 },
  ...{ lastSuccessAt: new Date(at.getTime() - 2000), lastFailureAt: new Date(at.getTime() - minutes(9)) },
  ...more,
})

/** Facts of a service that does well in every part, with some changed. */
export const factsOf = (
  at: Date,
  { own, ...more }: Partial<Omit<HealthFacts, 'own'>> & { own?: Partial<HealthFacts['own']> } = {},
): HealthFacts => ({
  at,
  own: {
    databaseMilliseconds: 3,
    queue: { waiting: 4, oldestSeconds: 2 },
    watchedAt: new Date(at.getTime() - 24_000),
    version: '0.3.0',
    startedAt: new Date(at.getTime() - minutes(8641)),
    ...own,
  },
  deadLetters: 0,
  endpoints: [],
  directory: { seen: 12, p50Seconds: 18, p95Seconds: 41 },
  services: [
    { name: 'graph', milliseconds: 182.4 },
    { name: 'sharePoint', milliseconds: 210 },
    { name: 'exchange', milliseconds: 340 },
  ],
  traffic: [
    trafficOf('graph', at),
    trafficOf('sharePoint', at, { calls: 88, failed: 0, throttled: 0 }),
    trafficOf('exchange', at, { calls: 412, failed: 0, throttled: 0 }),
  ],
  signIn: {
    tokens: [
      { resource: 'https://graph.microsoft.com', endsAt: new Date(at.getTime() + minutes(41)) },
      { resource: 'https://outlook.office365.com', endsAt: new Date(at.getTime() + minutes(58)) },
    ],
    refusal: undefined,
  },
  certificate: { endsAt: new Date(at.getTime() + minutes(1440 * 212 + 60)), problem: undefined },
  botSecret: { endsAt: new Date(at.getTime() + minutes(1440 * 154 + 60)) },
  ...more,
})
