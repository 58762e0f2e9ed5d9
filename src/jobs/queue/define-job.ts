import { z } from 'zod'
import type { QueueLog } from './boss.ts'

/** What a handler knows of the attempt it makes. */
export interface JobScope {
  /** 1 for the first. One that a process began and did not end counts; one that was put off does not. */
  readonly attempt: number
  readonly lastAttempt: boolean
  /** How often the job was put off. */
  readonly putOffs: number
  /** Aborted when the time is up, the process stops, or another process took the job over. */
  readonly signal: AbortSignal
  readonly log: QueueLog
  /** The ids of the requests that jobs of this name wait for, also for their time, or are at work on. */
  requestsOf(name: string): Promise<string[]>
}

interface JobOptions {
  /** Attempts after the first. */
  readonly retries: number
  /** Before the second attempt; doubled for each further one, with jitter. */
  readonly retryDelaySeconds: number
  /** How long one attempt may take. */
  readonly expireInSeconds: number
  /** How many of these one process works on at the same time. */
  readonly concurrency: number
  /** Whether a given-up job is kept until somebody looks after it. */
  readonly hasDeadLetters: boolean
  /** How long a job that is done is kept. Default: as long as idempotency keys, seven days. */
  readonly keptSeconds?: number | undefined
}

/** Why a job ended in the dead letter queue. */
export interface JobFailure {
  readonly name: string
  readonly message: string
}

/** What the queue sees of a job: a name, its options, and ways to run it on data it does not trust. */
export interface Job {
  readonly name: string
  readonly payload: z.ZodType
  readonly options: JobOptions
  run(scope: JobScope, raw: unknown): Promise<void>
  /** Called once the queue has given the job up. A payload that does not parse has nobody to tell. */
  onDeadLetter(raw: unknown, failure: JobFailure): Promise<void>
}

/** How often, and for how long each time, a payload that does not parse is put off. */
const UNREADABLE = { times: 30, milliseconds: 60_000 }

/**
 * Thrown for a payload that does not parse. While replicas are exchanged one by one a newer one may have ordered it, and
 * will do it: so it is put off for half an hour in all. After that no attempt will ever be able to read it.
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
 * Defines a job: its name, the schema of its payload and its handler in one value. Handlers may run twice.
 * A handler's error decides what follows: `retryable: false` on it ends the job at once in the dead letter queue,
 * `retryAfterSeconds` puts the next attempt off for at least so long, `putOffMilliseconds` puts the job itself off without
 * counting an attempt (the core's `PutOff`), anything else is tried again with backoff.
 */
export function defineJob<S extends z.ZodType>(job: {
  name: string
  payload: S
  retries: number
  retryDelaySeconds: number
  expireInSeconds: number
  concurrency?: number
  hasDeadLetters?: boolean
  keptSeconds?: number
  handle(payload: z.output<S>, scope: JobScope): Promise<void>
  onDeadLetter?(payload: z.output<S>, failure: JobFailure): Promise<void>
}): Job {
  const { retries, retryDelaySeconds, expireInSeconds, concurrency = 1, hasDeadLetters = true, keptSeconds } = job
  return {
    name: job.name,
    payload: job.payload,
    options: { retries, retryDelaySeconds, expireInSeconds, concurrency, hasDeadLetters, keptSeconds },
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

/** All jobs by name; throws when two have the same. */
export function jobRegistry(...jobs: readonly Job[]): ReadonlyMap<string, Job> {
  const byName = new Map<string, Job>()
  for (const job of jobs) {
    if (byName.has(job.name)) throw new Error(`Two jobs are named ${job.name}`)
    byName.set(job.name, job)
  }
  return byName
}

/** What is kept of an error: its stack would tell more than the store should. */
export function failureOf(error: unknown): JobFailure {
  const { name, message, value } = (
    typeof error === 'object' && error !== null ? error : { message: String(error) }
  ) as {
    name?: unknown
    message?: unknown
    value?: unknown
  }
  if (message === undefined && value !== undefined) return failureOf(value)
  return { name: String(name ?? 'Error'), message: String(message ?? 'unknown') }
}

/** Whether trying again may help: an error says so itself when not. */
export function isRetryable(error: unknown): boolean {
  return !(typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === false)
}

/** When the other side wants to be asked again, in seconds; 0 = it did not say. */
export function retryAfterSeconds(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterSeconds' in error)) return 0
  return typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : 0
}

/** The shortest time that a job is put off, in milliseconds, so that it does not come back before what it waits for. */
const shortest = 500

/**
 * For how long an error asks to put its job off, in milliseconds; undefined = it is a failed attempt like any other.
 * Any error may carry `putOffMilliseconds`: what the job works on is taken just now, and nothing has been tried.
 */
export function putOffMilliseconds(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('putOffMilliseconds' in error)) return undefined
  return typeof error.putOffMilliseconds === 'number' ? Math.max(shortest, error.putOffMilliseconds) : undefined
}
