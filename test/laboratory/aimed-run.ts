import { setTimeout } from 'node:timers/promises'
import type { JourneyKind } from '../support/journey.ts'
import type { KillPoint, Part } from '../support/kill-points.ts'
import type { Journey } from './aim.ts'
import { type AimedWorld, aimedWish, everybody } from './aimed-world.ts'
import type { Scores } from './scores.ts'

/** So many journeys are under way at once, those not counted that wait for a life without webhooks. */
const mostAtOnce = 20
/** So many jobs of the work does one process have at once: when all of them are held, nothing moves any more. */
const workers = 8
/** So many looks are held in one life, of as many workers. */
const looksAtOnce = 8

/** Times within a life, in milliseconds. */
const [shortQuiet, longQuiet, longestVolley, longestWait, longestLife] = [150, 1200, 6000, 1000, 30_000]

export interface AimedOutcome {
  readonly journeys: readonly Journey[]
  readonly kills: number
  /** How many journeys a kill met somewhere between, within 3 s after their approval. */
  readonly elsewhere: number
}

/**
 * Lets journeys live, each with some kills aimed at it. In each life of the service they are held at their points, as
 * many as will be, and one SIGKILL hits all of them; the others live on. Ends when every point was hit often enough, or
 * at the deadline, and leaves the service up.
 */
export async function liveAimed(world: AimedWorld, scores: Scores, deadline: number): Promise<AimedOutcome> {
  const { aim, clients, cluster, outside, history, random } = world
  const journeys: Journey[] = []
  const active = new Set<Journey>()
  const under: Promise<void>[] = []
  const approvedAt = new Map<Journey, number>()
  /** Clicks that are made when the kill is due, and approvals that wait for a life without webhooks. */
  const gates = new Map<Journey, { since: number; open(): void }>()
  let lookers: (() => void)[] = []
  let justAnswered: () => void = () => undefined
  const life = { began: 0, begun: 0, looks: 0, listens: true }
  const totals = { kills: 0, elsewhere: 0 }

  const hasArmed = ({ armed }: Journey, is: (point: KillPoint) => boolean) => armed.some(is)
  async function before(journey: Journey, click: Part): Promise<void> {
    journey.clicking = click
    if (!hasArmed(journey, ({ place, part }) => place.at === 'answered' && part === click)) return
    await new Promise<void>((resolve) => {
      gates.set(journey, { since: Date.now(), open: resolve })
    })
  }
  function answered(journey: Journey, click: Part): void {
    journey.answered = { click, at: Date.now() }
    journey.clicking = undefined
    justAnswered()
  }

  async function drive(journey: Journey): Promise<void> {
    const { wish } = journey
    try {
      const requestId = await clients.submit(wish, () => before(journey, 'Send'))
      answered(journey, 'Send')
      aim.learn(journey, requestId)
      if (hasArmed(journey, ({ place }) => place.at === 'look'))
        await new Promise<void>((resolve) => lookers.push(resolve))
      for (const person of wish.deciders)
        await clients.decide(wish, requestId, person, () => before(journey, 'Approve'))
      answered(journey, 'Approve')
      approvedAt.set(journey, Date.now())
      await told(journey)
    } catch (error) {
      history.note({ event: 'refused', n: wish.n, why: error instanceof Error ? error.message : String(error) })
    }
    active.delete(journey)
    scores.giveBack(journey.armed)
    journey.armed = []
  }

  /** Until it is ready and, if a kill is aimed at its end, that had its time. */
  async function told(journey: Journey): Promise<void> {
    const end = Date.now() + 300_000
    for (let since = Number.POSITIVE_INFINITY; Date.now() < end; ) {
      await setTimeout(50)
      outside.look()
      if (!outside.isTold(journey.wish.n)) continue
      since = Math.min(since, Date.now())
      const isHeld = aim.holds().some((one) => one.journey === journey)
      const waits = hasArmed(journey, ({ part }) => part === 'end') && Date.now() - since < 5000
      if (!isHeld && !waits) return
    }
    throw new Error('was not told within 300 s')
  }

  function begin(kind: JourneyKind): void {
    const wish = aimedWish(kind, journeys.length + 1)
    const known = { requestId: undefined, clicking: undefined, answered: undefined, lastCall: undefined }
    const fresh = { met: [], operations: new Set<string>(), counts: new Map<string, number>() }
    const journey = { wish, kind, armed: scores.take(kind), ...known, ...fresh }
    journeys.push(journey)
    active.add(journey)
    aim.journeys.set(wish.n, journey)
    life.begun += 1
    under.push(drive(journey))
  }
  function beginSome(): void {
    while (life.listens && life.begun < mostAtOnce / 2 && active.size - lookers.length < mostAtOnce) {
      const kind = scores.kindInNeed()
      if (!kind) return
      begin(kind)
    }
  }

  /** Whether it is time to kill: the work stands still, or what is held would give up soon. */
  function isDue(now: number): boolean {
    const holds = aim.holds()
    const waiting = aim.waiting(now)
    const gated = [...gates.values()].map(({ since }) => Math.max(since, life.began))
    const all = [...holds.map(({ since }) => since), ...waiting, ...gated]
    if (all.length === 0) {
      const isStuck = active.size > 0 && active.size === lookers.length && !scores.kindInNeed()
      return isStuck || (!life.listens && now - life.began > longestLife)
    }
    const [first, last] = [Math.min(...all), Math.max(...all)]
    if (now - first > longestVolley) return true
    if (!life.listens) return holds.length >= life.looks
    const quiet = now - last
    if (waiting.some((since) => now - since > longestWait)) return true
    return quiet > (holds.filter(({ point }) => point.part === 'work').length >= workers ? shortQuiet : longQuiet)
  }

  /** Lets the clicks be made whose answer the kill is to follow, and waits for the first. */
  async function openGates(): Promise<void> {
    if (gates.size === 0 || !life.listens) return
    const first = new Promise<void>((resolve) => {
      justAnswered = resolve
    })
    for (const [journey, { open }] of [...gates].slice(0, 4)) {
      gates.delete(journey)
      open()
    }
    await Promise.race([first, setTimeout(3000)])
    justAnswered = () => undefined
  }

  async function kill(): Promise<void> {
    await setTimeout(random() * 200)
    await openGates()
    const now = Date.now()
    const hits = aim.hitsAt(now)
    const hit = new Set(hits.map(({ journey }) => journey))
    const moved = [...active].filter((one) => !hit.has(one) && now - (approvedAt.get(one) ?? 0) < 3000)
    const killed = cluster.kill(0)
    totals.kills += 1
    totals.elsewhere += moved.length
    for (const { point } of hits) scores.hit(point)
    aim.killed(hits)
    await killed
    outside.look()
    await startNext()
  }

  /** Every so often a life without webhooks, in which the look into the directory is all that is aimed at. */
  async function startNext(): Promise<void> {
    const isAlone = !scores.kindInNeed() && active.size === lookers.length
    life.listens = lookers.length < looksAtOnce && !(lookers.length > 0 && isAlone)
    world.listens(life.listens)
    aim.aimAt(({ place }) => life.listens === (place.at !== 'look'))
    await cluster.start(0)
    const released = life.listens ? [] : lookers.slice(0, looksAtOnce)
    lookers = lookers.slice(released.length)
    for (const open of released) open()
    Object.assign(life, { began: Date.now(), begun: 0, looks: released.length })
  }

  aim.aimAt(({ place }) => place.at !== 'look')
  await cluster.start(0)
  await clients.meet(everybody)
  life.began = Date.now()
  while (!scores.isDone() && Date.now() < deadline) {
    beginSome()
    if (isDue(Date.now())) await kill()
    else await setTimeout(25)
  }
  aim.aimAt(() => false)
  if (!life.listens || aim.holds().length > 0 || lookers.length > 0) {
    await cluster.kill(0)
    aim.killed([])
    for (const open of lookers.splice(0)) open()
    await startNext()
    aim.aimAt(() => false)
  }
  for (const { open } of gates.values()) open()
  await Promise.all(under)
  return { journeys, ...totals }
}
