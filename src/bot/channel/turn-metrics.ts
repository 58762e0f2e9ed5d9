import type { TurnContext } from 'botbuilder'
import { z } from 'zod'
import type { TurnKind, TurnOutcome } from '../../core/index.ts'
import { cardActions } from '../registry.ts'
import { type BotServices, clickOf } from './turn.ts'

/** The facts of a turn that are known so far. */
interface TurnRecord {
  what: string
  outcome: TurnOutcome
  error?: unknown
}
const records = new WeakMap<TurnContext, TurnRecord>()

/** Records the name of the turn's command, never the typed text. */
export const noteCommand = (context: TurnContext, name: string): void => note(context, { what: name })
/** Records an outcome other than `done`. */
export const noteOutcome = (context: TurnContext, outcome: TurnOutcome, error?: unknown): void =>
  note(context, { outcome, ...(error !== undefined && { error }) })

/** The errors that ended a turn and are in its log line. */
const loggedErrors = new WeakSet<object>()
export const isLogged = (error: unknown): boolean => error instanceof Error && loggedErrors.has(error)

function note(context: TurnContext, more: Partial<TurnRecord>): void {
  const record = records.get(context)
  if (record) Object.assign(record, more)
}

/**
 * Runs a turn, writes one log line and updates the metrics, even if the turn throws. The line contains no typed text
 * and no name of a person, only an object id.
 */
export async function measureTurn(
  context: TurnContext,
  { log, telemetry }: Pick<BotServices, 'log' | 'telemetry'>,
  run: () => Promise<void>,
): Promise<void> {
  const { activity } = context
  const record: TurnRecord = { what: whatOf(context), outcome: 'done' }
  records.set(context, record)
  const began = performance.now()
  let thrown: unknown
  await run().catch((error: unknown) => {
    // The chat did not accept the answer.
    thrown = error
    note(context, { outcome: 'failed', error: record.error ?? error })
    if (error instanceof Error) loggedErrors.add(error)
  })
  const { what, outcome, error } = record
  const seconds = (performance.now() - began) / 1000
  const kind = kindOf(context)
  telemetry?.turnEnded({ kind, what, outcome, seconds })
  const personId = z.uuid().safeParse(activity.from.aadObjectId).data
  const who = personId === undefined ? {} : { personId }
  const facts = { kind, what, outcome, milliseconds: Math.round(seconds * 1000), ...who }
  if (outcome === 'failed') log.error({ ...facts, err: error }, 'a turn failed')
  else if (outcome === 'unavailable') log.warn({ ...facts, err: error }, 'a turn failed: a service is unavailable')
  else log.info(facts, 'a turn completed')
  if (thrown !== undefined) throw thrown
}

function kindOf({ activity }: TurnContext): TurnKind {
  if (clickOf(activity)) return 'click'
  if (activity.type === 'message') return 'message'
  return activity.type === 'installationUpdate' ? 'install' : 'other'
}

/** Returns the verb if it is one of ours, never text that the sender chose. */
function whatOf({ activity }: TurnContext): string {
  const verb = clickOf(activity)?.verb
  if (verb !== undefined) return cardActions.has(verb) ? verb : 'unknown'
  return activity.type === 'message' ? 'unknown' : 'none'
}
