import { z } from 'zod'
import type { Api } from './scopes.ts'
import { isTenant } from './settings.ts'

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
      '/collab/v1/spo/': z.object({ post: operation }).optional(),
      '/mail/v1/mailboxes/': z.object({ post: operation }).optional(),
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
  const sending = api === 'collab' ? paths?.['/collab/v1/spo/'] : paths?.['/mail/v1/mailboxes/']
  return sending?.post.security.flatMap(({ entra = [] }) => entra).find((scope) => Object.hasOwn(scopes, scope))
}
