/**
 * The request: its plan, its states, submission, reading, and the one transaction that changes it (`change.ts`).
 * Forms belong to `drafts`, decisions to `decisions`, work in the tenant to `provisioning`.
 */
export * from './access.ts'
export * from './addresses.ts'
export { withoutAbsent } from './applicable-fields.ts'
export { comparedWithBasis, endOfBasis, type Wish } from './basis.ts'
export * from './batch-jobs.ts'
export * from './change.ts'
export * from './events.ts'
export * from './field-warnings.ts'
export * from './mailbox-plan.ts'
export * from './people-check.ts'
export * from './plan.ts'
export * from './ports.ts'
export * from './preview.ts'
export * from './reading.ts'
export { isRepeated, repeatHours } from './repeats.ts'
export * from './request.ts'
export * from './simulation.ts'
export * from './site-plan.ts'
export * from './submission.ts'
export * from './template-rules.ts'
