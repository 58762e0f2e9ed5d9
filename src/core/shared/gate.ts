import { TenantError } from './errors.ts'
import { type Origin, originNow } from './origin.ts'
import { because } from './reason.ts'

/** The limits for calls of one kind: how many run, how many wait, and for how long. */
export interface GateLimits {
  /** Calls that run at a time. */
  readonly running: number
  /** How many of these places are for identity checks alone. */
  readonly forIdentity: number
  /** Calls of one caller that run at a time, without identity checks. */
  readonly runningOfOne: number
  /** Calls that wait, in total and for one caller. Identity checks have a count of their own. */
  readonly waiting: number
  readonly waitingOfOne: number
  /** The longest wait of a call for a person, and of a call for a job, in milliseconds. */
  readonly patience: number
  readonly patienceOfJobs: number
}
/** The numbers of running and waiting calls. */
export interface GateState {
  readonly running: number
  readonly waiting: number
}
export interface Gate {
  /**
   * Runs a call as soon as a place is free. Throws a retryable `TenantError` `busy` if too many calls wait or this one has waited
   * too long, and the signal's reason if it aborts during the wait.
   */
  pass<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>
  state(): GateState
}

type Lane = 'identity' | 'other'
interface Waiting {
  readonly enter: () => void
}

/** Returns the name of a queue: each job, person and application has one, and so does the service itself. */
export const lineOf = ({ job, caller, checksIdentity }: Origin): string =>
  `${checksIdentity ? 'identity ' : ''}${job ?? caller ?? ''}`

/**
 * Limits the calls of one kind, named by `what`. Callers take turns, so that a flood of calls delays only its own caller.
 * Identity checks run before all other calls.
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
  /** Starts the first call of each queue in turn, while places are free. */
  const admit = (lane: Lane): void => {
    for (;;) {
      const [line, [first] = []] = [...lanes[lane]].find(([one]) => isFree(lane, one)) ?? []
      if (line === undefined || first === undefined) return
      drop(lane, line, first)
      const left = lanes[lane].get(line)
      // The queue moves to the end of the lane, so that the next place goes to another caller.
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

/** The time in seconds after which a refused call should try again. */
const againAfter = 5

const busy = (what: string): TenantError =>
  new TenantError('busy', because('tooManyWaiting', { what, seconds: againAfter }), {
    retryable: true,
    retryAfterSeconds: againAfter,
  })
