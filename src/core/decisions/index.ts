/**
 * The decisions about a request: approve, reject, cancel, retry, reassign, override, delegate, nudge, reminders, escalation,
 * and which requests need an admin.
 * The rules of stages are in `approvals`.
 */
export * from './address-conflict.ts'
export * from './approval-facts.ts'
export * from './approval-timers.ts'
export * from './attention.ts'
export * from './decision.ts'
export * from './delegation.ts'
export * from './joint.ts'
export * from './joint-decision.ts'
export * from './membership.ts'
export * from './override.ts'
export * from './own-reassignment.ts'
export * from './ports.ts'
export * from './reassign.ts'
export * from './refused-attempts.ts'
export * from './unreachable-people.ts'
