/** How many attempts one process makes at the same time. Its workers are more than each of these, so some are always free. */
export interface SlotLimits {
  /** To one receiver. */
  readonly each: number
  /** To the service's own subscription. */
  readonly own: number
  /** To one that has failed since its last success. */
  readonly failing: number
  /** To all such receivers together. */
  readonly allFailing: number
}

/** A delivery that is about to go to a receiver. */
export interface Visitor {
  readonly key: string
  readonly deliveryId: string
  readonly isOwn: boolean
  readonly isFailing: boolean
}

interface Receiver {
  active: number
  /** What was turned away and has not come back yet. */
  readonly waiting: Set<string>
  lastMilliseconds: number
}

/** How long somebody is turned away for, in milliseconds. */
const shortest = 500
const longest = 300_000

/**
 * Keeps receivers of webhooks apart: a slow or dead one takes a few workers of the queue and never all of them, so it
 * delays no other. Each process counts for itself. `random` gives 0 to 1.
 */
export function createReceiverSlots(limits: SlotLimits, random: () => number) {
  const receivers = new Map<string, Receiver>()
  let failingNow = 0
  const mostOf = ({ isFailing, isOwn }: Visitor) => (isOwn ? limits.own : isFailing ? limits.failing : limits.each)
  const countsAsFailing = ({ isFailing, isOwn }: Visitor) => isFailing && !isOwn
  const isFull = (visitor: Visitor) =>
    (receivers.get(visitor.key)?.active ?? 0) >= mostOf(visitor) ||
    (countsAsFailing(visitor) && failingNow >= limits.allFailing)

  function take(receiver: Receiver, visitor: Visitor): () => void {
    const { key, deliveryId } = visitor
    const isFailing = countsAsFailing(visitor)
    receiver.waiting.delete(deliveryId)
    receiver.active += 1
    failingNow += isFailing ? 1 : 0
    const entered = performance.now()
    return () => {
      receiver.active -= 1
      failingNow -= isFailing ? 1 : 0
      receiver.lastMilliseconds = performance.now() - entered
      // Other processes may have served those that wait; whoever still does is counted again when it comes.
      if (receiver.active === 0) receivers.delete(key)
    }
  }

  return {
    /**
     * Takes a slot and gives what frees it again. Where there is none within `patience` milliseconds, gives after how many
     * to ask again: about when its turn will be, so that a long line costs little.
     */
    async enter(visitor: Visitor, patience: number): Promise<(() => void) | number> {
      const end = performance.now() + patience
      while (isFull(visitor) && performance.now() < end) await new Promise((resume) => setTimeout(resume, 5))
      const receiver = receivers.get(visitor.key) ?? { active: 0, waiting: new Set<string>(), lastMilliseconds: 0 }
      if (!isFull(visitor)) {
        receivers.set(visitor.key, receiver)
        return take(receiver, visitor)
      }
      receiver.waiting.add(visitor.deliveryId)
      const turn = (receiver.waiting.size * receiver.lastMilliseconds) / mostOf(visitor)
      return Math.min(shortest + turn, longest) * (0.75 + random() / 2)
    },
  }
}
