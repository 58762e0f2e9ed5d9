import { z } from 'zod'
import { instant, issueOf, metadata } from '../shared/index.ts'

const aliasCharacters = /^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$/

/**
 * The whole body of `POST {base_url}/collab/v1/spo/` (API document, "site creation request"). Limits are Microsoft's:
 * displayName 256, mailNickname 64 (without dots and signs), description 1,024, 20 owners with the requester.
 * An empty alias is accepted and means "derived from the name".
 */
export const siteRequest = z.strictObject({
  displayName: z.string().trim().min(1).max(256).describe('Name of the site'),
  description: z.string().max(1024).default('').describe('What the site is for'),
  templateId: z
    .string()
    .min(1)
    .max(64)
    .describe('Template id. The template decides the kind of site, questions and approval'),
  alias: z
    .string()
    .trim()
    .max(64)
    .refine((alias) => alias === '' || aliasCharacters.test(alias), issueOf('siteAliasCharacters'))
    .default('')
    .describe('Last part of the address; empty: derived from the name'),
  owners: z
    .array(z.uuid().toLowerCase())
    .max(19)
    .default([])
    .describe('User ids of the owners; the requester is always an owner'),
  metadata: metadata.default({}).describe('Answers to the questions of the template, and free keys'),
  labelId: z.string().max(64).default('').describe('Sensitivity label; empty: the default of the template'),
})

/** The stored details of a request: all fields without the template, which the request stores itself. */
export const siteDetails = siteRequest.omit({ templateId: true })
export type SiteDetails = z.output<typeof siteDetails>

/** The durable steps of creating a site, in order. The link to the group is last, so a linked group means a complete site. */
export const siteSteps = [
  'create-site',
  'wait-for-site',
  'add-owners',
  'apply-label',
  'ready-check',
  'link-group',
] as const
export const siteStep = z.enum(siteSteps)
export type SiteStep = z.output<typeof siteStep>

/** The names of a Microsoft 365 group in Entra ID. */
export const siteNames = z.object({ displayName: z.string(), alias: z.string(), mail: z.string().optional() })
export type SiteNames = z.output<typeof siteNames>

/** The results of the steps so far. A retry continues from them and creates nothing twice. */
export const siteProgress = z.object({
  groupId: z.string().optional(),
  /** The names of the Microsoft 365 group. The tenant's own naming policy may have changed the requested ones. */
  createdAs: siteNames.optional(),
  /** The time since which the tenant reports the name as taken without showing a holder. */
  heldSince: instant.optional(),
  siteId: z.string().optional(),
  url: z.string().optional(),
  securityGroupId: z.string().optional(),
  securityGroupName: z.string().optional(),
  /** The time since which the ready check has failed. */
  checkedSince: instant.optional(),
})
export type SiteProgress = z.output<typeof siteProgress>

/** `resource` of a finished site (DESIGN §5). A communication site has no Microsoft 365 group, so its groupId is null. */
export const siteResource = z.object({
  url: z.string(),
  siteId: z.string(),
  groupId: z.string().nullable(),
  securityGroupId: z.string(),
})

/** Returns the steps that this site needs. */
export function stepsOfSite(details: SiteDetails, requesterId: string): SiteStep[] {
  const skip = new Set<SiteStep>()
  if (details.owners.every((id) => id === requesterId)) skip.add('add-owners')
  if (details.labelId === '') skip.add('apply-label')
  return siteSteps.filter((step) => !skip.has(step))
}
