import { noteAct } from '../audit/index.ts'
import type { Actor } from '../shared/index.ts'
import type { OperationPorts, SeenProcess } from './ports.ts'

/** A process that says nothing for so many seconds has ended without a goodbye, or hangs. */
export const silentAfterSeconds = 30

/** What came of it: none where somebody else was faster, or they came back. */
export interface TakenOver {
  readonly processes: readonly SeenProcess[]
  readonly jobs: number
}

/** Takes over what silent processes were at, and forgets them. Whoever asks a second time finds nothing to do. */
export async function takeOver(
  { work, audit, clock, processes, workers }: OperationPorts,
  actor: Actor,
): Promise<TakenOver> {
  return work.transaction(async () => {
    const gone = await processes.forgetSilent(silentAfterSeconds)
    if (gone.length === 0) return { processes: [], jobs: 0 }
    const jobs = await workers.takeOver()
    const named = gone.map(({ processId, name }) => ({ processId, name }))
    await noteAct({ audit, clock }, actor, 'jobs-taken-over', { processes: named, jobs })
    return { processes: gone, jobs }
  })
}

/** The silent ones, the longest silent first. */
export async function readSilent({ processes }: Pick<OperationPorts, 'processes'>): Promise<SeenProcess[]> {
  const silent = (await processes.list()).filter(({ silentSeconds }) => silentSeconds > silentAfterSeconds)
  return silent.sort((one, other) => other.silentSeconds - one.silentSeconds)
}
