import type { Permission } from './shared/access.ts'
import { type Actor, admit } from './shared/access.ts'
import type { Settings } from './shared/settings.ts'

/** A way in: the access table is asked before anything is read. */
export type Door = <Rest extends unknown[], Result>(
  permission: Permission,
  enter: (actor: Actor, ...rest: Rest) => Promise<Result>,
) => (actor: Actor, ...rest: Rest) => Promise<Result>

/** The ways into the core for people of this tenant. */
export const doorOf =
  ({ tenantId }: Settings): Door =>
  (permission, enter) =>
  async (actor, ...rest) => {
    admit(actor, tenantId, permission)
    return enter(actor, ...rest)
  }
