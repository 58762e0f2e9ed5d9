/** Entra ID's sign-in: access tokens, codes, device codes, consents, keys and metadata. Imports `tenant` and `registrations`. */
import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import {
  asRecord,
  type Call,
  contoso,
  findApi,
  findPerson,
  nobody,
  now,
  type Operation,
  operation,
  type Reply,
  type Service,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { redeemCode, refusePages, refusePrograms, type Session } from './authorize.ts'
import { checkCertificate, checkSecret, clientOf } from './clients.ts'
import { entraError, refuse } from './errors.ts'
import { consented, oidcScopes, readScope, requireConsent } from './scopes.ts'
import {
  type DeviceCode,
  keepRefreshToken,
  personOfRefreshToken,
  pollsTooFast,
  readDeviceCode,
  releaseDeviceCode,
} from './sign-ins.ts'
import { defaultLifetime, type Tokens } from './tokens.ts'

export {
  answerCodeRequest,
  type CodeRequest,
  checkCodeRequest,
  readCodeRequest,
  refusedLocation,
} from './authorize.ts'
export { consentOnPage, readScope } from './scopes.ts'
export { answerDeviceCode, type DeviceAnswer, readDeviceCode } from './sign-ins.ts'
export { defaultLifetime, openTokens, type Tokens } from './tokens.ts'

const deviceCodeLife = 900
/** Seconds between two polls of a waiting client. Entra ID requires 5, which would slow tests down. */
const pollInterval = 1

/** Creates the service of Entra ID's v2.0 endpoints. Errors have Entra's format with AADSTS numbers. */
export function loginService(tenant: Tenant, tokens: Tokens, url: string): Service {
  return {
    name: 'login',
    observed: true,
    owns: (path) => /^\/[^/]+\/(oauth2\/v2\.0|discovery\/v2\.0|v2\.0\/\.well-known)\//.test(path),
    admit: async () => nobody,
    refusal: (status, message) => entraError(status, 'temporarily_unavailable', 90033, message),
    operations: [
      // Web pages that sign people in call the next three operations from their own origin.
      open(
        operation('login.token', 'POST', /^\/([^/]+)\/oauth2\/v2\.0\/token$/, (call) => token(tenant, tokens, call)),
      ),
      operation('login.devicecode', 'POST', /^\/([^/]+)\/oauth2\/v2\.0\/devicecode$/, (call) =>
        startDeviceCode(tenant, url, call),
      ),
      open(
        operation('login.keys', 'GET', /^\/([^/]+)\/discovery\/v2\.0\/keys$/, () => ({
          status: 200,
          body: tokens.keys,
        })),
      ),
      open(
        operation('login.configuration', 'GET', /^\/([^/]+)\/v2\.0\/\.well-known\/openid-configuration$/, (call) => ({
          status: 200,
          body: configuration(url, call.params[0] ?? contoso.tenantId),
        })),
      ),
    ],
  }
}

const open = (one: Operation): Operation => ({ ...one, crossOrigin: true })

export function knownTenant(call: Call): void {
  const requested = (call.params[0] ?? '').toLowerCase()
  const known = [contoso.tenantId, ...contoso.domains, 'common', 'organizations']
  if (!known.includes(requested)) refuse('invalid_request', 90002, `Tenant '${requested}' not found.`)
}

function token(tenant: Tenant, tokens: Tokens, call: Call): Reply {
  knownTenant(call)
  const form = asRecord(call.body)
  if (text(form, 'client_id') === '') refuse('invalid_request', 900144, "The request body must contain 'client_id'.")
  const { origin } = call.headers
  const grant = text(form, 'grant_type')
  if (origin !== undefined && !['authorization_code', 'refresh_token'].includes(grant)) refusePages(origin)
  switch (grant) {
    case 'authorization_code':
      return signedIn(tenant, tokens, redeemCode(tenant, form, origin))
    case 'client_credentials':
      return clientCredentials(tenant, tokens, form)
    case 'device_code':
    case 'urn:ietf:params:oauth:grant-type:device_code':
      return redeemDeviceCode(tenant, tokens, form)
    case 'refresh_token':
      return refresh(tenant, tokens, form, origin)
    case '':
      return refuse('invalid_request', 900144, "The request body must contain 'grant_type'.")
    default:
      return refuse('unsupported_grant_type', 70003, 'The app requested an unsupported grant type.')
  }
}

function clientCredentials(tenant: Tenant, tokens: Tokens, form: Record<string, unknown>): Reply {
  const clientId = text(form, 'client_id')
  const assertion = text(form, 'client_assertion')
  const client = clientOf(tenant, clientId)
  if (assertion !== '') {
    checkAssertion(assertion, clientId)
    if (client) checkCertificate(tenant, client, assertion)
  } else {
    requireSecret(form)
    if (client) checkSecret(tenant, client, text(form, 'client_secret'))
  }
  const { resource, names } = readScope(tenant, text(form, 'scope'))
  if (names.length !== 1 || names[0] !== '.default') {
    refuse('invalid_scope', 1002012, "The provided value for 'scope' is not valid: it must end in '/.default'.")
  }
  const proof = assertion === '' ? '1' : '2'
  return {
    status: 200,
    body: tokens.access({ audience: resource, scopes: names, clientId, proof }).then((access_token) => ({
      token_type: 'Bearer',
      expires_in: defaultLifetime,
      ext_expires_in: defaultLifetime,
      access_token,
    })),
  }
}

function requireSecret(form: Record<string, unknown>): void {
  if (text(form, 'client_secret') !== '') return
  refuse('invalid_client', 7000218, "The request body must contain 'client_assertion' or 'client_secret'.", 401)
}

/** Checks the assertion's claims. An unregistered client may use any certificate. */
function checkAssertion(assertion: string, clientId: string): void {
  let claims: ReturnType<typeof decodeJwt> = {}
  try {
    claims = decodeJwt(assertion)
  } catch {
    refuse('invalid_client', 50027, 'JWT token is invalid or malformed.', 401)
  }
  if (claims.iss !== clientId || claims.sub !== clientId) {
    refuse('invalid_client', 700021, 'Client assertion application identifier does not match client_id.', 401)
  }
  if ((claims.exp ?? 0) * 1000 < now()) {
    refuse('invalid_client', 700024, 'Client assertion is not within its valid time range.', 401)
  }
}

function startDeviceCode(tenant: Tenant, url: string, call: Call): Reply {
  knownTenant(call)
  const form = asRecord(call.body)
  const clientId = text(form, 'client_id')
  if (clientId === '') refuse('invalid_request', 900144, "The request body must contain 'client_id'.")
  clientOf(tenant, clientId)
  readScope(tenant, text(form, 'scope'))
  const deviceCode = randomBytes(32).toString('base64url')
  const letters = 'BCDFGHJKLMNPQRSTVWXZ'
  const userCode = [...randomBytes(9)].map((byte) => letters[byte % letters.length]).join('')
  tenant.run(
    'insert into device_codes (device_code, user_code, client_id, scope, expires_at) values (?, ?, ?, ?, ?)',
    deviceCode,
    userCode,
    clientId,
    text(form, 'scope'),
    now() + deviceCodeLife * 1000,
  )
  const page = `${url}/devicelogin`
  return {
    status: 200,
    body: {
      user_code: userCode,
      device_code: deviceCode,
      verification_uri: page,
      expires_in: deviceCodeLife,
      interval: pollInterval,
      message: `To sign in, use a web browser to open the page ${page} and enter the code ${userCode} to authenticate.`,
    },
  }
}

function redeemDeviceCode(tenant: Tenant, tokens: Tokens, form: Record<string, unknown>): Reply {
  const code: DeviceCode | undefined = readDeviceCode(tenant, 'device_code', text(form, 'device_code'))
  if (!code || code.used || code.clientId !== text(form, 'client_id')) {
    return refuse('bad_verification_code', 70018, 'The verification code is not known.')
  }
  if (code.expiresAt < now()) return refuse('expired_token', 70019, 'The verification code has expired.')
  if (code.declined === 'needsAdmin') requireConsent(tenant, code.clientId, readScope(tenant, code.scope), [])
  if (code.declined) return refuse('authorization_declined', 65004, 'The person declined to sign in.')
  if (code.userId === undefined) {
    // Returned, not thrown: a thrown refusal would undo the stored time of this poll.
    return pollsTooFast(tenant, code.deviceCode, pollInterval)
      ? entraError(400, 'slow_down', 70016, 'The device asks more often than the interval allows. Poll more slowly.')
      : entraError(400, 'authorization_pending', 70016, 'The person has not signed in yet. Keep polling.')
  }
  const application = clientOf(tenant, code.clientId)?.application
  // A registration that is not a public client must prove its identity.
  if (application && !application.doc.isFallbackPublicClient) requireSecret(form)
  releaseDeviceCode(tenant, code.deviceCode)
  return signedIn(tenant, tokens, { userId: code.userId, clientId: code.clientId, scope: code.scope })
}

/** Returns a new refresh token for each use, as Entra ID does. The used token stays valid until its expiry. */
function refresh(tenant: Tenant, tokens: Tokens, form: Record<string, unknown>, origin: string | undefined): Reply {
  const session = personOfRefreshToken(tenant, text(form, 'refresh_token'), text(form, 'client_id'))
  if (!session)
    return refuse('invalid_grant', 70000, 'The refresh token is not valid, has expired or is for another app.')
  if (session.isPage && origin === undefined) refusePrograms()
  if (!session.isPage && origin !== undefined) refusePages(origin)
  const scope = text(form, 'scope')
  return signedIn(tenant, tokens, { ...session, scope: scope === '' ? session.scope : scope })
}

function signedIn(tenant: Tenant, tokens: Tokens, session: Session): Reply {
  const person = findPerson(session.userId)
  if (!person) return refuse('invalid_grant', 50034, 'The user account does not exist in the directory.')
  const scope = readScope(tenant, session.scope)
  const { resource, names, full, oidc } = scope
  const granted = consented(tenant, session.clientId, scope, person.id)
  if (granted) requireConsent(tenant, session.clientId, scope, granted)
  const offline = oidc.includes('offline_access') ? { refresh_token: keepRefreshToken(tenant, session) } : {}
  const isOurs = findApi(tenant, resource) !== undefined
  const scopes = granted ?? names.map((name) => (name === '.default' && !isOurs ? 'user_impersonation' : name))
  const signed = async () => ({
    token_type: 'Bearer',
    scope: [...full, ...oidc.filter((scope) => scope !== 'offline_access')].join(' '),
    expires_in: defaultLifetime,
    ext_expires_in: defaultLifetime,
    access_token: await tokens.access({ audience: resource, scopes, person, clientId: session.clientId, proof: '0' }),
    ...(oidc.includes('openid') ? { id_token: await tokens.id(person, session.clientId, session.nonce) } : {}),
    ...offline,
    client_info: Buffer.from(JSON.stringify({ uid: person.id, utid: contoso.tenantId })).toString('base64url'),
  })
  return { status: 200, body: signed() }
}

function configuration(url: string, tenantId: string): Record<string, unknown> {
  const root = `${url}/${tenantId}`
  return {
    issuer: `${root}/v2.0`,
    token_endpoint: `${root}/oauth2/v2.0/token`,
    device_authorization_endpoint: `${root}/oauth2/v2.0/devicecode`,
    authorization_endpoint: `${root}/oauth2/v2.0/authorize`,
    jwks_uri: `${root}/discovery/v2.0/keys`,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'fragment'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    scopes_supported: [...oidcScopes],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'nbf', 'oid', 'tid', 'name', 'preferred_username', 'ver'],
  }
}
