import { z } from 'zod'
import { issueOf } from '../shared/index.ts'
import { condition } from './condition.ts'

/** An id as everything else writes it, so that ids can be compared. */
const id = z.uuid().toLowerCase()

/** Whom a stage asks: a person, those in a group (in groups inside it too), the requester's manager, a group's owners. */
export const approver = z.union([
  z.strictObject({ user: id }),
  z.strictObject({ group: id }),
  z.strictObject({ manager: z.literal(true) }),
  z.strictObject({ ownersOf: id }),
])
export type Approver = z.output<typeof approver>

/** A year at most; parts of an hour are for trying it out. */
const hours = z
  .number()
  .min(0)
  .max(365 * 24)

export const stagePolicy = z
  .strictObject({
    approvers: z.array(approver).min(1).max(20).describe('Whom it asks'),
    rule: z.enum(['any', 'all', 'quorum']).default('any').describe('How many of them decide'),
    quorum: z.int().min(1).max(20).optional().describe('How many, where the rule is quorum'),
    when: z.array(condition).min(1).max(10).optional().describe('The stage is left out unless all of these hold'),
    selfApproval: z.boolean().optional().describe('Whether who asks may decide too, where they are an approver'),
    remindAfterHours: hours.optional().describe('Hours without a decision; 0 = never. Else the setting counts'),
    escalateAfterHours: hours.optional().describe('The same, until others are asked'),
    backup: z
      .array(approver)
      .min(1)
      .max(20)
      .optional()
      .describe('Who is asked then, and when an approver cannot be told; absent = their managers'),
  })
  .refine((stage) => stage.rule !== 'quorum' || stage.quorum !== undefined, {
    ...issueOf('quorumNumberMissing'),
    path: ['quorum'],
  })
export type StagePolicy = z.output<typeof stagePolicy>
export const approvalPolicy = z.strictObject({
  stages: z.array(stagePolicy).min(1).max(5).describe('One after the other'),
  expiresAfterDays: z
    .number()
    .positive()
    .max(365)
    .optional()
    .describe('After how many days a stage that nobody decides ends the request. Else the setting counts'),
})
export type ApprovalPolicy = z.output<typeof approvalPolicy>

/** How many people the lines of a stage can come to at most; undefined when groups are among them. */
export function mostPeople({ approvers }: Pick<StagePolicy, 'approvers'>): number | undefined {
  if (approvers.some((one) => 'group' in one || 'ownersOf' in one)) return undefined
  return new Set(approvers.map((one) => JSON.stringify(one))).size
}
