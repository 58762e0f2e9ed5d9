/** `why`: the reasons of a request’s status. */
export * from './why.ts'
