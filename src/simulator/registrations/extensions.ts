import type { Tenant } from '../tenant/index.ts'
import { allOf, isReplicated, type Stored } from './store.ts'

/** A schema extension: a complex property that an application adds to objects of the directory. */
export interface ExtensionDoc {
  readonly description: string | null
  readonly targetTypes: readonly string[]
  readonly status: 'InDevelopment' | 'Available' | 'Deprecated'
  /** The application id of its owner. */
  readonly owner: string
  readonly properties: readonly { readonly name: string; readonly type: string }[]
}
export type Extension = Stored<ExtensionDoc>

/** Returns all schema extensions; `id` is the name of the property. */
export const allExtensions = (tenant: Tenant): Extension[] => allOf<ExtensionDoc>(tenant, 'schemaExtension')

/** Returns the extensions that groups accept: those that all servers know. */
export const groupExtensions = (tenant: Tenant): Extension[] =>
  tenant.modes.groupsAcceptExtension
    ? allExtensions(tenant).filter(({ at, doc }) => doc.targetTypes.includes('Group') && isReplicated(tenant, at))
    : []
