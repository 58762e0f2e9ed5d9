/** A held call, which waits for another version of its request. */
interface Hold {
  readonly requestId: string
  readonly version: number
  /** The caller: the number of held calls for each person is limited. */
  readonly personId: string
  readonly seconds: number
  /** Aborted when the caller disconnects. */
  readonly gone: AbortSignal
}

/**
 * Why a wait ended: the request changed (or could not be read), the time is over, the caller disconnected, or the
 * server stops.
 */
export type WaitEnd = 'changed' | 'over' | 'gone' | 'stopping'

/** Calls whose answers are held until something changes (RFC 7240 `wait`). */
export interface Waiting {
  /** Holds one call; undefined if there are too many, or the server stops: then the call is answered at once. */
  hold(about: Hold): Promise<WaitEnd> | undefined
}

interface WaitingOptions {
  /** Returns the current versions of these requests, without requests that no longer exist. */
  readonly versions: (requestIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /** Aborted when the server accepts no more calls: all waits end. */
  readonly stopping: AbortSignal
  readonly limits?: WaitLimits
}
interface WaitLimits {
  /** The maximum number of calls that wait in this process at a time: of one person, and in all. */
  readonly each: number
  readonly all: number
  /** Milliseconds between two polls. */
  readonly every: number
}
const usual: WaitLimits = { each: 8, all: 500, every: 1000 }

interface Waiter extends Hold {
  readonly end: (why: WaitEnd) => void
}

/**
 * Polls all requests that calls wait for once a second with one query, and only while calls wait: another process may
 * change them, so this process gets no event.
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
      // Each call then reads the request itself and gets the error of the store.
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

/** The longest hold in seconds, well below the timeouts of proxies and clients. */
const longestWait = 30

/**
 * Returns the seconds of `Prefer: wait=30` (RFC 7240 §4.3), up to {@link longestWait}; 0 without a valid preference. A
 * malformed preference is ignored (§2), and the first of two counts.
 */
export function preferredWait(prefer: string | undefined): number {
  // Quoted text belongs to other preferences.
  const preferences = (prefer ?? '').replace(/"(?:[^"\\]|\\.)*"?/g, '').split(',')
  const named = preferences.map((preference) => preference.split(';')[0]?.split('=') ?? [])
  const [, value = ''] = named.find(([name = '']) => name.trim().toLowerCase() === 'wait') ?? []
  return /^\s*\d{1,15}\s*$/.test(value) ? Math.min(Number(value), longestWait) : 0
}
