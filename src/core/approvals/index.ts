/**
 * The rules of approvals: stages, approvers, conditions, times, delegates. This room changes no request; `decisions` does.
 */
export * from './approval.ts'
export * from './approvers.ts'
export * from './delegation.ts'
export * from './stage.ts'
export * from './stand-ins.ts'
export * from './times.ts'
export * from './warning.ts'
