import { setTimeout } from 'node:timers/promises'
import type { Journey } from './aim.ts'
import { createJourneys } from './aimed-journeys.ts'
import type { AimedWorld } from './aimed-world.ts'
import type { Scores } from './scores.ts'

/** Maximum number of concurrent journeys, without those that wait for a start without webhooks. */
const maxAtOnce = 20
/** Maximum number of journeys that begin between two starts of the service. */
const maxBegun = 10
/**
 * Number of concurrent provisioning jobs, and of concurrent directory polls, in one process. When all are held, nothing
 * proceeds.
 */
const workers = 8
/** Maximum number of clicks for one kill. */
const maxClicks = 6
/**
 * A kill that comes within this time after a journey's approval hits the journey outside of its kill points.
 * Milliseconds.
 */
const underWay = 3000

/**
 * Time without a new hold before the kill, in milliseconds: if there can be no new hold (`full`), and otherwise, when
 * it depends on the duration of the start on a busy machine.
 */
const quiet = { full: 150, least: 800, most: 4000 }
/** Maximum times in milliseconds. A held caller would give up after 10 s. A postponed job continues after 2 s. */
const longest = { hold: 7000, putOff: 1000, poll: 30_000 }
/** Above this number of kill points the service starts twice at first, because every later start is faster then. */
const manyPoints = 20
/** Factor for the waiting time before a kill that only follows a click. */
const clicksOnly = 4
/** Number of holds that justify a kill while another job is postponed. */
const worthwhile = 4

export interface AimedOutcome {
  readonly journeys: readonly Journey[]
  /** How many journeys were hit by kills during their jobs, but not at a held kill point. */
  readonly elsewhere: number
}

/**
 * Runs journeys, each with some kills aimed at it. After each start of the service as many journeys as possible are
 * held at their kill points, and one SIGKILL hits all of them; the others continue. Ends when every point was hit often
 * enough, or at the deadline. Then all journeys run to their ends.
 */
export async function liveAimed(world: AimedWorld, scores: Scores, deadline: number): Promise<AimedOutcome> {
  const { aim, cluster, random, outside, history } = world
  const journeys = createJourneys(world, scores)
  const life = { began: 0, journeys: 0, polls: 0, listens: true, quiet: quiet.least }
  let elsewhere = 0

  function beginSome(): void {
    while (life.listens) {
      const others = journeys.active.size - journeys.polling()
      const isEnough = journeys.all.length - life.journeys >= maxBegun && others > 0
      const kind = isEnough || others >= maxAtOnce ? undefined : scores.kindInNeed()
      if (!kind) return
      journeys.begin(kind)
    }
  }
  /** Returns whether only directory polls are left to aim at. */
  const onlyPolls = () => journeys.polling() > 0 && journeys.active.size === journeys.polling() && !scores.kindInNeed()

  /** Returns whether to kill now: the holds do not change any more, or a held caller would give up soon. */
  function isDue(now: number): boolean {
    const holds = aim.holds()
    const waiting = aim.waiting(now)
    const times = [...holds.map(({ since }) => since), ...waiting]
    if (times.length === 0) {
      if (!life.listens) return now - life.began > longest.poll
      // Clicks wait as long as necessary, so that other journeys can be held together with them.
      return onlyPolls() || (journeys.gated() > 0 && now - life.began > clicksOnly * life.quiet)
    }
    if (now - Math.min(...times) > longest.hold) return true
    if (!life.listens) return holds.length >= life.polls
    const isWorthIt = holds.length >= worthwhile || !scores.kindInNeed()
    if (isWorthIt && waiting.some((since) => now - since > longest.putOff)) return true
    const isFull = holds.filter(({ point }) => point.part === 'work').length >= workers
    return now - Math.max(...times) > (isFull ? quiet.full : life.quiet)
  }

  async function kill(): Promise<void> {
    await setTimeout(random() * 200)
    if (life.listens) await journeys.click(maxClicks)
    const now = Date.now()
    const hits = aim.hitsAt(now)
    const hit = new Set(hits.map(({ journey }) => journey))
    elsewhere += [...journeys.active].filter((one) => !hit.has(one) && now - one.approvedAt < underWay).length
    for (const { journey, point } of hits) {
      scores.hit(point)
      history.note({ event: 'hit', n: journey.planned.n, point: `${point.kind}: ${point.name}` })
    }
    const killed = cluster.kill(0)
    aim.killed(hits)
    await killed
    outside.observe()
  }

  /** Starts the service, from time to time without webhooks. Then kills are aimed only at directory polls. */
  async function startNext(): Promise<void> {
    life.listens = journeys.polling() < workers && !onlyPolls()
    world.listens(life.listens)
    aim.aimAt(({ place }) => life.listens === (place.at !== 'poll'))
    const starts = Date.now()
    await cluster.start(0)
    life.quiet = Math.min(quiet.most, Math.max(quiet.least, (Date.now() - starts) * 0.6))
    life.polls = life.listens ? 0 : journeys.poll(workers)
    life.journeys = journeys.all.length
    life.began = Date.now()
  }

  await startNext()
  if (scores.left().length > manyPoints) {
    // A service that has stopped in order once starts faster from then on.
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
  // Some journeys are still held at the deadline; a kill releases them.
  if (aim.holds().length > 0 || !life.listens) {
    await kill()
    world.listens(true)
    await cluster.start(0)
  }
  await journeys.settle()
  return { journeys: journeys.all, elsewhere }
}
