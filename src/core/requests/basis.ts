import { z } from 'zod'
import { person } from '../shared/index.ts'

/** How a request takes up an earlier one of the same person: what came to nothing again, or what was made once more. */
const basis = {
  requestId: z.uuid(),
  /** `REQ-1041` */
  reference: z.string(),
  how: z.enum(['resubmission', 'repeat']),
}

/** What a draft remembers of the request that its values come from. */
export const draftBasis = z.object(basis)
export type DraftBasis = z.output<typeof draftBasis>

/** The states from which something is asked for again. */
export const endings = ['rejected', 'expired', 'cancelled', 'failed', 'succeeded'] as const

/** What a request keeps of the one before it, as that stood when this one was sent. */
export const basedOn = z.object({
  ...basis,
  /** The fields that differ, by the names that forms give them: `owners`, `metadata.costCentre`, `permissions.SendAs`. */
  changed: z.array(z.string()),
  /** How the earlier one ended; by whom and why, where somebody else than the requester ended it. */
  ended: z.object({ status: z.enum(endings), by: person.optional(), comment: z.string().optional() }).optional(),
})
export type BasedOn = z.output<typeof basedOn>
