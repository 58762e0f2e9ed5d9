import { setTimeout } from 'node:timers/promises'
import { type ChangePoint, changeKinds } from '../support/change-points.ts'
import type { Change } from './changes-aim.ts'
import { play, type Traces } from './changes-scenarios.ts'
import type { ChangeScores } from './changes-scores.ts'
import type { ChangesWorld } from './changes-world.ts'
import type { Person } from './plan.ts'

/** Maximum number of changes of each kind that begin in one life of the service. */
const perLife = 3
/** Maximum number of digests that are due at one start. */
const perDigest = 6

export interface Played {
  readonly change: Change
  readonly traces: Traces
}
interface Sleeper {
  readonly change: Change
  readonly wake: (turn: number) => void
}

/** Begins the changes of a run, each with one kill aimed at it, and lets their people play them. */
export function createPlayers(world: ChangesWorld, scores: ChangeScores) {
  const { aim, history, random, people } = world
  const played: Played[] = []
  const under: Promise<void>[] = []
  let sleepers: Sleeper[] = []
  const templates = new Map<string, Promise<string>>()

  const template = (...stages: readonly (readonly Person[])[]): Promise<string> => {
    const key = JSON.stringify(stages)
    const known = templates.get(key) ?? newTemplate(stages)
    templates.set(key, known)
    return known
  }
  async function newTemplate(stages: readonly (readonly Person[])[]): Promise<string> {
    const id = crypto.randomUUID()
    const approvers = (stage: readonly Person[]) => stage.map(({ id }) => ({ user: id }))
    const approval = { stages: stages.map((stage) => ({ approvers: approvers(stage), rule: 'all' })) }
    await people.putTemplate(id, { kind: 'roomMailbox', name: `Room ${templates.size}`, approval })
    return id
  }

  function begin(point: ChangePoint): void {
    const n = played.length + 1
    const change: Change = {
      ...{ n, kind: point.kind, point, ids: new Set<string>(), begun: new Set() },
      ...{ isMet: false, isOver: false, isAsleep: false },
    }
    const traces: Traces = { requestIds: [], errors: [] }
    played.push({ change, traces })
    aim.add(change)
    const wake = () => new Promise<number>((resolve) => sleepers.push({ change, wake: resolve }))
    under.push(end(play({ world, change, traces, template, wake }), { change, traces }))
  }
  async function end(run: Promise<void>, { change, traces }: Played): Promise<void> {
    await run.catch((error: unknown) => {
      traces.errors.push(error instanceof Error ? error.message : String(error))
    })
    // The last card of a change may have arrived while its kill is still due.
    while (aim.isHeld(change)) await setTimeout(20)
    change.isOver = true
    if (change.isMet) return
    scores.release(change.point)
    const { kind, name } = change.point
    history.note({ event: 'refused', n: change.n, why: `missed ${kind}: ${name}` })
  }

  return {
    played: played as readonly Played[],
    /** Returns whether changes wait for a start at which digests are due. */
    hasSleepers: (): boolean => sleepers.length > 0,
    /** Begins changes for points that lack hits. */
    beginSome(): void {
      for (const kind of changeKinds) {
        const most = kind === 'digest' ? perDigest : perLife
        const open = aim.changes.filter((one) => one.kind === kind && !one.isOver).length
        for (let count = 0; count < most && open + count < most + perLife; count += 1) {
          const point = scores.take(kind, random)
          if (!point) break
          begin(point)
        }
      }
    },
    /**
     * Lets some sleeping changes prepare the start of this turn of the digests. A kill right after the start hits only
     * changes that are aimed at it, so those are prepared alone. Returns these changes.
     */
    async prepare(turn: number): Promise<readonly Change[]> {
      const first = sleepers[0]?.change.point
      const isStart = first?.place.at === 'start'
      const some = sleepers
        .filter(({ change: { point } }) => (isStart ? point === first : point.place.at !== 'start'))
        .slice(0, perDigest)
      sleepers = sleepers.filter((one) => !some.includes(one))
      for (const { wake } of some) wake(turn)
      const isReady = ({ change }: Sleeper) => change.isOver || change.begun.has('digest')
      const end = Date.now() + 3000
      while (!some.every(isReady) && Date.now() < end) await setTimeout(20)
      return some.map(({ change }) => change)
    },
    /** Wakes all changes, and waits for their ends. */
    async settle(turn: number): Promise<void> {
      for (const { wake } of sleepers) wake(turn)
      await Promise.all(under)
    },
  }
}
