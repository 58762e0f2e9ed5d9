import type { DraftPorts } from '../drafts/index.ts'
import type { Conversation } from '../requests/index.ts'
import type { JointDecisionStore } from './joint-decision.ts'

/** People's choices about the digest. Without a choice, a person gets it. */
export interface DigestStore {
  choose(tenantId: string, personId: string, isOn: boolean, at: Date): Promise<void>
  /** Returns the people of these who have switched the digest off. */
  without(tenantId: string, personIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns the open chats of undecided approvers who have not switched the digest off. */
  awaited(tenantId: string): Promise<Pick<Conversation, 'personId' | 'locale' | 'timeZone'>[]>
}

/** The ports that this room and the rooms above it need. */
export interface DecisionPorts extends DraftPorts {
  readonly digests: DigestStore
  readonly jointDecisions: JointDecisionStore
}
