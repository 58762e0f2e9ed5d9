import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
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
  type RequestState,
  refuseFields,
} from '../shared/index.ts'
import type { DeadLetter, DeadLetterHead, OperationPorts } from './ports.ts'

/** A job that was given up, with the request that it was for, if there is one. */
export interface GivenUpJob {
  readonly letterId: string
  /** `unknown`: a job of another version of the service. */
  readonly job: JobName | 'unknown'
  readonly problem: string
  readonly at: Date
  readonly request: Request | undefined
  /** Its batch was stopped when it was given up, and what waited in it is gone: to run it again would do nothing. */
  readonly isOver: boolean
}

/** A part of what was given up, and how much there is in all. */
export interface GivenUpJobs {
  readonly total: number
  readonly jobs: readonly GivenUpJob[]
  readonly nextCursor?: string
}

/** What was given up and needs somebody, the newest first. Throws `invalid-request` for a cursor that is none. */
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

/** How many jobs were given up and need somebody. */
export const countDeadLetters = async (ports: OperationPorts): Promise<number> => (await openLetters(ports)).length

/** Without those that need nobody any more; the newest first. */
async function openLetters(ports: OperationPorts): Promise<DeadLetterHead[]> {
  const letters = await ports.deadLetters.list()
  const ofWork = letters.flatMap(({ job, payload }) => (job === 'provision' ? [subjectOf(payload).requestId] : []))
  const ids = ofWork.filter((id) => id !== undefined)
  const requests = ids.length === 0 ? [] : await ports.requests.standing(ids)
  const standing = new Map(requests.map((request) => [request.requestId, request]))
  return letters
    .filter(({ job, payload, at }) => {
      return !isLookedAfter({ job, at, request: standing.get(subjectOf(payload).requestId ?? '') })
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

/** One job that was given up. Throws `not-found` when nobody has to look after it any more. */
export const readDeadLetter = defineUseCase({
  permission: 'deadLetter.read',
  input: z.object({ letterId: z.uuid() }),
  handle: ({ ports }: Context<OperationPorts>, { letterId }): Promise<GivenUpJob> => openJob(ports, letterId),
})

async function openJob(ports: OperationPorts, letterId: string): Promise<GivenUpJob> {
  const letter = await ports.deadLetters.find(letterId)
  const job = letter && (await givenUpJob(ports, letter))
  if (!job || isLookedAfter(job)) throw notOnTheList()
  return job
}

/**
 * Runs a given-up job again: it is enqueued anew, comes off the list, and the request's timeline, or else the organisation's, says who
 * did so. Of a request that failed with its job that is a retryRequest, since the job alone would find nothing to do. Throws
 * `illegal-transition` for one that is over.
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
        const why = 'its request is tried again'
        if (!(await ports.deadLetters.settle(letterId, { personId: actor.id, why }))) throw notOnTheList()
        await retryRequest.handle(context, { requestId: request.requestId })
        return
      }
      if (!(await ports.deadLetters.replay(letterId))) throw notOnTheList()
      if (!request) return noteAct(ports, actor, 'job-replayed', { job, about: job, problem })
      const at = ports.clock.now().toISOString()
      const said = entry({ ...request, updatedAt: at }, actor, 'replayed', { data: { job, problem } })
      await ports.audit.append([said], { version: request.version })
    })
  },
})

/** Takes a given-up job off the list without running it; the request's timeline, or else the organisation's, says who did so. */
export const dismissDeadLetter = defineUseCase({
  permission: 'deadLetter.dismiss',
  input: z.object({ letterId: z.uuid() }),
  async handle({ ports, actor }: Context<OperationPorts>, { letterId }): Promise<void> {
    await ports.work.transaction(async () => {
      const { job, request, problem } = await openJob(ports, letterId)
      if (!(await ports.deadLetters.settle(letterId, { personId: actor.id, why: 'dismissed' }))) throw notOnTheList()
      if (!request) return noteAct(ports, actor, 'job-dismissed', { job, about: job, problem })
      const at = ports.clock.now().toISOString()
      const said = entry({ ...request, updatedAt: at }, actor, 'dismissed', { data: { job, problem } })
      await ports.audit.append([said], { version: request.version })
    })
  },
})

async function givenUpJob(ports: OperationPorts, letter: DeadLetter): Promise<GivenUpJob> {
  const { letterId, payload, problem, at } = letter
  const job = isJobName(letter.job) ? letter.job : 'unknown'
  const requestId = await requestIdOf(ports, payload)
  const request = requestId === undefined ? undefined : await ports.requests.find(requestId)
  return { letterId, job, problem, at, request, isOver: await isOfStoppedBatch(ports, letter) }
}

/** What waits in a batch that was stopped is erased, and whoever sent it may have sent it anew since. */
async function isOfStoppedBatch(ports: OperationPorts, { job, payload }: DeadLetter): Promise<boolean> {
  const { batchId } = subjectOf(payload)
  if (job !== 'run-batch' || batchId === undefined) return false
  return (await ports.batches.find(batchId))?.status !== 'running'
}

const isJobName = (name: string): name is JobName => Object.hasOwn(jobPayloads, name)

/** What a payload is about; it is as old as the job, so nothing of its form is sure. */
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

/** Work on a request that has moved on since, because somebody retried or cancelled it, needs nobody any more. */
const isLookedAfter = ({ job, request, at }: { job: string; at: Date; request: Standing | undefined }): boolean =>
  job === 'provision' &&
  request !== undefined &&
  (!unfinished.includes(request.status) || Date.parse(request.queuedAt ?? request.submittedAt) > at.getTime())
type Standing = Pick<Request, 'status' | 'submittedAt' | 'queuedAt'>
const unfinished: readonly RequestState[] = ['queued', 'provisioning', 'failed']

const notOnTheList = () => new ProvisioningError('not-found', because('deadLetterGone'))
