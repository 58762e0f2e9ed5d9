import type { Fault, Faults, Strike } from '../../src/simulator/control/faults.ts'
import type { Call } from '../../src/simulator/tenant/wire.ts'
import type { CardFate, ChangeKind, ChangePlace, ChangePoint, Step } from '../support/change-points.ts'
import type { RelayChoice } from '../support/webhook-relay.ts'
import { requestNumberIn } from './plan.ts'

/** One change on its way, with the kill that is aimed at it. */
export interface Change {
  readonly n: number
  readonly kind: ChangeKind
  readonly point: ChangePoint
  /** Ids that identify the change in calls and cards that do not contain its number. */
  readonly ids: Set<string>
  /** Whether its kill has hit it. */
  isMet: boolean
  isOver: boolean
  /** It waits for the next start of the service. */
  isAsleep: boolean
  readonly begun: Set<Step>
}

interface Hold {
  readonly since: number
  /** Gives the held call its answer. */
  readonly answer?: () => void
  /** Ends the held call after its caller has died. */
  readonly end?: () => void
}

const nothing: Strike = { delaySeconds: 0, fault: undefined }
const failure: Strike = {
  delaySeconds: 0,
  fault: { id: 0, operation: '*', kind: 'failBeforeCommit', share: 1, struck: 1 },
}
/** A click counts as just answered for this time at least. Milliseconds. */
const justNow = 100
/** A longer hold does not count: the caller has given up. Milliseconds. */
const longestHold = 9000

/** Sits between the service and all external systems, and holds each change at its kill point. */
export function createChangesAim() {
  const changes: Change[] = []
  const holds = new Map<Change, Hold>()
  const gates = new Map<Change, () => void>()
  const times = new Map<Change, { sent?: number; answered?: number }>()
  const counts = new Map<Change, number>()
  let startedAt = 0
  let isClosing = false
  let clicked: (change: Change, what: 'sent' | 'answered') => void = () => undefined

  const changeOf = (text: string): Change | undefined => {
    const n = requestNumberIn(text)
    if (n !== undefined) return changes.find((one) => one.n === n)
    return changes.findLast(({ ids, isOver }) => !isOver && [...ids].some((id) => text.includes(id)))
  }
  /** Returns the change at whose point this call is, if the place matches. */
  function aimed<P extends ChangePlace['at']>(
    at: P,
    text: string,
    isHere: (place: Extract<ChangePlace, { at: P }>, change: Change) => boolean,
  ): Change | undefined {
    const change = changeOf(text)
    if (!change || change.isMet || change.isOver || isClosing || holds.has(change)) return undefined
    const { place } = change.point
    return place.at === at && isHere(place as Extract<ChangePlace, { at: P }>, change) ? change : undefined
  }
  const held = (change: Change, more: Omit<Hold, 'since'> = {}) => holds.set(change, { since: Date.now(), ...more })

  function strike(operation: string, call: Call): Strike | Promise<Strike> {
    const text = `${call.path} ${[...call.query.values()].join(' ')} ${JSON.stringify(call.body ?? '')}`
    const change = aimed('tenant', text, (place, one) => {
      if (!one.begun.has(place.step) || !place.operation.test(operation)) return false
      if (place.says && !place.says.test(text)) return false
      counts.set(one, (counts.get(one) ?? 0) + 1)
      return counts.get(one) === (place.nth ?? 1)
    })
    if (change?.point.place.at !== 'tenant') return nothing
    const { promise, resolve } = Promise.withResolvers<Strike>()
    const isLate = change.point.place.mode === 'late'
    held(change, { ...(isLate && { answer: () => resolve(nothing) }), end: () => resolve(failure) })
    return promise
  }

  return {
    changes: changes as readonly Change[],
    add: (change: Change): void => void changes.push(change),
    faults: { add: () => failure.fault as Fault, list: () => [], clear: () => undefined, strike } as Faults,

    /** Returns whether a kill is aimed at this card. If so, the change is held at its point. */
    meetsCard(method: 'POST' | 'PUT', how: CardFate, activity: object): boolean {
      const text = JSON.stringify(activity)
      const isHere = (place: Extract<ChangePlace, { at: 'card' }>) =>
        place.method === method && place.how === how && place.says.test(text)
      const change = aimed('card', text, isHere)
      if (change && how !== 'late') held(change)
      return change !== undefined
    },
    /** Holds the answer to a card that has arrived until the kill is due. */
    delaysCard(activity: object): Promise<void> {
      const change = changeOf(JSON.stringify(activity))
      if (!change) return Promise.resolve()
      return new Promise((answer) => held(change, { answer, end: answer }))
    },
    meetsWebhook: ((body) => {
      const change = aimed('webhook', body, () => true)
      if (change?.point.place.at !== 'webhook') return { mode: 'pass' }
      return { mode: change.point.place.mode, met: () => held(change) }
    }) as RelayChoice,

    /** Runs before each attempt of a click. Waits until a kill is due if the kill must follow the click. */
    async before(change: Change, step: Step): Promise<void> {
      const { place } = change.point
      change.begun.add(step)
      if (place.at !== 'click' || place.step !== step || change.isMet || isClosing) return
      await new Promise<void>((resolve) => gates.set(change, resolve))
      times.set(change, { sent: Date.now() })
      clicked(change, 'sent')
    },
    answered(change: Change, step: Step): void {
      const { place } = change.point
      if (place.at !== 'click' || place.step !== step || change.isMet) return
      times.set(change, { ...times.get(change), answered: Date.now() })
      clicked(change, 'answered')
    },
    /** Returns the changes whose clicks wait for the kill. */
    gated: (): Change[] => [...gates.keys()],
    /** Releases these clicks. Settles when the first one was sent or answered, at the latest after some seconds. */
    async open(group: readonly Change[], what: 'sent' | 'answered'): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      clicked = (change, is) => group.includes(change) && is === what && resolve()
      for (const change of group) {
        gates.get(change)?.()
        gates.delete(change)
      }
      const tooLong = setTimeout(resolve, 4000)
      await promise
      clearTimeout(tooLong)
      clicked = () => undefined
    },
    oldestHold: (): number => Math.min(...[...holds.values()].map(({ since }) => since)),
    isHeld: (change: Change): boolean => holds.has(change) || gates.has(change),

    /** Gives those calls their answers that a kill must follow. Returns whether there were any. */
    answerLate(): boolean {
      const late = [...holds.values()].filter(({ answer }) => answer)
      for (const { answer } of late) answer?.()
      return late.length > 0
    },
    /** Returns the changes that a kill at this time hits. */
    hitsAt(now: number): Change[] {
      return changes.filter((change) => {
        const { place } = change.point
        if (change.isMet || change.isOver) return false
        const hold = holds.get(change)
        if (hold) return now - hold.since < longestHold
        const { sent, answered } = times.get(change) ?? {}
        if (place.at === 'start') return change.begun.has('digest') && now - startedAt <= place.within + justNow
        if (place.at !== 'click') return false
        const since = place.from === 'sent' ? sent : answered
        return since !== undefined && now - since <= place.within + justNow
      })
    },
    /** Records that the service is dead: its pending calls end. */
    killed(hits: readonly Change[]): void {
      for (const change of hits) change.isMet = true
      const ended = [...holds.values()]
      holds.clear()
      times.clear()
      counts.clear()
      for (const { end } of ended) end?.()
    },
    started(at: number): void {
      startedAt = at
    },
    /** Ends the aim: everything runs to its end. */
    close(): void {
      isClosing = true
      for (const release of gates.values()) release()
      gates.clear()
      for (const { answer } of holds.values()) answer?.()
    },
  }
}
