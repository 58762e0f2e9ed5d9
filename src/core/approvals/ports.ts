import type { NamingPorts } from '../naming/index.ts'
import type { DelegationStore } from './delegation.ts'

/** The ports that this room and the rooms above it need. */
export interface ApprovalPorts extends NamingPorts {
  readonly delegations: DelegationStore
}
