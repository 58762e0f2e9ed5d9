import { type Actor, otherOrganisation } from './access.ts'
import { asking, type UnreadProperty } from './directory.ts'
import { isDirectoryAway, ProvisioningError, TenantError } from './errors.ts'
import { checkingIdentity } from './origin.ts'
import type { Clock, Settings, SharedPorts } from './ports.ts'
import { because, type Reason } from './reason.ts'
import type { SystemContext } from './use-case.ts'

/** Who sends a call, or ordered a job, by their own account. */
export interface CallerIdentity {
  readonly tenantId: string
  readonly id: string
  readonly clientId?: string | undefined
}

/**
 * Returns the person of our tenant as the directory knows them, and whether they are an admin now. Throws `forbidden` for guests,
 * blocked accounts and strangers.
 */
export async function actorFor(context: SystemContext<SharedPorts>, identity: CallerIdentity): Promise<Actor> {
  const { ports, settings } = context
  const { tenantId, id, clientId } = identity
  if (tenantId !== settings.tenantId) throw otherOrganisation()
  // An application is no person of the directory, and is an admin of nothing whatever the settings name.
  if (clientId !== undefined && settings.mailApplications && !settings.mailApplications.includes(clientId))
    throw new ProvisioningError('forbidden', because('applicationNotAllowed'))
  if (clientId !== undefined)
    return { id, displayName: `Application ${clientId}`, userPrincipalName: '', tenantId, isAdmin: false, clientId }
  const [person, isAdmin, isGuest] = await asking(() =>
    checkingIdentity(async () => {
      const isAdmin = isAdminNow(context, id)
      isAdmin.catch(() => undefined)
      const [person, isGuest] = await Promise.all([ports.directory.person(id), ports.directory.isGuest(id)])
      // An account that cannot be read is the reason to name, also when the same permission hides its groups.
      return [person, person?.unread ? false : await isAdmin, isGuest] as const
    }),
  )
  if (!person) throw new ProvisioningError('forbidden', because('callerUnknown'))
  // Tokens, and what a client is signed in to, outlive the block by an hour or more.
  if (person.isBlocked) throw new ProvisioningError('forbidden', because('callerBlocked'))
  // Guests get good tokens of our tenant and can be put into any group; this is for employees.
  if (isGuest || person.isGuest) throw new ProvisioningError('forbidden', because('callerIsGuest'))
  if (person.unread) throw unreadable(person.unread)
  const { id: personId, displayName, userPrincipalName } = person
  return { id: personId, displayName, userPrincipalName, tenantId: settings.tenantId, isAdmin }
}

async function isAdminNow({ ports, settings }: SystemContext<SharedPorts>, personId: string): Promise<boolean> {
  if (settings.admins.includes(personId)) return true
  const groups = await ports.directory.groupsOf(personId)
  return settings.admins.some((id) => groups.has(id))
}

/**
 * Refuses an account with a property that was not read. When the directory hides whether accounts are enabled, the service lacks a
 * permission, so it is unavailable. An account without a user type is for an administrator to correct, so it is forbidden.
 */
function unreadable(unread: readonly UnreadProperty[]): ProvisioningError {
  const reason = unreadableAccount(because('yourAccount'), unread)
  if (!unread.includes('accountEnabled')) return new ProvisioningError('forbidden', reason)
  const hidden = 'The directory does not show whether accounts are enabled.'
  const cause = new TenantError('account-unreadable', hidden, { retryable: false, retryAfterSeconds: 60 })
  return new ProvisioningError('unavailable', reason, { cause })
}

/** The reason for refusing an account that could not be read; it names the remedy. `account`: a display name. */
export const unreadableAccount = (account: string | Reason, unread: readonly UnreadProperty[]): Reason =>
  because(unread.includes('accountEnabled') ? 'accountStateHidden' : 'accountTypeMissing', { account })

/** How long an admin is remembered, in milliseconds, and how many admins are. */
const rememberedFor = 3_600_000
const mostRemembered = 1000

/**
 * Remembers admins for the health report alone, which shows no person: admins can read it while the directory does not answer. These
 * are the people whom the settings name by their own ids, and the admins of the last hour.
 */
export function createAdminCache({ admins, tenantId }: Settings, clock: Clock) {
  const entries = new Map<string, { readonly actor: Actor | undefined; readonly until: number }>()
  /** Without an actor: the account of an admin is refused now. Nothing is remembered of people who are no admins. */
  const remember = (id: string, actor: Actor | undefined): void => {
    entries.delete(id)
    if (actor ? !actor.isAdmin : !admins.includes(id)) return
    entries.set(id, { actor, until: clock.now().getTime() + rememberedFor })
    const [oldest] = entries.keys()
    if (entries.size > mostRemembered && oldest !== undefined) entries.delete(oldest)
  }
  const isPerson = (identity: CallerIdentity): boolean =>
    identity.tenantId === tenantId && identity.clientId === undefined
  const find = (identity: CallerIdentity): Actor | undefined => {
    if (!isPerson(identity)) return undefined
    const known = entries.get(identity.id)
    if (known && known.until > clock.now().getTime()) return known.actor
    if (!admins.includes(identity.id)) return undefined
    return { id: identity.id, tenantId, displayName: 'An admin', userPrincipalName: '', isAdmin: true }
  }
  return {
    /** Returns the actor, and remembers an admin. An admin of the settings who is refused is forgotten. */
    async remembering(identity: CallerIdentity, actor: Promise<Actor>): Promise<Actor> {
      try {
        const found = await actor
        remember(found.id, found)
        return found
      } catch (error) {
        const isRefused = error instanceof ProvisioningError && error.code === 'forbidden'
        if (isRefused && isPerson(identity)) remember(identity.id, undefined)
        throw error
      }
    },
    /** Returns the actor, or the remembered one while the directory does not answer. Throws its error where nobody is remembered. */
    async orRemembered(identity: CallerIdentity, actor: Promise<Actor>): Promise<Actor> {
      try {
        return await actor
      } catch (error) {
        const known = isDirectoryAway(error) ? find(identity) : undefined
        if (known) return known
        throw error
      }
    },
  }
}
