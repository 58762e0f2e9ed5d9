import { countDeadLetters } from './dead-letters.ts'
import { type Microsoft365Facts, microsoft365Parts } from './health-microsoft365.ts'
import { processesParts } from './health-processes.ts'
import { type HealthPart, type HealthReport, reportOf } from './health-report.ts'
import { stateBy } from './health-thresholds.ts'
import type { Ports } from './ports.ts'
import type { SeenProcess } from './processes.ts'
import type { OwnHealth } from './tenant-ports.ts'

/** All that a health report is made of. What could not be read, since the database does not answer, is null. */
export interface HealthFacts extends Microsoft365Facts {
  readonly at: Date
  readonly own: OwnHealth
  readonly deadLetters: number | null
  /** Absent: nobody was asked. */
  readonly processes?: readonly SeenProcess[] | null
}

/** How the service and everything it needs do just now. A part that does not answer is told as such, and throws nothing. */
export async function readHealth(ports: Ports): Promise<HealthReport> {
  const [own, services, deadLetters, processes] = await Promise.all([
    ports.vitals.own(),
    ports.tenant.health(),
    countDeadLetters(ports).catch(() => null),
    ports.processes.list().catch(() => null),
  ])
  return judgeHealth({ at: ports.clock.now(), own, services, deadLetters, processes })
}

/** How the service itself does, without what Microsoft 365 says: for when there is no time to ask. */
export async function readOwnHealth(ports: Ports): Promise<HealthReport> {
  const own = await ports.vitals.own()
  return judgeHealth({ at: ports.clock.now(), own, services: [], deadLetters: null })
}

/** What the facts mean, by the thresholds of the table. */
export function judgeHealth(facts: HealthFacts): HealthReport {
  const { own, at } = facts
  return reportOf([...ownParts(facts), ...microsoft365Parts(facts)], {
    at,
    version: own.version,
    startedAt: own.startedAt,
  })
}

function ownParts({ own, deadLetters, processes, at }: HealthFacts): HealthPart[] {
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
