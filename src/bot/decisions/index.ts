/** Approve, reject, reassign, override and delegate, by card and by command. */
export * from './admin-commands.ts'
export * from './approval.ts'
export * from './delegate.ts'
export * from './delegation.ts'
export * from './override.ts'
export * from './reassign.ts'
