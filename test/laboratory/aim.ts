import { setTimeout } from 'node:timers/promises'
import type { Fault, Faults, Strike } from '../../src/simulator/control/faults.ts'
import type { Call } from '../../src/simulator/tenant/wire.ts'
import type { JourneyKind } from '../support/journey.ts'
import type { CardCall, KillPoint, Part } from '../support/kill-points.ts'
import type { RelayChoice } from '../support/webhook-relay.ts'
import { type PlannedRequest, requestNumberIn } from './plan.ts'

/** One planned request on its way, with the kills that are aimed at it. */
export interface Journey {
  readonly planned: PlannedRequest
  readonly kind: JourneyKind
  /** The kill points that it has not met yet. */
  armed: readonly KillPoint[]
  /** The kill points that it has met. */
  readonly met: KillPoint[]
  requestId: string | undefined
  /** The click that waits for its answer, and the last answered click since the service's last start. */
  clicking: Part | undefined
  answered: { readonly click: Part; readonly at: number } | undefined
  /** The time of its approval; 0 before. Milliseconds. */
  approvedAt: number
  /** Its last call to the tenant since the service's last start, and every operation that it has ever called. */
  lastCall: { readonly operation: string; readonly at: number } | undefined
  readonly operations: Set<string>
  /** How often each step has sent each call, since the service's last start and in total. */
  readonly counts: Map<string, number>
  readonly ever: Map<string, number>
  /** Clicks that have waited for a kill. */
  readonly waited: Set<Part>
}

/** A journey that waits at a kill point until the service is killed. */
export interface Hold {
  readonly journey: Journey
  readonly point: KillPoint
  readonly since: number
  /** Ends the held call after its caller has died. */
  readonly end?: () => void
}
export interface AimSources {
  /** Returns the request's current step as the service reports it; undefined without an answer. */
  readonly stepOf: (requestId: string) => Promise<string | undefined>
  /** Returns the tenant's name or address of the object with this id. It contains the number of the planned request. */
  readonly nameOf: (id: string) => string | undefined
  readonly random: () => number
}

/** The last call of a step that checks whether the tenant is ready. After it the job is postponed. */
const readinessChecks: { readonly [K in JourneyKind]: string } = {
  team: 'graph.groups.site',
  communication: 'sharepoint.site.status',
  room: 'exchange.set-mailbox',
}
/** After this time without another call the job counts as postponed. Milliseconds. */
const silence = 250
/** A longer hold does not count: the caller has given up (10 s for reads). Milliseconds. */
const longestHold = 9000
/** A click counts as just answered for this time. Milliseconds. */
const justNow = 100
/**
 * A call of a dead process arrives within this time after its death: before, during or after the next start.
 * Milliseconds.
 */
const late = 4000

function counted(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}

const nothing: Strike = { delaySeconds: 0, fault: undefined }
const fault = (kind: Fault['kind']): Strike => ({
  delaySeconds: 0,
  fault: { id: 0, operation: '*', kind, share: 1, struck: 1 },
})

/**
 * Sits between the service and all external systems, and holds each journey at the kill points that are aimed at it.
 */
export function createAim({ stepOf, nameOf, random }: AimSources) {
  const journeys = new Map<number, Journey>()
  const byRequest = new Map<string, Journey>()
  let holds: Hold[] = []
  let life = 0
  let only: (point: KillPoint) => boolean = () => true

  const isHeld = (journey: Journey) => holds.some((one) => one.journey === journey)
  const armedOf = (journey: Journey) => (isHeld(journey) ? [] : journey.armed.filter(only))
  const hold = (journey: Journey, point: KillPoint, end?: () => void) => {
    holds.push({ journey, point, since: Date.now(), ...(end && { end }) })
  }

  function journeyOf(text: string): Journey | undefined {
    const n = requestNumberIn(text)
    if (n !== undefined) return journeys.get(n)
    for (const [id] of text.matchAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g)) {
      const known = byRequest.get(id) ?? journeys.get(requestNumberIn(nameOf(id) ?? '') ?? 0)
      if (known) return known
    }
    return undefined
  }

  /** Returns the kill point of this call of the journey; undefined if no kill is aimed at it. */
  async function pointAt(journey: Journey, operation: string, text: string): Promise<KillPoint | undefined> {
    const armed = armedOf(journey)
    if (operation === 'graph.groups.list') {
      const kindOfCall = text.includes('mailNickname') ? journey.clicking === 'Send' && 'lookUp' : 'poll'
      return armed.find(({ place }) => place.at === kindOfCall)
    }
    const isHere = ({ place }: KillPoint) => place.at === 'tenant' && place.call.operation === operation
    if (!journey.requestId || !armed.some(isHere)) return undefined
    const now = life
    const step = await stepOf(journey.requestId)
    if (now !== life || step === undefined) return undefined
    const nth = counted(journey.counts, `${step} ${operation}`)
    const isAgain = counted(journey.ever, `${step} ${operation}`) > 1
    const isIt = ({ place }: KillPoint) => {
      if (place.at !== 'tenant' || place.call.step !== step) return false
      return (place.call.nth ?? nth) === nth && (place.call.again ?? isAgain) === isAgain
    }
    return armedOf(journey).find((point) => isHere(point) && isIt(point))
  }

  async function strike(operation: string, call: Call): Promise<Strike> {
    const text = `${call.path} ${[...call.query.values()].join(' ')} ${JSON.stringify(call.body ?? '')}`
    const journey = journeyOf(text)
    if (!journey) return nothing
    journey.operations.add(operation)
    journey.lastCall = { operation, at: Date.now() }
    const point = await pointAt(journey, operation, text)
    if (!point) return nothing
    const mode = point.place.at === 'tenant' ? point.place.mode : 'before'
    if (mode === 'after') {
      hold(journey, point)
      return fault('holdAfterCommit')
    }
    const { promise, resolve } = Promise.withResolvers<Strike>()
    const comesLate = () => void setTimeout(random() * late).then(() => resolve(nothing))
    hold(journey, point, mode === 'late' ? comesLate : () => resolve(fault('failBeforeCommit')))
    return promise
  }

  function isWaiting({ kind, lastCall, armed }: Journey, now: number): boolean {
    if (!lastCall || !armed.filter(only).some(({ place }) => place.at === 'putOff')) return false
    return lastCall.operation === readinessChecks[kind] && now - lastCall.at >= silence
  }

  return {
    journeys,
    /** Assigns later calls of the tenant that contain this request id to the journey. */
    learn(journey: Journey, requestId: string): void {
      journey.requestId = requestId
      byRequest.set(requestId, journey)
    },
    /** Limits the aim to these kill points from now on. */
    aimAt(which: (point: KillPoint) => boolean): void {
      only = which
    },
    faults: { add: () => fault('delay').fault as Fault, list: () => [], clear: () => undefined, strike } as Faults,

    /** Returns whether a kill is aimed at this card. If so, the journey is held at this point. */
    meetsCard({ method, how }: Pick<CardCall, 'method' | 'how'>, activity: object): boolean {
      const text = JSON.stringify(activity)
      // A status card that has shrunk to one line does not contain the name.
      const journey = journeyOf(text) ?? journeys.get(Number(/"id":"card-(\d+)"/.exec(text)?.[1]))
      const point =
        journey &&
        armedOf(journey).find(({ place }) => {
          return (
            place.at === 'card' && place.card.method === method && place.card.how === how && place.card.says.test(text)
          )
        })
      if (journey && point) hold(journey, point)
      return point !== undefined
    },
    meetsWebhook: ((body) => {
      const journey = journeyOf(body)
      const point = journey && armedOf(journey).find(({ place }) => place.at === 'webhook')
      if (!journey || point?.place.at !== 'webhook') return { mode: 'pass' }
      const { mode } = point.place
      return { mode, met: () => hold(journey, point) }
    }) as RelayChoice,

    holds: (): readonly Hold[] => holds,
    /** Returns the times since when aimed journeys wait for a postponed job. */
    waiting: (now: number): number[] =>
      [...journeys.values()].flatMap((one) => (isWaiting(one, now) && one.lastCall ? [one.lastCall.at] : [])),

    /** Returns the kill points that a kill at this time hits. */
    hitsAt(now: number): { readonly journey: Journey; readonly point: KillPoint }[] {
      const held = holds.filter(({ since }) => now - since < longestHold)
      const between = [...journeys.values()].flatMap((journey) => {
        const { answered } = journey
        const isOver = answered !== undefined && now - answered.at <= justNow
        const point = journey.armed.filter(only).find(({ place, part }) => {
          if (place.at === 'answered') return isOver && answered.click === part
          return place.at === 'putOff' && isWaiting(journey, now)
        })
        return point && !isHeld(journey) ? [{ journey, point }] : []
      })
      return [...held, ...between]
    },
    /** Records that the service is dead: its pending calls end or arrive late, and its next start begins. */
    killed(hits: readonly { readonly journey: Journey; readonly point: KillPoint }[]): void {
      const ended = holds
      holds = []
      life += 1
      for (const { journey, point } of hits) {
        journey.armed = journey.armed.filter((one) => one !== point)
        journey.met.push(point)
      }
      for (const { end } of ended) end?.()
      for (const journey of journeys.values()) {
        journey.counts.clear()
        journey.lastCall = undefined
        journey.answered = undefined
      }
    },
  }
}
