import { z } from 'zod'
import { because, type Reason, reasonShape } from '../../core/index.ts'
import type { QueueLog } from './boss.ts'

/** The facts and tools of one attempt, for the handler. */
export interface JobScope {
  readonly id: string
  /** 1 for the first. An interrupted attempt counts; putting the job off does not. */
  readonly attempt: number
  readonly lastAttempt: boolean
  /** How often the job was put off. */
  readonly putOffs: number
  /** Aborts when the time is up, the process stops, or another process has taken the job over. */
  readonly signal: AbortSignal
  readonly log: QueueLog
  /** The ids of the requests that have a job of this name, waiting or running. */
  requestsOf(name: string): Promise<string[]>
}

interface JobOptions {
  /** Attempts after the first. */
  readonly retries: number
  /** The delay before the second attempt. It doubles for each further attempt, with jitter. */
  readonly retryDelaySeconds: number
  /** How long one attempt may take. */
  readonly expireInSeconds: number
  /** How many of these jobs one process runs at the same time. */
  readonly concurrency: number
  /** Whether a job without further attempts is kept as a dead letter until an admin handles it. */
  readonly hasDeadLetters: boolean
  /** Whether the queue retries the job once more, an hour after its process was killed in each attempt. */
  readonly retriesInterrupted: boolean
  /** How long a completed job is kept. Default: seven days, as idempotency keys. */
  readonly keptSeconds?: number | undefined
}

/** Why a job ended in the dead letter queue. `reason`: for cards; errors that are not ours have only a message. */
export interface JobFailure {
  readonly name: string
  readonly message: string
  readonly reason?: Reason
}

/** The failure of a job whose process was killed in each attempt. */
export const interruption: JobFailure = {
  name: 'Interrupted',
  message: 'the process died each time it ran',
  reason: because('jobInterrupted'),
}

/** The job that retries interrupted jobs. Its payload names the dead letter. */
export const retryInterrupted = 'retry-interrupted'

/** A job as the queue uses it: a name, options, and functions that check the payload and run the job. */
export interface Job {
  readonly name: string
  readonly payload: z.ZodType
  readonly options: JobOptions
  run(scope: JobScope, raw: unknown): Promise<void>
  /** Called when the job has no further attempts. Ignores a payload that does not parse. */
  onDeadLetter(raw: unknown, failure: JobFailure): Promise<void>
}

/** How often a payload that does not parse is put off, and for how long each time. */
const UNREADABLE = { times: 30, milliseconds: 60_000 }

/**
 * A payload that does not parse. During a rolling update a newer replica may have ordered the job and will run it, so the
 * job is postponed for half an hour in total. After that the job becomes a dead letter.
 */
class UnreadablePayload extends Error {
  override readonly name = 'UnreadablePayload'
  readonly retryable = false
  readonly putOffMilliseconds: number | undefined
  constructor(problem: string, putOffs: number) {
    super(problem)
    this.putOffMilliseconds = putOffs < UNREADABLE.times ? UNREADABLE.milliseconds : undefined
  }
}

/**
 * Defines a job: its name, the schema of its payload and its handler. Handlers may run twice. The handler's error decides
 * what follows: `retryable: false` ends the job at once as a dead letter; `retryAfterSeconds` is the shortest delay before
 * the next attempt; `putOffMilliseconds` puts the job off without counting an attempt (the core's `PutOff`); any other
 * error is retried with backoff.
 */
export function defineJob<S extends z.ZodType>(job: {
  name: string
  payload: S
  retries: number
  retryDelaySeconds: number
  expireInSeconds: number
  concurrency?: number
  hasDeadLetters?: boolean
  retriesInterrupted?: boolean
  keptSeconds?: number
  handle(payload: z.output<S>, scope: JobScope): Promise<void>
  onDeadLetter?(payload: z.output<S>, failure: JobFailure): Promise<void>
}): Job {
  const { retries, retryDelaySeconds, expireInSeconds, concurrency = 1, keptSeconds } = job
  const { hasDeadLetters = true, retriesInterrupted = true } = job
  return {
    name: job.name,
    payload: job.payload,
    options: {
      ...{ retries, retryDelaySeconds, expireInSeconds, concurrency, keptSeconds },
      ...{ hasDeadLetters, retriesInterrupted },
    },
    async run(scope, raw) {
      const parsed = job.payload.safeParse(raw)
      if (!parsed.success) throw new UnreadablePayload(z.prettifyError(parsed.error), scope.putOffs)
      await job.handle(parsed.data, scope)
    },
    async onDeadLetter(raw, failure) {
      const parsed = job.payload.safeParse(raw)
      if (parsed.success) await job.onDeadLetter?.(parsed.data, failure)
    },
  }
}

/** All jobs by name. Throws if two have the same name. */
export function jobRegistry(...jobs: readonly Job[]): ReadonlyMap<string, Job> {
  const byName = new Map<string, Job>()
  for (const job of jobs) {
    if (byName.has(job.name)) throw new Error(`Two jobs are named ${job.name}`)
    byName.set(job.name, job)
  }
  return byName
}

/** The name, message and reason of an error. Its stack can contain data that the store should not keep. */
export function failureOf(error: unknown): JobFailure {
  const { name, message, reason, value } = (
    typeof error === 'object' && error !== null ? error : { message: String(error) }
  ) as {
    name?: unknown
    message?: unknown
    reason?: unknown
    value?: unknown
  }
  if (message === undefined && value !== undefined) return failureOf(value)
  const known = reasonShape.safeParse(reason).data
  return { name: String(name ?? 'Error'), message: String(message ?? 'unknown'), ...(known && { reason: known }) }
}

/** Whether a retry may help. An error with `retryable: false` excludes it. */
export function isRetryable(error: unknown): boolean {
  return !(typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === false)
}

/** The delay that the other service requires before a retry, in seconds; 0: it requires no delay. */
export function retryAfterSeconds(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterSeconds' in error)) return 0
  return typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : 0
}

/** The minimum delay of a postponed job, in milliseconds. */
const shortest = 500

/**
 * How long an error puts its job off, in milliseconds; undefined for an ordinary failure. An error has
 * `putOffMilliseconds` if the handler could not start, because another job uses the same resource.
 */
export function putOffMilliseconds(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('putOffMilliseconds' in error)) return undefined
  return typeof error.putOffMilliseconds === 'number' ? Math.max(shortest, error.putOffMilliseconds) : undefined
}
