import type { HealthPart } from './health-report.ts'
import { stateBy } from './health-thresholds.ts'
import type { ServiceHealth } from './tenant-ports.ts'

export interface Microsoft365Facts {
  /** What each service answered just now. */
  readonly services: readonly ServiceHealth[]
}

/** How Microsoft 365 does, and our way into it. */
export const microsoft365Parts = ({ services }: Microsoft365Facts): HealthPart[] => services.map(servicePart)

/** What is told of a service that did not answer as it should. */
const troubles = {
  refused: { state: 'red', says: 'refuses' },
  throttled: { state: 'amber', says: 'slowsDown' },
  timedOut: { state: 'red', says: 'timesOut' },
  unreachable: { state: 'red', says: 'unreachable' },
  failed: { state: 'red', says: 'fails' },
  noSignIn: { state: 'red', says: 'noSignIn' },
} as const satisfies Record<NonNullable<ServiceHealth['trouble']>, Pick<HealthPart, 'state' | 'says'>>

function servicePart({ name, milliseconds, trouble = 'failed', problem }: ServiceHealth): HealthPart {
  if (problem !== undefined) return { name, ...troubles[trouble], problem }
  const state = stateBy(name, 'milliseconds', milliseconds)
  return { name, state, says: state === 'green' ? 'answers' : 'slow', milliseconds }
}
