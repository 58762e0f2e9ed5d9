import { keyProbe } from '../../src/app/audit-key.ts'
import { adminHealthCard, adminHealthView } from '../../src/cards/operations/admin-health.ts'
import {
  because,
  endpointOf,
  type HealthPart,
  type HealthReport,
  judgeAdmins,
  judgeAuditKey,
  judgeBotToken,
  judgeCatalogueApp,
  judgeCmdlets,
  judgeEndpoint,
  judgeExtension,
  judgeHealth,
  judgePermissions,
  judgeTemplates,
  reportOf,
  type ServiceTraffic,
} from '../../src/core/index.ts'
import { lackingReason, permissionMissing, permissions } from '../../src/microsoft365/wire/index.ts'
import { requests, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { factsOf, installationParts, trafficOf } from './health-facts.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const health = (
  more: Parameters<typeof factsOf>[1] = {},
  parts: readonly HealthPart[] = installationParts(asSam.now),
): HealthReport => {
  const report = judgeHealth(factsOf(asSam.now, more))
  return reportOf([...report.parts, ...parts], report)
}
const answers = factsOf(asSam.now).services.filter(({ name }) => name === 'graph')
const endpoint = {
  ...endpointOf({ tenantId: requests.ready.tenantId, subscriber: 'bot' }, 'https://example.com/'),
  failingSince: asSam.now.toISOString(),
}
const ofTemplate = (templateId: string, more: object = {}) => ({ ...endpoint, templateId, ...more })
const signInProblem = because('signInRefused', { service: 'Entra ID', error: 'AADSTS700027' })
const permissionsNamed = (...names: readonly string[]) => permissions.filter(({ name }) => names.includes(name))
const permission = health({
  services: [
    {
      name: 'graph',
      milliseconds: 182.4,
      trouble: 'permissionMissing',
      problem: lackingReason(
        'Microsoft Graph',
        permissionsNamed('Group.ReadWrite.All', 'User.EnableDisableAccount.All', 'Sites.Read.All'),
      ),
    },
    { name: 'sharePoint', milliseconds: 210 },
    {
      name: 'exchange',
      milliseconds: 340,
      trouble: 'permissionMissing',
      problem: permissionMissing(
        ...(['Exchange Online', because('findingMailbox'), 403] as const),
        permissionsNamed('Exchange Administrator'),
        new Error('forbidden'),
      ).reason,
    },
  ],
})
const inDays = (days: number) => new Date(asSam.now.getTime() + days * 86_400_000 + 3_600_000)
const many: ServiceTraffic = trafficOf('graph', asSam.now, {
  calls: 48_211,
  failed: 9120,
  throttled: 3204,
  timedOut: 77,
})
const troubles = health({
  own: { queue: { waiting: 41, oldestSeconds: 720 } },
  deadLetters: 3,
  services: [
    ...answers,
    {
      name: 'sharePoint',
      milliseconds: 80,
      trouble: 'throttled',
      problem: because('serviceAnswered', { service: 'SharePoint', status: 429, purpose: because('checkingHealth') }),
    },
    {
      name: 'exchange',
      milliseconds: 340,
      trouble: 'refused',
      problem: because('exchangeRoleLacking', { service: 'Exchange Online', purpose: because('findingMailbox') }),
    },
  ],
  endpoints: [
    ofTemplate(requests.ready.template.id),
    ofTemplate(requests.ready.template.id, { disabledAt: asSam.now.toISOString() }),
  ],
  certificate: { endsAt: inDays(12), problem: undefined },
})
const everything = health({
  own: { queue: { waiting: 50_000, oldestSeconds: 90_000 }, watchedAt: null },
  deadLetters: 1200,
  services: (['graph', 'sharePoint', 'exchange'] as const).map((name) => ({
    name,
    milliseconds: 9,
    trouble: 'noSignIn',
    problem: signInProblem,
  })),
  traffic: [many, { ...many, name: 'sharePoint' }, { ...many, name: 'exchange' }],
  signIn: { tokens: [], refusal: { at: asSam.now, problem: signInProblem, isFinal: true } },
  certificate: {
    endsAt: inDays(-1),
    problem: because('pemIncomplete'),
  },
  botSecret: { endsAt: inDays(-400) },
  endpoints: [endpoint],
  directory: { seen: 3, p50Seconds: 400, p95Seconds: 5400 },
})
/** An installation with most parts missing. */
const unfinished = installationParts(asSam.now, [
  ...judgePermissions([
    {
      name: 'Sites.Read.All',
      trouble: 'permissionMissing',
      problem: because('aboutProbe', {
        subject: 'Sites.Read.All',
        reason: permissionMissing(
          ...(['Microsoft Graph', because('checkingPermission'), 403] as const),
          permissionsNamed('Sites.Read.All'),
          new Error('forbidden'),
        ).reason,
      }),
    },
  ]),
  ...judgeExtension({
    name: 'svc_group',
    trouble: 'refused',
    problem: because('aboutProbe', {
      subject: 'svc_group',
      reason: because('extensionUnknown', { property: 'requestId' }),
    }),
  }),
  ...judgeCmdlets([
    {
      name: 'Set-Place',
      trouble: 'refused',
      problem: because('aboutProbe', {
        subject: 'Set-Place',
        reason: because('cmdletUnknown', { cmdlet: 'Set-Place' }),
      }),
    },
  ]),
  ...judgeBotToken({
    name: 'secret',
    trouble: 'refused',
    problem: because('secretRefused', { error: 'AADSTS7000215' }),
  }),
  ...judgeEndpoint({
    answer: 'none',
    problem: because('addressUnreachable', {
      url: 'https://quartermaster.example/healthz',
      error: 'ECONNREFUSED',
    }),
  }),
  ...judgeAdmins([{ id: '22222222-bbbb-4bbb-8bbb-000000000009', people: 0 }]),
  ...judgeTemplates({ count: 0, missing: [] }),
  ...judgeCatalogueApp({ version: '1.3.0', ownVersion: '1.4.0' }),
  ...judgeAuditKey(
    keyProbe({ fits: false, fingerprint: '77d0-51ce-09ab-4f3e', needed: '3f2a-91bc-77e0-12d4' }, 'data/audit.key'),
  ),
])
const failingSites = Array.from({ length: 5 }, () => ({
  ...{ kind: 'teamSite' as const, status: 'failed' as const, at: asSam.now },
}))
/** The health of the service: healthy, with trouble, and in the worst case. */
export const healthSamples: readonly Sample[] = [
  sample('', adminHealthCard, () => adminHealthView(health(), asSam)),
  sample('permission', adminHealthCard, () => adminHealthView(permission, asSam)),
  sample('troubles', adminHealthCard, () => adminHealthView(troubles, asSam)),
  sample('everything', adminHealthCard, () => adminHealthView(everything, asSam)),
  sample('database-away', adminHealthCard, () =>
    adminHealthView(
      health({ own: { databaseMilliseconds: null }, deadLetters: null, endpoints: null, directory: null }),
      asSam,
    ),
  ),
  sample('unfinished', adminHealthCard, () =>
    adminHealthView(health({ clock: { aheadSeconds: 400 } }, unfinished), asSam),
  ),
  sample('failing-kinds', adminHealthCard, () => adminHealthView(health({ ended: failingSites }), asSam)),
  sample('busy', adminHealthCard, () => adminHealthView(health({ traffic: [many] }), asSam)),
  sample('certificate', adminHealthCard, () =>
    adminHealthView(health({ certificate: { endsAt: inDays(1), problem: undefined } }), asSam),
  ),
  sample('certificate-refused', adminHealthCard, () =>
    adminHealthView(
      health({
        certificate: {
          endsAt: inDays(5),
          problem: because('fileIsPfx', {
            converting: 'openssl pkcs12 -in service.pfx -out service.pem -noenc',
          }),
        },
      }),
      asSam,
      'refused',
    ),
  ),
  sample('secret', adminHealthCard, () =>
    adminHealthView(health({ botSecret: { endsAt: inDays(3) }, certificate: { endsAt: inDays(20) } }), asSam),
  ),
  sample('secret-unknown', adminHealthCard, () => adminHealthView(health({ botSecret: { endsAt: null } }), asSam)),
  sample('certificate-taken', adminHealthCard, () => adminHealthView(health(), asSam, 'taken')),
]
