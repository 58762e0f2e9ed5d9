import { failureOf, type QueueLog, type Repeated, repeat } from '../queue/index.ts'

/** How often a process says that it is there, and how soon again after it could not, in milliseconds. */
const BEAT_MILLISECONDS = 10_000
const AGAIN_MILLISECONDS = 2000

/** What a process says of itself again and again. */
export interface Heartbeat extends Repeated {
  /** When it last could. */
  readonly lastAt: Date
}

/** Says that this process is there, now and again and again. Throws when it cannot say so the first time. */
export async function startHeartbeat(beat: () => Promise<void>, log: QueueLog, now: () => Date): Promise<Heartbeat> {
  let lastAt = now()
  let told = false
  await beat()
  const repeated = repeat(
    async () => {
      const at = now()
      await beat()
      lastAt = at
      told = false
      return BEAT_MILLISECONDS
    },
    {
      first: BEAT_MILLISECONDS,
      afterFailure: AGAIN_MILLISECONDS,
      complain(error) {
        if (!told) log.warn({ error: failureOf(error).message }, 'this process could not say that it is there')
        told = true
      },
    },
  )
  return {
    ...repeated,
    get lastAt() {
      return lastAt
    },
  }
}
