import type { DecisionPorts } from '../decisions/index.ts'
/** How long the directory takes to show what was made; for a site that is its security group. */
export interface DirectorySightings {
  /** Keeps the first sighting of a request's group. `seconds`: since it was made. */
  note(sighting: { tenantId: string; requestId: string; seenAt: Date; seconds: number }): Promise<void>
  isNoted(requestId: string): Promise<boolean>
  /** Of what was seen since then: how much, and after how long half of it was, and 95 of 100. */
  delay(tenantId: string, since: Date): Promise<{ seen: number; p50Seconds: number; p95Seconds: number }>
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface ProvisioningPorts extends DecisionPorts {
  readonly sightings: DirectorySightings
}
