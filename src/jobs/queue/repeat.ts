/** Something that is done again and again until it is ended. */
export interface Repeated {
  /** Ends it; settles when what was under way is done. */
  stop(): Promise<void>
}

/**
 * Does something again and again, one at a time: in `first` milliseconds, and then after as many as it says itself. What it throws is
 * complained of, and it goes on after `afterFailure` milliseconds.
 */
export function repeat(
  work: () => Promise<number>,
  { first, afterFailure, complain }: { first: number; afterFailure: number; complain: (error: unknown) => void },
): Repeated {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> = Promise.resolve()
  const turn = async (): Promise<void> => {
    const next = await work().catch((error: unknown) => {
      complain(error)
      return afterFailure
    })
    if (!stopped) later(next)
  }
  const later = (milliseconds: number) => {
    timer = setTimeout(() => {
      underWay = turn()
    }, milliseconds)
    timer.unref()
  }
  later(first)
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
