import { createHash, randomUUID } from 'node:crypto'
import type { Tenant } from '../tenant/index.ts'
import { allOf, change, isReplicated, remove, type Stored, store } from './store.ts'

/** An application permission that a registration offers. */
export interface AppRole {
  readonly id: string
  readonly value?: string | null | undefined
  readonly displayName: string
  readonly description: string
  readonly isEnabled: boolean
  readonly allowedMemberTypes: readonly string[]
}

/** A delegated permission that a registration offers. */
export interface PermissionScope {
  readonly id: string
  readonly value: string
  readonly isEnabled: boolean
  readonly type: string
  readonly adminConsentDisplayName: string
  readonly adminConsentDescription: string
}

/** A certificate. `key` is its DER in base64, and `customKeyIdentifier` its SHA-1 thumbprint. */
export interface KeyCredential {
  readonly keyId: string
  readonly displayName: string | null
  readonly type: string
  readonly usage: string
  readonly key: string
  readonly customKeyIdentifier: string
  readonly startDateTime: string
  readonly endDateTime: string
  /** The time of its creation, in milliseconds since 1970. */
  readonly at: number
}

/** A secret. Only its digest is stored. */
export interface PasswordCredential {
  readonly keyId: string
  readonly displayName: string | null
  readonly hint: string
  readonly digest: string
  readonly startDateTime: string
  readonly endDateTime: string
  readonly at: number
}

/** The properties of a registration that the simulator interprets; `others` are stored and shown unchanged. */
export interface ApplicationDoc {
  readonly appId: string
  readonly uniqueName: string | null
  readonly displayName: string
  readonly signInAudience: string
  readonly identifierUris: readonly string[]
  readonly isFallbackPublicClient: boolean | null
  readonly api: {
    readonly requestedAccessTokenVersion: number | null
    readonly oauth2PermissionScopes: readonly PermissionScope[]
    readonly preAuthorizedApplications: readonly {
      readonly appId: string
      readonly delegatedPermissionIds: readonly string[]
    }[]
    readonly [other: string]: unknown
  }
  readonly appRoles: readonly AppRole[]
  readonly keyCredentials: readonly KeyCredential[]
  readonly passwordCredentials: readonly PasswordCredential[]
  /** Object ids of the owners. */
  readonly owners: readonly string[]
  readonly createdDateTime: string
  readonly others: Readonly<Record<string, unknown>>
}
export type Application = Stored<ApplicationDoc>

export const allApplications = (tenant: Tenant): Application[] => allOf<ApplicationDoc>(tenant, 'application')

/** Finds a registration by its object id or by an alternate key. */
export function findApplication(
  tenant: Tenant,
  key: 'id' | 'appId' | 'uniqueName',
  value: string,
): Application | undefined {
  const wanted = key === 'uniqueName' ? value : value.toLowerCase()
  return allApplications(tenant).find(({ id, doc }) => (key === 'id' ? id : doc[key]) === wanted)
}

export const addApplication = (tenant: Tenant, doc: ApplicationDoc): Application =>
  store(tenant, 'application', randomUUID(), doc)

export const changeApplication = (tenant: Tenant, application: Application, doc: ApplicationDoc): void =>
  change(tenant, application, doc)

export const removeApplication = (tenant: Tenant, application: Application): void => remove(tenant, application)

export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

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
