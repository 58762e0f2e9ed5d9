import { isLoopback } from '../address.ts'
import { isMicrosoftLogin } from '../sign-in-wire.ts'

/** The APIs of a service. Each has a token of its own. */
export type Api = 'collab' | 'mail'

/** Characters that mean nothing to a shell or to a list of scopes. So a scope can stand in a command that people copy. */
export const harmlessText = /^[A-Za-z0-9][A-Za-z0-9._:/~-]*$/

/** Whether a text is one scope, such as `api://11112222-3333-4444-8555-666677778888/App.ReadWrite.All`. */
export const isScope = (text: string): boolean => text.length <= 500 && harmlessText.test(text)

/**
 * Whether a scope belongs to a service: it is `{base_url}/collab/…` or `{base_url}/mail/…`, as the parts of the parsed
 * addresses say. The login reads a scope as text, so an address that parsing would change does not belong to the service.
 */
export function isScopeOf(baseUrl: string, api: Api, scope: string): boolean {
  if (!isScope(scope) || !URL.canParse(scope)) return false
  const [base, offered] = [new URL(baseUrl), new URL(scope)]
  const root = `${base.pathname.replace(/\/+$/, '')}/${api}/`
  return (
    offered.href === scope &&
    isSameOrigin(base, offered) &&
    offered.pathname.startsWith(root) &&
    offered.pathname.length > root.length
  )
}

/** `localhost` and `127.0.0.1` are the same computer, whichever of them a service in local mode calls itself by. */
function isSameOrigin(one: URL, other: URL): boolean {
  if (one.protocol !== other.protocol || one.port !== other.port) return false
  return one.hostname === other.hostname || (isLoopback(one.href) && isLoopback(other.href))
}

/** Whether people may be sent to a login because a service names it: Microsoft's, or this computer's for a local service. */
export const isTrustedLogin = (loginUrl: string, baseUrl: string): boolean =>
  isMicrosoftLogin(loginUrl) || (isLoopback(loginUrl) && isLoopback(baseUrl))
