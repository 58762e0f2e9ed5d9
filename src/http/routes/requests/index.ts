/** Requests: submit, preview, list, read, and wait for a change. Decisions about them have their own room. */
export { readingRoutes } from './read.ts'
export { accepted, submissionRoutes } from './submit.ts'
