import { type Actor, otherOrganisation } from './access.ts'
import { asking, type UnreadProperty } from './directory.ts'
import { isDirectoryAway, ProvisioningError, TenantError } from './errors.ts'
import { checkingIdentity } from './origin.ts'
import type { Clock, Settings, SharedPorts } from './ports.ts'
import { because, type Reason } from './reason.ts'
import type { SystemContext } from './use-case.ts'

/** Who a call, or work that was ordered by one, says it is from. */
export interface CallerIdentity {
  readonly tenantId: string
  readonly id: string
  readonly clientId?: string | undefined
}

/**
 * Who is asking: a person of our tenant as the directory knows them, and whether they are an admin now. Throws `forbidden` for
 * whoever is let into nothing.
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
 * Nobody comes in on the basis of a property that was not read. When the directory hides whether accounts are enabled, the service
 * lacks a permission: that is its own fault, and not the caller's. An account without a type is one that an administrator corrects.
 */
function unreadable(unread: readonly UnreadProperty[]): ProvisioningError {
  const reason = unreadableAccount(because('yourAccount'), unread)
  if (!unread.includes('accountEnabled')) return new ProvisioningError('forbidden', reason)
  const options = { retryable: false, retryAfterSeconds: 60 }
  const cause = new TenantError(
    'account-unreadable',
    'The directory does not show whether accounts are enabled.',
    options,
  )
  return new ProvisioningError('unavailable', reason, { cause })
}

/** What was not read of an account, and who can change that. `account`: a display name. */
export const unreadableAccount = (account: string | Reason, unread: readonly UnreadProperty[]): Reason =>
  because(unread.includes('accountEnabled') ? 'accountStateHidden' : 'accountTypeMissing', { account })

/** How long it is remembered that somebody was an admin, in milliseconds. */
const rememberedFor = 3_600_000
const mostRemembered = 1000

/**
 * Who may read how the service does while the directory, which alone knows who is an admin, does not answer: whoever the settings
 * name themselves, and whoever this process has seen as an admin within the hour. For that report alone, which tells of nobody.
 */
export function createKnownAdmins({ admins, tenantId }: Settings, clock: Clock) {
  const seen = new Map<string, { readonly actor: Actor | undefined; readonly until: number }>()
  /** Without an actor: this account may not come in. Of others but admins there is nothing to remember. */
  const note = (id: string, actor: Actor | undefined): void => {
    seen.delete(id)
    if (actor ? !actor.isAdmin : !admins.includes(id)) return
    seen.set(id, { actor, until: clock.now().getTime() + rememberedFor })
    const [oldest] = seen.keys()
    if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest)
  }
  const isPerson = (identity: CallerIdentity): boolean =>
    identity.tenantId === tenantId && identity.clientId === undefined
  const find = (identity: CallerIdentity): Actor | undefined => {
    if (!isPerson(identity)) return undefined
    const known = seen.get(identity.id)
    if (known && known.until > clock.now().getTime()) return known.actor
    if (!admins.includes(identity.id)) return undefined
    return { id: identity.id, tenantId, displayName: 'An admin', userPrincipalName: '', isAdmin: true }
  }
  return {
    /** Who is asking, by the directory; remembered when it is an admin, and when one whom the settings name may not come in any more. */
    async seen(identity: CallerIdentity, asked: Promise<Actor>): Promise<Actor> {
      try {
        const actor = await asked
        note(actor.id, actor)
        return actor
      } catch (error) {
        const isTurnedAway = error instanceof ProvisioningError && error.code === 'forbidden'
        if (isTurnedAway && isPerson(identity)) note(identity.id, undefined)
        throw error
      }
    },
    /** The same for the report of health; rethrows what the directory said to whoever is not known. */
    async orKnown(identity: CallerIdentity, asked: Promise<Actor>): Promise<Actor> {
      try {
        return await asked
      } catch (error) {
        const known = isDirectoryAway(error) ? find(identity) : undefined
        if (known) return known
        throw error
      }
    },
  }
}
