import type { Tenant } from '../tenant/index.ts'
import { allOf, type Stored } from './store.ts'

/** One version of an app in the organisation's Teams catalogue. */
export interface AppDefinition {
  readonly id: string
  readonly version: string
  readonly displayName: string
  readonly shortDescription: string | null
  readonly description: string | null
  /** `submitted`: the version waits for an administrator's review and cannot be installed. */
  readonly publishingState: 'published' | 'submitted'
  readonly lastModifiedDateTime: string
}

/** An app of the catalogue; `externalId` is the id in its manifest. */
export interface TeamsAppDoc {
  readonly externalId: string
  readonly definitions: readonly AppDefinition[]
}
export type TeamsApp = Stored<TeamsAppDoc>

export const allTeamsApps = (tenant: Tenant): TeamsApp[] => allOf<TeamsAppDoc>(tenant, 'teamsApp')

/** Returns the app with this id if people can install it. */
export const installableApp = (tenant: Tenant, id: string): TeamsApp | undefined =>
  allTeamsApps(tenant).find((app) => app.id === id.toLowerCase() && publishedDefinition(app) !== undefined)

/** Returns the version that Teams installs. */
const publishedDefinition = ({ doc }: TeamsApp): AppDefinition | undefined =>
  doc.definitions.findLast(({ publishingState }) => publishingState === 'published')

/** Returns an app as Graph does. */
export const teamsAppDoc = (app: TeamsApp): Record<string, unknown> => ({
  id: app.id,
  externalId: app.doc.externalId,
  displayName: (publishedDefinition(app) ?? app.doc.definitions.at(-1))?.displayName ?? null,
  distributionMethod: 'organization',
})
