import { setTimeout } from 'node:timers/promises'
import type { ChangePoint } from '../support/change-points.ts'
import type { Change } from './changes-aim.ts'
import { admin } from './changes-people.ts'
import { createPlayers, type Played } from './changes-players.ts'
import { type ChangeScore, createChangeScores } from './changes-scores.ts'
import type { ChangesWorld } from './changes-world.ts'

/** A held caller gives up after 10 s, and the preparations of a kill usually need less than a second. Milliseconds. */
const longestHold = 7500
/** Time without a new hold before the kill. Milliseconds. */
const quiet = { least: 2000, most: 4000 }
/** How long the changes of a life have to reach their points, and to wait for other ones if some are held. Milliseconds. */
const longestLife = { held: 8000, any: 20_000 }
/** How long a life waits for the ends of the changes that earlier kills hit. Milliseconds. */
const longestRest = 60_000

export interface ChangesOutcome {
  readonly played: readonly Played[]
  readonly scores: readonly ChangeScore[]
}

/**
 * Plays changes, each with one kill aimed at it. Each life of the service first lets the changes end that earlier kills
 * hit, because a job that every kill interrupts becomes a dead letter. Then it begins new ones, holds as many as possible
 * at their points, and one SIGKILL hits all of them. Ends when every point was hit often enough, or at the deadline; then
 * all changes run to their ends.
 */
export async function liveChanges(
  world: ChangesWorld,
  points: readonly ChangePoint[],
  { rounds, deadline }: { readonly rounds: number; readonly deadline: number },
): Promise<ChangesOutcome> {
  const { aim, cluster, history, random, people } = world
  const scores = createChangeScores(points, rounds)
  const players = createPlayers(world, scores)
  const life = { began: 0, isResting: true, changedAt: 0, held: 0, quiet: quiet.least }
  const isTimeUp = () => scores.isDone() || performance.now() >= deadline

  const active = () => aim.changes.filter(({ isOver, isMet, isAsleep }) => !isOver && !isMet && !isAsleep)
  const isRecovering = () => aim.changes.some(({ isMet, isOver }) => isMet && !isOver)

  /** Begins new changes as soon as the changes that earlier kills hit have ended. */
  function endRest(now: number): void {
    if (!life.isResting || (isRecovering() && now - life.began < longestRest)) return
    players.beginSome()
    Object.assign(life, { began: now, isResting: false, changedAt: now })
  }
  /** Returns whether to kill now: everything that can be held is held, or a held caller would give up soon. */
  function isDue(now: number): boolean {
    if (now - aim.oldestHold() > longestHold) return true
    if (life.isResting) return false
    const left = active()
    const held = left.filter(aim.isHeld).length
    if (held !== life.held) Object.assign(life, { held, changedAt: now })
    const age = now - life.began
    if (held > 0 && held === left.length) return now - life.changedAt > 200
    if (held > 0) return now - life.changedAt > life.quiet || age > longestLife.held
    // A sleeping change needs another start.
    if (players.hasSleepers()) return left.length === 0 || age > longestLife.any
    if (left.length === 0) life.isResting = true
    return false
  }

  async function kill(hasClicks: boolean): Promise<void> {
    const group = hasClicks && clicksForOneKill(aim.gated(), random)
    if (group) {
      await aim.open(group.changes, group.from)
      await setTimeout(random() * group.within)
    }
    if (aim.answerLate()) await setTimeout(random() * 40)
    const hits = aim.hitsAt(Date.now())
    for (const { n, point } of hits) {
      scores.hit(point)
      history.note({ event: 'hit', n, point: `${point.kind}: ${point.name}` })
    }
    const killed = cluster.kill(0)
    aim.killed(hits)
    await killed
  }

  /** Starts the service, at this turn of the digests if there is one. */
  async function start(turn?: number): Promise<void> {
    if (turn !== undefined) world.jumpTo(turn)
    const starts = Date.now()
    await cluster.start(0)
    const now = Date.now()
    life.quiet = Math.min(quiet.most, Math.max(quiet.least, (now - starts) * 0.5))
    aim.started(now)
    for (const change of aim.changes) if (change.begun.has('digest')) change.isAsleep = false
    Object.assign(life, { began: now, isResting: true, changedAt: now, held: 0 })
  }

  await start()
  await people.meet(admin)
  while (!isTimeUp()) {
    while (!isTimeUp() && !isDue(Date.now())) {
      endRest(Date.now())
      await setTimeout(20)
    }
    const turn = world.nextDigests()
    const [first] = await players.prepare(turn)
    await kill(true)
    await start(first && turn)
    if (first?.point.place.at !== 'start') continue
    // The people have no time to click between this start and its kill.
    await setTimeout(random() * first.point.place.within)
    await kill(false)
    await start()
  }
  aim.close()
  await players.settle(world.nextDigests())
  return { played: players.played, scores: scores.scores }
}

/** Returns clicks that one kill can follow, and the time within which it must; undefined without any. */
function clicksForOneKill(gated: readonly Change[], random: () => number) {
  const all = gated.flatMap((change) => (change.point.place.at === 'click' ? [{ change, ...change.point.place }] : []))
  const leader = all[Math.floor(random() * all.length)]
  if (!leader) return undefined
  // A kill right after an answer comes too early for the work that follows other answers.
  const isShort = (within: number): boolean => within <= 20
  const group = all.filter(({ from, within }) => from === leader.from && isShort(within) === isShort(leader.within))
  const within = Math.min(...group.map((one) => one.within))
  return { changes: group.map(({ change }) => change), from: leader.from, within }
}
