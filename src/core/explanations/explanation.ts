import { z } from 'zod'
import { openStage, waitingFor } from '../approvals/index.ts'
import type { AuditEntry } from '../audit/index.ts'
import type { BatchPorts } from '../batches/index.ts'
import { type DecisionPorts, havingDigest } from '../decisions/index.ts'
import { type Request, readRequest, readTimeline, requestFor } from '../requests/index.ts'
import { type Context, defineUseCase, instant, person } from '../shared/index.ts'
import { type ExplanationLine, explanationCodes } from './codes.ts'
import { whyThisApprover } from './explanation-approval.ts'
import { whyThisName } from './explanation-name.ts'
import { whyThisLong } from './explanation-time.ts'

export const explanationTopics = ['approval', 'name', 'time'] as const

/** One line that explains the approvers, the name or the duration of a request. */
export const explanation = z.object({
  topic: z.enum(explanationTopics),
  /** The list of codes is closed; the fact `why` distinguishes the cases of one code. */
  code: z.enum(explanationCodes),
  at: instant.optional(),
  stage: z.int().optional(),
  people: z.array(person).optional(),
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
})
export type Explanation = z.output<typeof explanation>

/**
 * Explains a request from its records alone: the request, its template at the time, and its timeline. The topics come in
 * their order, and the most important line first. `inDigest`: the ids of the people whose daily digest replaces the reminder. Pure.
 */
export function explain(
  request: Request,
  timeline: readonly AuditEntry[],
  now: Date,
  inDigest: ReadonlySet<string> = new Set(),
): Explanation[] {
  const lines = {
    approval: whyThisApprover(request, now, inDigest),
    name: whyThisName(request),
    time: whyThisLong(request, timeline, now),
  } satisfies Record<(typeof explanationTopics)[number], readonly ExplanationLine[]>
  return explanationTopics.flatMap((topic) => lines[topic].map((line) => ofTopic(topic, line)))
}

function ofTopic(topic: Explanation['topic'], { code, at, stage, people, facts }: ExplanationLine): Explanation {
  return {
    topic,
    code,
    ...(at !== undefined && { at }),
    ...(stage !== undefined && { stage }),
    ...(people && people.length > 0 && { people: [...people] }),
    facts,
  }
}

/** Explains a request that the actor may read. */
export const readExplanation = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<BatchPorts & DecisionPorts>, { requestId }): Promise<Explanation[]> {
    const { ports, actor } = context
    const request = requestFor(await readRequest.handle(context, { requestId }), actor)
    const open = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    const waiting = open ? waitingFor([open]).map(({ id }) => id) : []
    const inDigest = await havingDigest(context, request.tenantId, waiting)
    return explain(request, await readTimeline.handle(context, { requestId }), ports.clock.now(), inDigest)
  },
})
