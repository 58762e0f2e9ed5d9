import { z } from 'zod'
import { readRequest } from '../requests/index.ts'
import {
  actorFor,
  because,
  type Context,
  defineUseCase,
  type JobOrder,
  jobId,
  notFound,
  ProvisioningError,
  refreshBatchOrder,
  type SystemContext,
} from '../shared/index.ts'
import { type JointDecision, type JointReport, type JointResult, type jointItem, jointOrder } from './joint-decision.ts'
import { approve, reject } from './membership.ts'
import type { DecisionPorts } from './ports.ts'

/** The time in which a click decides. A job decides the rest. In milliseconds. */
const clickTime = 2500
/** When the job starts that decides what the click did not. In seconds. */
const jobStart = 5
/** How many requests are decided at the same time: each calls the directory. */
const together = 4

/**
 * Decides several requests at once for an approver: each like a single decision, with the same checks. Decides for a short time at
 * once; a job decides the rest. A repeated id returns the same decision. Throws `not-found` for requests that the
 * actor may not see, and `comment-required`.
 */
export const decideJointly = defineUseCase({
  permission: 'request.decide',
  input: jointOrder.extend({ decisionId: z.uuid() }),
  async handle(context: Context<DecisionPorts>, { decisionId, ...order }): Promise<JointReport> {
    const { ports, actor } = context
    await Promise.all(order.items.map(({ requestId }) => readRequest.handle(context, { requestId })))
    const comment = order.comment.trim()
    if (order.decision === 'rejected' && comment === '')
      throw new ProvisioningError('comment-required', because('sayWhyRejected'), {
        faults: [{ pointer: '/comment', code: 'required', reason: because('rejectionNeedsComment') }],
      })
    const { tenantId, id: personId } = actor
    const decision = { v: 1 as const, decisionId, tenantId, personId, ...order, comment }
    const startAfter = new Date(ports.clock.now().getTime() + jobStart * 1000)
    const job: JobOrder = {
      name: 'decide-jointly',
      payload: { v: 1, decisionId },
      startAfter,
      id: jobId('jointly', decisionId),
    }
    await ports.work.transaction(async () => {
      if (await ports.jointDecisions.insert(decision)) await ports.jobs.enqueue([job])
    })
    const stored = await ports.jointDecisions.find(decisionId)
    if (stored?.decision.personId !== personId) throw notFound()
    return decideRest(context, stored, ports.clock.now().getTime() + clickTime)
  },
})

/** Returns a joint decision of the actor; undefined if the actor has no such decision. */
export const readJointDecision = defineUseCase({
  permission: 'request.decide',
  input: z.object({ decisionId: z.uuid() }),
  async handle({ ports, actor }: Context<DecisionPorts>, { decisionId }): Promise<JointReport | undefined> {
    const stored = await ports.jointDecisions.find(decisionId)
    return stored?.decision.personId === actor.id ? stored : undefined
  },
})

/** Decides what the click did not. Safe to run twice: each request knows the attempt. */
export async function runJointDecision(
  context: SystemContext<DecisionPorts>,
  decisionId: string,
  signal: AbortSignal,
): Promise<void> {
  const stored = await context.ports.jointDecisions.find(decisionId)
  if (!stored) return
  const { tenantId, personId } = stored.decision
  const actor = await actorFor(context, { tenantId, id: personId })
  await decideRest({ ...context, actor }, stored, Number.POSITIVE_INFINITY, signal)
  await refreshCard(context, stored)
}

/** Ends a joint decision whose job has failed for good: the requests without a result were not decided. */
export async function giveUpJointDecision(context: SystemContext<DecisionPorts>, decisionId: string): Promise<void> {
  const { ports } = context
  await ports.work.transaction(async () => {
    const stored = await ports.jointDecisions.find(decisionId)
    if (!stored) return
    const left = stored.decision.items.filter(({ requestId }) => stored.results[requestId] === undefined)
    const result: JointResult = { code: 'unavailable', reason: because('decisionFailed') }
    await ports.jointDecisions.addResults(
      decisionId,
      Object.fromEntries(left.map(({ requestId }) => [requestId, result])),
    )
    await refreshCard(context, stored)
  })
}

/** Orders the update of the batch's card with the decision. A decision that changed no request orders no update itself. */
async function refreshCard({ ports }: SystemContext<DecisionPorts>, { decision }: JointReport): Promise<void> {
  const { about, tenantId } = decision
  if (about) await ports.jobs.enqueue([refreshBatchOrder(tenantId, about.batchId, ports.clock.now())])
}

/**
 * Decides the requests without a result until `end`, and stores the results. Throws an error that is worth a retry. A request
 * with a defect does not stop the others; a directory that does not answer does.
 */
async function decideRest(
  context: Context<DecisionPorts>,
  { decision, results }: JointReport,
  end: number,
  signal?: AbortSignal,
): Promise<JointReport> {
  const { ports } = context
  const found: Record<string, JointResult> = { ...results }
  const left = decision.items.filter(({ requestId }) => results[requestId] === undefined)
  const failures: unknown[] = []
  for (let start = 0; start < left.length && ports.clock.now().getTime() < end; start += together) {
    signal?.throwIfAborted()
    const part = left.slice(start, start + together)
    const settled = await Promise.allSettled(part.map((item) => decideOne(context, decision, item)))
    const decided = part.flatMap(({ requestId }, index): [string, JointResult][] => {
      const one = settled[index]
      return one?.status === 'fulfilled' ? [[requestId, one.value]] : []
    })
    Object.assign(found, Object.fromEntries(decided))
    await ports.jointDecisions.addResults(decision.decisionId, Object.fromEntries(decided))
    failures.push(...settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
    if (failures.some((error) => error instanceof ProvisioningError)) break
  }
  // The job tries again. A click shows what it has decided.
  if (signal && failures.length > 0) throw failures[0]
  return { decision, results: found }
}

/** Decides one request. Throws if the decision may succeed later. */
async function decideOne(
  context: Context<DecisionPorts>,
  { decisionId, decision, comment }: JointDecision,
  { requestId, stage }: z.output<typeof jointItem>,
): Promise<JointResult> {
  try {
    const attempt = jobId('jointly', decisionId, requestId)
    await (decision === 'approved' ? approve : reject).handle(context, { requestId, stage, comment, attempt })
    return 'done'
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code === 'unavailable') throw error
    return { code: error.code, reason: error.reason }
  }
}
