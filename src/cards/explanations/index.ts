/** The card of `why`. */
export * from './why.ts'
