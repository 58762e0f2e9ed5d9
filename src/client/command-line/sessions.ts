import { join } from 'node:path'
import { z } from 'zod'
import type { TokenResource } from '../index.ts'
import { createSignIn, type SignIn, SignInError } from '../sign-in.ts'
import { type Api, type Given, harmlessText, isScope, isTenant, type SettingName, type Settings } from './settings.ts'
import { clean, fill, texts, UsageError } from './terminal.ts'

/** Who is signed in at which service. */
export interface Sessions {
  of(settings: Settings): SignIn
  /**
   * A token for a resource, without asking anybody. Throws `not-signed-in` where nobody is, and {@link UsageError} for a scope
   * that was not accepted for this service.
   */
  token(settings: Settings, resource: TokenResource): Promise<string>
}

interface SessionParts {
  readonly fetch: typeof fetch
  readonly onCall: (method: string, url: string, status: number | string) => void
  readonly given: Given
}

export function createSessions({ fetch, onCall, given }: SessionParts): Sessions {
  const made = new Map<string, SignIn>()
  const of = (settings: Settings): SignIn => {
    const { loginUrl, tenantId, clientId, folder } = settings
    if (tenantId === '' || clientId === '') throw new UsageError(texts.usage.registrationNeeded, 'login')
    const key = `${loginUrl} ${tenantId} ${clientId}`
    const signIn =
      made.get(key) ??
      createSignIn({ loginUrl, tenantId, clientId, cacheFile: join(folder, 'tokens.json'), fetch, onCall })
    made.set(key, signIn)
    return signIn
  }
  return {
    of,
    async token(settings, resource) {
      if (settings.account === undefined) throw new SignInError('not-signed-in')
      if (resource !== 'directory' && settings.foreignScopes.includes(resource)) throw refusedScopes(settings, given)
      return of(settings).token(settings.scopes[resource], settings.account)
    },
  }
}

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
export interface Offer {
  readonly loginUrl?: string
  readonly tenantId?: string
  readonly collabScope?: string
  readonly mailScope?: string
}

/** Reads the login, the tenant and the two scopes from `/openapi.json`. The offer is empty if the document has none. */
export async function discover(baseUrl: string, send: typeof fetch, signal: AbortSignal): Promise<Offer> {
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
export function refusedLogin(baseUrl: string, loginUrl: string, given: Given): UsageError {
  const command = loginCommand(baseUrl, given, { authority: loginUrl })
  return new UsageError(fill(texts.trust.login, { service: baseUrl, login: clean(loginUrl), command }))
}

/** Refuses scopes that are not the service's own. The message has the command that accepts them. */
export function refusedScopes({ baseUrl, scopes, foreignScopes }: Settings, given: Given): UsageError {
  const offered = foreignScopes.map((api) => scopes[api])
  const values = { service: baseUrl, scopes: clean(offered.join(', ')) }
  if (!offered.every(isScope)) return new UsageError(fill(texts.trust.noScope, values))
  const accepted = Object.fromEntries(foreignScopes.map((api) => [`${api}-scope`, scopes[api]]))
  const command = loginCommand(baseUrl, given, accepted)
  const sentence = offered.length === 1 ? texts.trust.scope : texts.trust.scopes
  return new UsageError(fill(sentence, { ...values, command }))
}

/** The `login` that somebody has typed, with more flags. Values that a shell would change are quoted. */
function loginCommand(baseUrl: string, given: Given, more: Given): string {
  const flags = Object.entries({ ...given, 'base-url': baseUrl, ...more }) as [SettingName, string | undefined][]
  const written = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${quoted(value)}`]))
  return ['quartermaster login', ...written].join(' ')
}
const quoted = (value: string): string => (harmlessText.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`)
