import { z } from 'zod'
import { auditAct } from '../audit/index.ts'
import { type Context, defineUseCase, type SystemContext } from '../shared/index.ts'
import { troubledEndpoints } from '../webhooks/index.ts'
import { countDeadLetters } from './dead-letters.ts'
import { credentialParts, dayMilliseconds, failingAfter, judgeHealth, microsoft365Parts, ownParts } from './health.ts'
import { type HealthPart, type HealthPartName, type HealthReport, reportOf } from './health-report.ts'
import {
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
  readAdmins,
  readTemplates,
} from './installation.ts'
import type { CertificateReading, OperationPorts } from './ports.ts'
import { type DefinedCheck, defineCheck, partsOf } from './run-checks.ts'

/** The ports of the checks that need no running service: `npm run check:tenant` has no others. */
export interface InstallationPorts
  extends Pick<OperationPorts, 'clock' | 'connection' | 'directory' | 'installation' | 'serviceCalls' | 'tenant'> {
  readonly templates: Pick<OperationPorts['templates'], 'list'>
}

/** A check that runs for each report. Its limit is for defects only: the calls have limits of their own. Seconds. */
const everyReport = { keptSeconds: 0, limitSeconds: 15 } as const
/** A check that needs many calls, and therefore runs rarely. Seconds. */
const periodic = { keptSeconds: 300, limitSeconds: 20 } as const

/** The checks of an installation, in the order in which `npm run check:tenant` shows them. */
export const installationChecks: readonly DefinedCheck<InstallationPorts>[] = [
  defineCheck({
    ...{ id: 'credentials', parts: ['certificate', 'botSecret'], ...everyReport },
    read: ({ ports: { clock, connection }, settings: { botSecret } }) => ({
      ...{ at: clock.now(), certificate: connection.certificate(), botSecret },
    }),
    judge: credentialParts,
  }),
  defineCheck({
    ...{ id: 'microsoft365', parts: ['graph', 'sharePoint', 'exchange', 'signIn', 'clock'], ...everyReport },
    async read({ ports: { tenant, connection, serviceCalls } }) {
      const services = await tenant.health()
      // After the calls to the services, which also count as traffic, need tokens and return Microsoft's time.
      const traffic = await serviceCalls.lately()
      return { services, traffic, signIn: connection.signIn(), clock: connection.clock() }
    },
    judge: microsoft365Parts,
  }),
  defineCheck({
    ...{ id: 'permissions', parts: ['permissions'], ...periodic },
    read: ({ ports }, signal) => ports.installation.permissions(signal),
    judge: judgePermissions,
  }),
  defineCheck({
    ...{ id: 'siteHosts', parts: ['siteHosts'], ...periodic },
    read: ({ ports }, signal) => ports.installation.siteHosts(signal),
    judge: judgeSiteHosts,
  }),
  defineCheck({
    ...{ id: 'adminHosts', parts: ['adminHosts'], ...periodic },
    read: ({ ports }, signal) => ports.installation.adminHosts(signal),
    judge: judgeAdminHosts,
  }),
  defineCheck({
    ...{ id: 'extension', parts: ['extension'], ...periodic },
    read: ({ ports }, signal) => ports.installation.extension(signal),
    judge: judgeExtension,
  }),
  defineCheck({
    ...{ id: 'cmdlets', parts: ['cmdlets'], ...periodic },
    read: ({ ports }, signal) => ports.installation.cmdlets(signal),
    judge: judgeCmdlets,
  }),
  defineCheck({
    ...{ id: 'botToken', parts: ['botToken'], ...periodic },
    read: ({ ports }, signal) => ports.installation.botToken(signal),
    judge: judgeBotToken,
  }),
  defineCheck({
    ...{ id: 'endpoint', parts: ['endpoint'], ...periodic },
    read: ({ ports }, signal) => ports.installation.endpoint(signal),
    judge: judgeEndpoint,
  }),
  defineCheck({
    ...{ id: 'catalogueApp', parts: ['catalogueApp'], ...periodic },
    read: ({ ports }, signal) => ports.installation.catalogueApp(signal),
    judge: judgeCatalogueApp,
  }),
  defineCheck({
    ...{ id: 'databaseServer', parts: ['databaseServer'], ...periodic },
    read: ({ ports }) => ports.installation.database(),
    judge: judgeDatabase,
  }),
  defineCheck({
    ...{ id: 'auditKey', parts: ['auditKey'], ...periodic },
    read: ({ ports }) => ports.installation.auditKey(),
    judge: judgeAuditKey,
  }),
  defineCheck({
    ...{ id: 'admins', parts: ['admins'], ...periodic },
    read: ({ ports, settings }) => readAdmins(ports.directory, settings),
    judge: judgeAdmins,
  }),
  defineCheck({
    ...{ id: 'templates', parts: ['templates'], ...periodic },
    read: async ({ ports: { directory, templates }, settings: { tenantId } }) =>
      readTemplates(directory, await templates.list(tenantId)),
    judge: judgeTemplates,
  }),
]

const orNull = <T>(reading: Promise<T>): Promise<T | null> => reading.catch(() => null)

/** The check of the running service itself. */
const serviceCheck: DefinedCheck<OperationPorts> = defineCheck({
  id: 'service',
  parts: ['database', 'processes', 'queue', 'watchdog', 'deadLetters', 'requests', 'webhooks', 'directory'],
  ...everyReport,
  async read({ ports, settings }) {
    const at = ports.clock.now()
    const before = (days: number) => new Date(at.getTime() - days * dayMilliseconds)
    const { tenantId } = settings
    const [own, deadLetters, processes, endpoints, directory, ended] = await Promise.all([
      ports.ownHealth.read(),
      orNull(countDeadLetters(ports)),
      orNull(ports.processes.list()),
      orNull(troubledEndpoints(ports, settings)),
      orNull(ports.sightings.delay(tenantId, before(1))),
      orNull(ports.stats.lastEnded(tenantId, before(failingAfter.days), failingAfter.requests)),
    ])
    return { at, own, deadLetters, processes, endpoints, directory, ended }
  },
  judge: ownParts,
})

/** All checks. Each part of a report comes from one check. */
const healthChecks: readonly DefinedCheck<OperationPorts>[] = [serviceCheck, ...installationChecks]

/** The parts whose facts all processes read from the store. Each process judges the other parts by facts of its own. */
export const sharedParts: ReadonlySet<HealthPartName> = new Set(
  serviceCheck.parts.filter((name) => name !== 'database'),
)

/** The messages of a part that could not be judged. */
const unjudged: readonly HealthPart['says'][] = ['notChecked', 'clockUnseen', 'signInFails']
const isJudged = ({ state, says }: HealthPart): boolean => state === 'red' || !unjudged.includes(says)

/**
 * Returns the parts that a report could not judge: Microsoft 365 or the database gave no answer, or the part is missing
 * because its check has no result yet.
 */
export const unjudgedParts = ({ parts }: Pick<HealthReport, 'parts'>): HealthPartName[] =>
  healthChecks
    .flatMap((check) => check.parts)
    .filter((name) => !parts.some((part) => part.name === name && isJudged(part)))

/**
 * Checks the service and its dependencies. A part that does not answer is red or not checked; nothing throws. Expensive
 * checks run periodically. Without `starts` they do not run now, even if they have no result yet.
 */
export async function currentHealth(
  { ports, settings }: SystemContext<OperationPorts>,
  { starts = true }: { readonly starts?: boolean } = {},
): Promise<HealthReport> {
  const reading = ports.ownHealth.read()
  const context = { ports: { ...ports, ownHealth: { read: () => reading } }, settings }
  const parts = await Promise.all(healthChecks.map((check) => partsOf(check, context, { starts })))
  const { version, startedAt } = await reading
  return reportOf(parts.flat(), { at: ports.clock.now(), version, startedAt })
}

export const readHealth = defineUseCase({
  permission: 'health.read',
  input: z.object({}),
  handle: (context: Context<OperationPorts>): Promise<HealthReport> => currentHealth(context),
})

/** Checks the service itself without calls to Microsoft 365, for callers who need a fast answer. */
export const readOwnHealth = defineUseCase({
  permission: 'health.read',
  input: z.object({}),
  async handle({ ports: { ownHealth, connection, clock }, settings }: Context<OperationPorts>): Promise<HealthReport> {
    const own = await ownHealth.read()
    return judgeHealth({
      ...{ at: clock.now(), own, services: [], deadLetters: null, endpoints: null, directory: null, traffic: [] },
      ...{ signIn: connection.signIn(), certificate: connection.certificate(), botSecret: settings.botSecret },
    })
  },
})

/** Reads the certificate file again, records this in the audit, and returns the health afterwards. */
export const readCertificate = defineUseCase({
  permission: 'certificate.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<{ reading: CertificateReading; report: HealthReport }> {
    const { ports, actor } = context
    const reading = await ports.connection.readCertificate()
    const { endsAt } = ports.connection.certificate()
    await auditAct(ports, actor, 'certificate-read', { reading, endsAt: endsAt?.toISOString() ?? null })
    return { reading, report: await currentHealth(context) }
  },
})
