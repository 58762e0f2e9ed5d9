/**
 * Pure rules of approvals: stages, approvers, conditions, times, delegates. Nothing here changes a request.
 * Decisions are made in `decisions`.
 */
export * from './approval.ts'
export * from './approvers.ts'
export * from './delegation.ts'
export * from './stage.ts'
export * from './stand-ins.ts'
export * from './times.ts'
export * from './warning.ts'
