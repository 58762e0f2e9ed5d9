import { setTimeout as pause } from 'node:timers/promises'
import {
  asWritten,
  because,
  type Clock,
  ProvisioningError,
  type Reason,
  type Settings,
  TenantError,
} from '../shared/index.ts'
import type { HealthPart, HealthPartName } from './health-report.ts'
import { notChecked } from './installation.ts'

/** One check of the health and the parts that it judges. `P`: the ports that it needs. */
export interface DefinedCheck<P> {
  readonly id: string
  readonly parts: readonly HealthPartName[]
  /** How long a running service keeps a good result, in seconds. 0: it runs for each report. */
  readonly keptSeconds: number
  /** The time limit of the check. Seconds. */
  readonly limitSeconds: number
  run(context: CheckContext<P>, signal: AbortSignal): Promise<readonly HealthPart[]>
}
export interface CheckContext<P> {
  readonly ports: P
  readonly settings: Settings
}

/** Defines a check: `read` reads facts, and the pure function `judge` judges them. */
export const defineCheck = <P, Facts>({
  read,
  judge,
  ...about
}: Omit<DefinedCheck<P>, 'run'> & {
  read(context: CheckContext<P>, signal: AbortSignal): Facts | Promise<Facts>
  judge(facts: Facts): readonly HealthPart[]
}): DefinedCheck<P> => ({ ...about, run: async (context, signal) => judge(await read(context, signal)) })

/** Runs a check within its time limit. A check that fails or takes longer judges its parts as not checked. */
export async function runCheck<P>(check: DefinedCheck<P>, context: CheckContext<P>): Promise<readonly HealthPart[]> {
  const over = new AbortController()
  const problem = because('checkTimedOut', { seconds: check.limitSeconds })
  const late = pause(check.limitSeconds * 1000, problem, { signal: over.signal, ref: false })
  late.catch(() => undefined)
  const work = check.run(context, over.signal).catch((error: unknown) => reasonOf(error))
  const result = await Promise.race([work, late]).finally(() => over.abort(new Error('the check timed out')))
  return 'key' in result ? check.parts.map((name) => notChecked(name, result)) : result
}

function reasonOf(error: unknown): Reason {
  const { cause } = Object(error)
  // The cause has the reason for admins; the error itself only says that the directory does not answer.
  const known = cause instanceof Error ? cause : error
  if (known instanceof TenantError || known instanceof ProvisioningError) return known.reason
  return asWritten(known instanceof Error ? known.message : String(known))
}

/** The last result of a periodic check. */
interface Kept {
  readonly parts: readonly HealthPart[]
  /** When the check last got an answer, and when it last ran. Milliseconds since 1970. */
  readonly at: number
  readonly triedAt: number
  /** Consecutive runs with a red part. */
  readonly reds: number
  readonly isAnswered: boolean
}

/** The last results of the checks of one process, in memory. */
export interface CheckResults {
  find(checkId: string): Kept | undefined
  keep(checkId: string, result: Kept): void
  /** Returns the present run of this check, if there is one. */
  running(checkId: string): Promise<void> | undefined
  start(checkId: string, run: () => Promise<void>): void
}
export function createCheckResults(): CheckResults {
  const kept = new Map<string, Kept>()
  const runs = new Map<string, Promise<void>>()
  return {
    find: (id) => kept.get(id),
    keep: (id, result) => void kept.set(id, result),
    running: (id) => runs.get(id),
    start: (id, run) =>
      void runs.set(
        id,
        run().finally(() => runs.delete(id)),
      ),
  }
}

/** How long a red or unanswered result is kept. Seconds. */
const troubleKeptSeconds = 60
/** How long a report waits for periodic checks. Later results are in the next report. Seconds. */
const patienceSeconds = 4

/**
 * Whether a check is due. A first red result is checked again for the next report, so that a momentary fault causes no
 * alert: the health watcher needs two red reports in a row.
 */
function isDue({ keptSeconds }: { readonly keptSeconds: number }, kept: Kept | undefined, now: number): boolean {
  if (kept === undefined || (kept.reds === 1 && kept.isAnswered)) return true
  const isTrouble = kept.reds > 0 || !kept.isAnswered
  return now - kept.triedAt >= (isTrouble ? troubleKeptSeconds : keptSeconds) * 1000
}

/**
 * Returns the parts of a check, from its last result unless it is due. While its first run takes longer than a report
 * waits, its parts are not checked. `starts`: whether a check that is due runs now; a check that never ran has no parts.
 */
export async function partsOf<P extends { readonly clock: Clock; readonly checkResults: CheckResults }>(
  check: DefinedCheck<P>,
  context: CheckContext<P>,
  { starts }: { readonly starts: boolean },
): Promise<readonly HealthPart[]> {
  if (check.keptSeconds === 0) return runCheck(check, context)
  const { clock, checkResults: results } = context.ports
  const { id } = check
  const now = () => clock.now().getTime()
  if (starts && !results.running(id) && isDue(check, results.find(id), now()))
    results.start(id, async () => {
      const parts = await runCheck(check, context)
      results.keep(id, afterRun(results.find(id), parts, now()))
    })
  const running = results.running(id)
  if (running !== undefined) {
    const over = new AbortController()
    const late = pause(patienceSeconds * 1000, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
    await Promise.race([running, late]).finally(() => over.abort())
  }
  const result = results.find(id)
  if (result) return result.parts.map((part) => ({ ...part, checkedAt: new Date(result.at).toISOString() }))
  return running === undefined ? [] : check.parts.map((name) => notChecked(name, because('checkRunning')))
}

/** Whether a part is not checked only because the first run of its check has not ended. */
export const isFirstRun = ({ problem }: Pick<HealthPart, 'problem'>): boolean => problem?.key === 'checkRunning'

/** Keeps the last answer while a check gets no answer: other parts report that Microsoft 365 does not answer. */
function afterRun(before: Kept | undefined, parts: readonly HealthPart[], now: number): Kept {
  const isAnswered = !parts.some(({ says }) => says === 'notChecked')
  if (!isAnswered && before?.isAnswered) return { ...before, triedAt: now, isAnswered }
  const isRed = parts.some(({ state }) => state === 'red')
  return { parts, at: now, triedAt: now, reds: isRed ? (before?.reds ?? 0) + 1 : 0, isAnswered }
}
