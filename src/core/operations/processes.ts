import { noteAct } from '../audit/organisation-audit.ts'
import type { Actor } from '../shared/access.ts'
import type { OperationPorts } from './ports.ts'

/** A process that says nothing for so many seconds has ended without a goodbye, or hangs. */
export const silentAfterSeconds = 30

/** One process of the service, by its own word. */
export interface ServiceProcess {
  readonly processId: string
  /** Its host and its number there. */
  readonly name: string
  readonly version: string
  readonly startedAt: Date
  /** Whether it works on the queue. */
  readonly works: boolean
}
/** A process as the others see it. */
export interface SeenProcess extends ServiceProcess {
  /** When it last said that it is there. */
  readonly seenAt: Date
  /** For how long it has been silent, in seconds, by the clock of the store. */
  readonly silentSeconds: number
}

export interface ProcessStore {
  /** Says that it is there now. */
  beat(process: ServiceProcess): Promise<void>
  /** It stops in order. */
  leave(processId: string): Promise<void>
  /** All that have not left, the longest at work first. */
  list(): Promise<SeenProcess[]>
  /** Forgets those that were silent for longer than this, in seconds, and returns them. */
  forgetSilent(seconds: number): Promise<SeenProcess[]>
  /** Forgets all but this one: an embedded store belongs to one process at a time. */
  forgetOthers(processId: string): Promise<void>
  forgetOld(): Promise<void>
}

/** Makes the jobs of processes that are gone due at once, in the transaction around it, and returns how many. */
export interface Workers {
  takeOver(): Promise<number>
}

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
