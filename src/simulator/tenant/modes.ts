import { z } from 'zod'

/**
 * Conduct of Microsoft 365 that differs between organisations and days. `POST /control/tenant` changes it, for a test or
 * a person. It is in memory only: a restart restores the defaults. Times are seconds.
 */
export const modesSchema = z.strictObject({
  /** Version of the access tokens for our own APIs: 2 has the API's client id as `aud`, 1 its App ID URI. */
  apiTokenVersion: z.union([z.literal(1), z.literal(2)]).default(2),
  /** Prefix of the group naming policy, which new Microsoft 365 groups need in their name and in their alias. */
  groupPrefix: z.string().max(30).default(''),
  /**
   * What Graph does with a name without the prefix: `refuses` with 400 MissingPrefixSuffix and the name to use, one property
   * at a time (msgraph-sdk-dotnet #1153, microsoft-teams-apps-requestateam #250), or `adds` it, as Microsoft's apps do
   * ("Enforce a naming policy on Microsoft 365 groups"). Only administrator roles are exempt, so apps are not.
   */
  groupPrefixConduct: z.enum(['refuses', 'adds']).default('refuses'),
  /** False: groups do not accept the schema extension yet, as just after its creation. */
  groupsAcceptExtension: z.boolean().default(true),
  /** How long a new site is not ready. `null`: the simulator's own setting, also for sites that were late until then. */
  siteReadySeconds: z.number().min(0).max(604_800).nullable().default(null),
  /** The manager of sites refuses app-only calls that carry `odata-version` (CIPP-API, Invoke-DeleteSharepointSite). */
  refusesODataVersion: z.boolean().default(false),
  /**
   * Host name of new group sites, as in a multi-geo tenant where the group's data location decides. `localhost` is a second
   * name of the simulator. `null`: the host of the tenant.
   */
  newSitesHost: z.string().nullable().default(null),
  /** How long Get-Place shows the former values of a room. */
  placeLagSeconds: z.number().min(0).max(604_800).default(0),
  /** How long Get-Place does not know a new room. It answers with all places then. */
  newPlaceSeconds: z.number().min(0).max(604_800).default(0),
  /** Whether mailboxes have a licence, which allows more than 50 GB. */
  mailboxesAreLicensed: z.boolean().default(false),
})
export type Modes = z.infer<typeof modesSchema>

export const usualModes = (): Modes => modesSchema.parse({})
