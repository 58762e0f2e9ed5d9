import { z } from 'zod'
import { withReason } from '../shared/index.ts'

/** The maximum number of requests in a joint decision: as many as a batch has rows. */
export const maxJoint = 200

export const jointItem = z.object({ requestId: z.uuid(), stage: z.int().min(1) })
/** A decision of a person about several requests. `stage`: the stage on the card, so that no later one is decided. */
export const jointOrder = z.object({
  decision: z.enum(['approved', 'rejected']),
  comment: z.string().default(''),
  items: z.array(jointItem).min(1).max(maxJoint),
  /** The batch and the stage of the card with the decision. */
  about: z.object({ batchId: z.uuid(), stage: z.int().min(1) }).optional(),
})
/** One decision of a person about several requests, as it is stored. */
export const jointDecision = jointOrder.extend({
  v: z.literal(1),
  decisionId: z.uuid(),
  tenantId: z.uuid(),
  personId: z.uuid(),
})
export type JointDecision = z.output<typeof jointDecision>

/** The result of one request: decided, or why not. */
export const jointResult = z.union([z.literal('done'), withReason({ code: z.string() })])
export type JointResult = z.output<typeof jointResult>
type JointResults = Readonly<Record<string, JointResult>>

export interface JointDecisionStore {
  /** Stores a decision. Returns false if the id exists already. */
  insert(one: JointDecision): Promise<boolean>
  find(decisionId: string): Promise<JointReport | undefined>
  /** Returns the person's last decision about a batch in a stage. */
  lastAbout(personId: string, batchId: string, stage: number): Promise<JointReport | undefined>
  /** Adds results to those that are stored. */
  addResults(decisionId: string, results: JointResults): Promise<void>
  /** Deletes the decisions that were last changed more than 30 days before this time. */
  forgetOld(at: Date): Promise<void>
}

/** A joint decision and the results so far. A request without a result is still being decided. */
export interface JointReport {
  readonly decision: JointDecision
  readonly results: JointResults
}
