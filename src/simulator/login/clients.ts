import { constants, createHash, createPublicKey, verify, X509Certificate } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import {
  digestOf,
  findApplication,
  findPrincipal,
  isReplicated,
  type KeyCredential,
  type Principal,
} from '../registrations/index.ts'
import { contoso, now, type Tenant } from '../tenant/index.ts'
import { refuse } from './errors.ts'

/**
 * Returns the service principal of a client; undefined for an unregistered client, which Contoso accepts because local
 * mode needs that. The empty tenant refuses unregistered clients.
 */
export function clientOf(tenant: Tenant, clientId: string): Principal | undefined {
  const principal = findPrincipal(tenant, 'appId', clientId)
  if (principal?.replicated) {
    if (principal.settings['accountEnabled'] === false)
      refuse('unauthorized_client', 7000112, `Application '${clientId}'(${principal.displayName}) is disabled.`, 401)
    return principal
  }
  const application = findApplication(tenant, 'appId', clientId)
  if (application && isReplicated(tenant, application.at)) {
    const advice = 'See instructions here: https://go.microsoft.com/fwlink/?linkid=2225119.'
    const message = `The client application ${clientId} is missing service principal in the tenant ${contoso.tenantId}. ${advice}`
    return refuse('invalid_client', 7000229, message, 401)
  }
  if (!application && !tenant.isEmpty) return undefined
  const reason =
    'This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant.'
  const message = `Application with identifier '${clientId}' was not found in the directory '${contoso.displayName}'. ${reason}`
  return refuse('unauthorized_client', 700016, message)
}

/** Checks the secret of a registered client. */
export function checkSecret(tenant: Tenant, { appId, application }: Principal, secret: string): void {
  const found = application?.doc.passwordCredentials.find(({ digest }) => digest === digestOf(secret))
  if (!found || !isReplicated(tenant, found.at)) {
    const advice =
      'Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app'
    refuse('invalid_client', 7000215, `Invalid client secret provided. ${advice} '${appId}'.`, 401)
  }
  if (found && Date.parse(found.endDateTime) < now()) {
    const advice = 'Visit the Azure portal to create new keys for your app: https://aka.ms/NewClientSecret'
    refuse('invalid_client', 7000222, `The provided client secret keys for app '${appId}' are expired. ${advice}.`, 401)
  }
}

/** Checks that a registered certificate of the client has signed the assertion. */
export function checkCertificate(tenant: Tenant, principal: Principal, assertion: string): void {
  const { kid, x5t, 'x5t#S256': x5tS256, alg } = decodeProtectedHeader(assertion)
  const keys = principal.application?.doc.keyCredentials ?? []
  const named = keys.find((key) => {
    const { sha1, sha256 } = thumbprints(key)
    return x5tS256 === sha256 || x5t === sha1 || (x5t === undefined && x5tS256 === undefined && kid === hexOf(sha1))
  })
  const shown = hexOf(String(x5t ?? x5tS256 ?? '')) || String(kid ?? '')
  if (!named || !isReplicated(tenant, named.at)) unregistered(principal, 'The key was not found.', shown)
  else if (Date.parse(named.endDateTime) < now()) unregistered(principal, 'The key used is expired.', shown)
  else if (!isSignedBy(named, assertion, alg)) {
    const message = `Client assertion contains an invalid signature. [Reason - The key was found, but use of the key to verify the signature failed., Thumbprint of key used by client: '${shown}']`
    refuse('invalid_client', 700027, message, 401)
  }
}

function unregistered({ appId }: Principal, reason: string, thumbprint: string): never {
  const advice = `Please visit the Azure Portal, Graph Explorer or directly use MS Graph to see configured keys for app Id '${appId}'`
  const message = `The certificate with identifier used to sign the client assertion is not registered on application. [Reason - ${reason}, Thumbprint of key used by client: '${thumbprint}', ${advice}.]`
  return refuse('invalid_client', 700027, message, 401)
}

function thumbprints({ key }: KeyCredential): { sha1: string; sha256: string } {
  const der = Buffer.from(key, 'base64')
  const of = (algorithm: string) => createHash(algorithm).update(der).digest('base64url')
  return { sha1: of('sha1'), sha256: of('sha256') }
}

const hexOf = (base64url: string): string => Buffer.from(base64url, 'base64url').toString('hex').toUpperCase()

/** Returns whether the key signed the assertion. Entra ID accepts RS256 and PS256. */
function isSignedBy({ key }: KeyCredential, assertion: string, algorithm: string | undefined): boolean {
  const [header = '', payload = '', signature = ''] = assertion.split('.')
  const publicKey = createPublicKey(
    new X509Certificate(Buffer.from(key, 'base64')).publicKey.export({ type: 'spki', format: 'pem' }),
  )
  const padding =
    algorithm === 'PS256'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : { padding: constants.RSA_PKCS1_PADDING }
  if (algorithm !== 'PS256' && algorithm !== 'RS256') return false
  return verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: publicKey, ...padding },
    Buffer.from(signature, 'base64url'),
  )
}
