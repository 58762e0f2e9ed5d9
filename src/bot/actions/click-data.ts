import { z } from 'zod'
import { longestComment } from '../../core/index.ts'

/** A given-up job's id, as the core gave it. */
export const letterId = z.uuid()
/** What buttons of several actions carry, or inputs beside them give. */
export const requestId = z.uuid()
/** Teams hands data back as it was given, and some clients turn numbers into text. */
export const version = z.coerce.number().int().min(1)
/** The stage that a card asks about; cards from before it was on them have none. */
export const stage = version.optional()
/** The input takes no more than that; a client that sends more anyway has the rest cut off, not the whole. */
export const comment = z
  .string()
  .catch('')
  .transform((text) => text.trim().slice(0, longestComment).toWellFormed())
