import { z } from 'zod'
import { accessLevel } from '../resources/index.ts'
import { because, isMailboxKind, issueOf, type PlacedReason, type ResourceKind } from '../shared/index.ts'

/** How much of something there may be. What is left out has no limit but Microsoft's. */
export const templateLimits = z
  .strictObject({
    ownersMinimum: z.int().min(1).max(20).default(1).describe('Owners of a site, who asks included'),
    ownersMaximum: z.int().min(1).max(20).default(20).describe('The same at most'),
    externalOwners: z.boolean().default(true).describe('Whether guests, and people of other domains, may be owners'),
    capacityMaximum: z.int().min(1).max(102_400).optional().describe('Storage of a mailbox, in MB'),
    permissionsMaximum: z.int().min(0).max(100).optional().describe('People with access to a mailbox'),
    accessLevels: z
      .array(accessLevel.exclude(['None']))
      .max(2)
      .optional()
      .describe('Kinds of access that are given'),
  })
  .refine(({ ownersMinimum, ownersMaximum }) => ownersMinimum <= ownersMaximum, {
    ...issueOf('ownersReversed'),
    path: ['ownersMinimum'],
  })

/** Limits that say nothing of a kind. */
export function limitFaults({
  kind,
  limits,
}: {
  readonly kind: ResourceKind
  readonly limits: z.output<typeof templateLimits>
}): PlacedReason[] {
  if (isMailboxKind(kind)) return []
  const ofMailboxes = ['capacityMaximum', 'permissionsMaximum', 'accessLevels'] as const
  return ofMailboxes
    .filter((limit) => limits[limit] !== undefined)
    .map((limit) => ({ path: [limit], reason: because('limitOfMailboxes') }))
}
