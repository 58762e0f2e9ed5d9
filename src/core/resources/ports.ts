import type { SharedPorts } from '../shared/index.ts'
import type { Tenant } from './tenant.ts'

/** The ports that this room and the rooms above it need. */
export interface ResourcePorts extends SharedPorts {
  readonly tenant: Tenant
}
