import { z } from 'zod'
import type { Actor } from './access.ts'
import { entry } from './change.ts'
import { retry } from './decision.ts'
import { ProvisioningError } from './errors.ts'
import { type JobName, jobPayloads } from './events.ts'
import type { DeadLetter, Ports, Settings } from './ports.ts'
import type { Request, RequestState } from './request.ts'

/** A job that was given up, with the request that it was for, if there is one. */
export interface GivenUpJob {
  readonly letterId: string
  /** `unknown`: a job of another version of the service. */
  readonly job: JobName | 'unknown'
  readonly problem: string
  readonly at: Date
  readonly request: Request | undefined
}

/** The most that is read: who has more has a trouble that the newest show. */
const most = 100

/** What was given up and needs somebody, the newest first. */
export async function readDeadLetters(ports: Ports): Promise<readonly GivenUpJob[]> {
  const letters = await ports.deadLetters.list(most)
  const jobs = await Promise.all(letters.map((letter) => givenUpJob(ports, letter)))
  return jobs.filter((job) => !isLookedAfter(job))
}

async function readDeadLetter(ports: Ports, letterId: string): Promise<GivenUpJob> {
  const letter = await ports.deadLetters.find(letterId)
  const job = letter && (await givenUpJob(ports, letter))
  if (!job || isLookedAfter(job)) throw notOnTheList()
  return job
}

/**
 * Runs a given-up job again: it is enqueued anew, comes off the list, and the request's timeline says who did so. Of a
 * request that failed with its job that is a retry, since the job alone would find nothing to do.
 */
export async function replayDeadLetter(
  ports: Ports,
  settings: Settings,
  actor: Actor,
  letterId: string,
): Promise<void> {
  await ports.work.transaction(async () => {
    const { job, request, problem } = await readDeadLetter(ports, letterId)
    if (job === 'provision' && request?.status === 'failed') {
      if (!(await ports.deadLetters.settle(letterId))) throw notOnTheList()
      await retry(ports, settings, actor, request.requestId)
      return
    }
    if (!(await ports.deadLetters.replay(letterId))) throw notOnTheList()
    if (!request) return
    const at = ports.clock.now().toISOString()
    await ports.audit.append([entry({ ...request, updatedAt: at }, actor, 'replayed', { data: { job, problem } })])
  })
}

async function givenUpJob(ports: Ports, letter: DeadLetter): Promise<GivenUpJob> {
  const { letterId, payload, problem, at } = letter
  const job = isJobName(letter.job) ? letter.job : 'unknown'
  const requestId = await requestIdOf(ports, payload)
  const request = requestId === undefined ? undefined : await ports.requests.find(requestId)
  return { letterId, job, problem, at, request }
}

const isJobName = (name: string): name is JobName => Object.hasOwn(jobPayloads, name)

/** What a payload is about; it is as old as the job, so nothing of its form is sure. */
const subject = z.object({
  requestId: z.uuid().optional().catch(undefined),
  deliveryId: z.uuid().optional().catch(undefined),
})

async function requestIdOf(ports: Ports, payload: unknown): Promise<string | undefined> {
  const { requestId, deliveryId } = subject.safeParse(payload).data ?? {}
  if (requestId !== undefined || deliveryId === undefined) return requestId
  return (await ports.deliveries.find(deliveryId))?.requestId
}

/** Work on a request that has moved on since, because somebody retried or cancelled it, needs nobody any more. */
const isLookedAfter = ({ job, request, at }: GivenUpJob): boolean =>
  job === 'provision' &&
  request !== undefined &&
  (!unfinished.includes(request.status) || Date.parse(request.queuedAt ?? request.submittedAt) > at.getTime())
const unfinished: readonly RequestState[] = ['queued', 'provisioning', 'failed']

const notOnTheList = () =>
  new ProvisioningError('not-found', 'This job is not on the list any more: somebody has looked after it.')
