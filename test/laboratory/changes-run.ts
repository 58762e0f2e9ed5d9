import { setTimeout } from 'node:timers/promises'
import type { ChangePoint } from '../support/change-points.ts'
import type { Change } from './changes-aim.ts'
import { admin } from './changes-people.ts'
import { createPlayers, type Played } from './changes-players.ts'
import { type ChangeScore, createChangeScores } from './changes-scores.ts'
import type { ChangesWorld } from './changes-world.ts'

/** A held caller would give up after 10 s. Milliseconds. */
const longestHold = 6500
/** Time without a new hold before the kill. Milliseconds. */
const quiet = { least: 1000, most: 4000 }
/** Maximum length of a life while something is held, and of any life. Milliseconds. */
const longestLife = { held: 8000, any: 20_000 }

export interface ChangesOutcome {
  readonly played: readonly Played[]
  readonly scores: readonly ChangeScore[]
}

/**
 * Plays changes, each with one kill aimed at it. In each life of the service as many as possible are held at their
 * points, and one SIGKILL hits all of them. Ends when every point was hit often enough, or at the deadline; then all
 * changes run to their ends.
 */
export async function liveChanges(
  world: ChangesWorld,
  points: readonly ChangePoint[],
  { rounds, deadline }: { readonly rounds: number; readonly deadline: number },
): Promise<ChangesOutcome> {
  const { aim, cluster, history, random, people } = world
  const scores = createChangeScores(points, rounds)
  const players = createPlayers(world, scores)
  const life = { began: 0, changedAt: 0, held: 0, quiet: quiet.least, turn: 0 }

  const active = () => aim.changes.filter(({ isOver, isMet, isAsleep }) => !isOver && !isMet && !isAsleep)

  /** Returns whether to kill now: everything that can be held is held, or a held caller would give up soon. */
  function isDue(now: number): boolean {
    const left = active()
    const held = left.filter(aim.isHeld).length
    if (held !== life.held) Object.assign(life, { held, changedAt: now })
    const age = now - life.began
    if (now - aim.oldestHold() > longestHold || age > longestLife.any) return true
    // A sleeping change needs another start.
    if (left.length === 0) return players.hasSleepers() || age > life.quiet
    if (held === left.length) return now - life.changedAt > 200
    return held > 0 && (now - life.changedAt > life.quiet || age > longestLife.held)
  }

  async function kill(): Promise<void> {
    const group = clicksForOneKill(aim.gated(), random)
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

  async function startNext(): Promise<void> {
    if (life.turn > 0) world.jumpTo(life.turn)
    life.turn = 0
    const starts = Date.now()
    await cluster.start(0)
    const now = Date.now()
    life.quiet = Math.min(quiet.most, Math.max(quiet.least, (now - starts) * 0.5))
    aim.started(now)
    for (const change of aim.changes) if (change.begun.has('digest')) change.isAsleep = false
    Object.assign(life, { began: now, changedAt: now, held: 0 })
  }
  /** Returns the moment of a kill that follows the start, if such a kill is due now. */
  function afterStart(): number | undefined {
    for (const { point, begun, isMet, isOver } of aim.changes)
      if (point.place.at === 'start' && begun.has('digest') && !isMet && !isOver) return random() * point.place.within
    return undefined
  }

  await startNext()
  await people.meet(admin)
  while (!scores.isDone() && performance.now() < deadline) {
    players.beginSome()
    const moment = afterStart()
    if (moment !== undefined) await setTimeout(moment)
    else while (!isDue(Date.now())) await setTimeout(20)
    const turn = world.nextDigests()
    if (moment === undefined && (await players.prepare(turn))) life.turn = turn
    await kill()
    await startNext()
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
