import { TenantError } from './errors.ts'
import { type Origin, originNow } from './origin.ts'

/** How many calls of one sort may run, and how many may wait for how long. */
export interface GateLimits {
  /** Calls that run at a time. */
  readonly running: number
  /** Of these, how many are kept free for identity checks. */
  readonly forIdentity: number
  /** Calls of one caller that run at a time, identity checks not counted. */
  readonly runningOfOne: number
  /** Calls that wait, identity checks counted apart, and those of one caller among them. */
  readonly waiting: number
  readonly waitingOfOne: number
  /** How long a call waits at most for which a person waits, and how long a call of a job. Milliseconds. */
  readonly patience: number
  readonly patienceOfJobs: number
}
/** How many calls run and wait now. */
export interface GateState {
  readonly running: number
  readonly waiting: number
}
export interface Gate {
  /**
   * Runs a call when there is a place for it. Throws a retryable `TenantError` `busy` when too many calls wait or this one waited
   * too long, and the reason of the signal when it is aborted while it waits.
   */
  pass<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>
  state(): GateState
}

type Lane = 'identity' | 'other'
interface Waiting {
  readonly enter: () => void
}

/** Whose calls wait in one line: a job's, a person's or application's, or the service's own. */
export const lineOf = ({ job, caller, checksIdentity }: Origin): string =>
  `${checksIdentity ? 'identity ' : ''}${job ?? caller ?? ''}`

/**
 * Bounds the calls of one sort, named by `what`. Callers take turns, so that a flood of one caller delays only that caller, and
 * identity checks go before all other calls.
 */
export function createGate(what: string, limits: GateLimits): Gate {
  const lanes: Record<Lane, Map<string, Waiting[]>> = { identity: new Map(), other: new Map() }
  const runningOf = new Map<string, number>()
  const running: Record<Lane, number> = { identity: 0, other: 0 }
  const waiting: Record<Lane, number> = { identity: 0, other: 0 }

  const isFree = (lane: Lane, line: string): boolean => {
    if (running.identity + running.other >= limits.running) return false
    if (lane === 'identity') return true
    return running.other < limits.running - limits.forIdentity && (runningOf.get(line) ?? 0) < limits.runningOfOne
  }
  const enter = (lane: Lane, line: string): void => {
    running[lane] += 1
    runningOf.set(line, (runningOf.get(line) ?? 0) + 1)
  }
  const leave = (lane: Lane, line: string): void => {
    running[lane] -= 1
    const left = (runningOf.get(line) ?? 0) - 1
    if (left > 0) runningOf.set(line, left)
    else runningOf.delete(line)
    admit('identity')
    admit('other')
  }
  const drop = (lane: Lane, line: string, one: Waiting): void => {
    const left = (lanes[lane].get(line) ?? []).filter((other) => other !== one)
    if (left.length > 0) lanes[lane].set(line, left)
    else lanes[lane].delete(line)
    waiting[lane] -= 1
  }
  /** Lets in the first of each line in turn, as long as there are places. */
  const admit = (lane: Lane): void => {
    for (;;) {
      const [line, [first] = []] = [...lanes[lane]].find(([one]) => isFree(lane, one)) ?? []
      if (line === undefined || first === undefined) return
      drop(lane, line, first)
      const left = lanes[lane].get(line)
      // The line goes to the end of the lane: the next place is another caller's.
      if (left && lanes[lane].delete(line)) lanes[lane].set(line, left)
      enter(lane, line)
      first.enter()
    }
  }
  const wait = (lane: Lane, line: string, patience: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const own = lanes[lane].get(line) ?? []
      if (waiting[lane] >= limits.waiting || own.length >= limits.waitingOfOne) return reject(busy(what))
      const end = (then: () => void) => () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        then()
      }
      const give = (reason: () => unknown) =>
        end(() => {
          drop(lane, line, one)
          reject(reason())
        })
      const abort = (): void => give(() => signal?.reason)()
      const one: Waiting = { enter: end(resolve) }
      const timer = setTimeout(() => give(() => busy(what))(), patience)
      signal?.addEventListener('abort', abort, { once: true })
      lanes[lane].set(line, [...own, one])
      waiting[lane] += 1
    })

  return {
    async pass(call, signal) {
      const origin = originNow()
      const lane = origin.checksIdentity ? 'identity' : 'other'
      const line = lineOf(origin)
      signal?.throwIfAborted()
      if (isFree(lane, line)) enter(lane, line)
      else await wait(lane, line, origin.from === 'job' ? limits.patienceOfJobs : limits.patience, signal)
      try {
        return await call()
      } finally {
        leave(lane, line)
      }
    },
    state: () => ({ running: running.identity + running.other, waiting: waiting.identity + waiting.other }),
  }
}

/** Seconds after which a call that found no place may find one. */
const againAfter = 5

const busy = (what: string): TenantError =>
  new TenantError('busy', `Too many ${what} wait already. Try again in ${againAfter} seconds.`, {
    retryable: true,
    retryAfterSeconds: againAfter,
  })
