import { z } from 'zod'
import { instant } from './resource.ts'

/**
 * What a person has filled in so far: a row with a version, and from the moment the form opens the id that its request
 * will have, so however often Send is clicked there is one request.
 */
export const draft = z.object({
  v: z.literal(1),
  requestId: z.uuid(),
  tenantId: z.uuid(),
  personId: z.uuid(),
  templateId: z.uuid(),
  /** A failed request that this one, once sent, takes the place of. */
  replaces: z.uuid().optional(),
  version: z.int().min(1),
  step: z.enum(['details', 'review', 'submitted', 'discarded']),
  /** Input id → what was typed, as it was typed. */
  values: z.record(z.string(), z.string()),
  updatedAt: instant,
})
export type Draft = z.output<typeof draft>
