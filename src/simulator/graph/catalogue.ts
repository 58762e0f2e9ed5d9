import type { Operation, Tenant } from '../tenant/index.ts'
import type { GraphSettings } from './wire.ts'
export const catalogueOperations = (_tenant: Tenant, _settings: GraphSettings): readonly Operation[] => []
