import { setTimeout } from 'node:timers/promises'
import type { Journey } from './aim.ts'
import { createJourneys } from './aimed-journeys.ts'
import type { AimedWorld } from './aimed-world.ts'
import type { Scores } from './scores.ts'

/** So many journeys are under way at once, those not counted that wait for a life without webhooks. */
const mostAtOnce = 20
/** So many begin in one life of the service. */
const mostBegun = 10
/** So many jobs of the work, and so many looks, does one process have at once: when all are held, nothing moves. */
const workers = 8
/** So many clicks are made for one kill. */
const mostClicks = 6
/** A kill meets a journey elsewhere when it comes so many milliseconds after its approval, the work being under way. */
const underWay = 3000

/**
 * How long nothing further is held until the kill comes, in milliseconds: when there can be nothing more, and while there
 * may be, which on a busy machine is as long as a start takes.
 */
const quiet = { full: 150, least: 800, most: 4000 }
/** What is held longest would give up after 10 s; work that is put off goes on after 2 s. All in milliseconds. */
const longest = { hold: 7000, putOff: 1000, look: 30_000 }
/** With more points than this the first start is made twice, so that all others are cheaper. */
const manyPoints = 20
/** So many times as long as usual it is quiet before a kill that only follows a click. */
const clicksOnly = 4
/** So many held journeys are worth a kill while somebody's work is put off. */
const worthwhile = 4

export interface AimedOutcome {
  readonly journeys: readonly Journey[]
  /** How many journeys kills met that were not held at a point, in their work. */
  readonly elsewhere: number
}

/**
 * Lets journeys live, each with some kills aimed at it. In each life of the service they are held at their points, as
 * many as will be, and one SIGKILL hits all of them; the others live on. Ends when every point was hit often enough, or
 * at the deadline; then everybody comes to their end.
 */
export async function liveAimed(world: AimedWorld, scores: Scores, deadline: number): Promise<AimedOutcome> {
  const { aim, cluster, random, outside, history } = world
  const journeys = createJourneys(world, scores)
  const life = { began: 0, journeys: 0, looks: 0, listens: true, quiet: quiet.least }
  let elsewhere = 0

  function beginSome(): void {
    while (life.listens) {
      const others = journeys.active.size - journeys.looking()
      const isEnough = journeys.all.length - life.journeys >= mostBegun && others > 0
      const kind = isEnough || others >= mostAtOnce ? undefined : scores.kindInNeed()
      if (!kind) return
      journeys.begin(kind)
    }
  }
  /** Whether all that is left to be aimed at is looks. */
  const onlyLooks = () => journeys.looking() > 0 && journeys.active.size === journeys.looking() && !scores.kindInNeed()

  /** Whether it is time to kill: what is held stands still, or would give up soon. */
  function isDue(now: number): boolean {
    const holds = aim.holds()
    const waiting = aim.waiting(now)
    const times = [...holds.map(({ since }) => since), ...waiting]
    if (times.length === 0) {
      if (!life.listens) return now - life.began > longest.look
      // Clicks wait as long as it takes, so that others may be held beside them.
      return onlyLooks() || (journeys.gated() > 0 && now - life.began > clicksOnly * life.quiet)
    }
    if (now - Math.min(...times) > longest.hold) return true
    if (!life.listens) return holds.length >= life.looks
    const isWorthIt = holds.length >= worthwhile || !scores.kindInNeed()
    if (isWorthIt && waiting.some((since) => now - since > longest.putOff)) return true
    const isFull = holds.filter(({ point }) => point.part === 'work').length >= workers
    return now - Math.max(...times) > (isFull ? quiet.full : life.quiet)
  }

  async function kill(): Promise<void> {
    await setTimeout(random() * 200)
    if (life.listens) await journeys.click(mostClicks)
    const now = Date.now()
    const hits = aim.hitsAt(now)
    const hit = new Set(hits.map(({ journey }) => journey))
    elsewhere += [...journeys.active].filter((one) => !hit.has(one) && now - one.approvedAt < underWay).length
    for (const { journey, point } of hits) {
      scores.hit(point)
      history.note({ event: 'hit', n: journey.wish.n, point: `${point.kind}: ${point.name}` })
    }
    const killed = cluster.kill(0)
    aim.killed(hits)
    await killed
    outside.look()
  }

  /** Every so often the service lives without webhooks: then the look into the directory is all that is aimed at. */
  async function startNext(): Promise<void> {
    life.listens = journeys.looking() < workers && !onlyLooks()
    world.listens(life.listens)
    aim.aimAt(({ place }) => life.listens === (place.at !== 'look'))
    const starts = Date.now()
    await cluster.start(0)
    life.quiet = Math.min(quiet.most, Math.max(quiet.least, (Date.now() - starts) * 0.6))
    life.looks = life.listens ? 0 : journeys.look(workers)
    life.journeys = journeys.all.length
    life.began = Date.now()
  }

  await startNext()
  if (scores.left().length > manyPoints) {
    // Who has ended in order once starts faster from then on.
    await cluster.stop(0)
    await startNext()
  }
  while (!scores.isDone() && Date.now() < deadline) {
    beginSome()
    await setTimeout(25)
    if (!isDue(Date.now())) continue
    await kill()
    await startNext()
  }
  aim.aimAt(() => false)
  // At the deadline some are held still; a kill frees them.
  if (aim.holds().length > 0 || !life.listens) {
    await kill()
    world.listens(true)
    await cluster.start(0)
  }
  await journeys.settle()
  return { journeys: journeys.all, elsewhere }
}
