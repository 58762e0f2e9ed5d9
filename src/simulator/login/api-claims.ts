import type { ApiRegistration, Person } from '../tenant/index.ts'

/** What a token for an API of the organisation says about the client and the caller. */
interface ApiToken {
  readonly version: 1 | 2
  readonly tenantId: string
  /** The resource as the client named it: client id or App ID URI. */
  readonly audience: string
  readonly scopes: readonly string[]
  readonly clientId: string
  readonly proof: string
  /** Undefined: an application without a person. */
  readonly person?: Person | undefined
  readonly subject: { readonly oid: string; readonly sub: string }
}

/**
 * Claims of a token for one of the organisation's own APIs, as Entra ID issues them: version 2 has the API's client id as
 * `aud` whatever the client requested, version 1 the resource that the client named. `idtyp` is an optional claim that a
 * registration must request, so an app-only token has only roles and no scope.
 * Sources: learn.microsoft.com/entra/identity-platform/access-token-claims-reference and /optional-claims-reference.
 */
export function apiClaims(api: ApiRegistration, token: ApiToken): Record<string, unknown> {
  const { version, tenantId, clientId, proof, person, subject } = token
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
  // `.default` stands for everything that was consented to.
  const permissions = token.scopes.includes('.default') ? api.permissions : token.scopes
  if (!person) return { ...client, ...subject, roles: permissions }
  const { displayName: name, userPrincipalName: upn, givenName: given_name, surname: family_name } = person
  const names = version === 2 ? { preferred_username: upn } : { unique_name: upn, upn, given_name, family_name }
  return { ...client, ...subject, ...names, name, scp: permissions.join(' ') }
}
