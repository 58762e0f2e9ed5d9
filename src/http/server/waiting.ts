/** What a held call waits for: that its request has another version than this one. */
interface Hold {
  readonly requestId: string
  readonly version: number
  /** Who waits: nobody takes all places. */
  readonly personId: string
  readonly seconds: number
  /** Aborted when the caller has gone. */
  readonly gone: AbortSignal
}

/** Why a wait has ended: the request has changed (or could not be looked at), the time is over, or nobody waits any more. */
export type WaitEnd = 'changed' | 'over' | 'gone' | 'stopping'

/** Calls whose answers are held until something changes (RFC 7240 `wait`). */
export interface Waiting {
  /** Holds one call; undefined when it is one too many, or the server stops: then it is answered at once. */
  hold(about: Hold): Promise<WaitEnd> | undefined
}

interface WaitingOptions {
  /** The present versions of these requests; one that is not there any more is left out. */
  readonly versions: (requestIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /** Aborted when the server takes no more calls: all that wait are answered. */
  readonly stopping: AbortSignal
  readonly limits?: WaitLimits
}
interface WaitLimits {
  /** Calls of this process that wait at the same time: of one person, and in all. */
  readonly each: number
  readonly all: number
  /** Milliseconds between two looks. */
  readonly every: number
}
const usual: WaitLimits = { each: 8, all: 500, every: 1000 }

interface Waiter extends Hold {
  readonly end: (why: WaitEnd) => void
}

/**
 * Looks once a second after all requests that somebody waits for, with one question, and only while somebody does: another
 * process may change them, so nothing of this one would tell.
 */
export function createWaiting({ versions, stopping, limits = usual }: WaitingOptions): Waiting {
  const waiters = new Set<Waiter>()
  let isPolling = false

  const endAll = (why: WaitEnd): void => {
    for (const { end } of [...waiters]) end(why)
  }
  const poll = async (): Promise<void> => {
    const polled = [...waiters]
    try {
      const now = await versions([...new Set(polled.map(({ requestId }) => requestId))])
      for (const { requestId, version, end } of polled) if (now.get(requestId) !== version) end('changed')
    } catch {
      // Each reads for itself, and is told that the store does not answer.
      endAll('changed')
    }
  }
  const pollAgain = (): void => {
    isPolling = waiters.size > 0
    if (isPolling) setTimeout(() => void poll().then(pollAgain), limits.every).unref()
  }
  const join = (about: Hold): Promise<WaitEnd> =>
    new Promise((resolve) => {
      const gone = () => waiter.end('gone')
      const timer = setTimeout(() => waiter.end('over'), about.seconds * 1000).unref()
      const end = (why: WaitEnd): void => {
        clearTimeout(timer)
        about.gone.removeEventListener('abort', gone)
        waiters.delete(waiter)
        resolve(why)
      }
      const waiter: Waiter = { ...about, end }
      about.gone.addEventListener('abort', gone, { once: true })
      waiters.add(waiter)
    })

  stopping.addEventListener('abort', () => endAll('stopping'), { once: true })
  return {
    hold(about) {
      const own = [...waiters].filter(({ personId }) => personId === about.personId)
      if (stopping.aborted || waiters.size >= limits.all || own.length >= limits.each) return undefined
      if (about.gone.aborted) return Promise.resolve('gone')
      const ended = join(about)
      if (!isPolling) pollAgain()
      return ended
    },
  }
}

/** The longest that an answer is held, in seconds: well below what proxies and clients give up after. */
const longestWait = 30

/**
 * How many seconds a caller would rather wait than hear that nothing has changed (`Prefer: wait=30`, RFC 7240 §4.3), up to
 * {@link longestWait}. 0: there is no such wish. What is malformed is no wish (§2), and the first of two counts.
 */
export function preferredWait(prefer: string | undefined): number {
  // What stands in quotes belongs to other preferences, commas and all.
  const wishes = (prefer ?? '').replace(/"(?:[^"\\]|\\.)*"?/g, '').split(',')
  const named = wishes.map((wish) => wish.split(';')[0]?.split('=') ?? [])
  const [, value = ''] = named.find(([name = '']) => name.trim().toLowerCase() === 'wait') ?? []
  return /^\s*\d{1,15}\s*$/.test(value) ? Math.min(Number(value), longestWait) : 0
}
