import { z } from 'zod'
import { type Deciding, ProvisioningError } from '../core/index.ts'
import { isForAdmins, type Reply, type Turn } from './turn.ts'

/** What the dispatcher sees of an action: a verb, and a way to run it on data that it does not trust. */
export interface CardAction<V extends string = string> {
  readonly verb: V
  readonly decides?: Deciding
  run(turn: Turn, raw: unknown): Promise<Reply>
}

/** A click's verb, the schema of its data and what it does, in one value. Data that does not fit changes nothing. */
export function defineCardAction<const V extends string, S extends z.ZodType>(action: {
  verb: V
  /** A decision about a request: that somebody tried who is let into nothing is written down. */
  decides?: Deciding
  /** Whoever else clicks is refused, whatever the click is about, so nothing is learnt by it. */
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

/** All actions by verb. Two that answer to the same verb are refused. */
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
