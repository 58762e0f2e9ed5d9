import { z } from 'zod'
import type { DirectorySightings } from '../provisioning/index.ts'
import { type Context, defineUseCase, type SystemContext } from '../shared/index.ts'
import { troubledEndpoints, type WebhookEndpoint } from '../webhooks/index.ts'
import { countDeadLetters } from './dead-letters.ts'
import { type Microsoft365Facts, microsoft365Parts } from './health-microsoft365.ts'
import { processesParts } from './health-processes.ts'
import { type HealthPart, type HealthReport, reportOf, worst } from './health-report.ts'
import { stateBy } from './health-thresholds.ts'
import type { OperationPorts, OwnHealth, SeenProcess } from './ports.ts'

/** All that a health report is made of. What could not be read, since the database does not answer, is null. */
export interface HealthFacts extends Microsoft365Facts {
  readonly own: OwnHealth
  readonly deadLetters: number | null
  /** Absent: nobody was asked. */
  readonly processes?: readonly SeenProcess[] | null
  /** Those that fail or are switched off. */
  readonly endpoints: readonly WebhookEndpoint[] | null
  /** How long the directory took within a day. */
  readonly directory: Awaited<ReturnType<DirectorySightings['delay']>> | null
}

/** For so long back it is told how long the directory took, in milliseconds. */
const dayMilliseconds = 86_400_000

/** How the service and everything it needs do just now. A part that does not answer is told as such, and throws nothing. */
export async function currentHealth({ ports, settings }: SystemContext<OperationPorts>): Promise<HealthReport> {
  const { tenantId } = settings
  const { tenant, connection, vitals, clock } = ports
  const aDayAgo = new Date(clock.now().getTime() - dayMilliseconds)
  const orNull = <T>(reading: Promise<T>): Promise<T | null> => reading.catch(() => null)
  const [own, services, deadLetters, processes, endpoints, directory] = await Promise.all([
    vitals.own(),
    tenant.health(),
    orNull(countDeadLetters(ports)),
    orNull(ports.processes.list()),
    orNull(troubledEndpoints(ports, settings)),
    orNull(ports.sightings.delay(tenantId, aDayAgo)),
  ])
  // After the questions to the services: they are calls too, and need tokens.
  const traffic = await ports.serviceCalls.lately()
  return judgeHealth({
    ...{ at: clock.now(), own, services, deadLetters, processes, endpoints, directory, traffic },
    ...{ signIn: connection.signIn(), certificate: connection.certificate(), botSecret: settings.botSecret },
  })
}

/** The same for admins. */
export const readHealth = defineUseCase({
  permission: 'health.read',
  input: z.object({}),
  handle: (context: Context<OperationPorts>): Promise<HealthReport> => currentHealth(context),
})

/** How the service itself does, without what Microsoft 365 says: for when there is no time to ask. */
export const readOwnHealth = defineUseCase({
  permission: 'health.read',
  input: z.object({}),
  async handle({ ports: { vitals, connection, clock }, settings }: Context<OperationPorts>): Promise<HealthReport> {
    const own = await vitals.own()
    return judgeHealth({
      ...{ at: clock.now(), own, services: [], deadLetters: null, endpoints: null, directory: null, traffic: [] },
      ...{ signIn: connection.signIn(), certificate: connection.certificate(), botSecret: settings.botSecret },
    })
  },
})

/** What the facts mean, by the thresholds of the table. */
export function judgeHealth(facts: HealthFacts): HealthReport {
  const { own, at } = facts
  const about = { at, version: own.version, startedAt: own.startedAt }
  return reportOf([...ownParts(facts), ...microsoft365Parts(facts)], about)
}

function ownParts({ own, deadLetters, processes, endpoints, directory, at }: HealthFacts): HealthPart[] {
  const { databaseMilliseconds: milliseconds } = own
  if (milliseconds === null)
    return [{ name: 'database', state: 'red', says: 'silent', sinceAt: (own.databaseSeenAt ?? at).toISOString() }]
  const state = stateBy('database', 'milliseconds', milliseconds)
  return [
    { name: 'database', state, says: state === 'green' ? 'answers' : 'slow', milliseconds },
    ...processesParts(processes ?? []),
    queuePart(own.queue),
    watchdogPart(own.watchedAt, at),
    ...(deadLetters === null ? [] : [deadLettersPart(deadLetters)]),
    ...(endpoints === null ? [] : [webhooksPart(endpoints)]),
    ...(directory === null ? [] : [directoryPart(directory)]),
  ]
}

function queuePart({ waiting, oldestSeconds }: OwnHealth['queue']): HealthPart {
  const state = stateBy('queue', 'oldestSeconds', oldestSeconds)
  const says = state !== 'green' ? 'late' : waiting === 0 ? 'idle' : 'onTime'
  return { name: 'queue', state, says, waiting, oldestSeconds: Math.round(oldestSeconds) }
}

function watchdogPart(watchedAt: Date | null, at: Date): HealthPart {
  if (watchedAt === null) return { name: 'watchdog', state: 'red', says: 'neverWatched' }
  const watchedSecondsAgo = Math.max(0, Math.round((at.getTime() - watchedAt.getTime()) / 1000))
  const state = stateBy('watchdog', 'watchedSecondsAgo', watchedSecondsAgo)
  return { name: 'watchdog', state, says: state === 'green' ? 'watched' : 'unwatched', watchedSecondsAgo }
}

function deadLettersPart(count: number): HealthPart {
  const state = stateBy('deadLetters', 'count', count)
  return { name: 'deadLetters', state, says: count === 0 ? 'noDeadLetters' : 'deadLetters', count }
}

function webhooksPart(endpoints: readonly WebhookEndpoint[]): HealthPart {
  const isOwn = ({ templateId }: WebhookEndpoint) => templateId === null
  const others = endpoints.filter((one) => !isOwn(one))
  const switchedOff = others.filter(({ disabledAt }) => disabledAt !== null).length
  const counts = { failing: others.length - switchedOff, switchedOff }
  const ownFails = endpoints.some(isOwn)
  const state = worst([
    stateBy('webhooks', 'failing', counts.failing + Number(ownFails)),
    stateBy('webhooks', 'switchedOff', switchedOff),
  ])
  const says = ownFails ? 'webhooksOwnFails' : state === 'green' ? 'webhooksGood' : 'webhooksFail'
  return { name: 'webhooks', state, says, ...counts }
}

function directoryPart({ seen, p50Seconds, p95Seconds }: NonNullable<HealthFacts['directory']>): HealthPart {
  if (seen === 0) return { name: 'directory', state: 'green', says: 'directoryUnseen', seen }
  const state = stateBy('directory', 'p95Seconds', p95Seconds)
  const says = state === 'green' ? 'directoryUsual' : 'directorySlow'
  return { name: 'directory', state, says, seen, p50Seconds, p95Seconds }
}
