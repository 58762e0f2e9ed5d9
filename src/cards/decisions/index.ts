/** Cards of approvals: requesting a decision, deciding, delegating. */
export * from './admin-decisions.ts'
export * from './approval-card.ts'
export * from './approval-decided.ts'
export * from './decide-several.ts'
export * from './delegation.ts'
export * from './stage-texts.ts'
