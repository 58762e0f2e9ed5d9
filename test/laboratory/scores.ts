import type { JourneyKind } from '../support/journey.ts'
import type { KillPoint, Part } from '../support/kill-points.ts'

/** How many kills are aimed at one journey's work at most: what dies too often is given up, and rightly so. */
const mostInWork = 3

/** How often each point was hit, and how many kills are aimed at it just now. */
export function createScores(points: readonly KillPoint[], rounds: number, random: () => number) {
  const scores = points.map((point, order) => ({ point, order, hits: 0, armed: 0 }))
  type Score = (typeof scores)[number]
  const missing = ({ hits, armed }: Score) => rounds - hits - armed
  const scoreOf = (point: KillPoint) => scores.find((one) => one.point === point)

  /** Those of this part that need it most. */
  function needed(kind: JourneyKind, part: Part, most: number): Score[] {
    return scores
      .filter((one) => one.point.kind === kind && one.point.part === part && missing(one) > 0)
      .map((one) => ({ one, rank: missing(one) + random() }))
      .sort((first, second) => second.rank - first.rank)
      .slice(0, most)
      .map(({ one }) => one)
  }
  return {
    /** A kind whose points miss kills, one that misses more the likelier; undefined when all have been aimed at. */
    kindInNeed(): JourneyKind | undefined {
      const left = scores.flatMap((one) => Array.from({ length: Math.max(0, missing(one)) }, () => one.point.kind))
      return left[Math.floor(random() * left.length)]
    },
    /** Takes points for a new journey: one kill at each click and one at the end, several in the work. */
    take(kind: JourneyKind): KillPoint[] {
      const last = needed(kind, 'end', 1)
      const looks = last.some(({ point }) => point.place.at === 'look')
      const before = needed(kind, 'Send', 1)
      // A look happens only where the webhook is off, in a life of its own, which such a journey waits for.
      const between = looks ? [] : [...needed(kind, 'Approve', 1), ...needed(kind, 'work', mostInWork)]
      const taken = [...before, ...between.sort((one, other) => one.order - other.order), ...last]
      for (const one of taken) one.armed += 1
      return taken.map(({ point }) => point)
    },
    hit(point: KillPoint): void {
      const score = scoreOf(point)
      if (!score) return
      score.hits += 1
      score.armed -= 1
    },
    /** The journey is over without them. */
    giveBack(left: readonly KillPoint[]): void {
      for (const point of left) {
        const score = scoreOf(point)
        if (score) score.armed -= 1
      }
    },
    isDone: (): boolean => scores.every(({ hits }) => hits >= rounds),
    hits: (): number => scores.reduce((sum, one) => sum + one.hits, 0),
    /** The points that were hit less often than asked for. */
    left: (): string[] =>
      scores.flatMap(({ point, hits }) => (hits < rounds ? [`${hits} × ${point.kind}: ${point.name}`] : [])),
    table: (): string[] => scores.map(({ point, hits }) => `${hits} × ${point.kind}: ${point.name}`),
  }
}
export type Scores = ReturnType<typeof createScores>
