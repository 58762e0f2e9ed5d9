import { type Actor, otherOrganisation } from './access.ts'
import { asking, type UnreadProperty } from './directory.ts'
import { isDirectoryAway, ProvisioningError, TenantError } from './errors.ts'
import { checkingIdentity } from './origin.ts'
import type { Clock, Settings, SharedPorts } from './ports.ts'
import { because, type Reason } from './reason.ts'
import type { SystemContext } from './use-case.ts'

/**
 * The claimed identity of the sender of a call or of a job's initiator (Entra, "Secure applications by validating claims"). With
 * `clientId` the caller is an application, and `id` is the id of its service principal.
 */
export interface CallerIdentity {
  readonly tenantId: string
  readonly id: string
  readonly clientId?: string | undefined
}

/**
 * Returns the caller with the directory's current data and admin role. Throws `forbidden` for guests, blocked accounts and people
 * outside the tenant.
 */
export async function actorFor(context: SystemContext<SharedPorts>, identity: CallerIdentity): Promise<Actor> {
  const { ports, settings } = context
  const { tenantId, id, clientId } = identity
  if (tenantId !== settings.tenantId) throw otherOrganisation()
  // An application is not a person in the directory and never an admin, even if the settings name its id.
  if (clientId !== undefined && settings.mailApplications && !settings.mailApplications.includes(clientId))
    throw new ProvisioningError('forbidden', because('applicationNotAllowed'))
  if (clientId !== undefined)
    return { id, displayName: `Application ${clientId}`, userPrincipalName: '', tenantId, isAdmin: false, clientId }
  const [person, isAdmin, isGuest] = await asking(() =>
    checkingIdentity(async () => {
      const isAdmin = isAdminNow(context, id)
      isAdmin.catch(() => undefined)
      const [person, isGuest] = await Promise.all([ports.directory.person(id), ports.directory.isGuest(id)])
      // A missing permission can hide both the account and its groups. The account is the reason to report.
      return [person, person?.unread ? false : await isAdmin, isGuest] as const
    }),
  )
  if (!person) throw new ProvisioningError('forbidden', because('callerUnknown'))
  // A blocked account keeps valid tokens for an hour or more.
  if (person.isBlocked) throw new ProvisioningError('forbidden', because('callerBlocked'))
  // Guests get valid tokens of the tenant and can be members of any group, but this service is for employees.
  if (isGuest || person.isGuest) throw new ProvisioningError('forbidden', because('callerIsGuest'))
  if (person.unread) throw unreadable(because('yourAccount'), person.unread)
  const { id: personId, displayName, userPrincipalName } = person
  return { id: personId, displayName, userPrincipalName, tenantId: settings.tenantId, isAdmin }
}

async function isAdminNow({ ports, settings }: SystemContext<SharedPorts>, personId: string): Promise<boolean> {
  if (settings.admins.includes(personId)) return true
  const groups = await ports.directory.groupsOf(personId)
  return settings.admins.some((id) => groups.has(id))
}

/**
 * Returns the refusal of an account with an unread property. If the directory hides whether accounts are enabled, the service
 * lacks a permission: `unavailable`. If the account has no user type, an administrator has to set it: `forbidden`.
 */
export function unreadable(account: string | Reason, unread: readonly UnreadProperty[]): ProvisioningError {
  const reason = unreadableAccount(account, unread)
  if (!unread.includes('accountEnabled')) return new ProvisioningError('forbidden', reason)
  const cause = new TenantError('account-unreadable', reason, { retryable: false, retryAfterSeconds: 60 })
  return new ProvisioningError('unavailable', reason, { cause })
}

/** Returns the reason for refusing an unreadable account, with the remedy. `account`: a display name. */
export const unreadableAccount = (account: string | Reason, unread: readonly UnreadProperty[]): Reason =>
  because(unread.includes('accountEnabled') ? 'accountStateHidden' : 'accountTypeMissing', { account })

/** The time for which an admin is remembered, in milliseconds, and the maximum number of remembered admins. */
const rememberedFor = 3_600_000
const maxRemembered = 1000

/**
 * Remembers admins so that they can read the health report while the directory does not answer; the report shows no person. Admins
 * here are the people in the settings' `ADMINS`, by their own ids, and the admins of the last hour.
 */
export function createAdminCache({ admins, tenantId }: Settings, clock: Clock) {
  const entries = new Map<string, { readonly actor: Actor | undefined; readonly until: number }>()
  /** Remembers an admin. `undefined` remembers that the account of an admin in the settings is refused now. */
  const remember = (id: string, actor: Actor | undefined): void => {
    entries.delete(id)
    if (actor ? !actor.isAdmin : !admins.includes(id)) return
    entries.set(id, { actor, until: clock.now().getTime() + rememberedFor })
    const [oldest] = entries.keys()
    if (entries.size > maxRemembered && oldest !== undefined) entries.delete(oldest)
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
    /** Returns the actor and remembers an admin. A refused admin can no longer read the report. */
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
    /** Returns the actor, or the remembered one while the directory does not answer. Else throws the directory's error. */
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
