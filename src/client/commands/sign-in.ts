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
import { type DeviceCode, type SignIn, SignInError } from '../sign-in.ts'

/** Asks the service how its people sign in, shows a code, waits, and keeps what was learnt for the next commands. */
export const login = defineCommand({
  name: 'login',
  options: {
    'collab-scope': { type: 'text', value: '<scope>' },
    'mail-scope': { type: 'text', value: '<scope>' },
  },
  async run(scope, typed) {
    const { terminal, signal, overrides } = scope
    const { baseUrl, folder } = scope.settings
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

/** The scopes that somebody has typed: to type a scope is to accept it for this service. Throws {@link UsageError}. */
function acceptedScopes(typed: { readonly [N in 'collab-scope' | 'mail-scope']?: string }): string[] {
  for (const [option, value] of Object.entries(typed))
    if (option.endsWith('-scope') && !isScope(value))
      throw new UsageError(fill(texts.usage.noScope, { option: `--${option}`, value }), 'login')
  return [typed['collab-scope'], typed['mail-scope']].filter((each) => each !== undefined)
}

/** What the service says about sign-in. A login that is not Microsoft's counts only if somebody has named it. */
async function trustedOffer({ settings, known, overrides, terminal, signal, fetch }: Scope): Promise<Offer> {
  const { baseUrl } = settings
  const offer: Offer = await discover(baseUrl, fetch, signal).catch(() => {
    signal.throwIfAborted()
    // Signing in needs the login alone; whether the service answers is seen by the first command that needs it.
    terminal.note(fill(texts.login.noAnswer, { address: baseUrl }))
    return {}
  })
  const { loginUrl, tenantId, ...scopes } = offer
  if (loginUrl === undefined) return scopes
  const named = overrides.authority === undefined ? known.loginUrl : settings.loginUrl
  if (named === loginUrl || (overrides.authority === undefined && isTrustedLogin(loginUrl, baseUrl))) return offer
  if (overrides.authority === undefined) throw refusedLogin(baseUrl, loginUrl, overrides)
  // The tenant is of the login that the service names, and somebody has named another.
  return scopes
}

function showCode({ terminal }: Scope, { verificationUri, userCode, expiresInSeconds }: DeviceCode): void {
  const minutes = Math.max(1, Math.round(expiresInSeconds / 60))
  if (terminal.json) terminal.result({ verificationUri, userCode, expiresInSeconds }, [])
  else terminal.note(fill(texts.login.code, { page: clean(verificationUri), code: clean(userCode), minutes }))
}

/** Sites and mailboxes are two audiences: one sign-in serves both where consent was given; else a second code asks. */
async function alsoForMailboxes(scope: Scope, session: SignIn, settings: Settings, account: string): Promise<void> {
  try {
    await session.token(settings.scopes.mail, account)
  } catch (error) {
    if (!(error instanceof SignInError) || error.problem !== 'not-signed-in') throw error
    if (!scope.terminal.json) scope.terminal.note(texts.login.mailboxes)
    await session.signIn(settings.scopes.mail, { show: (code) => showCode(scope, code), signal: scope.signal })
  }
}

/** Forgets everybody who has signed in at this service; doing so twice is no fault. */
export const logout = defineCommand({
  name: 'logout',
  options: {},
  async run({ settings, sessions, terminal, known }) {
    const isSet = settings.tenantId !== '' && settings.clientId !== ''
    const session = isSet ? sessions.of(settings) : undefined
    const people = (await session?.people()) ?? []
    for (const { account } of people) await session?.signOut(account)
    const { account, ...rest } = known
    if (account !== undefined) await saveSettings(settings.folder, settings.baseUrl, rest)
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
    // Whether it still holds: a token is had without asking, or this says that there is none.
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
/** As much of an OpenAPI document as says how people sign in. */
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
      '/collab/v1/spo': z.object({ post: operation }).optional(),
      '/mail/v1/mailboxes': z.object({ post: operation }).optional(),
    })
    .optional(),
})
type Document = z.output<typeof signInOf>

/** How people sign in, as a service says it. Nobody has judged it yet. */
interface Offer {
  readonly loginUrl?: string
  readonly tenantId?: string
  readonly collabScope?: string
  readonly mailScope?: string
}

/** Reads the login, the tenant and the two scopes from `/openapi.json`. The offer is empty if the document has none. */
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
    // `null` is the origin of everything but http and https.
    ...(origin !== 'null' && { loginUrl: origin }),
    ...(isTenant(tenantId) && { tenantId }),
    ...(collabScope !== undefined && { collabScope }),
    ...(mailScope !== undefined && { mailScope }),
  }
}

/** The scope that people need to send a site or a mailbox. Scopes of applications are not offered to people. */
function scopeFor(api: Api, { components, paths }: Document): string | undefined {
  const { scopes } = components.securitySchemes.entra.flows.authorizationCode
  const sending = api === 'collab' ? paths?.['/collab/v1/spo'] : paths?.['/mail/v1/mailboxes']
  return sending?.post.security.flatMap(({ entra = [] }) => entra).find((scope) => Object.hasOwn(scopes, scope))
}

/** Refuses a login that only the service names. The message has the command that names it. */
function refusedLogin(baseUrl: string, loginUrl: string, overrides: Overrides): UsageError {
  const command = loginCommand(baseUrl, overrides, { authority: loginUrl })
  return new UsageError(fill(texts.trust.login, { service: baseUrl, login: clean(loginUrl), command }))
}
