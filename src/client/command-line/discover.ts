import { z } from 'zod'
import { isLoopback, readAuthority, type SavedService } from './settings.ts'

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
})

/**
 * What a service says of how its people sign in (`/openapi.json`): the login, the tenant, the two scopes. It is believed only
 * where that leads to Microsoft, or for a service on this computer to this computer: a page elsewhere that asks for a
 * password has to be named by whoever uses it. Nothing where the service says nothing.
 */
export async function discover(baseUrl: string, send: typeof fetch, signal: AbortSignal): Promise<SavedService> {
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
  const { tokenUrl, scopes } = parsed.data.components.securitySchemes.entra.flows.authorizationCode
  const { origin, hostname } = new URL(tokenUrl)
  const isOurs = isLoopback(baseUrl) && isLoopback(origin)
  const isMicrosofts = origin === 'https://login.microsoftonline.com' || /^login\.microsoftonline\.us$/.test(hostname)
  if (!isOurs && !isMicrosofts) return {}
  const authority = readAuthority(tokenUrl)
  const named = (end: string) => Object.keys(scopes).find((scope) => scope.endsWith(end))
  const [collabScope, mailScope] = [named('/collab/App.ReadWrite.All'), named('/mail/App.ReadWrite.All')]
  return {
    ...(authority && { loginUrl: authority.loginUrl }),
    ...(authority?.tenantId !== undefined && { tenantId: authority.tenantId }),
    ...(collabScope !== undefined && { collabScope }),
    ...(mailScope !== undefined && { mailScope }),
  }
}
