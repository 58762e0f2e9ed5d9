import { createHash, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import { directoryRolesOf, findPrincipal, type Principal, resourcePrincipal, rolesAt } from '../registrations/index.ts'
import {
  type ApiRegistration,
  asRecord,
  type Caller,
  contoso,
  exchangeAdministrator,
  findApi,
  grantedRoles,
  type Person,
  type Resource,
  resourceOf,
  type Tenant,
} from '../tenant/index.ts'

/** Contents of an access token. Lifetimes are seconds; a negative lifetime creates an expired token. */
interface TokenRequest {
  /** The resource that the client requested. A registered API has its client id and App ID URIs as names. */
  readonly audience: string
  readonly scopes: readonly string[]
  readonly person?: Person | undefined
  readonly clientId: string
  readonly proof: '0' | '1' | '2'
  readonly lifetime?: number | undefined
  readonly tenantId?: string | undefined
  readonly claims?: Record<string, unknown> | undefined
}

/** Signs and verifies the tokens of the simulated Entra ID, with a key in the state. */
export interface Tokens {
  readonly keys: { keys: JWK[] }
  /** Sets the issuer, `{url}/{tenant}/v2.0`, which is known after the port is open. */
  issueAt(url: string): void
  access(request: TokenRequest): Promise<string>
  id(person: Person, clientId: string, nonce?: string): Promise<string>
  /**
   * Returns the caller in a bearer token for a service of Microsoft 365, and for one of `audiences` if they are given.
   * Throws for any other token.
   */
  verify(authorization: string | undefined, resource: Resource, audiences?: readonly string[]): Promise<Caller>
}

export const defaultLifetime = 3600

/** Graph's delegated permissions that people's apps have when they request `.default`. */
const delegatedScopes = ['User.Read.All', 'Group.ReadWrite.All', 'Sites.Read.All']

/**
 * Returns the object id of an app's service principal. An unregistered client has a stable id, so it is one caller in
 * all tokens.
 */
function principalOf(tenant: Tenant, clientId: string): { oid: string; sub: string } {
  const registered = findPrincipal(tenant, 'appId', clientId)
  if (registered) return { oid: registered.id, sub: registered.id }
  const hex = createHash('sha256').update(clientId).digest('hex')
  const oid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return { oid, sub: oid }
}

/** Loads the signing key from the state, or creates it. */
export async function openTokens(tenant: Tenant): Promise<Tokens> {
  let url = ''
  const privateJwk = await signingKey(tenant)
  const key = await importJWK(privateJwk, 'RS256')
  const { kty, kid, n, e } = privateJwk
  const publicJwk: JWK = { kty, use: 'sig', alg: 'RS256', kid, n, e }
  const publicKey = await importJWK(publicJwk, 'RS256')
  const sign = (claims: Record<string, unknown>, tenantId: string, lifetime: number) => {
    const issued = Math.floor(Date.now() / 1000)
    // An expired token was issued an hour before its expiry, like a real token.
    const start = lifetime > 0 ? issued : issued + lifetime - defaultLifetime
    return new SignJWT({
      iss: `${url}/${tenantId}/v2.0`,
      iat: start,
      nbf: start,
      exp: issued + lifetime,
      tid: tenantId,
      ver: '2.0',
      uti: randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: kid ?? '' })
      .sign(key)
  }
  return {
    keys: { keys: [publicJwk] },
    issueAt: (issuer) => {
      url = issuer
    },
    access: (request) => {
      const { tenantId = contoso.tenantId, lifetime = defaultLifetime, person } = request
      const api = apiOf(tenant, request.audience)
      const subject = person ? subjectOf(person) : principalOf(tenant, request.clientId)
      const claims = api
        ? apiClaims(api, { ...request, tenantId, subject, roles: rolesForApi(tenant, api, request) })
        : { aud: request.audience, ...claimsOf(tenant, request) }
      return sign({ ...claims, ...request.claims }, tenantId, lifetime)
    },
    id: (person, clientId, nonce) =>
      sign(
        { aud: clientId, ...personClaims(person), ...(nonce !== undefined && { nonce }) },
        contoso.tenantId,
        defaultLifetime,
      ),
    verify: async (authorization, resource, audiences) => {
      const [scheme, token] = (authorization ?? '').split(' ')
      if (scheme?.toLowerCase() !== 'bearer' || !token) throw new Error('Access token is empty.')
      const issuer = `${url}/${contoso.tenantId}/v2.0`
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: ['RS256'],
        issuer,
        requiredClaims: ['exp', 'oid', 'aud'],
      })
      const isAccepted = audiences?.includes(String(payload.aud)) ?? true
      if (!isAccepted || resourceOf(payload.aud) !== resource)
        throw new Error('Access token validation failure. Invalid audience.')
      return callerOf(payload)
    },
  }
}

function claimsOf(tenant: Tenant, request: TokenRequest): Record<string, unknown> {
  const app = { azp: request.clientId, azpacr: request.proof }
  if (request.person) {
    const wids = [...directoryRolesOf(tenant, request.person.id), everybody]
    return { ...app, ...personClaims(request.person), scp: scopesOf(tenant, request).join(' '), wids }
  }
  return { ...app, idtyp: 'app', ...principalOf(tenant, request.clientId), ...rolesOf(tenant, request) }
}

/** The id that people's tokens contain among their directory roles. */
const everybody = 'b79fbf4d-3ef9-4689-8143-76b194e85509'

/** Returns an app's roles: for Microsoft's services the granted ones; for our API its role, with assumed consent. */
function rolesOf(tenant: Tenant, request: TokenRequest): { roles?: readonly string[]; wids?: readonly string[] } {
  const named = request.scopes.filter((scope) => scope !== '.default')
  if (named.length > 0) return { roles: named }
  const resource = resourceOf(request.audience)
  const client = findPrincipal(tenant, 'appId', request.clientId)
  if (client) {
    const api = resourcePrincipal(tenant, request.audience)
    const roles = api ? rolesAt(tenant, client, api) : []
    return { wids: directoryRolesOf(tenant, client.id), ...(roles.length > 0 && { roles }) }
  }
  if (!resource) return { roles: ['App.ReadWrite.All'] }
  const isDirectoryRole = (role: string) => role === exchangeAdministrator.name
  const roles = grantedRoles(tenant, resource).filter((role) => !isDirectoryRole(role))
  const wids = grantedRoles(tenant, 'exchange').some(isDirectoryRole) ? [exchangeAdministrator.id] : []
  // A token without a granted role has no claim `roles`.
  return { wids, ...(roles.length > 0 && { roles }) }
}

function scopesOf(tenant: Tenant, { audience, scopes, clientId }: TokenRequest): readonly string[] {
  if (findPrincipal(tenant, 'appId', clientId)) return scopes
  const isDefault = scopes.some((scope) => scope === '.default' || scope === 'user_impersonation')
  if (resourceOf(audience) !== 'graph') return scopes
  // Entra ID adds the scopes to which people's apps already have consent.
  return isDefault ? delegatedScopes : [...new Set([...scopes, 'User.ReadBasic.All'])]
}

const subjectOf = ({ id }: Person) => ({ oid: id, sub: createHash('sha256').update(id).digest('base64url') })

const personClaims = (person: Person): Record<string, unknown> => ({
  ...subjectOf(person),
  name: person.displayName,
  preferred_username: person.userPrincipalName,
})

function callerOf(payload: Record<string, unknown>): Caller {
  const claims = asRecord(payload)
  const appOnly = claims['idtyp'] === 'app'
  return {
    appOnly,
    userId: appOnly ? undefined : String(claims['oid']),
    clientId: String(claims['azp'] ?? ''),
    proof: String(claims['azpacr'] ?? '0'),
    permissions: appOnly ? appPermissions(claims) : String(claims['scp'] ?? '').split(' '),
  }
}

function appPermissions({ roles, wids }: Record<string, unknown>): string[] {
  const names = Array.isArray(roles) ? roles.map(String) : []
  return Array.isArray(wids) && wids.includes(exchangeAdministrator.id) ? [...names, exchangeAdministrator.name] : names
}

async function signingKey(tenant: Tenant): Promise<JWK> {
  const stored = tenant.row('select jwk from keys limit 1')
  if (stored) return JSON.parse(String(stored['jwk']))
  const pair = await generateKeyPair('RS256', { extractable: true })
  const kid = randomUUID()
  const jwk: JWK = { ...(await exportJWK(pair.privateKey)), kid, alg: 'RS256' }
  tenant.run('insert into keys (kid, jwk) values (?, ?)', kid, JSON.stringify(jwk))
  return jwk
}

/** An API of the organisation: one of Contoso's initial APIs, or a registration. */
interface Api extends Pick<ApiRegistration, 'clientId'> {
  readonly version: 1 | 2
  /** The scopes that `.default` means for an unregistered client of Contoso. */
  readonly permissions: readonly string[]
  readonly principal: Principal | undefined
}

function apiOf(tenant: Tenant, audience: string): Api | undefined {
  const known = findApi(tenant, audience)
  if (known) return { ...known, version: tenant.modes.apiTokenVersion, principal: undefined }
  const principal = resourcePrincipal(tenant, audience)
  if (!principal?.application) return undefined
  const version = principal.application.doc.api.requestedAccessTokenVersion === 2 ? 2 : 1
  return { clientId: principal.appId, version, permissions: [], principal }
}

/** Returns the roles at a registered API that the client has been granted. */
function rolesForApi(tenant: Tenant, { principal, permissions }: Api, request: TokenRequest): readonly string[] {
  const named = request.scopes.filter((scope) => scope !== '.default')
  if (named.length > 0) return named
  const client = findPrincipal(tenant, 'appId', request.clientId)
  if (!principal) return permissions
  return client ? rolesAt(tenant, client, principal) : []
}

/** The facts about client and caller in a token for an API of the organisation. */
interface ApiToken {
  readonly tenantId: string
  /** The resource as the client requested it: client id or App ID URI. */
  readonly audience: string
  readonly scopes: readonly string[]
  readonly clientId: string
  readonly proof: string
  /** The signed-in person; undefined for an application without a person. */
  readonly person?: Person | undefined
  readonly subject: { readonly oid: string; readonly sub: string }
  readonly roles: readonly string[]
}

/**
 * Returns the claims of a token for one of the organisation's own APIs, as Entra ID issues them. Version 2 always has
 * the API's client id as `aud`, version 1 the resource that the client requested. `idtyp` is an optional claim that a
 * registration must request, so without it an app-only token has only roles and no scope. Sources:
 * learn.microsoft.com/entra/identity-platform/access-token-claims-reference and /optional-claims-reference.
 */
function apiClaims(api: Api, token: ApiToken): Record<string, unknown> {
  const { tenantId, clientId, proof, person, subject, roles } = token
  const { version } = api
  const client =
    version === 2
      ? { aud: api.clientId, ver: '2.0', azp: clientId, azpacr: proof }
      : {
          aud: token.audience,
          ver: '1.0',
          iss: `https://sts.windows.net/${tenantId}/`,
          appid: clientId,
          appidacr: proof,
        }
  // `.default` means all scopes that have consent.
  const permissions = token.scopes.includes('.default') ? api.permissions : token.scopes
  if (!person) return { ...client, ...subject, ...idtyp(api), ...(roles.length > 0 && { roles }) }
  const { displayName: name, userPrincipalName: upn, givenName: given_name, surname: family_name } = person
  const names = version === 2 ? { preferred_username: upn } : { unique_name: upn, upn, given_name, family_name }
  return { ...client, ...subject, ...names, name, scp: permissions.join(' ') }
}

/** Returns the optional claim `idtyp`, if the registration requests it. */
function idtyp({ principal }: Api): Record<string, unknown> {
  const { accessToken } = asRecord(principal?.application?.doc.others['optionalClaims'])
  const requested = Array.isArray(accessToken) && accessToken.some((claim) => asRecord(claim)['name'] === 'idtyp')
  return requested ? { idtyp: 'app' } : {}
}
