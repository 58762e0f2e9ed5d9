import { setTimeout } from 'node:timers/promises'
import { type JourneyKind, linkOf } from '../support/journey.ts'
import type { KillPoint, Part } from '../support/kill-points.ts'
import type { Journey } from './aim.ts'
import { type AimedWorld, aimedWish } from './aimed-world.ts'
import { type Person, statusCardOf } from './plan.ts'
import type { Scores } from './scores.ts'

/** How long a journey may take from its approval until its people are told, in milliseconds, however many kills come. */
const longestWork = 300_000
/** How long what is aimed at the end of a journey may still come once its status card has the link, in milliseconds. */
const longestEnd = 2000

const hasArmed = ({ armed }: Journey, is: (point: KillPoint) => boolean): boolean => armed.some(is)

/** The journeys of a run: each asks, is approved and waits, as its people do it. */
export function createJourneys({ aim, clients, connector, outside, history }: AimedWorld, scores: Scores) {
  const all: Journey[] = []
  const active = new Set<Journey>()
  const under: Promise<void>[] = []
  /** Clicks that wait until a kill is due, since it is to come right after their answer. */
  const gates = new Map<Journey, () => void>()
  /** Approvals that wait for a life of the service without webhooks. */
  const lookers: (() => void)[] = []
  const known = new Map<string, Promise<void>>()
  let justAnswered: () => void = () => undefined

  /** Opens this person's chat, so that they can be written to. */
  function meet(person: Person): Promise<void> {
    const met = known.get(person.id) ?? clients.meet([person])
    known.set(person.id, met)
    return met
  }
  async function before(journey: Journey, click: Part): Promise<void> {
    journey.clicking = click
    // Once only: a client that is kept waiting again and again would give up.
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
    const { wish } = journey
    await Promise.all([wish.requester, ...wish.deciders].map(meet))
    const requestId = await clients.submit(wish, () => before(journey, 'Send'))
    answered(journey, 'Send')
    aim.learn(journey, requestId)
    if (hasArmed(journey, ({ place }) => place.at === 'look'))
      await new Promise<void>((resolve) => lookers.push(resolve))
    for (const person of wish.deciders) await clients.decide(wish, requestId, person, () => before(journey, 'Approve'))
    answered(journey, 'Approve')
    await told(journey)
  }

  /** Until it is ready and, if a kill is aimed at its end, that had its time. */
  async function told(journey: Journey): Promise<void> {
    const giveUp = Date.now() + longestWork
    for (let since = Number.POSITIVE_INFINITY; Date.now() < giveUp; ) {
      await setTimeout(50)
      outside.look()
      if (!outside.isTold(journey.wish.n)) continue
      const isWhole = linkOf(connector.activity(statusCardOf(journey.wish))) !== undefined
      if (isWhole) since = Math.min(since, Date.now())
      const isHeld = aim.holds().some((one) => one.journey === journey)
      const waits = hasArmed(journey, ({ part }) => part === 'end') && !(Date.now() - since > longestEnd)
      if (!isHeld && !waits) return
    }
    throw new Error(`was not told within ${longestWork / 1000} s`)
  }

  async function drive(journey: Journey): Promise<void> {
    await live(journey).catch((error: unknown) => {
      history.note({ event: 'refused', n: journey.wish.n, why: error instanceof Error ? error.message : String(error) })
    })
    active.delete(journey)
    scores.giveBack(journey.armed)
    journey.armed = []
  }

  return {
    all: all as readonly Journey[],
    active: active as ReadonlySet<Journey>,
    /** How many clicks wait for the kill. */
    gated: (): number => gates.size,
    /** How many wait for a life without webhooks. */
    looking: (): number => lookers.length,
    begin(kind: JourneyKind): void {
      const wish = aimedWish(kind, all.length + 1)
      const times = { clicking: undefined, answered: undefined, approvedAt: 0, lastCall: undefined }
      const fresh = { requestId: undefined, met: [], waited: new Set<Part>(), operations: new Set<string>() }
      const counts = { counts: new Map<string, number>(), ever: new Map<string, number>() }
      const journey: Journey = { wish, kind, armed: scores.take(kind), ...times, ...fresh, ...counts }
      all.push(journey)
      active.add(journey)
      aim.journeys.set(wish.n, journey)
      under.push(drive(journey))
    },
    /** Lets some clicks be made, and waits for the answer of the first: up to 2 s. */
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
    /** Lets some of those go on that waited for a life without webhooks, and says how many. */
    look(most: number): number {
      const released = lookers.splice(0, most)
      for (const open of released) open()
      return released.length
    },
    /** Lets everybody go on, to their end. */
    async settle(): Promise<void> {
      for (const open of lookers.splice(0)) open()
      for (const open of gates.values()) open()
      gates.clear()
      await Promise.all(under)
    },
  }
}
