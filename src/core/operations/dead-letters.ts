import { z } from 'zod'
import { auditAct } from '../audit/index.ts'
import { retryRequest } from '../decisions/index.ts'
import { entry, type Request } from '../requests/index.ts'
import {
  because,
  type Context,
  defineUseCase,
  fault,
  type JobName,
  jobPayloads,
  ProvisioningError,
  type Reason,
  type RequestState,
  refuseFields,
  type SystemContext,
  sentenceOf,
} from '../shared/index.ts'
import type { DeadLetter, DeadLetterHead, OperationPorts } from './ports.ts'

/** A dead letter: a job without further attempts, with its request, if it has one. */
export interface GivenUpJob {
  readonly letterId: string
  /** `unknown`: a job of another version of the service. */
  readonly job: JobName | 'unknown'
  readonly problem: Reason
  readonly at: Date
  readonly request: Request | undefined
  /** The job's batch was stopped and its waiting rows are deleted, so a retry of the job would do nothing. */
  readonly isOver: boolean
}

/** A page of dead letters, and the number of all. */
export interface GivenUpJobs {
  readonly total: number
  readonly jobs: readonly GivenUpJob[]
  readonly nextCursor?: string
}

/** Returns the open dead letters, the newest first. Refuses an invalid cursor. */
export const listDeadLetters = defineUseCase({
  permission: 'deadLetter.read',
  input: z.object({ limit: z.int(), cursor: z.string().optional() }),
  async handle({ ports }: Context<OperationPorts>, { limit, cursor }): Promise<GivenUpJobs> {
    const letters = await openLetters(ports)
    const after = cursor === undefined ? undefined : decodeCursor(cursor)
    const left = after ? letters.filter((letter) => byAge(after, letter) < 0) : letters
    const page = left.slice(0, limit)
    const found = await Promise.all(page.map(({ letterId }) => ports.deadLetters.find(letterId)))
    const here = found.filter((letter) => letter !== undefined)
    const jobs = await Promise.all(here.map((letter) => givenUpJob(ports, letter)))
    const last = page.at(-1)
    return { total: letters.length, jobs, ...(left.length > limit && last && { nextCursor: encodeCursor(last) }) }
  },
})

/** Counts the open dead letters. */
export const countDeadLetters = async (ports: OperationPorts): Promise<number> => (await openLetters(ports)).length

/** Returns the dead letters that still need an admin, the newest first. */
async function openLetters(ports: OperationPorts): Promise<DeadLetterHead[]> {
  const letters = await ports.deadLetters.list()
  const ofWork = letters.flatMap(({ job, payload }) => (job === 'provision' ? [subjectOf(payload).requestId] : []))
  const ids = ofWork.filter((id) => id !== undefined)
  const requests = ids.length === 0 ? [] : await ports.requests.statuses(ids)
  const current = new Map(requests.map((request) => [request.requestId, request]))
  return letters
    .filter(({ job, payload, at }) => {
      return !isSettled({ job, at, request: current.get(subjectOf(payload).requestId ?? '') })
    })
    .sort(byAge)
}

type Place = Pick<DeadLetterHead, 'at' | 'letterId'>
const byAge = (one: Place, other: Place): number =>
  other.at.getTime() - one.at.getTime() || one.letterId.localeCompare(other.letterId)

const encodeCursor = ({ at, letterId }: Place): string =>
  Buffer.from(`v1:${at.getTime()}:${letterId}`).toString('base64url')

function decodeCursor(cursor: string): Place {
  const [, at, letterId] = /^v1:(\d{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at !== undefined && letterId !== undefined) return { at: new Date(Number(at)), letterId }
  return refuseFields([fault('/cursor', 'invalid', because('cursorInvalid'))])
}

/** Reads one dead letter. Throws `not-found` when it is no longer open. */
export const readDeadLetter = defineUseCase({
  permission: 'deadLetter.read',
  input: z.object({ letterId: z.uuid() }),
  handle: ({ ports }: Context<OperationPorts>, { letterId }): Promise<GivenUpJob> => openJob(ports, letterId),
})

async function openJob(ports: OperationPorts, letterId: string): Promise<GivenUpJob> {
  const letter = await ports.deadLetters.find(letterId)
  const job = letter && (await givenUpJob(ports, letter))
  if (!job || isSettled(job)) throw notOnTheList()
  return job
}

/**
 * Retries a dead letter and removes it from the list. Records the admin in the timeline of the request, or else in the
 * audit of the organisation. If the request failed with its job, retries the request: the job alone would have nothing
 * to do. Throws `illegal-transition` for a job of a stopped batch.
 */
export const replayDeadLetter = defineUseCase({
  permission: 'deadLetter.replay',
  input: z.object({ letterId: z.uuid() }),
  async handle(context: Context<OperationPorts>, { letterId }): Promise<void> {
    const { ports, actor } = context
    await ports.work.transaction(async () => {
      const { job, request, problem, isOver } = await openJob(ports, letterId)
      if (isOver) throw new ProvisioningError('illegal-transition', because('batchStopped'))
      if (job === 'provision' && request?.status === 'failed') {
        const why = 'an admin retried its request'
        if (!(await ports.deadLetters.settle(letterId, { personId: actor.id, why }))) throw notOnTheList()
        await retryRequest.handle(context, { requestId: request.requestId })
        return
      }
      if (!(await ports.deadLetters.replay(letterId))) throw notOnTheList()
      if (!request) return auditAct(ports, actor, 'job-replayed', { about: job, ...factsOf(job, problem) })
      const at = ports.clock.now().toISOString()
      const replayed = entry({ ...request, updatedAt: at }, actor, 'replayed', { data: factsOf(job, problem) })
      await ports.audit.append([replayed], { version: request.version })
    })
  },
})

/**
 * Retries a dead letter whose process was killed in each attempt, unless an admin has acted meanwhile. The cause may be
 * over an hour later.
 */
export const replayInterrupted = async ({ ports }: SystemContext<OperationPorts>, letterId: string): Promise<void> =>
  void (await ports.deadLetters.replay(letterId))

/**
 * Removes a dead letter from the list without running it. Records the admin in the timeline of the request, or else in
 * the audit of the organisation.
 */
export const dismissDeadLetter = defineUseCase({
  permission: 'deadLetter.dismiss',
  input: z.object({ letterId: z.uuid() }),
  async handle({ ports, actor }: Context<OperationPorts>, { letterId }): Promise<void> {
    await ports.work.transaction(async () => {
      const { job, request, problem } = await openJob(ports, letterId)
      if (!(await ports.deadLetters.settle(letterId, { personId: actor.id, why: 'dismissed' }))) throw notOnTheList()
      if (!request) return auditAct(ports, actor, 'job-dismissed', { about: job, ...factsOf(job, problem) })
      const at = ports.clock.now().toISOString()
      const dismissed = entry({ ...request, updatedAt: at }, actor, 'dismissed', { data: factsOf(job, problem) })
      await ports.audit.append([dismissed], { version: request.version })
    })
  },
})

/** The facts of an audit entry: the sentence of the problem, and its reason for cards. */
const factsOf = (job: GivenUpJob['job'], problem: Reason) => ({ job, problem: sentenceOf(problem), reason: problem })

async function givenUpJob(ports: OperationPorts, letter: DeadLetter): Promise<GivenUpJob> {
  const { letterId, payload, problem, at } = letter
  const job = isJobName(letter.job) ? letter.job : 'unknown'
  const requestId = await requestIdOf(ports, payload)
  const request = requestId === undefined ? undefined : await ports.requests.find(requestId)
  return { letterId, job, problem, at, request, isOver: await isOfEndedBatch(ports, letter) }
}

/** Whether the job's batch has ended. Its waiting rows are then deleted, and the sender may have sent them again. */
async function isOfEndedBatch(ports: OperationPorts, { job, payload }: DeadLetter): Promise<boolean> {
  const { batchId } = subjectOf(payload)
  if (job !== 'run-batch' || batchId === undefined) return false
  return (await ports.batches.find(batchId))?.status !== 'running'
}

const isJobName = (name: string): name is JobName => Object.hasOwn(jobPayloads, name)

/** The ids in a payload. The payload may be of an earlier version, so each id may be missing. */
const subject = z.object({
  requestId: z.uuid().optional().catch(undefined),
  deliveryId: z.uuid().optional().catch(undefined),
  batchId: z.uuid().optional().catch(undefined),
})

const subjectOf = (payload: unknown): z.output<typeof subject> => subject.safeParse(payload).data ?? {}

async function requestIdOf(ports: OperationPorts, payload: unknown): Promise<string | undefined> {
  const { requestId, deliveryId } = subjectOf(payload)
  if (requestId !== undefined || deliveryId === undefined) return requestId
  return (await ports.deliveries.find(deliveryId))?.requestId
}

/** Whether a dead letter needs no admin any more, because its request was retried or has ended since. */
const isSettled = ({ job, request, at }: { job: string; at: Date; request: Standing | undefined }): boolean =>
  job === 'provision' &&
  request !== undefined &&
  (!unfinished.includes(request.status) || Date.parse(request.queuedAt ?? request.submittedAt) > at.getTime())
type Standing = Pick<Request, 'status' | 'submittedAt' | 'queuedAt'>
const unfinished: readonly RequestState[] = ['queued', 'provisioning', 'failed']

const notOnTheList = () => new ProvisioningError('not-found', because('deadLetterGone'))
