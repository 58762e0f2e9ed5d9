import type { DraftPorts } from '../drafts/ports.ts'
import type { DigestStore } from './digest-choice.ts'

/** The ports that this room and the rooms above it need. */
export interface DecisionPorts extends DraftPorts {
  readonly digests: DigestStore
}
