import type { TemplatePorts } from '../templates/ports.ts'
import type { AddressStore, CreatedResources } from './former-addresses.ts'
/** The numbers in names that have a `{counter}`, counted apart by `scope`; 0 before the first. */
export interface NameCounters {
  last(tenantId: string, scope: string): Promise<number>
  /** The next one, which nobody else gets. */
  next(tenantId: string, scope: string): Promise<number>
}

/** Names kept for requests that have not ended. */
export interface Reservations {
  /** Keeps names for a request; returns those that another one holds. */
  reserve(tenantId: string, names: readonly string[], requestId: string): Promise<string[]>
  holder(tenantId: string, name: string): Promise<string | undefined>
  release(requestId: string): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NamingPorts extends TemplatePorts {
  readonly nameCounters: NameCounters
  readonly reservations: Reservations
  readonly addresses: AddressStore
  readonly requests: CreatedResources
}
