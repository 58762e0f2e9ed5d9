import { createHash, randomUUID, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import type { Application, ApplicationDoc, AppRole, KeyCredential, PermissionScope } from '../registrations/index.ts'
import { asRecord, type Call, contoso, now } from '../tenant/index.ts'
import { badRequest, refuse } from './wire.ts'

const name = z.string().min(1).max(256)
const value = z
  .string()
  .max(250)
  .regex(/^[\w!#$%&'()*+,\-./:;<=>?@[\]^`{|}~]+$/)
const appRole = z.strictObject({
  id: z.guid().toLowerCase(),
  value: value.nullish(),
  displayName: name,
  description: name,
  isEnabled: z.boolean().default(true),
  allowedMemberTypes: z.array(z.enum(['User', 'Application'])).nonempty(),
  origin: z.string().nullish(),
})
const permissionScope = z.strictObject({
  id: z.guid().toLowerCase(),
  value,
  type: z.enum(['User', 'Admin']),
  isEnabled: z.boolean().default(true),
  adminConsentDisplayName: name.max(100),
  adminConsentDescription: name,
  userConsentDisplayName: z.string().nullish(),
  userConsentDescription: z.string().nullish(),
  origin: z.string().nullish(),
})
const keyCredential = z.strictObject({
  keyId: z.guid().optional(),
  type: z.literal('AsymmetricX509Cert'),
  usage: z.enum(['Verify', 'Sign']),
  key: z.string().nullish(),
  displayName: z.string().nullish(),
  customKeyIdentifier: z.string().nullish(),
  startDateTime: z.iso.datetime({ offset: true }).nullish(),
  endDateTime: z.iso.datetime({ offset: true }).nullish(),
  hasExtendedValue: z.unknown().optional(),
})
const uris = z.strictObject({ redirectUris: z.array(z.url()).default([]) })
const claim = z.looseObject({ name: z.string() })

/** The properties of a registration that the simulator supports, in the body of a POST or PATCH. */
const applicationBody = z.strictObject({
  displayName: name,
  description: z.string().max(1024).nullish(),
  notes: z.string().max(1024).nullish(),
  tags: z.array(z.string().max(256)),
  serviceManagementReference: z.string().nullish(),
  groupMembershipClaims: z.string().nullish(),
  signInAudience: z.enum([
    'AzureADMyOrg',
    'AzureADMultipleOrgs',
    'AzureADandPersonalMicrosoftAccount',
    'PersonalMicrosoftAccount',
  ]),
  identifierUris: z.array(z.string()),
  isFallbackPublicClient: z.boolean().nullable(),
  isDeviceOnlyAuthSupported: z.boolean().nullish(),
  api: z
    .strictObject({
      acceptMappedClaims: z.boolean().nullish(),
      knownClientApplications: z.array(z.guid()),
      requestedAccessTokenVersion: z.union([z.literal(1), z.literal(2)]).nullable(),
      oauth2PermissionScopes: z.array(permissionScope),
      preAuthorizedApplications: z.array(
        z.strictObject({ appId: z.guid().toLowerCase(), delegatedPermissionIds: z.array(z.guid().toLowerCase()) }),
      ),
    })
    .partial(),
  appRoles: z.array(appRole),
  keyCredentials: z.array(keyCredential),
  publicClient: uris,
  spa: uris,
  web: z.looseObject({ redirectUris: z.array(z.url()).default([]) }),
  servicePrincipalLockConfiguration: z
    .strictObject({
      isEnabled: z.boolean(),
      allProperties: z.boolean().nullish(),
      credentialsWithUsageVerify: z.boolean().nullish(),
      credentialsWithUsageSign: z.boolean().nullish(),
      identifierUris: z.boolean().nullish(),
      tokenEncryptionKeyId: z.boolean().nullish(),
    })
    .nullable(),
  optionalClaims: z
    .strictObject({ idToken: z.array(claim), accessToken: z.array(claim), saml2Token: z.array(claim) })
    .partial()
    .nullable(),
  requiredResourceAccess: z.array(
    z.strictObject({
      resourceAppId: z.guid(),
      resourceAccess: z.array(z.strictObject({ id: z.guid(), type: z.enum(['Scope', 'Role']) })),
    }),
  ),
})
type Body = Partial<z.output<typeof applicationBody>>

const readOnly = [
  'appId',
  'id',
  'createdDateTime',
  'publisherDomain',
  'uniqueName',
  'deletedDateTime',
  'verifiedPublisher',
]

/** Ends the call with Graph's answer for a value that the property does not accept. */
export function invalid(call: Call, property: string, resource = 'Application'): never {
  const message = `Invalid value specified for property '${property}' of resource '${resource}'.`
  return refuse(call, 400, 'Request_BadRequest', message, [{ code: 'InvalidValue', target: property, message }])
}

/** Reads a body with Graph's errors; with `creating` the name is required. */
export function readApplicationBody(call: Call, creating: boolean): Body {
  const { 'owners@odata.bind': _, '@odata.type': _type, ...body } = asRecord(call.body)
  const fixed = readOnly.find((property) => property in body)
  if (fixed !== undefined) badRequest(call, `Property '${fixed}' is read-only and cannot be set.`)
  if ('passwordCredentials' in body)
    badRequest(call, "Property 'passwordCredentials' cannot be set. Use addPassword and removePassword.")
  const result = applicationBody.partial().safeParse(body)
  if (result.success) {
    if (creating && result.data.displayName === undefined) missing(call, 'displayName')
    return result.data
  }
  const [issue] = result.error.issues
  if (issue?.code === 'unrecognized_keys') return badRequest(call, `Invalid property '${issue.keys[0]}'.`)
  return invalid(call, (issue?.path ?? []).filter((step) => typeof step === 'string').join('.'))
}

function missing(call: Call, property: string): never {
  const message = `A value is required for property '${property}' of resource 'Application'.`
  return refuse(call, 400, 'Request_BadRequest', message, [{ code: 'MissingValue', target: property, message }])
}

/** Creates a new registration before its first change. */
export const newApplication = (uniqueName: string | null): ApplicationDoc => ({
  appId: randomUUID(),
  uniqueName,
  displayName: '',
  signInAudience: 'AzureADandPersonalMicrosoftAccount',
  identifierUris: [],
  isFallbackPublicClient: null,
  api: {
    ...{ acceptMappedClaims: null, knownClientApplications: [], requestedAccessTokenVersion: null },
    ...{ oauth2PermissionScopes: [], preAuthorizedApplications: [] },
  },
  ...{ appRoles: [], keyCredentials: [], passwordCredentials: [], owners: [], others: {} },
  createdDateTime: new Date(now()).toISOString(),
})

/** Returns a registration with the changes of a body. A complex property keeps the values that the body omits. */
export function changed(call: Call, before: ApplicationDoc, body: Body): ApplicationDoc {
  const {
    displayName,
    signInAudience,
    identifierUris,
    isFallbackPublicClient,
    api,
    appRoles,
    keyCredentials,
    ...rest
  } = body
  const others = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      const isComplex = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [key, isComplex ? { ...asRecord(before.others[key]), ...value } : value]
    }),
  )
  const after: ApplicationDoc = {
    ...before,
    displayName: displayName ?? before.displayName,
    signInAudience: signInAudience ?? before.signInAudience,
    identifierUris: identifierUris ?? before.identifierUris,
    isFallbackPublicClient:
      isFallbackPublicClient === undefined ? before.isFallbackPublicClient : isFallbackPublicClient,
    api: { ...before.api, ...api },
    appRoles: appRoles ?? before.appRoles,
    keyCredentials: keyCredentials?.map((one) => keyOfBody(call, before, one)) ?? before.keyCredentials,
    others: { ...before.others, ...others },
  }
  // Personal accounts accept only tokens of version 2.
  if (after.signInAudience.includes('Personal')) {
    if (after.api.requestedAccessTokenVersion === 1) invalid(call, 'api.requestedAccessTokenVersion')
    return checked(call, before, { ...after, api: { ...after.api, requestedAccessTokenVersion: 2 } })
  }
  return checked(call, before, after)
}

function checked(call: Call, before: ApplicationDoc, after: ApplicationDoc): ApplicationDoc {
  checkUris(call, after)
  checkPermissions(call, before, after)
  return after
}

/** Checks App ID URIs: each contains the application id, the tenant's id or a verified domain. */
function checkUris(call: Call, { appId, identifierUris }: ApplicationDoc): void {
  for (const uri of identifierUris) {
    const [, scheme, host = ''] = /^(api|https):\/\/([^/?#]+)(?:\/\S*[^/])?$/.exec(uri) ?? []
    if (scheme === undefined) invalid(call, 'identifierUris')
    const isDomain = contoso.domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
    if (isDomain || (scheme === 'api' && [appId, contoso.tenantId].includes(host))) continue
    const message = `Values of identifierUris property must use a verified domain of the organization or its subdomain: '${uri}'`
    const detail = { code: 'HostNameNotOnVerifiedDomain', target: 'identifierUris', message }
    refuse(call, 400, 'Request_BadRequest', message, [detail])
  }
}

const duplicate = (list: readonly (string | null | undefined)[]): string | undefined =>
  list.find((one, index) => one && list.indexOf(one) < index) ?? undefined

/**
 * Checks permissions. Scopes and roles share one space of ids and values. A scope and a role may have the same value if
 * they have the same id and texts (azure-docs #81899). A permission must be disabled before it is removed or its value
 * changes.
 */
function checkPermissions(call: Call, before: ApplicationDoc, after: ApplicationDoc): void {
  const { appRoles } = after
  const scopes = after.api.oauth2PermissionScopes
  const twins = scopes.filter(({ id }) => appRoles.some((role) => role.id === id))
  for (const scope of twins) {
    const role = appRoles.find(({ id }) => id === scope.id)
    const isSame =
      role?.value === scope.value &&
      role.isEnabled === scope.isEnabled &&
      role.description === scope.adminConsentDescription &&
      role.displayName === scope.adminConsentDisplayName
    if (isSame) continue
    const pairs =
      '(description, adminConsentDescription),(displayName, adminConsentDisplayName),(isEnabled, isEnabled),(origin, origin),(value, value)'
    badRequest(
      call,
      `The following values must match for the 'oauth2Permissions' and 'appRoles' properties with identifier '${scope.id}': ${pairs}. Ensure that you are intending to have entries with the same identifier, and if so, are updating them together.`,
    )
  }
  const single = scopes.filter((scope) => !twins.includes(scope))
  const ids = [scopes, appRoles].map((list) => duplicate(list.map(({ id }) => id)))
  if (ids.some((id) => id !== undefined) || duplicate([...single, ...appRoles].map(({ value }) => value))) {
    const message = 'Property value cannot have duplicate id or claim values.'
    const detail = { code: 'DuplicateValue', target: 'value', message: 'It contains duplicate value.' }
    refuse(call, 400, 'Request_BadRequest', message, [detail])
  }
  const isKept = (list: readonly (AppRole | PermissionScope)[]) => (one: AppRole | PermissionScope) =>
    !one.isEnabled || list.some(({ id, value }) => id === one.id && value === one.value)
  if (!before.api.oauth2PermissionScopes.every(isKept(scopes)) || !before.appRoles.every(isKept(appRoles))) {
    const message = 'Permission (scope or role) cannot be deleted or updated unless disabled first.'
    const detail = { code: 'CannotDeleteOrUpdateEnabledEntitlement', target: 'permissionScopes', message }
    refuse(call, 400, 'Request_BadRequest', message, [detail])
  }
}

/** Reads a certificate. An entry without a key keeps the certificate that has its `keyId`. */
function keyOfBody(
  call: Call,
  { keyCredentials }: Application['doc'],
  entry: z.output<typeof keyCredential>,
): KeyCredential {
  const known = keyCredentials.find(({ keyId }) => keyId === entry.keyId)
  if (known) return known
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(Buffer.from(entry.key ?? '', 'base64'))
  } catch {
    const message = 'Key credential is invalid: the key is not a certificate in base64.'
    return refuse(call, 400, 'KeyCredentialsInvalidKey', message)
  }
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)]
  const start = entry.startDateTime ? new Date(entry.startDateTime) : from
  const end = entry.endDateTime ? new Date(entry.endDateTime) : to
  if (to.getTime() < now() || end > to)
    return refuse(call, 400, 'KeyCredentialsInvalidEndDate', 'Key credential end date is invalid.')
  if (start < from || start > end)
    return refuse(call, 400, 'KeyCredentialsInvalidStartDate', 'Key credential start date is invalid.')
  const sha1 = createHash('sha1').update(certificate.raw).digest()
  return {
    keyId: entry.keyId ?? randomUUID(),
    displayName: entry.displayName ?? certificate.subject,
    ...{ type: entry.type, usage: entry.usage, key: certificate.raw.toString('base64') },
    customKeyIdentifier: entry.customKeyIdentifier ?? sha1.toString('base64'),
    ...{ startDateTime: start.toISOString(), endDateTime: end.toISOString(), at: now() },
  }
}
