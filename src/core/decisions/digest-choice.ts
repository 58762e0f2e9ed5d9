import type { Ports } from '../operations/ports.ts'
import type { Settings } from '../shared/settings.ts'

/** Those of these who have it, if they have a chat. */

export async function havingDigest(
  ports: Ports,
  settings: Settings,
  tenantId: string,
  personIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!settings.digest || personIds.length === 0) return new Set()
  const without = await ports.digests.without(tenantId, personIds)
  return new Set(personIds.filter((id) => !without.has(id)))
}
/** Whether somebody has it, and at which hour of their day; null = nobody of the organisation has. */
export interface DigestStanding {
  readonly hour: number | null
  readonly isOn: boolean
}
