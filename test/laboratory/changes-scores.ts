import type { ChangeKind, ChangePoint } from '../support/change-points.ts'

export interface ChangeScore {
  readonly point: ChangePoint
  hits: number
  armed: number
  /** How often in a row its kill came too late. */
  misses: number
}

/** After so many misses in a row, no change is aimed at a point any more. Then the test fails, and names the point. */
const mostMisses = 30

/** Counts how often each point was hit. */
export function createChangeScores(points: readonly ChangePoint[], rounds: number) {
  const scores: ChangeScore[] = points.map((point) => ({ point, hits: 0, armed: 0, misses: 0 }))
  const of = (point: ChangePoint) => scores.find((one) => one.point === point)
  return {
    scores,
    take(kind: ChangeKind, random: () => number): ChangePoint | undefined {
      const missing = (one: ChangeScore) => (one.misses < mostMisses ? rounds - one.hits - one.armed : 0)
      const [first] = scores
        .filter((one) => one.point.kind === kind && missing(one) > 0)
        .map((one) => ({ one, rank: missing(one) + random() }))
        .sort((one, other) => other.rank - one.rank)
      if (!first) return undefined
      first.one.armed += 1
      return first.one.point
    },
    hit(point: ChangePoint): void {
      const score = of(point)
      if (!score) return
      score.hits += 1
      score.armed -= 1
      score.misses = 0
    },
    /** Releases the point of a change that its kill did not hit. */
    release(point: ChangePoint): void {
      const score = of(point)
      if (!score) return
      score.armed -= 1
      score.misses += 1
    },
    isDone: (): boolean => scores.every(({ hits, misses }) => hits >= rounds || misses >= mostMisses),
  }
}
export type ChangeScores = ReturnType<typeof createChangeScores>
