import { z } from 'zod'
import { fill } from '../../client/command-line/terminal.ts'
import type { Setup } from './step.ts'
import texts from './strings.json' with { type: 'json' }

/** The registrations, with the part of their alternate key and the setting of their client id. */
export const registrations = {
  bot: { part: 'bot', title: 'bot', setting: 'MICROSOFT_APP_ID' },
  sites: { part: 'sites-api', title: 'sites API', setting: 'COLLAB_AUDIENCE' },
  mailboxes: { part: 'mailboxes-api', title: 'mailboxes API', setting: 'MAIL_AUDIENCE' },
  service: { part: 'service', title: 'service', setting: 'CLIENT_ID' },
  commandLine: { part: 'command-line', title: 'command line', setting: 'DOCS_CLIENT_ID' },
} as const
export type RegistrationName = keyof typeof registrations

const text = z.string().nullish()
const permission = { id: z.string(), value: text, isEnabled: z.boolean().nullish() }
const scope = z.looseObject({ ...permission, adminConsentDisplayName: text, adminConsentDescription: text })
const credential = z.looseObject({
  keyId: z.string().nullish(),
  displayName: z.string().nullish(),
  startDateTime: z.string().nullish(),
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
  spa: z.object({ redirectUris: listOf(z.string()) }).nullish(),
  api: z
    .looseObject({ requestedAccessTokenVersion: z.number().nullish(), oauth2PermissionScopes: listOf(scope) })
    .nullish(),
  appRoles: listOf(
    z.looseObject({ ...permission, displayName: text, description: text, allowedMemberTypes: listOf(z.string()) }),
  ),
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

/** Returns the first client id in a setting: an audience may also be an App ID URI. */
export const clientIdIn = (setting: string | undefined): string | undefined =>
  setting
    ?.split(',')
    .map((one) => one.trim().toLowerCase())
    .find((one) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(one))

/** Thrown for a client id in the settings that this tenant does not have. */
export class UnknownRegistration extends Error {
  override readonly name = 'UnknownRegistration'
}

/** A bot with a managed identity of Azure has neither a registration nor a secret. */
export const isManagedIdentity = (settings: Readonly<Record<string, string>>): boolean =>
  settings['MICROSOFT_APP_TYPE'] === 'UserAssignedMSI'

/** Reads a registration by the client id in the settings, else by its alternate key. */
export async function findRegistration(setup: Setup, name: RegistrationName): Promise<Registration | undefined> {
  const { part, setting } = registrations[name]
  if (name === 'bot' && isManagedIdentity(setup.settings.values())) return undefined
  const known = clientIdIn(setup.settings.get(setting))
  if (known === undefined) {
    return setup.graph.get(`/applications(uniqueName='${setup.names.key(part)}')?${select}`, registration)
  }
  const path = `/applications(appId='${known}')?${select}`
  const found = await findNamed(setup, setting, () => setup.graph.get(path, registration))
  if (found) return found
  throw new UnknownRegistration(fill(texts.problems.unknownRegistration, { setting, id: known }))
}

/**
 * Reads an object that a setting names, and waits while Microsoft does not know it everywhere: up to a minute for an
 * object of this run, some seconds for an object of an earlier run.
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

/** Properties of a registration that differ from the required values, as the body of a PATCH with a text for each. */
interface Difference {
  readonly text: string
  readonly body: object
  /** Every registration has it, so the text of a new registration omits it. */
  readonly isUsual?: boolean
}

/** Returns all differences. `baseUrl`: the address of the service; undefined in a plan before the question is answered. */
export function differences(
  name: RegistrationName,
  found: Registration | undefined,
  baseUrl: string | undefined,
  newId: () => string,
): Difference[] {
  const isApi = name === 'sites' || name === 'mailboxes'
  const all: (Difference | undefined)[] = [
    found?.signInAudience === 'AzureADMyOrg'
      ? undefined
      : { text: texts.registration.audience, body: { signInAudience: 'AzureADMyOrg' }, isUsual: true },
    found?.servicePrincipalLockConfiguration?.isEnabled && found.servicePrincipalLockConfiguration.allProperties
      ? undefined
      : {
          text: texts.registration.lock,
          body: { servicePrincipalLockConfiguration: { isEnabled: true, allProperties: true } },
          isUsual: true,
        },
    isApi ? permissionDifference(found, name === 'mailboxes', newId) : undefined,
    isApi ? claimDifference(found) : undefined,
    name === 'commandLine' && found?.isFallbackPublicClient !== true
      ? { text: texts.registration.publicClient, body: { isFallbackPublicClient: true } }
      : undefined,
    name === 'commandLine' && baseUrl !== undefined ? pageDifference(found, baseUrl) : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

const isOurs = ({ value }: { readonly value?: string | null | undefined }): boolean => value === permissionName

/**
 * Returns the difference of an API's permission: a scope, and for the mailboxes API a role for applications. Entra ID
 * accepts both with one value only if they have the same id and texts and are written together. An existing permission
 * keeps its id, because consents refer to it.
 */
function permissionDifference(
  found: Registration | undefined,
  withRole: boolean,
  newId: () => string,
): Difference | undefined {
  const { requestedAccessTokenVersion: version, oauth2PermissionScopes: scopes = [], ...rest } = found?.api ?? {}
  const { appRoles: roles = [] } = found ?? {}
  const [scope, role] = [scopes.find(isOurs), roles.find(isOurs)]
  const isScopeThere = version === 2 && scope !== undefined && scope.isEnabled !== false
  const members = role?.allowedMemberTypes ?? []
  const isRoleThere = role !== undefined && role.isEnabled !== false && members.includes('Application')
  if (isScopeThere && (isRoleThere || !withRole)) return undefined
  const shared = { id: scope?.id ?? role?.id ?? newId(), value: permissionName, isEnabled: true }
  const name = scope?.adminConsentDisplayName ?? role?.displayName ?? texts.scope.name
  const description = scope?.adminConsentDescription ?? role?.description ?? texts.scope.forAdmins
  const forPeople = { userConsentDisplayName: texts.scope.name, userConsentDescription: texts.scope.forPeople }
  const wantedScope = {
    ...{ type: 'User', ...forPeople, ...scope, ...shared },
    ...{ adminConsentDisplayName: name, adminConsentDescription: description },
  }
  const allowedMemberTypes = [...new Set([...members, 'Application'])]
  const wantedRole = { ...role, ...shared, displayName: name, description, allowedMemberTypes }
  const api = {
    ...{ ...rest, requestedAccessTokenVersion: 2 },
    oauth2PermissionScopes: [...scopes.filter((one) => !isOurs(one)), wantedScope],
  }
  const appRoles = [...roles.filter((one) => !isOurs(one)), wantedRole]
  const text = withRole ? texts.registration.apiWithRole : texts.registration.api
  return { text, body: { api, ...(withRole && { appRoles }) } }
}

/** Returns the missing redirect URI for sign-in on the page /docs. Addresses that others have added stay. */
function pageDifference(found: Registration | undefined, baseUrl: string): Difference | undefined {
  const { redirectUris = [] } = found?.spa ?? {}
  const page = `${baseUrl.replace(/\/+$/, '')}/docs/oauth2-redirect.html`
  if (redirectUris.includes(page)) return undefined
  return { text: texts.registration.page, body: { spa: { redirectUris: [...redirectUris, page] } } }
}

/** Returns the missing claim `idtyp`, which shows whether a token belongs to an application or a person. */
function claimDifference(found: Registration | undefined) {
  const { accessToken = [], ...rest } = found?.optionalClaims ?? {}
  if (accessToken.some(({ name }) => name === 'idtyp')) return undefined
  const claim = { name: 'idtyp', source: null, essential: false, additionalProperties: [] }
  return { text: texts.registration.claim, body: { optionalClaims: { ...rest, accessToken: [...accessToken, claim] } } }
}

/** The scope of an API, as callers request it. */
export const scopeOf = (appId: string): string => `api://${appId}/${permissionName}`
