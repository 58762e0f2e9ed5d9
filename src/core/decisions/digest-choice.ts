import type { Conversation } from '../requests/chats.ts'
import type { Settings } from '../shared/settings.ts'
import type { DecisionPorts } from './ports.ts'

/** Those of these who have it, if they have a chat. */
export async function havingDigest(
  ports: DecisionPorts,
  settings: Settings,
  tenantId: string,
  personIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!settings.digest || personIds.length === 0) return new Set()
  const without = await ports.digests.without(tenantId, personIds)
  return new Set(personIds.filter((id) => !without.has(id)))
}

/** What people have chosen. Whoever has not has the digest. */
export interface DigestStore {
  choose(tenantId: string, personId: string, isOn: boolean, at: Date): Promise<void>
  /** Those of these who do not want it. */
  without(tenantId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The open chats of those whose decision is waited for and who want it. */
  awaited(tenantId: string): Promise<Pick<Conversation, 'personId' | 'locale' | 'timeZone'>[]>
}
