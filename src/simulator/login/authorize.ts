import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { asRecord, type Call, findPerson, now, type Refused, type Tenant, text } from '../tenant/index.ts'
import { checkSecret, clientOf } from './clients.ts'
import { refuse } from './errors.ts'
import { consentOnPage, readScope } from './scopes.ts'

/**
 * Platforms of redirect URIs. Only a web page of the same origin can redeem a code for a `spa` URI. Codes for the other
 * platforms can be redeemed only outside of browsers. `loopback`: an address of this computer for a client without a
 * registration.
 */
type Platform = 'spa' | 'publicClient' | 'web' | 'loopback'

/** A request for a code with a valid client and redirect URI (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export interface CodeRequest {
  readonly clientId: string
  readonly clientName: string
  readonly redirectUri: string
  readonly platform: Platform
  readonly scope: string
  readonly state: string | undefined
  readonly responseMode: string
  readonly challenge: string
}

/** Reads a request for a code. Throws `Refused` for an unregistered client or redirect URI; a page shows the reason. */
export function readCodeRequest(tenant: Tenant, { query }: Pick<Call, 'query'>): CodeRequest {
  const clientId = query.get('client_id') ?? ''
  if (clientId === '') refuse('invalid_request', 900144, "The request body must contain 'client_id'.")
  const redirectUri = query.get('redirect_uri') ?? ''
  const platform = platformOf(tenant, clientId, redirectUri)
  const advice =
    'Make sure the redirect URI sent in the request matches one added to your application in the Azure portal. Navigate to https://aka.ms/redirectUriMismatchError to learn more about how to fix this.'
  if (!platform) {
    const message = `The redirect URI '${redirectUri}' specified in the request does not match the redirect URIs configured for the application '${clientId}'. ${advice}`
    return refuse('invalid_request', 50011, message)
  }
  return {
    ...{ clientId, clientName: clientOf(tenant, clientId)?.displayName ?? clientId, redirectUri, platform },
    scope: query.get('scope') ?? '',
    state: query.get('state') ?? undefined,
    responseMode: query.get('response_mode') ?? 'query',
    challenge: query.get('code_challenge') ?? '',
  }
}

const redirectUris = z.object({ redirectUris: z.array(z.string()).default([]) }).default({ redirectUris: [] })
const platforms = z.object({ spa: redirectUris, publicClient: redirectUris, web: redirectUris })

function platformOf(tenant: Tenant, clientId: string, redirectUri: string): Platform | undefined {
  const application = clientOf(tenant, clientId)?.application
  const { hostname = '' } = URL.canParse(redirectUri) ? new URL(redirectUri) : {}
  if (!application) return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? 'loopback' : undefined
  const registered = platforms.parse(application.doc.others)
  const names = ['spa', 'publicClient', 'web'] as const
  return names.find((name) =>
    registered[name].redirectUris.some(
      // Ignores the port of http://localhost, for programs on the person's own computer (RFC 8252 §7.3).
      (uri) =>
        uri === redirectUri ||
        (name === 'publicClient' && uri === redirectUri.replace(/^(http:\/\/localhost):\d+(?=\/|$)/, '$1')),
    ),
  )
}

/** Refuses requests whose errors Entra ID reports to the client without signing anybody in. */
export function checkCodeRequest(tenant: Tenant, { platform, scope, challenge }: CodeRequest, { query }: Call): void {
  if (query.get('response_type') !== 'code')
    refuse('unsupported_response_type', 700054, "response_type must be 'code': the simulator has no other flow.")
  if (!['query', 'fragment'].includes(query.get('response_mode') ?? 'query'))
    refuse('invalid_request', 90030, 'response_mode must be query or fragment: the simulator has no other.')
  if (query.get('prompt') === 'none') {
    const message = 'A silent sign-in request was sent but no user is signed in.'
    refuse('login_required', 50058, message)
  }
  if (platform === 'spa' && challenge === '') {
    const message = 'Proof Key for Code Exchange is required for cross-origin authorization code redemption.'
    refuse('invalid_request', 9002325, message)
  }
  if (challenge !== '' && query.get('code_challenge_method') !== 'S256')
    refuse('invalid_request', 50149, 'Invalid Code_Challenge_method parameter.')
  if (challenge !== '' && !/^[\w-]{43}$/.test(challenge))
    refuse('invalid_request', 501491, 'Invalid size of Code_Challenge parameter.')
  readScope(tenant, scope)
}

const storedCode = z.object({
  clientId: z.string(),
  redirectUri: z.string(),
  platform: z.enum(['spa', 'publicClient', 'web', 'loopback']),
  scope: z.string(),
  challenge: z.string(),
  nonce: z.string().optional(),
  userId: z.string(),
})

const codeLife = 10 * 60_000
const digest = (code: string): string => createHash('sha256').update(code).digest('hex')

/**
 * The answer of the sign-in page: the address to which the browser is redirected, or Entra ID's text of the problem.
 */
export type Answered = { readonly location: string } | { readonly problem: string }

/** Signs a person in: sends the browser to the redirect URI with a code, or with the error when the person declines. */
export function answerCodeRequest(tenant: Tenant, request: CodeRequest, call: Call): Answered {
  const form = asRecord(call.body)
  if (text(form, 'answer') === 'decline') {
    const error_description = 'AADSTS65004: User declined to consent to access the app.'
    return { location: locationOf(request, { error: 'access_denied', error_description }) }
  }
  const person = findPerson(text(form, 'person'))
  if (!person) return { problem: 'Choose the person who signs in.' }
  const { clientId, scope, redirectUri, platform, challenge } = request
  const forAll = text(form, 'consent') === 'organisation'
  const problem = consentOnPage(tenant, { clientId, scope, userId: person.id, forAll })
  if (problem !== undefined) return { problem }
  const code = `1.${randomBytes(48).toString('base64url')}`
  const nonce = call.query.get('nonce') ?? undefined
  const doc = { clientId, redirectUri, platform, scope, challenge, nonce, userId: person.id }
  tenant.run(
    'insert into authorization_codes (hash, doc, expires_at) values (?, ?, ?)',
    ...[digest(code), JSON.stringify(doc), now() + codeLife],
  )
  return { location: locationOf(request, { code }) }
}

/** Returns the client's address with the error of a refusal. */
export function refusedLocation(request: CodeRequest, { reply }: Refused): string {
  const body = asRecord(reply.body)
  return locationOf(request, { error: text(body, 'error'), error_description: text(body, 'error_description') })
}

function locationOf({ redirectUri, responseMode, state }: CodeRequest, answer: Record<string, string>): string {
  const url = new URL(redirectUri)
  const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }) })
  if (responseMode === 'fragment') url.hash = String(parameters)
  else for (const [name, value] of parameters) url.searchParams.append(name, value)
  return url.href
}

/** A sign-in of a person to a client. `isPage`: a web page, whose tokens only web pages can renew. */
export interface Session {
  readonly userId: string
  readonly clientId: string
  readonly scope: string
  readonly nonce?: string | undefined
  readonly isPage?: boolean
}

/** Redeems a code, which works once (RFC 6749 §4.1.3, RFC 7636 §4.6). */
export function redeemCode(tenant: Tenant, form: Record<string, unknown>, origin: string | undefined): Session {
  const hash = digest(text(form, 'code'))
  const row = tenant.row('select * from authorization_codes where hash = ?', hash)
  const code = row && storedCode.parse(JSON.parse(String(row['doc'])))
  if (!row || !code || code.clientId !== text(form, 'client_id'))
    return refuse('invalid_grant', 70000, 'The provided authorization code is invalid or was issued to another client.')
  if (row['used'] === 1) {
    const message =
      'OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing refresh token.'
    refuse('invalid_grant', 54005, message)
  }
  if (Number(row['expires_at']) < now()) {
    const message =
      'The provided authorization code or refresh token has expired due to inactivity. Send a new interactive authorization request for this user and resource.'
    refuse('invalid_grant', 70008, message)
  }
  const redirectUri = text(form, 'redirect_uri')
  if (redirectUri !== code.redirectUri) {
    const message = `The reply address '${redirectUri}' does not match the reply address '${code.redirectUri}' provided when requesting Authorization code.`
    refuse('invalid_client', 500112, message)
  }
  checkOrigin(origin, code)
  proveClient(tenant, code, form)
  const verifier = text(form, 'code_verifier')
  if (code.challenge !== '' && verifier === '') {
    const message =
      'The code_verifier does not match the code_challenge supplied in the authorization request for PKCE.'
    refuse('invalid_grant', 50148, message)
  }
  if (code.challenge !== '' && createHash('sha256').update(verifier).digest('base64url') !== code.challenge) {
    const message = 'The Code_Verifier does not match the code_challenge supplied in the authorization request.'
    refuse('invalid_grant', 501481, message)
  }
  tenant.run('update authorization_codes set used = 1 where hash = ?', hash)
  const { userId, clientId, scope, nonce } = code
  return { userId, clientId, scope: text(form, 'scope') || scope, nonce, isPage: origin !== undefined }
}

function checkOrigin(origin: string | undefined, { platform, redirectUri }: z.output<typeof storedCode>): void {
  if (origin === undefined) {
    if (platform === 'spa') refusePrograms()
  } else if (!['spa', 'loopback'].includes(platform) || origin !== new URL(redirectUri).origin) refusePages(origin)
}

/** Refuses a request for a web page's token from outside of a browser. */
export const refusePrograms = (): never =>
  refuse(
    'invalid_request',
    9002327,
    "Tokens issued for the 'Single-Page Application' client-type may only be redeemed via cross-origin requests.",
  )

/** Refuses a request for a token from a web page that does not belong to the client. */
export const refusePages = (origin: string): never =>
  refuse(
    'invalid_request',
    9002326,
    `Cross-origin token redemption is permitted only for the 'Single-Page Application' client-type. Request origin: '${origin}'.`,
  )

/**
 * Checks the client's proof. A program on a server proves itself; a program or page on the person's computer cannot
 * keep a secret.
 */
function proveClient(
  tenant: Tenant,
  { clientId, platform }: z.output<typeof storedCode>,
  form: Record<string, unknown>,
): void {
  const secret = text(form, 'client_secret')
  const client = clientOf(tenant, clientId)
  if (platform === 'web' && client) {
    const message = "The request body must contain the following parameter: 'client_assertion' or 'client_secret'."
    if (secret === '') refuse('invalid_client', 7000218, message, 401)
    checkSecret(tenant, client, secret)
  } else if (secret !== '') {
    const message = "Client is public so neither 'client_assertion' nor 'client_secret' should be presented."
    refuse('invalid_client', 700025, message, 401)
  }
}
