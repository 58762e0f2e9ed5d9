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
}

/** Decides the requests without a result until `end`, and stores the results. Throws an error that is worth a retry. */
async function decideRest(
  context: Context<DecisionPorts>,
  { decision, results }: JointReport,
  end: number,
  signal?: AbortSignal,
): Promise<JointReport> {
  const { ports } = context
  const found: Record<string, JointResult> = { ...results }
  const left = decision.items.filter(({ requestId }) => results[requestId] === undefined)
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
    const failed = settled.find((one) => one.status === 'rejected')
    // The job tries again. A click shows what it has decided.
    if (failed && signal) throw failed.reason
    if (failed) break
  }
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
