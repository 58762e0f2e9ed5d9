import { jobId } from '../../core/index.ts'
import type { QueueLog } from './boss.ts'
import { failureOf } from './define-job.ts'
import type { Queue } from './queue.ts'

/** A job that runs again and again. Times are in milliseconds. */
interface Turns {
  readonly name: 'watchdog' | 'digest' | 'health-watch' | 'housekeeping'
  /** The length of a turn. The job runs once in each. */
  readonly length: number
  /** How often the present turn is ordered. Default: once in each turn. */
  readonly orderEvery?: number
  /** When the first order comes, counted from now. Default: at the start of the next turn. */
  readonly firstAfter?: number
}

/**
 * Orders a job for each turn until the returned function is called. Every replica orders it. The job's id is made of its name and its
 * turn, so that only one replica runs it. Orders come at the start of a turn by the clock, so turns are equally far apart whichever
 * replica orders them.
 */
export function startTurns(queue: Queue, log: QueueLog, now: () => Date, turns: Turns): () => void {
  const { name, length, orderEvery = length } = turns
  const untilNext = () => orderEvery - (now().getTime() % orderEvery)
  const order = () => {
    const turn = Math.floor(now().getTime() / length)
    queue
      .enqueue(name, { v: 1, turn }, { id: jobId(name, turn) })
      .catch((error: unknown) => log.warn({ job: name, error: failureOf(error).message }, 'a turn was not ordered'))
  }
  let timer: NodeJS.Timeout
  const orderAfter = (milliseconds: number) => {
    timer = setTimeout(() => {
      order()
      orderAfter(untilNext())
    }, milliseconds)
  }
  orderAfter(turns.firstAfter ?? untilNext())
  return () => clearTimeout(timer)
}
