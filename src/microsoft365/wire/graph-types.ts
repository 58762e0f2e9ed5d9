/**
 * Checks of our calls against Microsoft's own types of Graph: a misspelled property does not compile. Types only, so
 * nothing of Microsoft's package is in the running service.
 */
import type { Group, TeamsAppInstallation } from '@microsoft/microsoft-graph-types'

/** Properties of a Graph type, as we send them: without null and not changed afterwards. */
type Sent<T, K extends keyof T> = { readonly [P in K]-?: Readonly<NonNullable<T[P]>> }
/** References to other objects in a body: `owners@odata.bind`. */
type Bound<T, K extends keyof T & string, V> = { readonly [P in K as `${P}@odata.bind`]?: V }

/** Body of a new group (Microsoft Graph, group resource), without owners and members. */
export type GroupBody = Sent<Group, 'displayName' | 'mailNickname' | 'groupTypes' | 'mailEnabled' | 'securityEnabled'> &
  Partial<Sent<Group, 'description' | 'visibility'>>
/** Owners and members of a new group, by their addresses. */
export type GroupBindings = Bound<Group, 'owners' | 'members', readonly string[]>
/** Body of the installation of an app of the catalogue. */
export type InstallationBody = Bound<TeamsAppInstallation, 'teamsApp', string>

/** Builds a `$select` of properties that a Graph type has: `fieldsOf<User>('id', 'displayName')`. */
export const fieldsOf = <T>(...names: readonly (keyof T & string)[]): string => names.join(',')
