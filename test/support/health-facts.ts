import {
  type HealthFacts,
  type HealthPart,
  judgeAdminHosts,
  judgeAdmins,
  judgeAuditKey,
  judgeBotToken,
  judgeCatalogueApp,
  judgeCmdlets,
  judgeDatabase,
  judgeEndpoint,
  judgeExtension,
  judgePermissions,
  judgeSiteHosts,
  judgeTemplates,
  type Probe,
  type ServiceHealth,
  type ServiceTraffic,
} from '../../src/core/index.ts'

const minutes = (count: number): number => count * 60_000

/** The counts of a healthy service. */
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

/** The facts of a healthy service, with some changed. */
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
  ended: [],
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
  clock: { aheadSeconds: 0 },
  certificate: { endsAt: new Date(at.getTime() + minutes(1440 * 212 + 60)), problem: undefined },
  botSecret: { endsAt: new Date(at.getTime() + minutes(1440 * 154 + 60)) },
  ...more,
})

/** The probe results of a healthy installation. */
const sound = {
  database: { engine: 'server', version: '17.2', major: 17, isPlain: false, isReadOnly: false, lacks: [] },
  permissions: ['Group.ReadWrite.All', 'User.Read.All', 'User.EnableDisableAccount.All', 'Sites.Read.All'],
  siteHosts: ['https://contoso.sharepoint.com'],
  adminHosts: ['https://contoso-admin.sharepoint.com'],
  extension: 'ext8a1b2c3d_svcgroup',
  cmdlets: ['New-Mailbox', 'Set-Mailbox', 'Get-Mailbox'],
} as const
const probes = (names: readonly string[]): Probe[] => names.map((name) => ({ name }))

/** The parts of an installation without faults, with some replaced. */
export function installationParts(at: Date, changed: readonly HealthPart[] = []): HealthPart[] {
  const checkedAt = new Date(at.getTime() - minutes(3)).toISOString()
  const parts = [
    ...judgeDatabase(sound.database),
    ...judgePermissions(probes(sound.permissions)),
    ...judgeSiteHosts(probes(sound.siteHosts)),
    ...judgeAdminHosts(probes(sound.adminHosts)),
    ...judgeExtension({ name: sound.extension }),
    ...judgeCmdlets(probes(sound.cmdlets)),
    ...judgeBotToken({ name: 'MICROSOFT_APP_PASSWORD' }),
    ...judgeEndpoint({ answer: 'own' }),
    ...judgeAdmins([{ id: '22222222-bbbb-4bbb-8bbb-000000000002', people: 3 }]),
    ...judgeTemplates({ count: 10, missing: [] }),
    ...judgeCatalogueApp({ version: '1.4.0', ownVersion: '1.4.0' }),
    ...judgeAuditKey({ name: 'AUDIT_SECRET' }),
  ]
  return parts.map((part) => ({ ...(changed.find(({ name }) => name === part.name) ?? part), checkedAt }))
}
