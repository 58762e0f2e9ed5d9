import type { Actor } from './access.ts'
import type { CallerIdentity } from './caller.ts'
import { isDirectoryAway, ProvisioningError } from './errors.ts'
import type { Clock } from './ports.ts'
import type { Settings } from './settings.ts'

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
