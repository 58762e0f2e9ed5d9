import { z } from 'zod'
import { defineCommand, type Scope } from '../command-line/define-command.ts'
import {
  type Api,
  isScope,
  isTenant,
  isTrustedLogin,
  loginCommand,
  type Overrides,
  refusedScopes,
  type Settings,
  saveSettings,
  settingsOf,
} from '../command-line/settings.ts'
import { clean, exitCodes, fill, texts, UsageError } from '../command-line/terminal.ts'
import { makePrivateFolder } from '../private-file.ts'
import { type DeviceCode, type SignIn, SignInError } from '../sign-in.ts'

/** Signs in: reads the service's login, shows a code, waits, and saves the settings for later commands. */
export const login = defineCommand({
  name: 'login',
  options: {
    'collab-scope': { type: 'text', value: '<scope>' },
    'mail-scope': { type: 'text', value: '<scope>' },
  },
  async run(scope, typed) {
    const { terminal, signal, overrides } = scope
    const { baseUrl, folder } = scope.settings
    // Nobody should enter a code for tokens that cannot be saved.
    await makePrivateFolder(folder)
    const accepted = acceptedScopes(typed)
    const known = { ...scope.known, acceptedScopes: [...(scope.known.acceptedScopes ?? []), ...accepted] }
    const settings = settingsOf(baseUrl, overrides, { ...known, ...(await trustedOffer(scope)) }, folder)
    if (settings.foreignScopes.length > 0) throw refusedScopes(settings, overrides)
    const session = scope.sessions.of(settings)
    const show = (code: DeviceCode) => showCode(scope, code)
    const person = await session.signIn(settings.scopes.collab, { show, signal })
    await alsoForMailboxes(scope, session, settings, person.account)
    await saveSettings(folder, baseUrl, {
      directoryUrl: settings.directoryUrl,
      loginUrl: settings.loginUrl,
      tenantId: settings.tenantId,
      clientId: settings.clientId,
      collabScope: settings.scopes.collab,
      mailScope: settings.scopes.mail,
      acceptedScopes: known.acceptedScopes.filter((one) =>
        [settings.scopes.collab, settings.scopes.mail].includes(one),
      ),
      account: person.account,
    })
    const { id, tenantId, userPrincipalName, displayName } = person
    terminal.result({ id, tenantId, userPrincipalName, displayName, baseUrl }, [
      fill(texts.login.done, { who: clean(displayName), name: clean(userPrincipalName), service: baseUrl }),
    ])
    return exitCodes.done
  },
})

/** Returns the typed scopes: typing a scope trusts it for this service. Throws {@link UsageError}. */
function acceptedScopes(typed: { readonly [N in 'collab-scope' | 'mail-scope']?: string }): string[] {
  for (const [option, value] of Object.entries(typed))
    if (option.endsWith('-scope') && !isScope(value))
      throw new UsageError(fill(texts.usage.noScope, { option: `--${option}`, value }), 'login')
  return [typed['collab-scope'], typed['mail-scope']].filter((each) => each !== undefined)
}

/** Returns the service's offer for sign-in. A login that is not Microsoft's is accepted only if a person has typed it. */
async function trustedOffer({ settings, known, overrides, terminal, signal, fetch }: Scope): Promise<Offer> {
  const { baseUrl } = settings
  const offer: Offer = await discover(baseUrl, fetch, signal).catch(() => {
    signal.throwIfAborted()
    // Signing in needs only the login; the next command reports whether the service answers.
    terminal.note(fill(texts.login.noAnswer, { address: baseUrl }))
    return {}
  })
  const { loginUrl, tenantId, ...scopes } = offer
  if (loginUrl === undefined) return scopes
  const named = overrides.authority === undefined ? known.loginUrl : settings.loginUrl
  if (named === loginUrl || (overrides.authority === undefined && isTrustedLogin(loginUrl, baseUrl))) return offer
  if (overrides.authority === undefined) throw refusedLogin(baseUrl, loginUrl, overrides)
  // The tenant belongs to the service's login, but a person has typed another login.
  return scopes
}

function showCode({ terminal }: Scope, { verificationUri, userCode, expiresInSeconds }: DeviceCode): void {
  const minutes = Math.max(1, Math.round(expiresInSeconds / 60))
  if (terminal.json) terminal.result({ verificationUri, userCode, expiresInSeconds }, [])
  else terminal.note(fill(texts.login.code, { page: clean(verificationUri), code: clean(userCode), minutes }))
}

/**
 * Sites and mailboxes are two audiences: one sign-in serves both if consent was given; otherwise a second code follows.
 */
async function alsoForMailboxes(scope: Scope, session: SignIn, settings: Settings, account: string): Promise<void> {
  try {
    await session.token(settings.scopes.mail, account)
  } catch (error) {
    if (!(error instanceof SignInError) || error.problem !== 'not-signed-in') throw error
    if (!scope.terminal.json) scope.terminal.note(texts.login.mailboxes)
    await session.signIn(settings.scopes.mail, { show: (code) => showCode(scope, code), signal: scope.signal })
  }
}

/** Forgets everybody who has signed in at this service. Succeeds also if nobody has. */
export const logout = defineCommand({
  name: 'logout',
  options: {},
  async run({ settings, sessions, terminal, known }) {
    const isSet = settings.tenantId !== '' && settings.clientId !== ''
    const session = isSet ? sessions.of(settings) : undefined
    const people = (await session?.people()) ?? []
    for (const { account } of people) await session?.signOut(account)
    const { account, ...rest } = known
    if (account !== undefined) await saveSettings(settings.folder, settings.baseUrl, rest, false)
    const line = people.length > 0 ? texts.logout.done : texts.logout.nobody
    terminal.result({ signedOut: people.length }, [fill(line, { service: settings.baseUrl })])
    return exitCodes.done
  },
})

export const whoami = defineCommand({
  name: 'whoami',
  options: {},
  async run({ settings, sessions, terminal }) {
    const people = settings.account === undefined ? [] : await sessions.of(settings).people()
    const person = people.find(({ account }) => account === settings.account)
    if (!person) throw new SignInError('not-signed-in')
    // Throws if no token is available any more.
    await sessions.token(settings, 'collab')
    const { id, tenantId, userPrincipalName, displayName } = person
    const { baseUrl, directoryUrl, loginUrl, clientId } = settings
    terminal.result({ id, tenantId, userPrincipalName, displayName, baseUrl, directoryUrl, loginUrl, clientId }, [
      `${clean(displayName)} (${clean(userPrincipalName)})`,
      fill(texts.whoami.where, { service: baseUrl, tenant: clean(tenantId) }),
    ])
    return exitCodes.done
  },
})

const operation = z.object({ security: z.array(z.record(z.string(), z.array(z.string()))) })
/** The part of an OpenAPI document about sign-in. */
const signInOf = z.object({
  components: z.object({
    securitySchemes: z.object({
      entra: z.object({
        flows: z.object({
          authorizationCode: z.object({ tokenUrl: z.url(), scopes: z.record(z.string(), z.string()) }),
        }),
      }),
    }),
  }),
  paths: z
    .object({
      '/collab/v1/spo/': z.object({ post: operation }).optional(),
      '/mail/v1/mailboxes/': z.object({ post: operation }).optional(),
      // Earlier services show the addresses without the slash.
      '/collab/v1/spo': z.object({ post: operation }).optional(),
      '/mail/v1/mailboxes': z.object({ post: operation }).optional(),
    })
    .optional(),
})
type Document = z.output<typeof signInOf>

/** The login data that the service offers, unchecked. */
interface Offer {
  readonly loginUrl?: string
  readonly tenantId?: string
  readonly collabScope?: string
  readonly mailScope?: string
}

/** Reads the login, the tenant and the two scopes from `/openapi.json`. The offer is empty without a valid document. */
async function discover(baseUrl: string, send: typeof fetch, signal: AbortSignal): Promise<Offer> {
  const response = await send(`${baseUrl}/openapi.json`, {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })
  const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  const parsed = signInOf.safeParse(document)
  if (!parsed.success) return {}
  const { origin, pathname } = new URL(parsed.data.components.securitySchemes.entra.flows.authorizationCode.tokenUrl)
  const [, tenantId = ''] = pathname.split('/')
  const [collabScope, mailScope] = [scopeFor('collab', parsed.data), scopeFor('mail', parsed.data)]
  return {
    // The origin of an address is `null` unless it is http or https.
    ...(origin !== 'null' && { loginUrl: origin }),
    ...(isTenant(tenantId) && { tenantId }),
    ...(collabScope !== undefined && { collabScope }),
    ...(mailScope !== undefined && { mailScope }),
  }
}

/** The scope for people who request a site or a mailbox, not that of applications. */
function scopeFor(api: Api, { components, paths }: Document): string | undefined {
  const { scopes } = components.securitySchemes.entra.flows.authorizationCode
  const sending =
    api === 'collab'
      ? (paths?.['/collab/v1/spo/'] ?? paths?.['/collab/v1/spo'])
      : (paths?.['/mail/v1/mailboxes/'] ?? paths?.['/mail/v1/mailboxes'])
  return sending?.post.security.flatMap(({ entra = [] }) => entra).find((scope) => Object.hasOwn(scopes, scope))
}

/** Returns the error for a login that no person has typed, with the command that trusts it. */
function refusedLogin(baseUrl: string, loginUrl: string, overrides: Overrides): UsageError {
  const command = loginCommand(baseUrl, overrides, { authority: loginUrl })
  return new UsageError(fill(texts.trust.login, { service: baseUrl, login: clean(loginUrl), command }))
}
