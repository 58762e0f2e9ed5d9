/** A person’s own requests: cards, lists and commands; the request that an admin names. */
export * from './actions.ts'
export * from './admin-target.ts'
export * from './commands.ts'
export * from './lists.ts'
export * from './simulate.ts'
