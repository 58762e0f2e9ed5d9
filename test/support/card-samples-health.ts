import { keyProbe } from '../../src/app/audit-key.ts'
import { adminHealthCard, adminHealthView } from '../../src/cards/operations/admin-health.ts'
import {
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
const signInProblem =
  'Entra ID refused to sign the service in (AADSTS700027). An administrator has to check its registration.'
const permission = health({
  services: [
    {
      name: 'graph',
      milliseconds: 182.4,
      trouble: 'permissionMissing',
      problem:
        'Microsoft Graph: the app registration lacks the application permissions Group.ReadWrite.All, User.EnableDisableAccount.All and Sites.Read.All. Grant them with admin consent. A change takes effect within a minute. Group.ReadWrite.All creates groups for sites, changes their owners and checks names. User.EnableDisableAccount.All blocks sign-in to the accounts of new mailboxes. Sites.Read.All finds the address of a new site, sites with similar names, and former addresses.',
    },
    { name: 'sharePoint', milliseconds: 210 },
    {
      name: 'exchange',
      milliseconds: 340,
      trouble: 'permissionMissing',
      problem:
        'Exchange Online answered 403 while looking the mailbox up: the app registration lacks the directory role Exchange Administrator. Assign it to the registration in Entra ID. A change takes effect within minutes. Then retry.',
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
      problem: 'SharePoint answered 429 while checking its health.',
    },
    {
      name: 'exchange',
      milliseconds: 340,
      trouble: 'refused',
      problem: 'Exchange answered 401: User is not allowed to call Get-Mailbox.',
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
    problem: 'The file is incomplete: a block begins and does not end. Copy the whole file again.',
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
      problem:
        'Sites.Read.All: Microsoft Graph answered 403 while checking a permission: the app registration lacks the application permission Sites.Read.All. Grant it with admin consent. A change takes effect within a minute. Then retry.',
    },
  ]),
  ...judgeExtension({
    name: 'svc_group',
    trouble: 'refused',
    problem: 'svc_group: Groups of this tenant have no schema extension of this name with the property requestId.',
  }),
  ...judgeCmdlets([
    {
      name: 'Set-Place',
      trouble: 'refused',
      problem: 'Set-Place: Exchange Online does not know Set-Place for this registration.',
    },
  ]),
  ...judgeBotToken({ name: 'secret', trouble: 'refused', problem: 'Entra ID refused the secret (AADSTS7000215).' }),
  ...judgeEndpoint({
    answer: 'none',
    problem: 'Cannot reach https://quartermaster.example/healthz (ECONNREFUSED).',
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
          problem:
            'The file is a .pfx file (PKCS#12), not a PEM file. The service needs one PEM file with the private key and the certificate. Run: openssl pkcs12 -in service.pfx -out service.pem -noenc (OpenSSL 1.1: -nodes; add -legacy if OpenSSL 3 reports "unsupported").',
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
