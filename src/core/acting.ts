import type { Actor } from './access.ts'
import { asking } from './approvers.ts'
import { ProvisioningError } from './errors.ts'
import type { Ports, Settings } from './ports.ts'

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
export async function actorFor(ports: Ports, settings: Settings, identity: CallerIdentity): Promise<Actor> {
  const { tenantId, id, clientId } = identity
  if (tenantId !== settings.tenantId) throw new ProvisioningError('forbidden', 'You belong to another organisation.')
  // An application is no person of the directory, and is an admin of nothing whatever the settings name.
  if (clientId !== undefined && settings.mailApplications && !settings.mailApplications.includes(clientId))
    throw new ProvisioningError('forbidden', 'This application may not ask for anything any more.')
  if (clientId !== undefined)
    return { id, displayName: `Application ${clientId}`, userPrincipalName: '', tenantId, isAdmin: false, clientId }
  const [person, isAdmin] = await asking(() =>
    Promise.all([ports.directory.person(identity.id), isAdminNow(ports, settings, identity.id)]),
  )
  if (!person) throw new ProvisioningError('forbidden', 'You are not a person of this organisation.')
  // Tokens, and what a client is signed in to, outlive the block by an hour or more.
  if (person.isBlocked) throw new ProvisioningError('forbidden', 'Your account is blocked.')
  // Guests get good tokens of our tenant and can be put into any group; this is for employees.
  if (await asking(() => ports.directory.isGuest(person.id)))
    throw new ProvisioningError('forbidden', 'You are a guest of this organisation, and this is for its own people.')
  return { ...person, tenantId: settings.tenantId, isAdmin }
}

async function isAdminNow(ports: Ports, settings: Settings, personId: string): Promise<boolean> {
  if (settings.admins.includes(personId)) return true
  const groups = await ports.directory.groupsOf(personId)
  return settings.admins.some((id) => groups.has(id))
}
