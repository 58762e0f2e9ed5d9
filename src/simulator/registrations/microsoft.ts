import { z } from 'zod'
import type { AppRole, PermissionScope } from './applications.ts'
import json from './microsoft.json' with { type: 'json' }

const permission = z.strictObject({
  /** Id of the application permission. */
  role: z.guid().optional(),
  /** Id of the delegated permission. */
  scope: z.guid().optional(),
  /** Whether a person may consent to the delegated permission without an administrator. */
  userConsent: z.boolean().default(false),
})

const file = z
  .object({
    principals: z.array(
      z.object({
        id: z.guid(),
        appId: z.guid(),
        displayName: z.string(),
        names: z.array(z.string()),
        permissions: z.record(z.string(), permission),
      }),
    ),
    directoryRoles: z.record(z.string(), z.guid()),
  })
  .parse(json)

/** A service principal of Microsoft, which every tenant has. */
interface MicrosoftPrincipal {
  readonly id: string
  readonly appId: string
  readonly displayName: string
  /** Names of the resource in a scope, besides the application id. */
  readonly names: readonly string[]
  readonly appRoles: readonly AppRole[]
  readonly scopes: readonly PermissionScope[]
}

export const microsoftPrincipals: readonly MicrosoftPrincipal[] = file.principals.map(({ permissions, ...one }) => ({
  ...one,
  appRoles: Object.entries(permissions).flatMap(([value, { role }]) =>
    role === undefined
      ? []
      : [
          {
            ...{ id: role, value, displayName: value, description: value },
            ...{ isEnabled: true, allowedMemberTypes: ['Application'] },
          },
        ],
  ),
  scopes: Object.entries(permissions).flatMap(([value, { scope, userConsent }]) =>
    scope === undefined
      ? []
      : [
          {
            ...{ id: scope, value, isEnabled: true, type: userConsent ? 'User' : 'Admin' },
            ...{ adminConsentDisplayName: value, adminConsentDescription: value },
          },
        ],
  ),
}))

/** The built-in directory roles by name, with their template ids. */
export const directoryRoles: Readonly<Record<string, string>> = file.directoryRoles

/** Id of Microsoft's own tenant, which owns Microsoft's registrations. */
export const microsoftTenant = 'f8cdef31-a31e-4b4a-93e4-5f571e91255a'
/** Application id of Microsoft Graph. Only Privileged Role Administrators may grant its permissions to applications. */
export const graphAppId = '00000003-0000-0000-c000-000000000000'
