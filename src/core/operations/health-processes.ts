import type { HealthPart } from './health-report.ts'
import type { SeenProcess } from './ports.ts'
import { silentAfterSeconds } from './processes.ts'

/** How the processes of the service do. None where none has said anything yet. */
export function processesParts(all: readonly SeenProcess[]): HealthPart[] {
  if (all.length === 0) return []
  const silent = all.filter(({ silentSeconds }) => silentSeconds > silentAfterSeconds)
  const there = all.filter((one) => !silent.includes(one))
  const working = there.filter(({ works }) => works)
  const name = 'processes'
  const [first] = working.map(({ startedAt }) => startedAt.toISOString()).sort()
  if (first === undefined) return [{ name, state: 'red', says: 'processesStill', count: 0 }]
  const count = working.length
  const silentAt = silent
    .map(({ seenAt }) => seenAt.toISOString())
    .sort()
    .at(-1)
  if (silentAt !== undefined) {
    const says = silent.length === 1 ? 'processSilent' : 'processesSilent'
    return [{ name, state: 'amber', says, count, silent: silent.length, silentAt }]
  }
  const idle = there.length - count
  if (idle > 0) return [{ name, state: 'amber', says: 'processesIdle', count, idle }]
  const versions = new Set(there.map(({ version }) => version))
  return [{ name, state: 'green', says: versions.size > 1 ? 'processesMixed' : 'processesWork', count, sinceAt: first }]
}
