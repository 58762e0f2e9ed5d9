import type { TurnContext } from 'botbuilder'
import { z } from 'zod'
import type { TurnKind, TurnOutcome } from '../core/index.ts'
import { cardActions } from './actions/index.ts'
import { isDialogVerb } from './dialog-steps.ts'
import { type BotServices, clickOf } from './turn.ts'

/** What a turn has come to so far, as far as it is told. */
interface Told {
  what: string
  outcome: TurnOutcome
  error?: unknown
}
const turns = new WeakMap<TurnContext, Told>()

/** Notes which command it was, by our own words for it. */
export const noteCommand = (context: TurnContext, words: string): void => note(context, { what: words })
/** Notes what it came to, where it is not simply done. */
export const noteOutcome = (context: TurnContext, outcome: TurnOutcome, error?: unknown): void =>
  note(context, { outcome, ...(error !== undefined && { error }) })

/** Errors that have ended a turn and stand in its line. */
const toldErrors = new WeakSet<object>()
export const isTold = (error: unknown): boolean => error instanceof Error && toldErrors.has(error)

function note(context: TurnContext, more: Partial<Told>): void {
  const told = turns.get(context)
  if (told) Object.assign(told, more)
}

/**
 * Runs a turn, and tells the log and the figures of it: one line for each, also for one that throws. Nothing that somebody typed stands in it, nor a
 * name: the words are ours, and who it was is told by their object id.
 */
export async function tellingOf(
  context: TurnContext,
  { log, telemetry }: Pick<BotServices, 'log' | 'telemetry'>,
  run: () => Promise<void>,
): Promise<void> {
  const { activity } = context
  const told: Told = { what: whatOf(context), outcome: 'done' }
  turns.set(context, told)
  const began = performance.now()
  let thrown: unknown
  await run().catch((error: unknown) => {
    // The answer itself could not be given: the chat does not take it.
    thrown = error
    note(context, { outcome: 'failed', error: told.error ?? error })
    if (error instanceof Error) toldErrors.add(error)
  })
  const { what, outcome, error } = told
  const seconds = (performance.now() - began) / 1000
  const kind = kindOf(context)
  telemetry?.turnEnded({ kind, what, outcome, seconds })
  const personId = z.uuid().safeParse(activity.from.aadObjectId).data
  const who = personId === undefined ? {} : { personId }
  const facts = { kind, what, outcome, milliseconds: Math.round(seconds * 1000), ...who }
  if (outcome === 'failed') log.error({ ...facts, err: error }, 'a turn failed')
  else if (outcome === 'unavailable') log.warn({ ...facts, err: error }, 'a turn could not be done just now')
  else log.info(facts, 'a turn is done')
  if (thrown !== undefined) throw thrown
}

function kindOf({ activity }: TurnContext): TurnKind {
  if (clickOf(activity)) return 'click'
  if (activity.type === 'message') return 'message'
  return activity.type === 'installationUpdate' ? 'install' : 'other'
}

/** A verb that is ours, or nothing that the sender chose. */
function whatOf({ activity }: TurnContext): string {
  const verb = clickOf(activity)?.verb
  if (verb !== undefined) return cardActions.has(verb) || isDialogVerb(verb) ? verb : 'unknown'
  return activity.type === 'message' ? 'unknown' : 'none'
}
