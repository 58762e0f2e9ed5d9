import type { DraftPorts } from '../drafts/index.ts'
import type { Conversation } from '../requests/index.ts'

/** People's choices about the digest. Without a choice, a person gets it. */
export interface DigestStore {
  choose(tenantId: string, personId: string, isOn: boolean, at: Date): Promise<void>
  /** Those of these who do not want it. */
  without(tenantId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The open chats of those whose decision is waited for and who want it. */
  awaited(tenantId: string): Promise<Pick<Conversation, 'personId' | 'locale' | 'timeZone'>[]>
}

/** The ports that this room and the rooms above it need. */
export interface DecisionPorts extends DraftPorts {
  readonly digests: DigestStore
}
