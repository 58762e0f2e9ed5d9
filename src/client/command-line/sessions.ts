import { join } from 'node:path'
import type { TokenResource } from '../index.ts'
import { createSignIn, type SignIn, SignInError } from '../sign-in.ts'
import { UsageError } from './define-command.ts'
import type { Given, Settings } from './settings.ts'
import { refusedScopes } from './trust.ts'
import { words } from './words.ts'

/** Who is signed in at which service. */
export interface Sessions {
  of(settings: Settings): SignIn
  /**
   * A token for a resource, without asking anybody. Throws `not-signed-in` where nobody is, and {@link UsageError} for a scope
   * that was not accepted for this service.
   */
  token(settings: Settings, resource: TokenResource): Promise<string>
}

export interface SessionParts {
  readonly fetch: typeof fetch
  readonly onCall: (method: string, url: string, status: number | string) => void
  readonly given: Given
}

export function createSessions({ fetch, onCall, given }: SessionParts): Sessions {
  const made = new Map<string, SignIn>()
  const of = (settings: Settings): SignIn => {
    const { loginUrl, tenantId, clientId, folder } = settings
    if (tenantId === '' || clientId === '') throw new UsageError(words.usage.registrationNeeded, 'login')
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
