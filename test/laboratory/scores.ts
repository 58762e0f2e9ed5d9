import type { JourneyKind } from '../support/journey.ts'
import type { KillPoint, Part } from '../support/kill-points.ts'

/**
 * Maximum number of kills that are aimed at one journey's provisioning job: after too many deaths a job is correctly
 * given up.
 */
const maxInWork = 3

/** Counts how often each kill point was hit, and how many kills are currently aimed at it. */
export function createScores(points: readonly KillPoint[], rounds: number, random: () => number) {
  const scores = points.map((point, order) => ({ point, order, hits: 0, armed: 0 }))
  type Score = (typeof scores)[number]
  const missing = ({ hits, armed }: Score) => rounds - hits - armed
  const scoreOf = (point: KillPoint) => scores.find((one) => one.point === point)

  /** Returns the points of this part that lack most hits. */
  function needed(kind: JourneyKind, part: Part, most: number): Score[] {
    return scores
      .filter((one) => one.point.kind === kind && one.point.part === part && missing(one) > 0)
      .map((one) => ({ one, rank: missing(one) + random() }))
      .sort((first, second) => second.rank - first.rank)
      .slice(0, most)
      .map(({ one }) => one)
  }
  return {
    /**
     * Returns a random kind whose points lack hits, weighted by their number; undefined when all points have enough.
     */
    kindInNeed(): JourneyKind | undefined {
      const left = scores.flatMap((one) => Array.from({ length: Math.max(0, missing(one)) }, () => one.point.kind))
      return left[Math.floor(random() * left.length)]
    },
    /** Returns kill points for a new journey: one at each click and one at the end, several in the provisioning job. */
    take(kind: JourneyKind): KillPoint[] {
      const last = needed(kind, 'end', 1)
      const polls = last.some(({ point }) => point.place.at === 'poll')
      const before = needed(kind, 'Send', 1)
      // Directory polls run only while webhooks are off. A journey with such a point waits for a start without
      // webhooks.
      const between = polls ? [] : [...needed(kind, 'Approve', 1), ...needed(kind, 'work', maxInWork)]
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
    /** Releases the points that a journey did not meet. */
    release(left: readonly KillPoint[]): void {
      for (const point of left) {
        const score = scoreOf(point)
        if (score) score.armed -= 1
      }
    },
    isDone: (): boolean => scores.every(({ hits }) => hits >= rounds),
    hits: (): number => scores.reduce((sum, one) => sum + one.hits, 0),
    /** Returns the points that were hit less often than required. */
    left: (): string[] =>
      scores.flatMap(({ point, hits }) => (hits < rounds ? [`${hits} × ${point.kind}: ${point.name}`] : [])),
    table: (): string[] => scores.map(({ point, hits }) => `${hits} × ${point.kind}: ${point.name}`),
  }
}
export type Scores = ReturnType<typeof createScores>
