import { setTimeout as wait } from 'node:timers/promises'
import { ProvisioningError } from '../../core/index.ts'

/** How long those who wait for a doubtful store are kept waiting, in milliseconds; then it counts as away. */
const DOUBT_MILLISECONDS = 1200
/**
 * How long a question is listened for, in milliseconds: a store that is only slow, or far away, is there when it answers.
 * A new connection alone takes several round trips.
 */
const PROBE_MILLISECONDS = 8000
/** How often an absent store is asked whether it is back, in milliseconds; it may be asked anew before it has answered. */
const PROBE_AGAIN_MILLISECONDS = 1500

/** Whether the store is there. Whoever needs several answers of a store that is away waits for one time-out, not for each. */
export interface Availability {
  /** Passes at once while the store is there; throws `unavailable` while it is away. Waits out a doubt, which is short. */
  admit(): Promise<void>
  /** Something did not come back: a fresh connection finds out whether that was this connection or the store. */
  suspect(): void
  /** It ended, and will not answer again by itself: an embedded store does so that cannot write its log any more. */
  end(): void
  /** The work's outcome, or `unavailable` as soon as the store is found to be away. */
  orAway<T>(work: Promise<T>): Promise<T>
  close(): void
}

/**
 * A store in this process is there until it ends, with a log that cannot be written because the disk is full: it answers
 * nobody any more, and only another process can open it again. `log` is told so.
 */
export function thereUntilItEnds(log?: (message: string) => void): Availability {
  let hasEnded = false
  const waiting = new Set<(error: unknown) => void>()
  return {
    async admit() {
      if (hasEnded) throw away()
    },
    suspect: () => undefined,
    end() {
      if (hasEnded) return
      hasEnded = true
      log?.(
        'The embedded store has ended and answers nobody any more. Is its disk full? Make room and restart the service.',
      )
      for (const reject of waiting) reject(away())
      waiting.clear()
    },
    orAway: (work) => unlessAway(work, waiting),
    close: () => undefined,
  }
}

/** The work's outcome, unless it is called off before. */
function unlessAway<T>(work: Promise<T>, waiting: Set<(error: unknown) => void>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    work.then(resolve, reject).finally(() => waiting.delete(reject))
  })
}

/** `probe` asks the store over a connection of its own, and ends when the signal says so. */
export function watchAvailability(probe: (signal: AbortSignal) => Promise<unknown>): Availability {
  let state: 'there' | 'doubtful' | 'away' = 'there'
  let doubt: Promise<void> = Promise.resolve()
  const waiting = new Set<(error: unknown) => void>()
  const closed = new AbortController()

  async function answers(): Promise<boolean> {
    const patience = AbortSignal.any([AbortSignal.timeout(PROBE_MILLISECONDS), closed.signal])
    const outOfTime = new Promise<false>((resolve) => patience.addEventListener('abort', () => resolve(false)))
    const asked = probe(patience).then(() => true, isAnswer)
    return Promise.race([asked, outOfTime])
  }

  async function findOut(): Promise<void> {
    const answer = answers()
    const inTime = await Promise.race([answer, wait(DOUBT_MILLISECONDS, false, { ref: false })])
    if (inTime) {
      state = 'there'
      return
    }
    state = 'away'
    for (const reject of waiting) reject(away())
    waiting.clear()
    awaitReturn(answer).catch(() => undefined)
  }

  /** Ends with the first answer, to whichever question: one that is under way may be lost when the store comes back. */
  async function awaitReturn(first: Promise<boolean>): Promise<void> {
    const listen = (answer: Promise<boolean>) =>
      void answer.then((is) => {
        if (is) state = 'there'
      })
    for (let answer = first; state === 'away'; answer = answers()) {
      listen(answer)
      await wait(PROBE_AGAIN_MILLISECONDS, undefined, { ref: false, signal: closed.signal })
    }
  }

  return {
    async admit() {
      if (state === 'doubtful') await doubt
      if (state === 'away') throw away()
    },
    suspect() {
      if (state !== 'there') return
      state = 'doubtful'
      doubt = findOut()
    },
    // Somebody starts a server again.
    end: () => undefined,
    orAway: (work) => unlessAway(work, waiting),
    close: () => closed.abort(),
  }
}

/** A server that refuses by an SQLSTATE of its own, too many connections say, is there; one that starts or ends is not. */
function isAnswer(error: unknown): boolean {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(57P|08|25)/.test(code)
}

const away = () =>
  new ProvisioningError('unavailable', 'The store does not answer just now.', { cause: new Error('away') })
