/** Templates in use, for admins. */
export * from './actions.ts'
export * from './commands.ts'
