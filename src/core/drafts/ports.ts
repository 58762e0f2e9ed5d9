import type { RequestPorts } from '../requests/index.ts'
import type { DraftStore } from './draft.ts'

/** The ports that this room and the rooms above it need. */
export interface DraftPorts extends RequestPorts {
  readonly drafts: DraftStore
}
