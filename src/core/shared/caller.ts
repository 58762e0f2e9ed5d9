import { type Actor, otherOrganisation } from './access.ts'
import type { UnreadProperty } from './directory.ts'
import { asking } from './directory.ts'
import { ProvisioningError, TenantError } from './errors.ts'
import { checkingIdentity } from './origin.ts'
import type { SharedPorts } from './ports.ts'
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
