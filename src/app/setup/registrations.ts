import { z } from 'zod'
import type { Setup } from './step.ts'
import { fill, texts } from './texts.ts'

/** The registrations, by the key in their alternate key, and the setting that has their client id. */
export const registrations = {
  bot: { part: 'bot', title: 'bot', setting: 'MICROSOFT_APP_ID' },
  sites: { part: 'sites-api', title: 'sites API', setting: 'COLLAB_AUDIENCE' },
  mailboxes: { part: 'mailboxes-api', title: 'mailboxes API', setting: 'MAIL_AUDIENCE' },
  service: { part: 'service', title: 'service', setting: 'CLIENT_ID' },
  commandLine: { part: 'command-line', title: 'command line', setting: undefined },
} as const
export type RegistrationName = keyof typeof registrations

const scope = z.looseObject({ id: z.string(), value: z.string().nullish(), isEnabled: z.boolean().nullish() })
const credential = z.looseObject({
  keyId: z.string().nullish(),
  displayName: z.string().nullish(),
  endDateTime: z.string().nullish(),
})
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((all) => all ?? [])

/** An application in Entra ID, with the properties that setup reads. */
export const registration = z.object({
  id: z.string(),
  appId: z.string(),
  displayName: z.string().nullish(),
  signInAudience: z.string().nullish(),
  identifierUris: listOf(z.string()),
  isFallbackPublicClient: z.boolean().nullish(),
  api: z
    .looseObject({ requestedAccessTokenVersion: z.number().nullish(), oauth2PermissionScopes: listOf(scope) })
    .nullish(),
  appRoles: listOf(z.looseObject({ ...scope.shape, allowedMemberTypes: listOf(z.string()) })),
  optionalClaims: z.looseObject({ accessToken: listOf(z.looseObject({ name: z.string() })) }).nullish(),
  servicePrincipalLockConfiguration: z
    .looseObject({ isEnabled: z.boolean().nullish(), allProperties: z.boolean().nullish() })
    .nullish(),
  requiredResourceAccess: listOf(
    z.object({
      resourceAppId: z.string(),
      resourceAccess: listOf(z.object({ id: z.string(), type: z.string() })),
    }),
  ),
  passwordCredentials: listOf(z.looseObject({ ...credential.shape, hint: z.string().nullish() })),
  keyCredentials: listOf(
    z.looseObject({ ...credential.shape, key: z.string().nullish(), customKeyIdentifier: z.string().nullish() }),
  ),
})
export type Registration = z.output<typeof registration>

const select = `$select=${Object.keys(registration.shape).join(',')}`

/** The first client id in a setting: an audience may also be an App ID URI. */
export const clientIdIn = (setting: string | undefined): string | undefined =>
  setting
    ?.split(',')
    .map((one) => one.trim().toLowerCase())
    .find((one) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(one))

/** Thrown for a client id in the settings that this tenant does not have. */
export class UnknownRegistration extends Error {
  override readonly name = 'UnknownRegistration'
}

/** Reads a registration: by the client id in the settings, else by its alternate key. */
export async function findRegistration(setup: Setup, name: RegistrationName): Promise<Registration | undefined> {
  const { part, setting } = registrations[name]
  const known = setting === undefined ? undefined : clientIdIn(setup.settings.get(setting))
  if (known === undefined) {
    return setup.graph.get(`/applications(uniqueName='${setup.names.key(part)}')?${select}`, registration)
  }
  const path = `/applications(appId='${known}')?${select}`
  const found = await findNamed(setup, setting ?? '', () => setup.graph.get(path, registration))
  if (found) return found
  throw new UnknownRegistration(fill(texts.problems.unknownRegistration, { setting: setting ?? '', id: known }))
}

/**
 * Reads an object that a setting names, and waits while Microsoft does not know it everywhere: long for an object of this
 * run, some seconds for one of an earlier run.
 */
export async function findNamed<T>(
  { settings, options, pause }: Setup,
  setting: string,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const longest = Math.min(options.patience, settings.isNew(setting) ? 60_000 : 5000)
  for (let waited = 0; ; waited += 1000) {
    const found = await read()
    if (found !== undefined || waited >= longest) return found
    await pause(1000)
  }
}

const servicePrincipal = z.object({ id: z.string() })

/** The object id of an application's service principal in this tenant; undefined without one. */
export const findPrincipal = async ({ graph }: Setup, appId: string): Promise<string | undefined> =>
  (await graph.get(`/servicePrincipals(appId='${appId}')?$select=id`, servicePrincipal))?.id

/** The permission that the APIs offer: a scope for people, and a role for applications. */
export const permissionName = 'App.ReadWrite.All'

/** Properties of a registration that differ from what is wanted, as the body of a PATCH with a text for each. */
export function differences(
  name: RegistrationName,
  found: Registration | undefined,
  newId: () => string,
): { readonly text: string; readonly body: object }[] {
  const isApi = name === 'sites' || name === 'mailboxes'
  const all: ({ readonly text: string; readonly body: object } | undefined)[] = [
    found?.signInAudience === 'AzureADMyOrg'
      ? undefined
      : { text: texts.registration.audience, body: { signInAudience: 'AzureADMyOrg' } },
    found?.servicePrincipalLockConfiguration?.isEnabled && found.servicePrincipalLockConfiguration.allProperties
      ? undefined
      : {
          text: texts.registration.lock,
          body: { servicePrincipalLockConfiguration: { isEnabled: true, allProperties: true } },
        },
    isApi ? apiDifference(found, newId) : undefined,
    isApi ? claimDifference(found) : undefined,
    name === 'mailboxes' ? roleDifference(found, newId) : undefined,
    name === 'commandLine' && found?.isFallbackPublicClient !== true
      ? { text: texts.registration.publicClient, body: { isFallbackPublicClient: true } }
      : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

const offers = (all: readonly z.output<typeof scope>[]): boolean =>
  all.some(({ value, isEnabled }) => value === permissionName && isEnabled !== false)

function apiDifference(found: Registration | undefined, newId: () => string) {
  const { requestedAccessTokenVersion: version, oauth2PermissionScopes: scopes = [], ...rest } = found?.api ?? {}
  if (version === 2 && offers(scopes)) return undefined
  const added = {
    ...{ id: newId(), value: permissionName, type: 'User', isEnabled: true },
    ...{ adminConsentDisplayName: texts.scope.name, adminConsentDescription: texts.scope.forAdmins },
    ...{ userConsentDisplayName: texts.scope.name, userConsentDescription: texts.scope.forPeople },
  }
  const body = { ...rest, requestedAccessTokenVersion: 2, oauth2PermissionScopes: withEnabled(scopes, added) }
  return { text: texts.registration.api, body: { api: body } }
}

/** `idtyp` says whether a token is of an application or of a person. */
function claimDifference(found: Registration | undefined) {
  const { accessToken = [], ...rest } = found?.optionalClaims ?? {}
  if (accessToken.some(({ name }) => name === 'idtyp')) return undefined
  const claim = { name: 'idtyp', source: null, essential: false, additionalProperties: [] }
  return { text: texts.registration.claim, body: { optionalClaims: { ...rest, accessToken: [...accessToken, claim] } } }
}

function roleDifference(found: Registration | undefined, newId: () => string) {
  const roles = found?.appRoles ?? []
  const isThere = roles.some(
    ({ value, isEnabled, allowedMemberTypes }) =>
      value === permissionName && isEnabled !== false && allowedMemberTypes.includes('Application'),
  )
  if (isThere) return undefined
  const added = {
    ...{ id: newId(), value: permissionName, isEnabled: true, allowedMemberTypes: ['Application'] },
    ...{ displayName: texts.scope.name, description: texts.scope.forApplications },
  }
  return { text: texts.registration.role, body: { appRoles: withEnabled(roles, added) } }
}

/** The list with the permission in it. One that is disabled keeps its id, because consents refer to the id. */
function withEnabled(all: readonly z.output<typeof scope>[], added: { readonly id: string }): object[] {
  const former = all.find(({ value }) => value === permissionName)
  if (former && former.isEnabled !== false && !('allowedMemberTypes' in added)) return [...all]
  const others = all.filter((one) => one !== former)
  return [...others, { ...former, ...added, id: former?.id ?? added.id }]
}

/** The scope of an API, as callers request it. */
export const scopeOf = (appId: string): string => `api://${appId}/${permissionName}`
