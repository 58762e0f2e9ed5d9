import { z } from 'zod'
import { type Deciding, longestComment, ProvisioningError } from '../core/index.ts'
import { isForAdmins, type Reply, type Turn } from './channel/turn.ts'

/** An action as the dispatcher uses it: a verb, and a function that checks the click's data and runs the action. */
export interface CardAction<V extends string = string> {
  readonly verb: V
  readonly decides?: Deciding
  run(turn: Turn, raw: unknown): Promise<Reply>
}

/** Defines a click: its verb, the schema of its data and its handler. Invalid data changes nothing. */
export function defineCardAction<const V extends string, S extends z.ZodType>(action: {
  verb: V
  /** It decides a request, so an attempt by a person who may not use the service is audited. */
  decides?: Deciding
  /** Anybody else is refused before the data is read, so that the answer reveals nothing. */
  forAdmins?: boolean
  data: S
  handle(turn: Turn, data: z.output<S>): Promise<Reply>
}): CardAction<V> {
  return {
    verb: action.verb,
    ...(action.decides && { decides: action.decides }),
    async run(turn, raw) {
      if (action.forAdmins && !isForAdmins(turn.actor))
        throw new ProvisioningError('forbidden', 'You may not do this. An admin can.')
      const parsed = action.data.safeParse(raw)
      if (!parsed.success)
        throw new ProvisioningError(
          'validation-failed',
          `This click does not fit ${action.verb}: ${z.prettifyError(parsed.error)}`,
        )
      return action.handle(turn, parsed.data)
    },
  }
}

/** All actions by verb. Throws if two have the same verb. */
export function cardActionRegistry<const A extends readonly CardAction[]>(
  ...actions: A
): ReadonlyMap<string, CardAction> {
  const byVerb = new Map<string, CardAction>()
  for (const action of actions) {
    if (byVerb.has(action.verb)) throw new Error(`two card actions answer to ${action.verb}`)
    byVerb.set(action.verb, action)
  }
  return byVerb
}

/** The id of a dead letter. */
export const letterId = z.uuid()
/** Data that the buttons and inputs of several cards send. */
export const requestId = z.uuid()
/** A number from 1. Some clients turn numbers into text. */
export const version = z.coerce.number().int().min(1)
/** The stage that a card is about; cards of older versions do not name it. */
export const stage = version.optional()
/** The input limits the length. If a client sends a longer comment anyway, its end is cut off. */
export const comment = z
  .string()
  .catch('')
  .transform((text) => text.trim().slice(0, longestComment).toWellFormed())
