import { z } from 'zod'
import { draftBasis } from '../requests/index.ts'
import { instant } from '../shared/index.ts'

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
  /** The request that its values come from. */
  basedOn: draftBasis.optional(),
  /** Somebody has filled something in, or asked for it to be kept: then it is offered again. */
  begun: z.boolean().optional(),
  version: z.int().min(1),
  step: z.enum(['details', 'review', 'submitted', 'discarded']),
  /** Input id → what was typed, as it was typed. */
  values: z.record(z.string(), z.string()),
  updatedAt: instant,
})
export type Draft = z.output<typeof draft>

/** A form as somebody filled it in; `version`: the one that they saw. */
export const filledForm = draft.pick({ requestId: true, version: true, values: true })

export interface DraftStore {
  find(requestId: string): Promise<Draft | undefined>
  /** What a person has begun and neither sent nor discarded, the last changed first. */
  listBegun(tenantId: string, personId: string, limit: number): Promise<Draft[]>
  insert(draft: Draft): Promise<void>
  /** Writes the next version; false when somebody else wrote first. */
  update(draft: Draft): Promise<boolean>
  /** Forgets, at this time, those that nobody will come back to. */
  forgetOld(at: Date): Promise<void>
}
