import type { SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/** Those of these who have it, if they have a chat. */
export async function havingDigest(
  { ports, settings }: SystemContext<DecisionPorts>,
  tenantId: string,
  personIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!settings.digest || personIds.length === 0) return new Set()
  const without = await ports.digests.without(tenantId, personIds)
  return new Set(personIds.filter((id) => !without.has(id)))
}
