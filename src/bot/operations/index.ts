/** The queue, stuck requests, health, statistics and jobs, for admins. */
export * from './actions.ts'
export * from './commands.ts'
export * from './lists.ts'
export * from './stats.ts'
