/** The follow-up card with the link or the address. */
export * from './ready.ts'
