import { setTimeout } from 'node:timers/promises'
import { isShort, type JourneyKind, linkOf } from '../support/journey.ts'
import type { KillPoint, Part } from '../support/kill-points.ts'
import type { Journey } from './aim.ts'
import { type AimedWorld, aimedRequest } from './aimed-world.ts'
import { type Person, statusCardOf } from './plan.ts'
import type { Scores } from './scores.ts'

/** Maximum time from a journey's approval until its people are notified, whatever the number of kills. Milliseconds. */
const longestWork = 300_000
/** Maximum time until the last kill point of a journey after its status card has the link. Milliseconds. */
const longestEnd = 2000

const hasArmed = ({ armed }: Journey, is: (point: KillPoint) => boolean): boolean => armed.some(is)

/** Creates the journeys of a run: each is submitted, approved and awaited like a request of real people. */
export function createJourneys({ aim, clients, connector, outside, history }: AimedWorld, scores: Scores) {
  const all: Journey[] = []
  const active = new Set<Journey>()
  const under: Promise<void>[] = []
  /** Clicks that wait until a kill is due, because the kill must follow right after their answer. */
  const gates = new Map<Journey, () => void>()
  /** Approvals that wait for a start of the service without webhooks. */
  const pollWaiters: (() => void)[] = []
  const known = new Map<string, Promise<void>>()
  let justAnswered: () => void = () => undefined

  /** Opens this person's chat, so that the bot can send messages to them. */
  function meet(person: Person): Promise<void> {
    const met = known.get(person.id) ?? clients.meet([person])
    known.set(person.id, met)
    return met
  }
  async function before(journey: Journey, click: Part): Promise<void> {
    journey.clicking = click
    // Only once: a client that waits again and again would give up.
    if (journey.waited.has(click)) return
    if (!hasArmed(journey, ({ place, part }) => place.at === 'answered' && part === click)) return
    journey.waited.add(click)
    await new Promise<void>((resolve) => {
      gates.set(journey, resolve)
    })
  }
  function answered(journey: Journey, click: 'Send' | 'Approve'): void {
    const at = Date.now()
    journey.answered = { click, at }
    journey.clicking = undefined
    if (click === 'Approve') journey.approvedAt = at
    justAnswered()
  }

  async function live(journey: Journey): Promise<void> {
    const { planned } = journey
    await Promise.all([planned.requester, ...planned.deciders].map(meet))
    const requestId = await clients.submit(planned, () => before(journey, 'Send'))
    answered(journey, 'Send')
    aim.learn(journey, requestId)
    if (hasArmed(journey, ({ place }) => place.at === 'poll'))
      await new Promise<void>((resolve) => pollWaiters.push(resolve))
    for (const person of planned.deciders)
      await clients.decide(planned, requestId, person, () => before(journey, 'Approve'))
    answered(journey, 'Approve')
    await notified(journey)
  }

  /** Waits until the request is ready and, if a kill is aimed at its end, until this kill had its time. */
  async function notified(journey: Journey): Promise<void> {
    const giveUp = Date.now() + longestWork
    for (let since = Number.POSITIVE_INFINITY; Date.now() < giveUp; ) {
      await setTimeout(50)
      outside.observe()
      if (!outside.isNotified(journey.planned.n)) continue
      const status = connector.activity(statusCardOf(journey.planned))
      const isWhole = isShort(status) || linkOf(status) !== undefined
      if (isWhole) since = Math.min(since, Date.now())
      const isHeld = aim.holds().some((one) => one.journey === journey)
      const waits = hasArmed(journey, ({ part }) => part === 'end') && !(Date.now() - since > longestEnd)
      if (!isHeld && !waits) return
    }
    throw new Error(`was not notified within ${longestWork / 1000} s`)
  }

  async function drive(journey: Journey): Promise<void> {
    await live(journey).catch((error: unknown) => {
      history.note({
        event: 'refused',
        n: journey.planned.n,
        why: error instanceof Error ? error.message : String(error),
      })
    })
    active.delete(journey)
    scores.release(journey.armed)
    journey.armed = []
  }

  return {
    all: all as readonly Journey[],
    active: active as ReadonlySet<Journey>,
    /** Returns the number of clicks that wait for the kill. */
    gated: (): number => gates.size,
    /** Returns the number of journeys that wait for a start without webhooks. */
    polling: (): number => pollWaiters.length,
    begin(kind: JourneyKind): void {
      const planned = aimedRequest(kind, all.length + 1)
      const times = { clicking: undefined, answered: undefined, approvedAt: 0, lastCall: undefined }
      const fresh = { requestId: undefined, met: [], waited: new Set<Part>(), operations: new Set<string>() }
      const counts = { counts: new Map<string, number>(), ever: new Map<string, number>() }
      const journey: Journey = { planned, kind, armed: scores.take(kind), ...times, ...fresh, ...counts }
      all.push(journey)
      active.add(journey)
      aim.journeys.set(planned.n, journey)
      under.push(drive(journey))
    },
    /** Releases some clicks, and waits for the answer of the first one: up to 2 s. */
    async click(most: number): Promise<void> {
      if (gates.size === 0) return
      const first = new Promise<void>((resolve) => {
        justAnswered = resolve
      })
      for (const [journey, open] of [...gates].slice(0, most)) {
        gates.delete(journey)
        open()
      }
      await Promise.race([first, setTimeout(2000)])
      justAnswered = () => undefined
    },
    /** Releases some journeys that waited for a start without webhooks, and returns their number. */
    poll(most: number): number {
      const released = pollWaiters.splice(0, most)
      for (const open of released) open()
      return released.length
    },
    /** Releases all journeys and waits for their ends. */
    async settle(): Promise<void> {
      for (const open of pollWaiters.splice(0)) open()
      for (const open of gates.values()) open()
      gates.clear()
      await Promise.all(under)
    },
  }
}
